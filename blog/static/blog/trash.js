// The box that selects all deleted posts of the page.
const all = document.querySelector("[data-select-all]");
if (all) {
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of document.querySelectorAll("input[name=post]")) box.checked = all.checked;
  });
}
