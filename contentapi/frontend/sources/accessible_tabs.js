// GraphiQL's tabs are elements with the role of a tab that contain two buttons, which assistive technology cannot reach.
// They become a list of buttons, of which one is the current one.
export function makeTabsAccessible(container) {
  new MutationObserver(() => container.querySelectorAll(".graphiql-tabs").forEach(fix)).observe(container, {
    subtree: true,
    childList: true,
    attributeFilter: ["aria-selected", "role"],
  });
}

function fix(tabs) {
  tabs.removeAttribute("role");
  for (const tab of tabs.querySelectorAll("[aria-selected]")) {
    const button = tab.querySelector("button");
    button.ariaCurrent = tab.ariaSelected;
    tab.removeAttribute("role");
    tab.removeAttribute("aria-selected");
  }
}
