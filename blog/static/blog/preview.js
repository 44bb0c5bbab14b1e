// The preview: the post as readers see it, beside the text on a wide page, and instead of it on a narrow one.
const editor = document.querySelector(".writing");
const field = editor.querySelector("textarea");
const form = field.form;
const pane = editor.querySelector(".writing-preview");
const frame = pane.querySelector("iframe");
const problem = pane.querySelector(".writing-problem");
const views = editor.querySelector(".writing-views");
const WIDE = 900;
const DELAY = 500;
const UNREACHABLE = "The server cannot be reached. The preview is loaded again with your next change.";

let view = "write";
let chosen = false;
let shown = "";
let request = null;
let timer = 0;

function getTheme() {
  return document.documentElement.classList.contains("dark") ? "dark" : "light";
}

function readValues() {
  const values = new FormData();
  for (const name of field.dataset.fields.split(" ")) values.set(name, form.elements[name]?.value || "");
  values.set("post", field.dataset.post);
  values.set("theme", getTheme());
  return values;
}

function showProblem(message) {
  problem.textContent = message;
  problem.hidden = !message;
}

// Replaces the content only, so that the frame keeps its position.
function show(html) {
  const next = new DOMParser().parseFromString(html, "text/html");
  const article = frame.contentDocument?.querySelector("article");
  if (!article) {
    frame.srcdoc = html;
    return;
  }
  frame.contentDocument.documentElement.className = next.documentElement.className;
  article.replaceWith(frame.contentDocument.adoptNode(next.querySelector("article")));
  frame.dispatchEvent(new CustomEvent("shown"));
}

async function explain(response) {
  if (response.type === "opaqueredirect") return "Your session has ended. Log in again in another tab.";
  try {
    return (await response.json()).problem;
  } catch {
    return `The server cannot render the text.`;
  }
}

async function load() {
  const values = readValues();
  const content = JSON.stringify([...values]);
  if (view === "write" || content === shown) return;
  request?.abort();
  request = new AbortController();
  const { signal } = request;
  const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value, Accept: "application/json" };
  try {
    const response = await fetch(editor.dataset.preview, {
      method: "POST",
      body: values,
      headers,
      signal,
      redirect: "manual",
    });
    if (!response.ok) {
      showProblem(await explain(response));
      return;
    }
    show((await response.json()).document);
    shown = content;
    showProblem("");
  } catch (error) {
    if (error.name !== "AbortError") showProblem(UNREACHABLE);
  }
}

function schedule() {
  clearTimeout(timer);
  timer = setTimeout(load, DELAY);
}

function select(name) {
  view = name;
  editor.dataset.view = name;
  pane.hidden = name === "write";
  for (const button of views.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.show === name));
  }
  load();
}

function fit() {
  const isWide = editor.clientWidth >= WIDE;
  editor.classList.toggle("is-wide", isWide);
  if (isWide && !chosen && view === "write") select("both");
  if (!isWide && view === "both") select("write");
}

views.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  chosen = true;
  select(button.dataset.show);
});
form.addEventListener("input", schedule);
form.addEventListener("change", schedule);
new MutationObserver(load).observe(document.documentElement, { attributeFilter: ["class"] });
views.hidden = false;
new ResizeObserver(fit).observe(editor);
fit();
