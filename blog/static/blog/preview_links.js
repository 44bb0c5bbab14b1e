// “Copy link for a reviewer” saves the form in the background, copies the link and stays. The link shows the saved text.
const { saving } = document.querySelector(".writing textarea").form;

// Begins to copy at once: a browser permits it only right after the click. Returns whether the text was copied.
async function copy(text) {
  const blob = text.then((value) => new Blob([value], { type: "text/plain" }));
  try {
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    return true;
  } catch {
    return false;
  }
}

// Sends the form of a link. Returns the section with the link or with the reason why there is none.
async function create(form) {
  if (!(await saving.save())) throw new Error("The text is not saved: see the line below it. No link was made.");
  const response = await fetch(form.action, { method: "POST", body: new FormData(form), redirect: "manual" });
  const section = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("preview-links");
  if (!section) throw new Error(`The server made no link. Try again.`);
  return section;
}

function say(section, text) {
  const line = document.createElement("p");
  line.textContent = text;
  section.querySelector("[data-preview-link]").prepend(line);
}

document.addEventListener("submit", async (event) => {
  const { target: form } = event;
  if (!form.matches("[data-creates-link]")) return;
  event.preventDefault();
  const section = form.closest("section");
  const created = create(form);
  const copied = copy(created.then((next) => next.querySelector("code").textContent));
  try {
    const next = await created;
    for (const button of next.querySelectorAll("[data-copies]")) button.hidden = false;
    section.replaceWith(document.adoptNode(next));
    const link = next.querySelector("code");
    if (link) say(next, (await copied) ? "The text is saved, and the link is copied." : "The text is saved. Copy the link:");
    next.querySelector("[data-creates-link] button").focus();
  } catch (error) {
    section.querySelector("[data-preview-link]").replaceChildren();
    say(section, error.message);
  }
});

document.addEventListener("click", async ({ target: button }) => {
  if (!button.matches("#preview-links [data-copies]")) return;
  const link = document.getElementById(button.dataset.copies);
  const isCopied = await copy(Promise.resolve(link.textContent));
  if (!isCopied) getSelection().selectAllChildren(link);
  button.textContent = isCopied ? "Copied" : "Selected: copy it with the browser";
});
