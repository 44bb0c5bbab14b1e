// Asks once before “Publish now” makes a post public, and says if its text is empty.
const question = document.getElementById("publish-question");
const form = question.closest("form");
const title = form.querySelector("#id_title");
const text = form.querySelector("#id_body");

let pressed = null;
let isConfirmed = false;

form.addEventListener("submit", (event) => {
  const { submitter } = event;
  if (submitter?.name !== "_act" || submitter.value !== question.dataset.act) return;
  if (!title.value.trim()) return; // the server refuses it
  if (isConfirmed) {
    isConfirmed = false;
    return;
  }
  event.preventDefault(); // saving.js does not send a form that was refused here
  pressed = submitter;
  question.querySelector("[data-title]").textContent = title.value.trim();
  question.querySelector("[data-empty]").hidden = Boolean(text.value.trim());
  const problems = form.imageProblems || []; // of image_writing.js
  const warning = question.querySelector("[data-without-text]");
  warning.hidden = !problems.length;
  warning.textContent = problems.join(" ");
  question.showModal();
});

question.querySelector("[data-confirm]").addEventListener("click", () => {
  question.close();
  isConfirmed = true;
  form.requestSubmit(pressed);
});
question.querySelector("[data-cancel]").addEventListener("click", () => question.close());
