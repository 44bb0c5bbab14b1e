// Images in the desk: uploads with their progress and their text, the dialog that chooses an image, and its crops.
// The other scripts of images use `window.images`.
const tools = document.querySelector("[data-images]");
const { images: root, imageTypes: types, imageLimit } = tools.dataset;
const LIMIT = Number(imageLimit);
const CROPS = { Square: "1 / 1", Wide: "16 / 9", Tall: "4 / 5" };
const POLL = 1500;
const PAUSE = 5000; // before a file is sent again that the server could not take yet
const BUSY = [429, 503];
const UNREACHABLE = "The server cannot be reached.";
const ENDED = "Your session has ended. Log in again in another tab.";
const megabytes = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const pending = new Set(); // the uploads that run, as promises that never fail
const turns = Array(2).fill(Promise.resolve()); // files are sent two at a time: a person may send no more

function build(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function getToken() {
  return document.querySelector("[name=csrfmiddlewaretoken]").value;
}

// A login in another tab has made the token of this page useless.
async function renewToken() {
  const address = document.querySelector("[data-session]")?.dataset.session;
  if (!address) return;
  const response = await fetch(address, { redirect: "manual", cache: "no-store" }).catch(() => null);
  if (!response?.ok) return;
  const { token } = await response.json();
  for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token;
}

function listImages(files) {
  return [...files].filter(({ type }) => type.startsWith("image/"));
}

async function describe(ids) {
  const response = await fetch(`${root}describe/?ids=${ids.join(",")}`, { redirect: "manual" });
  return response.ok ? (await response.json()).images : [];
}

// Returns the image when the worker has processed it; nothing if it is deleted or the server does not answer.
async function waitUntilProcessed(id) {
  for (;;) {
    const [image] = await describe([id]).catch(() => []);
    if (!image?.isWaiting) return image;
    await new Promise((resolve) => { setTimeout(resolve, POLL); });
  }
}

async function saveAlt(id, alt) {
  const body = new URLSearchParams({ alt });
  const headers = { "X-CSRFToken": getToken(), Accept: "application/json" };
  const response = await fetch(`${root}${id}/alt/`, { method: "POST", body, headers, redirect: "manual" });
  return response.ok;
}

function explain(request, answer) {
  if (answer.problem) return answer.problem;
  if (request.responseURL.includes("/login/")) return ENDED;
  return `The server does not accept the file (status ${request.status}).`;
}

// Returns the request that sends a file, and the promise of its image.
function send(file, showProgress) {
  const request = new XMLHttpRequest(); // `fetch` has no progress of what is sent
  const done = new Promise((resolve, reject) => {
    request.upload.addEventListener("progress", ({ loaded, total }) => showProgress(loaded / total));
    request.addEventListener("error", () => reject(new Error(UNREACHABLE)));
    request.addEventListener("abort", () => reject(new Error("Cancelled.")));
    request.addEventListener("load", () => {
      let answer = {};
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        // the page of an error
      }
      if (answer.image) resolve(answer.image);
      else reject(Object.assign(new Error(explain(request, answer)), { isBusy: BUSY.includes(request.status) }));
    });
  });
  const form = new FormData();
  form.set("file", file);
  request.open("POST", `${root}add/`);
  request.setRequestHeader("Accept", "application/json");
  request.setRequestHeader("X-CSRFToken", getToken());
  request.send(form);
  return { request, done };
}

// Runs a task when one of the turns is free, and returns its result.
function takeTurn(task) {
  const done = turns.shift().then(task);
  turns.push(done.catch(() => {}));
  return done;
}

function drawPicture(file, canvas) {
  createImageBitmap(file, { resizeWidth: 96, resizeQuality: "medium" })
    .then((bitmap) => {
      Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
      canvas.getContext("2d").drawImage(bitmap, 0, 0);
    })
    .catch(() => {}); // the server says what is wrong with the file
}

