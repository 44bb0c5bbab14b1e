// Loses no text: keeps unsaved text in the browser, offers it again, and checks the session before a form is sent.
// autosave.js uses `form.saving`.
const editor = document.querySelector(".writing");
const body = editor.querySelector("textarea");
const form = body.form;
const texts = window.keptTexts;
const continued = form.elements.kept_text?.value; // the page of a conflict has the text of the form that was sent
const NAMES = body.dataset.fields.split(" ");
const DELAY = 400;
const PATIENCE = 10000; // milliseconds to wait for the server

let id = "";
let [sending, checking] = [false, false];
let timer = 0;

// Notices are shown above the form.

const notices = document.createElement("div");
notices.className = "writing-notices";
notices.setAttribute("role", "status");
form.prepend(notices);

function addNotice(message, kind, ...actions) {
  const notice = document.createElement("div");
  notice.className = `writing-notice ${kind}`;
  const text = document.createElement("p");
  text.textContent = message;
  notice.append(text, ...actions);
  notices.append(notice);
  return notice;
}

function buildButton(label, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  button.addEventListener("click", act);
  return button;
}

function buildLogin() {
  const properties = { href: editor.dataset.login, target: "_blank", textContent: "Log in in a new tab" };
  return Object.assign(document.createElement("a"), properties);
}

function showProblem(message, ...actions) {
  notices.querySelector(".problem")?.remove();
  if (!message) return;
  addNotice(message, "problem", ...actions).scrollIntoView({ block: "nearest" });
}

// The values of the form

function normalize(text) {
  return text.replace(/\r\n?/g, "\n");
}

function getStored(element) {
  if (element.options) return [...element.options].find((option) => option.defaultSelected)?.value || "";
  return element.defaultValue;
}

function setStored(name, value) {
  const element = form.elements[name];
  if (!element) return;
  if (element.options) for (const option of element.options) option.defaultSelected = option.value === value;
  else if (element.defaultValue !== value) element.defaultValue = value;
}

function readValues() {
  const values = {};
  for (const name of NAMES) {
    const element = form.elements[name];
    if (!element) continue;
    values[name] = element.value;
    if (element.options) values[`${name}Label`] = element.selectedOptions[0]?.textContent.trim() || "";
  }
  return values;
}

