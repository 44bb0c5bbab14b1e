// Asks once before a button of the form publishes, hides or discards something. Before a publication, the dialog says
// what is wrong with the text.
const form = document.getElementById("id_title").form;
const title = form.querySelector("#id_title");
const text = form.querySelector("#id_body");
const questions = [...form.querySelectorAll("dialog.question")];

let pressed = null;
let isConfirmed = false;

form.addEventListener("submit", (event) => {
  const { submitter } = event;
  const question = questions.find(({ dataset }) => submitter?.name === "_act" && dataset.value === submitter.value);
  if (!question || !title.value.trim()) return; // the server refuses a post without a title
  if (isConfirmed) {
    isConfirmed = false;
    return;
  }
  event.preventDefault(); // saving.js does not send a form that was refused here
  pressed = submitter;
  question.querySelector("[data-title]").textContent = title.value.trim();
  const warning = question.querySelector("[data-without-text]");
  if (warning) {
    question.querySelector("[data-empty]").hidden = Boolean(text.value.trim());
    const problems = form.imageProblems || []; // of image_writing.js
    warning.hidden = !problems.length;
    warning.textContent = problems.join(" ");
  }
  question.showModal();
});

for (const question of questions) {
  question.querySelector("[data-confirm]").addEventListener("click", () => {
    question.close();
    isConfirmed = true;
    form.requestSubmit(pressed);
  });
  question.querySelector("[data-cancel]").addEventListener("click", () => question.close());
}