// Uploads a file, and shows a row with its progress and a field for its text. `events` has three functions: `change`
// when the image is stored or its text has changed, `cancel`, and `end` when the person has finished with the row.
function add(file, list, events) {
  const row = { file, image: null, alt: "" };
  const canvas = build("canvas", { width: 96, height: 64, className: "upload-picture" });
  const status = build("span", { className: "upload-status" });
  status.setAttribute("role", "status");
  const bar = build("progress", { max: 1, value: 0 });
  bar.setAttribute("aria-label", `Upload of ${file.name}`);
  const field = build("input", { type: "text", maxLength: 500, placeholder: "What does the image show?" });
  const label = build("label", {}, `Text of ${file.name}`, field);
  const again = build("button", { type: "button", className: "action-button", textContent: "Try again", hidden: true });
  const close = build("button", { type: "button", className: "action-button", textContent: "Cancel" });
  const element = build("li", { className: "upload" }, canvas, build("div", {}, label, bar, status), again, close);
  list.append(element);
  drawPicture(file, canvas);
  let sent = null;
  let isCancelled = false;
  let saved = ""; // the text that the library has

  async function saveText() {
    if (!row.image || row.alt === saved) return;
    saved = row.alt;
    const isSaved = await saveAlt(row.image.id, row.alt).catch(() => false);
    if (isSaved) row.image.alt = row.alt;
    else status.textContent = "The text is not saved in the library.";
    events.change(row);
  }

  async function sendFile() {
    for (;;) {
      if (isCancelled) throw new Error("Cancelled.");
      sent = send(file, (part) => { bar.value = part; });
      try {
        return await sent.done;
      } catch (error) {
        if (!error.isBusy) throw error;
        status.textContent = "Waiting until the server has processed earlier images.";
        await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
        status.textContent = "";
      }
    }
  }

  async function upload() {
    again.hidden = true;
    bar.hidden = false;
    close.textContent = "Cancel";
    status.textContent = "";
    if (file.size > LIMIT) {
      const most = megabytes.format(LIMIT / 2 ** 20);
      status.textContent = `The file is too large: at most ${most} MB can be uploaded.`;
      bar.hidden = true;
      return;
    }
    try {
      row.image = await takeTurn(sendFile);
      status.textContent = "Uploaded.";
      close.textContent = "Done";
      events.change(row);
      await saveText();
    } catch (error) {
      status.textContent = error.message;
      again.hidden = false;
      events.change(row);
    }
    bar.hidden = true;
  }

  function run() {
    const running = upload();
    pending.add(running);
    running.finally(() => pending.delete(running));
  }

  function end() {
    const next = element.nextElementSibling || element.previousElementSibling;
    const hadFocus = element.contains(document.activeElement);
    element.remove();
    if (hadFocus && next) next.querySelector("input").focus();
    else if (hadFocus) events.end?.();
  }

  field.addEventListener("input", () => { row.alt = field.value.trim(); });
  field.addEventListener("change", () => {
    events.change(row);
    saveText();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    events.change(row);
    saveText();
    if (row.image) end();
    else events.end?.();
  });
  again.addEventListener("click", async () => {
    await renewToken();
    run();
  });
  close.addEventListener("click", () => {
    if (!row.image) {
      isCancelled = true;
      sent?.request.abort();
      events.cancel?.(row);
    }
    end();
  });
  run();
  return row;
}

// The dialog

const DIALOG = `
  <h2></h2>
  <p class="image-choice-files">
    <label class="action-button">Upload<input type="file"></label>
    <label class="action-button">Take a photo<input type="file" capture="environment"></label>
  </p>
  <form role="search"><label>Search the library <input type="search" name="q" autocomplete="off"></label></form>
  <div class="image-choice-results" aria-live="polite"></div>
  <p><button type="button" class="question-cancel" data-cancel>Cancel</button></p>`;

// Moves the focus between the images with the arrow keys.
function moveFocus(event, results) {
  const buttons = [...results.querySelectorAll("[data-image]")];
  const place = buttons.indexOf(document.activeElement);
  const columns = buttons.filter(({ offsetTop }) => offsetTop === buttons[0].offsetTop).length;
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
  if (place < 0 || !step || !buttons[place + step]) return;
  event.preventDefault();
  buttons[place + step].focus();
}

// Asks for an image of the library or for files. Returns `{ image }`, `{ files }`, or nothing.
function choose(title, { isMultiple = false } = {}) {
  const dialog = build("dialog", { className: "question image-choice", innerHTML: DIALOG });
  const [heading, form, results] = ["h2", "form", ".image-choice-results"].map((name) => dialog.querySelector(name));
  const [files, camera] = dialog.querySelectorAll("input[type=file]");
  heading.textContent = title;
  dialog.setAttribute("aria-label", title);
  Object.assign(files, { multiple: isMultiple, accept: types });
  camera.accept = types; // of which a phone chooses JPEG, and not HEIC
  let timer = 0;

  async function load(page = 1) {
    const query = new URLSearchParams({ q: form.elements.q.value, page });
    try {
      const response = await fetch(`${root}choose/?${query}`, { redirect: "manual" });
      if (response.ok) results.innerHTML = await response.text();
      else results.textContent = response.type === "opaqueredirect" ? ENDED : `The library cannot be read (status ${response.status}).`;
    } catch {
      results.textContent = UNREACHABLE;
    }
  }

  return new Promise((resolve) => {
    let found = null;
    const end = (chosen) => {
      found = chosen;
      dialog.close();
    };
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(found);
    });
    for (const input of [files, camera]) {
      input.addEventListener("change", () => { if (input.files.length) end({ files: [...input.files] }); });
    }
    dialog.querySelector("[data-cancel]").addEventListener("click", () => dialog.close());
    results.addEventListener("keydown", (event) => moveFocus(event, results));
    results.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button?.dataset.page) load(button.dataset.page);
      else if (button) end({ image: { id: button.dataset.image, alt: button.dataset.alt, name: button.dataset.name } });
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      load();
    });
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(load, 300);
    });
    document.body.append(dialog); // outside of the form of the page
    dialog.showModal();
    load();
  });
}

// Shows an image cropped in three ways around its focal point. The policy of the page forbids styles in HTML.
function showCrops(container, url, x, y) {
  if (container.dataset.shown !== url) {
    container.dataset.shown = url;
    container.replaceChildren(
      ...Object.entries(CROPS).map(([name, ratio]) => {
        const picture = build("img", { src: url, alt: "" });
        picture.style.aspectRatio = ratio;
        return build("figure", {}, picture, build("figcaption", { textContent: name }));
      }),
    );
  }
  for (const picture of container.querySelectorAll("img")) picture.style.objectPosition = `${x * 100}% ${y * 100}%`;
}

window.images = { add, build, choose, describe, listImages, pending, showCrops, waitUntilProcessed };
