// Makes the pages of the theme work under their Content-Security-Policy, which allows neither `eval` nor inline styles.
// unfold/js/alpine/alpine.js is Alpine's build for such pages: it reads expressions without `eval`, but no statements
// and no global names.
"use strict";

htmx.config.includeIndicatorStyles = false; // a style in the page, for a class that no page has
htmx.config.allowEval = false;

// The attributes of the theme that this build cannot read, or that would write a style attribute.
const ATTRIBUTES = [
  ["body", "x-init", "$watch('sidebarDesktopOpen', keepSidebar)"],
  ["form[x-bind\\:action]", "x-bind:action", null], // adds the open tab to the address. No form has tabs
  ["#changelist-actions", "x-bind:style", "{ width: changeListWidth + 'px' }"],
  [
    "#search-input-command",
    "x-on:keydown.enter.prevent",
    "$event.metaKey || $event.ctrlKey || selectItem(false, false)",
  ],
];

function replaceAttributes() {
  for (const [selector, name, expression] of ATTRIBUTES) {
    for (const element of document.querySelectorAll(selector)) {
      if (expression === null) element.removeAttribute(name);
      else element.setAttribute(name, expression);
    }
  }
}

// The names that the theme's expressions use beside their own data.
function buildPageData(...options) {
  return {
    ...window.theme(...options),
    localStorage: { getItem: (name) => localStorage.getItem(name) },
    keepSidebar: (open) => localStorage.setItem("sidebarDesktopOpen", open ? "1" : "0"),
  };
}

document.addEventListener("alpine:init", () => {
  replaceAttributes();
  Alpine.data("theme", buildPageData);
  for (const name of ["searchCommand", "searchForm"]) Alpine.data(name, window[name]);
});
