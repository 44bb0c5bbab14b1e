// The preview of the search result, which follows the fields of the form.
const result = document.querySelector(".search-result");
const { elements } = document.getElementById("id_slug").form;
const MOST = 160; // characters of the excerpt, which a post without a description of its own shows

function cutAtWord(text) {
  if (text.length <= MOST) return text;
  const start = text.slice(0, MOST + 1);
  return start.slice(0, start.lastIndexOf(" ")) || text.slice(0, MOST);
}

function describe() {
  const { description, excerpt } = elements;
  return description.value.trim() || cutAtWord(excerpt.value.trim() || excerpt.placeholder);
}

function show() {
  const slug = elements.slug.value.trim() || "…";
  result.querySelector(".search-result-url").textContent = elements.slug.dataset.url.replace("{slug}", slug);
  result.querySelector(".search-result-title").textContent = elements.title.value.trim() || "Without a title";
  result.querySelector(".search-result-description").textContent = describe();
}

for (const name of ["title", "slug", "excerpt", "description"]) elements[name].addEventListener("input", show);
show();
result.hidden = false;
