// Saves the form in the background: new posts, drafts and working copies 5 seconds after the last key, on leaving and on
// logging out, and every post at Ctrl+S. What cannot be saved stays in this browser (saving.js), and is tried again.
const editor = document.querySelector(".writing");
const body = editor.querySelector("textarea");
const { form } = body;
const { saving } = form;
const isAutomatic = "autosave" in body.dataset;
const DELAY = 5000;
const MOST_DELAY = 60000;
const PATIENCE = 60000; // milliseconds to wait for the server
const FOR_THE_PERSON = [400, 404, 409, 413, 422]; // statuses of problems that do not go away by themselves
const format = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const line = document.createElement("p");
line.className = "writing-saved";
line.setAttribute("role", "status");
editor.append(line);

let address = form.elements._merged ? "" : body.dataset.autosave || body.dataset.save; // a merge is saved by its button
let timer = 0;
let delay = DELAY;
let waiting = null; // a save by hand, for the end of the running one
let isStopped = false;
let isLeaving = false;

// The author of a post changes by hand only.
function readTexts(isByHand) {
  const names = saving.NAMES.filter((name) => form.elements[name] && (isByHand || name !== "author"));
  return Object.fromEntries(names.map((name) => [name, form.elements[name].value]));
}

// Whether there is something to save: of a new post, a title or a text.
function hasText() {
  if (body.dataset.post === "new" && !`${form.elements.title.value}${body.value}`.trim()) return false;
  if ("unsaved" in body.dataset) return true;
  const texts = Object.entries(readTexts(false));
  return texts.some(([name, text]) => saving.normalize(text) !== saving.normalize(saving.getStored(form.elements[name])));
}

function buildData(name) {
  const data = new FormData(form);
  if (name) data.set(name, "yes");
  return data;
}

function post(isByHand) {
  const signal = AbortSignal.timeout(PATIENCE);
  const options = { method: "POST", body: buildData(isByHand && "by_hand"), redirect: "manual", signal };
  return fetch(address, options).catch(() => null);
}

// Shows what the page of a stored post has more: its status, with links, and its preview links.
async function showMore(change) {
  const response = await fetch(change);
  const next = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const selector of [".post-state-line", "#preview-links"]) {
    const found = next.querySelector(selector);
    if (found) document.querySelector(selector)?.replaceWith(document.adoptNode(found));
  }
}

// From now on the page is that of the new draft.
function become({ id, autosave, change }) {
  history.replaceState(null, "", change);
  form.action = change;
  body.dataset.post = id;
  address = autosave;
  showMore(change).catch(() => {}); // a reload shows it
  form.elements.title.addEventListener("focus", () => form.elements.title.select(), { once: true });
}

// The form then differs from what is stored only by what was typed since.
function accept({ post: created, versions, addresses, saved_at: time }, sent) {
  if (created) become(created);
  for (const [name, version] of Object.entries(versions)) form.elements[name].value = version;
  body.dataset.version = Number(versions.opened_copy) || versions.opened_version;
  for (const [name, text] of Object.entries(sent)) saving.setStored(name, text);
  for (const [name, text] of Object.entries(addresses)) {
    const element = form.elements[name];
    if (!element) continue;
    // A slug that follows the title, or the title of a text without one. The person may go on typing there.
    if (element.value === sent[name] && element === document.activeElement) continue;
    if (element.value === sent[name]) element.value = text;
    saving.setStored(name, text);
  }
  line.replaceChildren(`Saved at ${format.format(new Date(time))}.`);
  delay = DELAY;
  saving.finish();
}

// Says why nothing was saved. What may go away by itself is tried again.
function refuse(status, message, ...actions) {
  const isTried = !FOR_THE_PERSON.includes(status) && isAutomatic;
  line.replaceChildren(isTried ? `${message} The desk tries again by itself. ` : `${message} `, ...actions);
  if (!isTried) return;
  schedule(delay);
  delay = Math.min(2 * delay, MOST_DELAY);
}

async function explain(response) {
  const answer = await response.json().catch(() => ({}));
  if (answer.isConflict || response.status === 404) {
    isStopped = true;
    const event = answer.isConflict ? "Somebody else has saved this post." : "This post does not exist any more.";
    refuse(response.status, `Not saved: ${event} Press “Save”, and you see what you can do.`);
  } else if (response.status === 403) {
    refuse(403, "Not saved: the server does not let you change this post. Log in again.", saving.buildLogin());
  } else {
    const reason = answer.problem || `The server cannot save at present.`;
    refuse(response.status, `Not saved yet. ${reason} Your text is kept in this browser.`);
  }
}

// Saves the form. Returns whether it is saved.
async function send(isByHand) {
  for (const isLast of [false, true]) {
    const sent = readTexts(isByHand);
    const response = await post(isByHand);
    if (response?.ok) {
      accept(await response.json(), sent);
      return true;
    }
    const isAnswer = FOR_THE_PERSON.includes(response?.status) && response.headers.get("Content-Type")?.includes("json");
    // The token of the form may be old. Its check brings a new one.
    const obstacle = isAnswer ? null : await saving.findObstacle();
    if (obstacle) refuse(0, ...obstacle);
    else if (!response) refuse(0, "The server does not answer. Your text is kept in this browser.");
    else if (isAnswer || isLast) await explain(response);
    if (obstacle || isAnswer || !response) return false;
  }
  return false;
}

// Saves when the running save has ended. Returns whether the form is saved.
async function save(isByHand) {
  clearTimeout(timer);
  while (form.autosave) await form.autosave;
  form.autosave = send(isByHand).catch(() => false);
  const isSaved = await form.autosave;
  form.autosave = null;
  if (isSaved && isAutomatic && hasText()) schedule(DELAY); // typed while the form was being saved
  return isSaved;
}

function saveByItself() {
  if (isStopped || isLeaving || !isAutomatic || !address || !hasText()) return;
  if (form.autosave || saving.isBusy()) schedule(DELAY);
  else save(false);
}

function schedule(time) {
  clearTimeout(timer);
  timer = setTimeout(saveByItself, time);
}

for (const type of ["input", "change"]) form.addEventListener(type, () => schedule(DELAY));
document.addEventListener("visibilitychange", saveByItself); // on coming back, too: the person may have logged in
window.addEventListener("online", saveByItself);
window.addEventListener("pagehide", () => {
  isLeaving = true;
  if (isStopped || !isAutomatic || !address || form.autosave || saving.isBusy() || !hasText()) return;
  navigator.sendBeacon(address, buildData("leaving")); // a text above the limit of browsers stays in this browser
});
window.addEventListener("pageshow", () => { isLeaving = false; });
document.addEventListener("submit", async (event) => {
  if (event.target.id !== "logout-form" || isStopped || !isAutomatic || !address || !hasText()) return;
  event.preventDefault();
  await save(false);
  HTMLFormElement.prototype.submit.call(event.target); // asks first if the text could not be saved
});

// Ctrl+S saves what the button “Save” does, and stays.

async function saveByHand() {
  await form.autosave;
  waiting = null;
  return save(true);
}

form.saving.save = () => {
  waiting ||= saveByHand();
  return waiting;
};

const { _continue: button = form.elements._save } = form.elements;

document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== "s") return;
  event.preventDefault(); // the browser would save the page
  const { activeElement: active } = document;
  if (active.closest(".ts-control")) { // a tag that is being typed becomes a tag
    active.blur();
    active.focus();
  }
  if (!address || isStopped) form.requestSubmit(button);
  else if (!saving.isBusy()) saving.save();
});
button.title = "Ctrl+S";
