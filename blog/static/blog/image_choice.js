// The dialog that chooses an image of the library, or files.
const { build, root, types, ENDED, UNREACHABLE } = window.images;
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
      else results.textContent = response.type === "opaqueredirect" ? ENDED : `The library cannot be read.`;
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

window.images.choose = choose;
