// Images in the text of a post: dropped, pasted or chosen. While an image is sent, a mark holds its place in the text,
// and the person goes on writing. The mark is an image without a number, which readers see as its text.
const { images } = window;
const editor = document.querySelector(".writing");
const field = editor.querySelector("textarea");
const { form } = field;
const list = editor.querySelector(".writing-uploads");
const note = editor.querySelector(".writing-without-text");
const button = editor.querySelector(".writing-image");
const PLACE = /!\[((?:[^\]\\]|\\.)*)\]\(image:(\d+)/g;
const DELAY = 800;

let number = 0;
let isReplacing = false;
let timer = 0;
let known = new Map(); // images by their ids, for their texts
const described = new Map(); // by the ids of images: the rows for their texts, and null for an upload of this page

function escapeText(text) {
  return text.replace(/\s+/g, " ").replace(/[[\]\\]/g, "\\$&");
}

function buildPlace(id, text) {
  return `![${escapeText(text)}](image:${id})`;
}

// Whether the person types in a field that would notice if it lost the focus for a moment.
function isTypingElsewhere() {
  const { activeElement: active } = document;
  return active !== field && !list.contains(active) && active.matches("input, textarea, select");
}

// Replaces a part of the text as keys do, so that it can be undone. The cursor stays at its place.
function replaceText(start, end, text) {
  const { activeElement: active } = document;
  const move = (place) => {
    if (place <= start) return place;
    return place >= end ? place + text.length - (end - start) : start + text.length;
  };
  const [from, to] = [field.selectionStart, field.selectionEnd].map(move);
  isReplacing = true;
  let isDone = false;
  if (!isTypingElsewhere()) {
    const { scrollTop } = field;
    field.focus({ preventScroll: true });
    field.setSelectionRange(start, end);
    isDone = document.execCommand(text ? "insertText" : "delete", false, text);
    field.scrollTop = scrollTop;
  }
  if (!isDone) {
    field.setRangeText(text, start, end, "preserve");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  field.setSelectionRange(from, to);
  if (active !== field) active.focus({ preventScroll: true });
  isReplacing = false;
}

// Inserts paragraphs at the cursor, or instead of the selected text.
function insert(places, start = field.selectionStart, end = field.selectionEnd) {
  const [before, after] = [field.value.slice(0, start), field.value.slice(end)];
  const lead = before === "" || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
  const tail = after === "" || after.startsWith("\n") ? "" : "\n\n";
  const text = lead + places.join("\n\n") + tail;
  replaceText(start, end, text);
  field.setSelectionRange(start + text.length, start + text.length);
}

function showPlace(row) {
  if (isReplacing || !row.place) return; // the field of the row has lost the focus for a moment
  if (row.isRefused) {
    removePlace(row);
    return;
  }
  const start = field.value.indexOf(row.place);
  if (start < 0) return; // the person has deleted it
  if (row.image) {
    known.set(row.image.id, row.image);
    described.set(row.image.id, null);
  }
  const place = row.image ? buildPlace(row.image.id, row.alt) : row.place;
  if (place !== row.place) replaceText(start, start + row.place.length, place);
  row.place = place;
  scheduleCheck();
}

function removePlace(row) {
  const start = row.place ? field.value.indexOf(row.place) : -1;
  if (start >= 0) replaceText(start, start + row.place.length, "");
}

// The server saves no mark: MARK in blog/desk/posts/fields.py.
function buildMark(file) {
  if (images.findProblem(file)) return "";
  number += 1;
  return buildPlace(0, `Uploading ${file.name.replace(/[[\]()\\!`*_<>]/g, " ")}, ${number}`);
}

function upload(files, start, end) {
  const places = [...files].map(buildMark);
  if (places.some(Boolean)) insert(places.filter(Boolean), start, end);
  for (const [index, file] of [...files].entries()) {
    const row = images.add(file, list, { change: showPlace, cancel: removePlace, end: () => field.focus() });
    row.place = places[index];
  }
}

// Ways to the text

field.addEventListener("paste", (event) => {
  const { clipboardData: data } = event;
  // A spreadsheet copies a picture of its cells beside their text: the text is meant.
  if (data.types.includes("text/plain") || !data.files.length) return;
  event.preventDefault();
  upload(data.files);
});

function hasFiles(event) {
  return event.dataTransfer?.types.includes("Files");
}

// Returns the place of the text under the pointer, or that of the cursor.
function findPlace({ clientX, clientY }) {
  const found = document.caretPositionFromPoint?.(clientX, clientY);
  return found?.offsetNode === field ? found.offset : field.selectionStart;
}

window.addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault(); // a browser would leave the page and open the file
  editor.classList.add("is-target");
});
window.addEventListener("dragleave", () => editor.classList.remove("is-target"));
window.addEventListener("drop", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  editor.classList.remove("is-target");
  const place = findPlace(event);
  upload(event.dataTransfer.files, place, place);
  list.lastElementChild?.scrollIntoView({ block: "nearest" }); // a file may be dropped far from the text
});

button.hidden = false;
button.addEventListener("click", async () => {
  const { selectionStart: start, selectionEnd: end } = field;
  const found = await images.choose("Insert an image", { isMultiple: true });
  field.focus();
  if (found?.files) upload(found.files, start, end);
  if (found?.image) insert([buildPlace(found.image.id, found.image.alt)], start, end);
});

// Images without a text, and marks of images that were not uploaded

function listPlaces() {
  const found = [...field.value.matchAll(PLACE)].map(([, text, id]) => ({ id, text }));
  const { cover_id: cover, cover_alt: alt } = form.elements;
  return cover?.value ? [...found, { id: cover.value, text: alt?.value || "" }] : found;
}

// Writes the text of an image in its places that have none.
function writeText(id, text) {
  const places = [...field.value.matchAll(new RegExp(`!\\[\\s*\\]\\(image:${id}(?!\\d)`, "g"))];
  for (const { 0: place, index } of places.reverse()) {
    replaceText(index, index + place.length, buildPlace(id, text).slice(0, -1));
  }
}

// Shows a row for the text of each image without one, also of those that were saved before.
function showRows(ids) {
  for (const [id, row] of described) {
    if (!row || ids.includes(id) || row.contains(document.activeElement)) continue;
    row.remove();
    described.delete(id);
  }
  for (const id of ids.filter((each) => !described.has(each))) {
    described.set(id, images.addText(known.get(id), list, (text) => writeText(id, text)));
  }
}

let isWaiting = false; // whether the form is sent when its uploads have ended

function showNote() {
  const lines = isWaiting ? ["The form is saved when all images are uploaded."] : form.imageProblems;
  note.hidden = !lines.length;
  note.textContent = lines.join(" ");
}

async function check() {
  const bare = [...new Set(listPlaces().filter(({ id, text }) => id !== "0" && !text.trim()).map(({ id }) => id))];
  const unknown = bare.filter((id) => !known.has(id));
  if (unknown.length) {
    for (const image of await images.describe(unknown).catch(() => [])) known.set(image.id, image);
  }
  const without = bare.filter((id) => known.has(id) && !known.get(id).alt);
  const names = without.map((id) => known.get(id).name);
  showRows(without.filter((id) => id !== form.elements.cover_id?.value));
  const marks = images.pending.size ? [] : listPlaces().filter(({ id }) => id === "0");
  const lost = marks.map(({ text }) => text.replace(/^Uploading |, \d+$/g, ""));
  form.imageProblems = []; // publishing.js names them too, before the post becomes public
  if (names.length) form.imageProblems.push(`No text for people who do not see it: ${names.join(", ")}.`);
  if (lost.length) form.imageProblems.push(`Not uploaded: ${lost.join(", ")}. The text is saved without the mark.`);
  showNote();
}

function scheduleCheck() {
  clearTimeout(timer);
  timer = setTimeout(check, DELAY);
}

form.addEventListener("input", scheduleCheck);
form.addEventListener("change", scheduleCheck);
window.addEventListener("focus", () => { known = new Map(); }); // another tab may have changed a text
check();

// Before the form is sent

// Buttons that make a text public, apart from those that ask in any case (asking.js).
const PUBLISHING = ["publish_changes", "schedule_changes", "schedule"];

function isPublishing(submitter) {
  return submitter?.name === "_act" && PUBLISHING.includes(submitter.value);
}

// Asks whether the text becomes public in spite of problems with images. Returns whether the person wants that.
function ask(problems, label) {
  const { build } = images;
  const confirm = build("button", { type: "button", className: "desk-button", textContent: label });
  const cancel = build("button", { type: "button", className: "question-cancel", textContent: "Cancel" });
  const dialog = build(
    "dialog",
    { className: "question" },
    build("h2", { textContent: "Images" }),
    ...problems.map((problem) => build("p", { className: "alarm", textContent: problem })),
    build("p", { className: "question-buttons" }, confirm, cancel),
  );
  dialog.setAttribute("aria-label", "Images");
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    confirm.addEventListener("click", () => dialog.close("yes"));
    cancel.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}

let isConfirmed = false;

// Waits until all uploads have ended: leaving the page would cancel them.
form.addEventListener(
  "submit",
  async (event) => {
    const { submitter } = event;
    const problems = isPublishing(submitter) && !isConfirmed ? form.imageProblems || [] : [];
    isConfirmed = false;
    if (!images.pending.size && !problems.length) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (images.pending.size) {
      isWaiting = true;
      showNote();
      await Promise.allSettled(images.pending);
      isWaiting = false;
      await check();
      form.requestSubmit(submitter);
    } else if (await ask(problems, submitter.textContent.trim())) {
      isConfirmed = true;
      form.requestSubmit(submitter);
    }
  },
  true,
);
