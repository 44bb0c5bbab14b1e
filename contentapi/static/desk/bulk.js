// Does an action to many objects: sends the form in slices, shows the progress, and names the refused objects.
// The form always has the objects that are left, so that its button continues after a failure.
const form = document.querySelector("[data-bulk]");
const panel = document.querySelector("[data-bulk-progress]");
const bar = panel.querySelector("progress");
const text = panel.querySelector("[data-bulk-text]");
const problem = panel.querySelector("[data-bulk-problem]");
const stop = panel.querySelector("[data-bulk-stop]");
const refusals = panel.querySelector("[data-bulk-refused]");
const start = form.querySelector("[data-bulk-start]");
const back = form.querySelector("[data-bulk-back]");
const { ids } = form.elements;
const total = ids.value.split(",").length;
const size = Number(form.dataset.slice);
const { result, name, plural } = form.dataset;
const numbers = new Intl.NumberFormat("en");
const groups = new Map(); // what shows the refused objects, by the reason

let done = 0;
let refused = 0;
let isRunning = false;
let isStopped = false;

class Problem extends Error {}

function countRows(number) {
  return `${numbers.format(number)} ${number === 1 ? name : plural}`;
}

function listRest() {
  return ids.value ? ids.value.split(",") : [];
}

function showProgress(isEnd) {
  const rest = listRest().length;
  bar.max = total;
  bar.value = total - rest;
  const parts = [`${numbers.format(total - rest)} of ${countRows(total)}`, `${numbers.format(done)} ${result}`];
  if (refused) parts.push(`${numbers.format(refused)} not ${result}`);
  const end = rest ? `Stopped. ${countRows(rest)} stay as they were.` : "Finished.";
  text.textContent = `${parts.join(" · ")}${isEnd ? `. ${end}` : ""}`;
}

function showRefusal(reason, rows) {
  let group = groups.get(reason);
  if (!group) {
    group = document.createElement("details");
    group.append(document.createElement("summary"), document.createElement("ul"));
    group.lastChild.className = "action-rows";
    groups.set(reason, group);
    refusals.append(group);
  }
  for (const { id, name: label } of rows) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.textContent = label;
    if (id) link.href = form.dataset.address.replace("/0/", `/${id}/`);
    item.append(link);
    group.lastChild.append(item);
  }
  group.firstChild.textContent = `Not ${result}: ${countRows(group.lastChild.children.length)}. ${reason}`;
}

async function sendSlice(slice) {
  const values = new FormData(form);
  values.set("ids", slice.join(","));
  let response;
  try {
    const headers = { Accept: "application/json" };
    response = await fetch(form.action, { method: "POST", body: values, headers, redirect: "manual" });
  } catch {
    throw new Problem("The server cannot be reached.");
  }
  if (response.type === "opaqueredirect") {
    throw new Problem("Your session has ended. Log in again, and select the others in the list.");
  }
  if (response.status === 422) {
    if (total === listRest().length) sendWithoutScript(); // the page that follows asks which moment the time is
    throw new Problem((await response.json()).problem);
  }
  if (!response.ok) throw new Problem(`The server refuses the request.`);
  return response.json();
}

function sendWithoutScript() {
  isRunning = false;
  HTMLFormElement.prototype.submit.call(form);
}

async function run() {
  while (listRest().length && !isStopped) {
    const slice = listRest().slice(0, size);
    const outcome = await sendSlice(slice);
    ids.value = listRest().slice(slice.length).join(",");
    done += outcome.done;
    for (const { reason, rows } of outcome.refused) {
      refused += rows.length;
      showRefusal(reason, rows);
    }
    showProgress(false);
  }
}

form.addEventListener("submit", async (event) => {
  if (total <= size) return; // one request, and the list says what was done
  event.preventDefault();
  if (isRunning) return;
  isRunning = true;
  isStopped = false;
  start.disabled = true;
  problem.hidden = true;
  panel.hidden = false;
  document.querySelector("[data-bulk-rows]").hidden = true; // it has their old status
  stop.hidden = false;
  back.textContent = "Back to the list";
  showProgress(false);
  try {
    await run();
    showProgress(true);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem.textContent = `${error.message} What is done stays done.`;
    problem.hidden = false;
  } finally {
    isRunning = false;
    stop.hidden = true;
    const rest = listRest().length;
    start.hidden = !rest;
    start.disabled = false;
    start.textContent = `Continue: ${countRows(rest)}`;
  }
});

stop.addEventListener("click", () => {
  isStopped = true;
});

window.addEventListener("beforeunload", (event) => {
  if (isRunning) event.preventDefault(); // the slice is finished in any case, but its outcome would not be shown
});
