// The editor of a text: keys for the buttons of the toolbar, lists that Enter continues, the number of words, and fields
// that grow with their text.
const editor = document.querySelector(".writing");
const field = editor.querySelector("textarea");
const toolbar = editor.querySelector("markdown-toolbar");
const count = editor.querySelector(".writing-count");
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
const buttons = new Map([...toolbar.querySelectorAll("[data-key]")].map((button) => [button.dataset.key, button]));

function describeKey(key) {
  return (isMac ? "⌘+" : "Ctrl+") + key.replace("shift+", "Shift+").replace(/.$/, (letter) => letter.toUpperCase());
}

for (const [key, button] of buttons) {
  button.title = `${button.title} (${describeKey(key)})`;
  button.setAttribute("aria-keyshortcuts", describeKey(key).replace("⌘", "Meta").replace("Ctrl", "Control"));
}

field.addEventListener("keydown", (event) => {
  if (!(isMac ? event.metaKey : event.ctrlKey) || event.altKey) return;
  // With Shift, a key has the character of its layout: the code names the key itself.
  const key = event.shiftKey ? event.code.replace(/^Digit|^Key/, "").replace("Period", ".").toLowerCase() : event.key;
  const button = buttons.get((event.shiftKey ? "shift+" : "") + key);
  if (!button) return;
  event.preventDefault();
  button.click();
});

// Lists: Enter begins the next item, and ends the list in an empty one.

const ITEM = /^(?<indent>[\s>]*)(?<mark>[-*+]|(?<number>\d{1,9})(?<end>[.)]))(?<space>[ \t]+)(?<task>\[[ xX]\][ \t]+)?/;
const FENCE = /^ {0,3}(?:```|~~~)/gm;

field.addEventListener("keydown", (event) => {
  const hasModifier = event.shiftKey || event.ctrlKey || event.metaKey || event.altKey;
  if (event.key !== "Enter" || hasModifier || event.isComposing) return;
  const { value, selectionStart: start, selectionEnd: end } = field;
  const lineStart = value.lastIndexOf("\n", start - 1) + 1;
  const before = value.slice(lineStart, start);
  const item = ITEM.exec(before);
  const isCode = (value.slice(0, lineStart).match(FENCE) || []).length % 2 === 1;
  if (!item || isCode) return;
  event.preventDefault();
  const rest = value.slice(end).split("\n", 1)[0];
  if (before.length === item[0].length && !rest.trim()) {
    field.setSelectionRange(lineStart, end);
    document.execCommand("delete"); // as a key does it: it can be undone
    return;
  }
  const { indent, mark, number, end: dot, space, task } = item.groups;
  const next = number === undefined ? mark : `${Number(number) + 1}${dot}`;
  document.execCommand("insertText", false, `\n${indent}${next}${space}${task ? "[ ] " : ""}`);
});

// Words

const segmenter = "Segmenter" in Intl ? new Intl.Segmenter(undefined, { granularity: "word" }) : null;
const numbers = new Intl.NumberFormat("en");
const WORDS_IN_A_MINUTE = 230;
const LONG_PARAGRAPH = 20000; // characters

function countWords(text) {
  if (!segmenter) return (text.match(/\S+/g) || []).length;
  let words = 0;
  for (const segment of segmenter.segment(text)) if (segment.isWordLike) words += 1;
  return words;
}

function showCount() {
  const text = field.value;
  const words = countWords(text);
  const minutes = Math.max(1, Math.round(words / WORDS_IN_A_MINUTE));
  const parts = [`${numbers.format(words)} ${words === 1 ? "word" : "words"}`];
  parts.push(`${numbers.format([...text].length)} characters`);
  if (words) parts.push(`${minutes} min to read`);
  count.textContent = parts.join(" · ");
  // Chromium looks for the direction of each line in the rest of its paragraph. In a long one, a key would take a second.
  field.classList.toggle("is-long", text.split("\n").some(({ length }) => length > LONG_PARAGRAPH));
}

let counting = 0;
field.addEventListener("input", () => {
  clearTimeout(counting);
  counting = setTimeout(showCount, 400);
});
count.hidden = false;
showCount();

// Growing: browsers without `field-sizing` need the height as a number.

function grow(area) {
  const { scrollX, scrollY } = window;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
  window.scrollTo(scrollX, scrollY);
}

const growing = [...document.querySelectorAll("textarea.grows")];
if (!CSS.supports("field-sizing", "content")) {
  for (const area of growing) {
    area.addEventListener("input", () => grow(area));
    new ResizeObserver(() => grow(area)).observe(area.parentElement);
    grow(area);
  }
}

// The title is one line.

const title = document.querySelector("#id_title");
title?.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.isComposing) event.preventDefault();
});
title?.addEventListener("input", () => {
  if (!/[\r\n]/.test(title.value)) return;
  const position = title.selectionStart;
  title.value = title.value.replace(/[\r\n]/g, " ");
  title.setSelectionRange(position, position);
});
