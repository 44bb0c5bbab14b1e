// Saves drafts and working copies on the server while a person writes: 5 seconds after the last key, and on leaving.
// What cannot be saved stays in this browser (saving.js).
const editor = document.querySelector(".writing");
const body = editor.querySelector("textarea");
const form = body.form;
const { autosave: address, fields } = body.dataset;
const NAMES = fields.split(" ").filter((name) => name !== "author");
const DELAY = 5000;
const format = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const line = document.createElement("p");
line.className = "writing-saved";
editor.append(line);

let timer = 0;
let isPaused = false; // while the form is being sent
let isStopped = !address || Boolean(form.elements._merged);

function normalize(text) {
  return text.replace(/\r\n?/g, "\n");
}

function readTexts() {
  return Object.fromEntries(NAMES.filter((name) => form.elements[name]).map((name) => [name, form.elements[name].value]));
}

function hasChanged() {
  const texts = Object.entries(readTexts());
  return texts.some(([name, text]) => normalize(text) !== normalize(form.elements[name].defaultValue));
}

// The form then differs from what is stored only by what was typed since.
function accept({ versions, addresses, saved_at: time }, sent) {
  for (const [name, version] of Object.entries(versions)) form.elements[name].value = version;
  for (const [name, text] of Object.entries(sent)) form.elements[name].defaultValue = text;
  for (const [name, text] of Object.entries(addresses)) {
    const element = form.elements[name];
    if (!element) continue;
    if (element.value === sent[name]) element.value = text; // a slug that follows the title
    element.defaultValue = text;
  }
  line.textContent = `Saved at ${format.format(new Date(time))}.`;
  form.dispatchEvent(new CustomEvent("autosaved"));
}

async function send() {
  const sent = readTexts();
  let response;
  try {
    response = await fetch(address, { method: "POST", body: new FormData(form), redirect: "manual" });
  } catch {
    line.textContent = "The server cannot be reached. Your text is kept in this browser.";
    return;
  }
  if (response.status === 409) {
    isStopped = true;
    line.textContent = "Somebody else has saved this post. Save, and you see both texts.";
  } else if (response.ok) {
    accept(await response.json(), sent);
  } else {
    line.textContent = "Not saved yet. Your text is kept in this browser."; // no title, or the session has ended
  }
}

function save() {
  clearTimeout(timer);
  if (isStopped || isPaused || form.autosave || !hasChanged()) return;
  form.autosave = send()
    .catch(() => {})
    .finally(() => {
      form.autosave = null;
    });
}

function schedule() {
  isPaused = false;
  clearTimeout(timer);
  timer = setTimeout(save, DELAY);
}

form.addEventListener("input", schedule);
form.addEventListener("change", schedule);
window.addEventListener(
  "submit",
  () => {
    isPaused = true;
    clearTimeout(timer);
  },
  true,
);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") save();
});
window.addEventListener("pagehide", () => {
  if (isStopped || isPaused || form.autosave || !hasChanged()) return;
  navigator.sendBeacon(address, new FormData(form)); // a text above the limit of browsers stays in this browser
});