function writeValues(values) {
  for (const name of NAMES) {
    const element = form.elements[name];
    if (!element || typeof values[name] !== "string") continue;
    const isKnown = !element.options || [...element.options].some(({ value }) => value === values[name]);
    if (!isKnown) element.add(new Option(values[`${name}Label`], values[name]));
    element.value = values[name];
    element.tomselect?.sync();
    element.dispatchEvent(new Event("input", { bubbles: true }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

function isEqual(values, others) {
  return NAMES.every((name) => normalize(values[name] || "") === normalize(others[name] || ""));
}

function hasChanged() {
  if ("unsaved" in body.dataset) return true;
  return NAMES.some((name) => {
    const element = form.elements[name];
    return element && normalize(element.value) !== normalize(getStored(element));
  });
}

// Keeping

// Names the kept text of this tab: other tabs do not offer it while this one holds the lock.
function nameText(name) {
  id = name;
  if (!form.elements.kept_text) addHidden("kept_text", id);
  form.elements.kept_text.value = id;
  navigator.locks?.request(id, () => new Promise(() => {}));
}

function keep() {
  clearTimeout(timer);
  if (sending) return;
  try {
    if (!hasChanged()) {
      if (!continued) texts.remove(id);
      return;
    }
    const isKept = texts.keep(id, body.dataset.version, readValues());
    const full = "The text is not kept in this browser: its storage is full. Save often.";
    if (!isKept && !notices.querySelector(".full")) addNotice(full, "full");
    if (isKept) notices.querySelector(".full")?.remove();
  } catch {
    // The browser forbids storage. Leaving the page still asks for confirmation.
  }
}

function schedule() {
  clearTimeout(timer);
  timer = setTimeout(keep, DELAY);
}

form.addEventListener("input", schedule);
form.addEventListener("change", schedule);
window.addEventListener("pagehide", keep);
document.addEventListener("visibilitychange", keep);
window.addEventListener("beforeunload", (event) => {
  if (!sending && hasChanged()) event.preventDefault();
});
window.addEventListener("pageshow", (event) => {
  if (event.persisted) sending = false;
});

// Offering

const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function restore(text) {
  const present = readValues();
  const isWorthKeeping = hasChanged() && !isEqual(present, text.values);
  texts.remove(id);
  nameText(text.id); // under this name, a new text may be a draft already
  writeValues(text.values);
  keep();
  if (!isWorthKeeping) return;
  const { post, version } = body.dataset;
  const replaced = { id: texts.buildId(post), time: Date.now(), version, values: present };
  texts.keep(replaced.id, version, present);
  offer(replaced);
}

function offer(text) {
  const changed = String(text.version) !== body.dataset.version;
  const note = changed ? " The post has been changed since then: look at its history before you save." : "";
  const title = text.values.title?.trim() || "Without a title";
  const message = `This browser has kept “${title}”, a text of ${format.format(text.time)} that was not saved.${note}`;
  const close = (act) => () => {
    notice.remove();
    act();
  };
  const notice = addNotice(
    message,
    "offer",
    buildButton("Restore my text", close(() => restore(text))),
    buildButton("Discard", close(() => texts.remove(text.id))),
  );
}

// Returns the ids of the texts that other tabs are writing: each tab has a lock with the id of its text.
async function listOpenTexts() {
  if (!navigator.locks) return new Set();
  const { held } = await navigator.locks.query();
  return new Set(held.map(({ name }) => name));
}

async function offerTexts() {
  const open = await listOpenTexts();
  const others = texts.list(body.dataset.post).filter((text) => text.id !== id && !open.has(text.id));
  const present = readValues();
  for (const text of others) {
    if (isEqual(text.values, present)) texts.remove(text.id);
    else offer(text);
  }
  keep();
}

nameText(continued || texts.buildId(body.dataset.post));
// The page of a conflict shows the text in its merge: a text that is restored there would destroy the merge.
if (!continued) offerTexts().catch(() => {});

// Sending

// Returns the number of characters above the limit, or 0. The server counts characters, `length` counts code units.
function countExcess() {
  const limit = Number(body.dataset.maxLength);
  return body.value.length > limit ? Math.max([...normalize(body.value)].length - limit, 0) : 0;
}

// Returns what prevents the server from saving the form; nothing if it can.
async function findObstacle() {
  const excess = countExcess();
  if (excess) {
    // A request that is too large would be refused with another page, and the text would be lost.
    const number = excess.toLocaleString("en");
    return [`The text has ${number} characters too many. Nothing is saved yet. Shorten it, then save again.`];
  }
  let response;
  try {
    const signal = AbortSignal.timeout(PATIENCE);
    response = await fetch(editor.dataset.session, { redirect: "manual", cache: "no-store", signal });
  } catch {
    return ["The server cannot be reached. Nothing is saved yet; your text is kept in this browser."];
  }
  if (response.type === "opaqueredirect") {
    const message = "Your session has ended. Nothing is saved yet; your text is kept. Log in, then save here again.";
    return [message, buildLogin()];
  }
  if (!response.ok) {
    return [`The server cannot save at present. Nothing is saved yet; your text is kept.`];
  }
  const session = await response.json();
  if (session.user !== texts.user) {
    const message = "Another user has logged in in this browser. Log in with your own account, then save here again.";
    return [message, buildLogin()];
  }
  form.elements.csrfmiddlewaretoken.value = session.token;
  return null;
}

function addHidden(name, value) {
  const input = document.createElement("input");
  Object.assign(input, { type: "hidden", name, value });
  form.append(input);
}

function send(submitter) {
  sending = true;
  if (submitter?.name) addHidden(submitter.name, submitter.value);
  if (submitter?.hasAttribute("formaction")) form.action = submitter.formAction;
  form.enctype = "multipart/form-data"; // shorter than the default for text that is not ASCII
  HTMLFormElement.prototype.submit.call(form); // sends no second event to the listeners of the page
}

// On the document: the listeners of the form come first, and may have refused.
document.addEventListener("submit", async (event) => {
  if (event.target !== form || event.defaultPrevented || event.submitter?.formMethod === "get") return;
  event.preventDefault();
  if (checking || sending) return;
  checking = true;
  keep();
  showProblem("");
  while (form.autosave) await form.autosave; // its response has the version that this form is sent with
  const obstacle = await findObstacle().catch(() => null);
  checking = false;
  if (obstacle) showProblem(...obstacle);
  else send(event.submitter);
});

form.saving = {
  NAMES,
  buildLogin,
  findObstacle,
  getStored,
  hasChanged,
  isBusy: () => checking || sending,
  normalize,
  setStored,
  // Keeps what was typed since a save; as the text of the post, if the save has created it.
  finish() {
    delete body.dataset.unsaved;
    if (!texts.isOf(id, body.dataset.post)) {
      texts.remove(id);
      nameText(texts.buildId(body.dataset.post));
    }
    keep();
  },
};
