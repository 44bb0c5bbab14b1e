// The page of an upload: files that are chosen, dropped or pasted are sent at once, each with its progress.
const form = document.querySelector("[data-image-upload]");
const list = document.querySelector(".uploads");
const events = { change() {}, end: () => form.querySelector("input[type=file]").focus() };

function upload(files) {
  for (const file of files) window.images.add(file, list, events);
}

form.querySelector("[data-send]").hidden = true;
form.querySelector("[data-camera]").hidden = false;
for (const input of form.querySelectorAll("input[type=file]")) {
  input.addEventListener("change", () => {
    upload([...input.files]);
    input.value = "";
  });
}
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  upload(event.dataTransfer.files);
});
document.addEventListener("paste", (event) => upload(event.clipboardData.files));
window.addEventListener("beforeunload", (event) => {
  if (window.images.pending.size) event.preventDefault();
});
