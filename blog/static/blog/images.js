// Images in the desk: uploads with their progress, texts of images, and crops. The other scripts of images use
// `window.images`; image_choice.js adds the dialog that chooses one.
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

// Returns why a file cannot be an image of the library, as far as the browser knows.
function findProblem({ name, size, type }) {
  const formats = types.replaceAll("image/", "").toUpperCase().replaceAll(",", ", ");
  if (type && !type.startsWith("image/")) return `${name} is not an image. Choose a file of one of these formats: ${formats}.`;
  if (size > LIMIT) return `The file is too large: at most ${megabytes.format(LIMIT / 2 ** 20)} MB can be uploaded.`;
  return "";
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

// Returns the error of a refused upload. `isFinal` says that another try would not help.
function explain({ status, responseURL }, answer) {
  if (responseURL.includes("/login/")) return new Error(ENDED);
  if (status === 403) return new Error("The server does not let you upload the file. Log in again in another tab.");
  const isFinal = status >= 400 && status < 500 && ![408, 425, 429].includes(status);
  const tooLarge = "The file is too large for the server.";
  const reason = status === 413 ? tooLarge : `The server cannot store the file at present.`;
  return Object.assign(new Error(answer.problem || reason), { isFinal });
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
      else reject(Object.assign(explain(request, answer), { isBusy: BUSY.includes(request.status) }));
    });
  });
  const form = new FormData();
  form.set("name", file.name);
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
    try {
      const problem = findProblem(file);
      if (problem) throw Object.assign(new Error(problem), { isFinal: true });
      row.image = await takeTurn(sendFile);
      status.textContent = "Uploaded.";
      close.textContent = "Done";
      events.change(row);
      await saveText();
    } catch (error) {
      status.textContent = error.message;
      row.isRefused = Boolean(error.isFinal);
      again.hidden = row.isRefused;
      label.hidden = row.isRefused;
      if (row.isRefused) close.textContent = "Close";
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

// Shows a row with a field for the text of an image of the library. `change` gets the text.
function addText(image, list, change) {
  const picture = build("img", { className: "upload-picture", src: image.thumbnail || "", alt: "", hidden: !image.thumbnail });
  const field = build("input", { type: "text", maxLength: 500, placeholder: "What does the image show?" });
  const label = build("label", {}, `Text of ${image.name}`, field);
  const element = build("li", { className: "upload" }, picture, build("div", {}, label));
  field.addEventListener("change", () => {
    const alt = field.value.trim();
    if (!alt) return;
    saveAlt(image.id, alt).catch(() => {}); // a person who may not change the image writes the text of its place
    change(alt);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    field.blur();
  });
  list.append(element);
  return element;
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

window.images = { add, addText, build, describe, findProblem, pending, root, showCrops, types, waitUntilProcessed, ENDED, UNREACHABLE };
