// The preview follows the cursor of the text, and the text follows a click and the scrolling in the preview.
// Each block of the preview has the place in the text that it comes from: `data-sourcepos="5:1-6:12"` for the lines 5
// and 6. Here the first line is 0.
const editor = document.querySelector(".writing");
const field = editor.querySelector("textarea");
const pane = editor.querySelector(".writing-preview");
const frame = pane.querySelector("iframe");
const COPIED = [
  "boxSizing", "width", "fontFamily", "fontSize", "fontStyle", "fontWeight", "letterSpacing", "lineHeight", "tabSize", "textIndent", "wordSpacing",
  "paddingTop", "paddingRight", "paddingBottom", "paddingLeft",
  "borderTopWidth", "borderRightWidth", "borderBottomWidth", "borderLeftWidth",
];
const STILL = 2; // pixels: a smaller difference is the rounding of the browser

let isWaiting = true; // for the content of a preview that has just been opened
let place = null; // where this script has scrolled the preview
let timer = 0;

// The text

function findLine(position) {
  return field.value.slice(0, position).split("\n").length - 1;
}

function findPosition(line) {
  const before = field.value.split("\n").slice(0, line);
  return Math.min(before.reduce((length, text) => length + text.length + 1, 0), field.value.length);
}

// Returns the distance of a position from the top of the field. A copy of the text has the same lines.
function measure(position) {
  const copy = document.createElement("div");
  const style = getComputedStyle(field);
  for (const name of COPIED) copy.style[name] = style[name];
  Object.assign(copy.style, {
    position: "absolute", visibility: "hidden", whiteSpace: "pre-wrap", overflowWrap: "break-word", borderStyle: "solid",
  });
  const mark = document.createElement("span");
  mark.textContent = "\u200b";
  copy.append(field.value.slice(0, position), mark);
  document.body.append(copy);
  const top = mark.offsetTop;
  copy.remove();
  return top - field.scrollTop;
}

// Returns the distance of a position from the top of the window.
function locate(position) {
  return field.getBoundingClientRect().top + measure(position);
}

// The preview

function listBlocks() {
  const blocks = [];
  for (const element of frame.contentDocument?.querySelectorAll("article [data-sourcepos]") || []) {
    const [start, , end] = element.dataset.sourcepos.split(/[:-]/).map(Number);
    const first = start - 1;
    const { top, height } = element.getBoundingClientRect();
    if (first >= 0 && end > first) blocks.push({ first, end, top, height });
  }
  return blocks;
}

// Returns the distance of a line from the top of the frame: in the last block that begins at it or before it, which is
// the innermost one. Returns null without such a block.
function findTop(line) {
  const block = listBlocks().filter(({ first }) => first <= line).pop();
  if (!block) return null;
  return block.top + block.height * Math.min((line - block.first) / (block.end - block.first), 1);
}

// Returns the line that is at a distance from the top of the frame.
function findLineAt(top) {
  const block = listBlocks().filter((each) => each.top <= top).pop();
  if (!block) return 0;
  const part = block.height ? Math.min((top - block.top) / block.height, 1) : 0;
  return Math.min(block.first + Math.floor(part * (block.end - block.first)), block.end - 1);
}

// Scrolls the preview, unless it shows the line of the cursor, until that line is beside the cursor.
function followCursor() {
  const view = frame.contentWindow;
  if (pane.hidden || !view) return;
  const top = findTop(findLine(field.selectionEnd));
  if (top === null) return;
  const last = view.innerHeight - Math.min(48, view.innerHeight / 4);
  if (top >= 0 && top <= last) return;
  const isBeside = field.offsetParent !== null;
  const wanted = isBeside ? locate(field.selectionEnd) - frame.getBoundingClientRect().top : last / 3;
  view.scrollBy({ top: top - Math.min(Math.max(wanted, 0), last), behavior: "instant" });
  place = view.scrollY;
}

function schedule() {
  cancelAnimationFrame(timer);
  timer = requestAnimationFrame(() => {
    if (document.activeElement === field) followCursor();
  });
}

// Scrolls the page until a position of the text is at a distance from the top of the window.
function scrollText(position, wanted) {
  window.scrollBy({ top: locate(position) - wanted, behavior: "instant" });
}

function followScrolling() {
  const view = frame.contentWindow;
  if (place !== null && Math.abs(view.scrollY - place) < STILL) return;
  place = null;
  const isByPerson = pane.matches(":hover") || document.activeElement === frame; // not by a change of the content
  if (field.offsetParent === null || !isByPerson) return;
  scrollText(findPosition(findLineAt(0)), parseFloat(getComputedStyle(pane).top) || 0);
}

function followClick(event) {
  if (event.target.closest("a, summary") || !frame.contentDocument.getSelection().isCollapsed) return;
  const position = findPosition(findLineAt(event.clientY));
  field.setSelectionRange(position, position);
  if (field.offsetParent === null) return; // the page shows the text later
  scrollText(position, frame.getBoundingClientRect().top + event.clientY);
  field.focus({ preventScroll: true });
}

function attach() {
  frame.contentDocument.addEventListener("click", followClick);
  frame.contentDocument.addEventListener("scroll", followScrolling);
  followContent();
}

function followContent() {
  if (isWaiting || document.activeElement === field) followCursor();
  if (listBlocks().length) isWaiting = false;
}

frame.addEventListener("load", attach);
frame.addEventListener("shown", followContent);
document.addEventListener("selectionchange", schedule);
for (const name of ["input", "keyup", "click", "select", "focus"]) field.addEventListener(name, schedule);
// From the preview to the text, on a narrow page: to the place of the last click.
new MutationObserver((changes) => {
  isWaiting = true;
  followCursor();
  const wasHidden = changes.some(({ oldValue }) => oldValue === "preview");
  if (wasHidden && field.offsetParent !== null) scrollText(field.selectionEnd, window.innerHeight / 3);
}).observe(editor, { attributeFilter: ["data-view"], attributeOldValue: true });
