// Completes the tag in the filter of the list of posts. The browser shows the suggestions as those of its own fields.
const DELAY = 200;

function completeTags(field) {
  const list = document.createElement("datalist");
  let timer = 0;
  let last = 0;

  async function suggest() {
    last += 1;
    const number = last;
    const text = field.value.trim();
    if (text.length > Number(field.dataset.maxLength)) return;
    try {
      const response = await fetch(`${field.dataset.suggestions}?q=${encodeURIComponent(text)}`, { redirect: "error" });
      const { tags } = await response.json();
      if (number === last) list.replaceChildren(...tags.map((tag) => new Option("", tag)));
    } catch {
      // no suggestions: the person can type the tag
    }
  }

  list.id = `${field.id}-suggestions`;
  field.after(list);
  field.setAttribute("list", list.id);
  field.addEventListener("focus", suggest, { once: true });
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(suggest, DELAY);
  });
}

// The theme loads the scripts of the list on the pages of posts too.
document.querySelectorAll("#changelist-filter input[data-suggestions]").forEach(completeTags);
