// The preview of the search result, which follows the fields of the form.
const result = document.querySelector(".search-result");
const { elements } = document.getElementById("id_slug").form;

function show() {
  const slug = elements.slug.value.trim() || "…";
  result.querySelector(".search-result-url").textContent = result.dataset.url.replace("{slug}", slug);
  result.querySelector(".search-result-title").textContent = elements.title.value.trim() || "Without a title";
}

for (const name of ["title", "slug"]) elements[name].addEventListener("input", show);
show();
result.hidden = false;
