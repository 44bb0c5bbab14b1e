// Copies the text of the element that a button names. If the browser does not permit it, the text is selected.
for (const button of document.querySelectorAll("button[data-copies]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const element = document.getElementById(button.dataset.copies);
    try {
      await navigator.clipboard.writeText(element.textContent.trim());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(element);
      button.textContent = "Selected: copy it with the browser";
    }
  });
}
