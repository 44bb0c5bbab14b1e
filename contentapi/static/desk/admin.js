// Shows each <time data-local> in the time zone and the form of the browser. Without this script, the page shows UTC.
document.addEventListener("DOMContentLoaded", () => {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  for (const time of document.querySelectorAll("time[data-local]")) {
    time.title = time.textContent.trim();
    time.textContent = format.format(new Date(time.dateTime));
    time.lang = format.resolvedOptions().locale;
  }
});

// Names the fields that Select2 builds, as their labels do. Select2 itself gives them no accessible name.
function nameSelectFields() {
  const fields = ".select2-selection__rendered:not([aria-label]), .select2-search--inline input:not([aria-label])";
  for (const field of document.querySelectorAll(fields)) {
    const select = field.closest(".select2-container").previousElementSibling;
    const label = select && (document.querySelector(`label[for="${select.id}"]`) || select.closest("label"));
    field.setAttribute("aria-label", label ? label.textContent.trim() : select?.name || "Choice");
  }
}

document.addEventListener("DOMContentLoaded", () => {
  nameSelectFields();
  new MutationObserver(nameSelectFields).observe(document.body, { childList: true, subtree: true });
});

// Makes links without an address, which the theme uses as buttons, work with the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll("a:not([href])")) {
    if (![...link.attributes].some((attribute) => attribute.name.startsWith("x-on:click"))) continue;
    link.setAttribute("role", "button");
    link.tabIndex = 0;
    link.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      link.click();
    });
  }
});

// Moves the focus into the sidebar that a button opens on a phone, and back to the button after it is closed.
document.addEventListener("DOMContentLoaded", () => {
  const opener = document.getElementById("sidebar-opener");
  const closer = document.getElementById("sidebar-closer");
  opener?.addEventListener("click", () => setTimeout(() => closer.focus()));
  closer?.addEventListener("click", () => setTimeout(() => opener.focus()));
});

// Leads the link that skips the navigation to the first row of a list, past the links that order it.
document.addEventListener("DOMContentLoaded", () => {
  const row = document.querySelector("#result_list tbody");
  const link = document.querySelector(".skip-link");
  if (!row || !link) return;
  row.id = "first-row";
  row.tabIndex = -1;
  link.hash = "#first-row";
});

// Leads to the first error of a form, which on a phone can be far below its first line.
document.addEventListener("DOMContentLoaded", () => {
  const fields = document.querySelector("form [aria-invalid=true], form [role=alert]");
  const first = fields || document.querySelector("#content .errornote"); // which is above all fields
  if (!first) return;
  first.scrollIntoView({ block: "center" });
  const isHidden = first.matches(".select2-hidden-accessible, [hidden], [type=hidden]");
  const target = (isHidden && first.nextElementSibling?.querySelector("input, [tabindex]")) || first;
  if (target.tabIndex < 0) target.tabIndex = -1;
  target.focus({ preventScroll: true });
});

// Lets the keyboard scroll each box that is too small for its content, such as a list on a phone.
function focusScrollers() {
  for (const box of document.querySelectorAll("main :is(div, pre, ul, nav, table)")) {
    const [isWider, isHigher] = [box.scrollWidth > box.clientWidth, box.scrollHeight > box.clientHeight];
    if (box.tabIndex >= 0 || (!isWider && !isHigher)) continue;
    const { overflowX, overflowY } = getComputedStyle(box);
    const scrolls = /auto|scroll/;
    if (!(isWider && scrolls.test(overflowX)) && !(isHigher && scrolls.test(overflowY))) continue;
    box.tabIndex = 0;
    if (box.matches("div, pre") && !box.role) box.role = "region";
    if (!box.ariaLabel && !box.hasAttribute("aria-labelledby")) box.ariaLabel = "Content that scrolls";
  }
}
addEventListener("load", focusScrollers);
addEventListener("resize", focusScrollers);

// Writes what people have typed from the side of its script: Hebrew and Arabic from right to left.
document.addEventListener("DOMContentLoaded", () => {
  const texts = "#result_list tbody :is(th, td), .readonly, .page-title, .history :is(th, td), main li > a";
  for (const text of document.querySelectorAll(texts)) text.dir ||= "auto";
});
