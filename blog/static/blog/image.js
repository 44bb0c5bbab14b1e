// The page of an image: the focal point by a click or by keys, its crops, and the end of processing.
const file = document.querySelector(".image-file");
const stage = document.querySelector(".focal-stage");
const crops = document.querySelector(".crops");
const waiting = document.querySelector("[data-waiting]");
const fields = ["x", "y"].map((axis) => document.getElementById(`id_focal_${axis}`));
const isEditable = fields.every(Boolean);
const STEP = 0.01;
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function limit(value) {
  return Math.min(1, Math.max(0, Math.round(value * 100) / 100));
}

function read() {
  if (!isEditable) return [Number(file.dataset.x), Number(file.dataset.y)];
  return fields.map(({ value }) => limit(Number(value) || 0));
}

function show() {
  const [x, y] = read();
  const point = stage.querySelector(".focal-point");
  point.hidden = !isEditable;
  point.style.left = `${x * 100}%`;
  point.style.top = `${y * 100}%`;
  const place = `${Math.round(x * 100)} % from the left, ${Math.round(y * 100)} % from the top`;
  point.setAttribute("aria-label", `Focal point: ${place}`);
  window.images.showCrops(crops, crops.dataset.url, x, y);
}

function write(x, y) {
  fields[0].value = limit(x);
  fields[1].value = limit(y);
  for (const field of fields) field.dispatchEvent(new Event("change", { bubbles: true }));
  show();
}

if (stage) {
  show();
  for (const field of isEditable ? fields : []) field.addEventListener("input", show);
  stage.addEventListener("click", (event) => {
    if (!isEditable || event.detail === 0) return; // a key on the point is no click
    const { left, top, width, height } = stage.getBoundingClientRect();
    write((event.clientX - left) / width, (event.clientY - top) / height);
  });
  stage.addEventListener("keydown", (event) => {
    const direction = KEYS[event.key];
    if (!isEditable || !direction || event.target === stage) return;
    event.preventDefault();
    const [x, y] = read();
    const step = event.shiftKey ? 10 * STEP : STEP;
    write(x + direction[0] * step, y + direction[1] * step);
  });
}

// Shows the processed file, unless the person has typed something: then the page remains as it is.
if (waiting) {
  let hasChanged = false;
  document.addEventListener("input", () => { hasChanged = true; });
  document.addEventListener("change", () => { hasChanged = true; });
  window.images.waitUntilProcessed(waiting.dataset.waiting).then(() => {
    if (hasChanged) waiting.textContent = "The file is processed. Save, and you see it.";
    else window.location.reload();
  });
}
