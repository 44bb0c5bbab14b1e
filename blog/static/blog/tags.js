// Tags with suggestions from the tags in use. The field keeps its value: one tag on each line.
const field = document.querySelector("textarea[data-suggestions]");
const maxLength = Number(field.dataset.maxLength);

async function suggest(text, callback) {
  if (text.length > maxLength) {
    callback();
    return;
  }
  try {
    const response = await fetch(`${field.dataset.suggestions}?q=${encodeURIComponent(text)}`, { redirect: "manual" });
    const { tags } = await response.json();
    callback(tags.map((tag) => ({ value: tag, text: tag })));
  } catch {
    callback(); // no suggestions: the user can type the tag
  }
}

const control = new TomSelect(field, {
  plugins: { remove_button: { title: "Remove this tag" } },
  delimiter: "\n",
  create: true,
  addPrecedence: true, // Enter adds what was typed, and not a longer tag
  createOnBlur: true,
  createFilter: (text) => text.trim().length <= maxLength,
  persist: false,
  maxItems: Number(field.dataset.maxTags),
  maxOptions: 10,
  closeAfterSelect: true,
  openOnFocus: false, // Tom Select focuses the field whenever it opens the list
  selectOnTab: false,
  placeholder: "Add a tag",
  preload: "focus",
  load: suggest,
  loadThrottle: 200,
  // The server has ranked them: those that begin with the text come first.
  score: (text) => (option) => {
    const position = option.text.toLowerCase().indexOf(text.toLowerCase());
    return position < 0 ? 0 : position === 0 ? 2 : 1;
  },
  render: {
    // Roles, which Tom Select gives to the other options only
    option_create: (data, escape) =>
      `<div class="create" role="option" id="${field.id}-create">Add “${escape(data.input)}”</div>`,
    no_results: () => '<div class="no-results" role="option" aria-disabled="true">No tag in use has this text.</div>',
  },
});

field.setAttribute("aria-hidden", "true"); // a screen reader finds the list instead

// For a second after a tag was added, the list stays closed: late suggestions would open it over the rest of the form.
let isAdded = false;
control.on("item_add", () => {
  isAdded = true;
  setTimeout(() => { isAdded = false; }, 1000);
});
control.on("dropdown_open", () => {
  if (isAdded && !control.inputValue()) control.close();
});

// A comma ends a tag. Keyboards of phones send no key that a script could read, but the text changes.
control.control_input.addEventListener("input", () => {
  const pieces = control.control_input.value.split(",");
  if (pieces.length === 1) return;
  const rest = pieces.pop();
  for (const piece of pieces) if (piece.trim()) control.createItem(piece.trim());
  control.setTextboxValue(rest.trimStart());
});
