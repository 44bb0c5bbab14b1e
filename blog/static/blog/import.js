// The pages of an import: refuse a zip file that is too large before it is sent, and show the progress.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("[data-upload]");
  if (form) prepareUpload(form);
  const progress = document.querySelector("[data-progress]");
  if (progress) followProgress(progress);
});

function prepareUpload(form) {
  const input = form.querySelector("input[type=file]");
  const limit = Number(input.dataset.limit);
  const message = form.querySelector("[data-upload-error]");
  const button = form.querySelector("button[type=submit]");
  const check = () => {
    const file = input.files[0];
    const isTooLarge = Boolean(file) && file.size > limit;
    message.hidden = !isTooLarge;
    message.textContent = isTooLarge
      ? `${file.name} has ${file.size.toLocaleString("en")} bytes; at most ${limit.toLocaleString("en")} can be uploaded. Split it.`
      : "";
    return !isTooLarge;
  };
  input.addEventListener("change", check);
  form.addEventListener("submit", (event) => {
    if (!check()) {
      event.preventDefault();
    } else {
      button.textContent = "Uploading …";
      button.disabled = true;
    }
  });
  window.addEventListener("pageshow", () => {
    button.textContent = "Upload and check";
    button.disabled = false;
  });
}

function followProgress(progress) {
  const bar = progress.querySelector("progress");
  const text = progress.querySelector("[data-progress-text]");
  const note = progress.querySelector("[data-progress-note]");
  const read = async () => {
    try {
      const response = await fetch(progress.dataset.progress, { headers: { Accept: "application/json" } });
      if (!response.ok || response.redirected) throw new Error(`status ${response.status}`);
      const now = await response.json();
      if (now.state !== progress.dataset.state) {
        window.location.reload();
        return;
      }
      bar.value = now.done;
      text.textContent = now.text;
      note.textContent = now.note;
    } catch {
      note.textContent = "The server cannot be reached, or you are no longer logged in. The import continues. Reload the page.";
    }
    setTimeout(read, 1000);
  };
  setTimeout(read, 1000);
}
