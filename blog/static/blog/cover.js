// The cover of a post, or an image of an own type: chosen from the library or uploaded, with a preview of its crops. The
// field keeps its number.
for (const cover of document.querySelectorAll(".cover")) prepare(window.images, cover);

function prepare(images, cover) {
  const field = cover.parentElement.querySelector("input");
  const { one } = cover.dataset; // "a cover"
  const crops = cover.querySelector(".crops");
  const name = cover.querySelector(".cover-name");
  const list = cover.querySelector(".uploads");
  const [chooseButton, removeButton] = ["choose", "remove"].map((each) => cover.querySelector(`[data-cover-${each}]`));

  async function show() {
    const id = field.value.trim();
    removeButton.hidden = !id;
    chooseButton.textContent = id ? `Choose another ${one.split(" ")[1]}` : `Choose ${one}`;
    crops.hidden = true;
    name.textContent = "";
    if (!/^\d+$/.test(id)) return;
    let [image] = await images.describe([id]).catch(() => []);
    if (image?.isWaiting && !image.thumbnail) {
      name.textContent = `${image.name} is being processed.`;
      image = await images.waitUntilProcessed(id);
    }
    if (field.value.trim() !== id) return;
    name.textContent = image ? image.problem || image.alt || `${image.name} (no text)` : "There is no such image.";
    crops.hidden = !image?.thumbnail;
    if (image?.thumbnail) images.showCrops(crops, image.thumbnail, image.focalX, image.focalY);
  }

  function set(id) {
    field.value = id;
    for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
  }

  function upload([file]) {
    list.replaceChildren();
    images.add(file, list, {
      change: (row) => {
        if (row.image && field.value !== row.image.id) set(row.image.id);
        else if (row.image) show(); // its text has changed
      },
      end: () => chooseButton.focus(),
    });
  }

  chooseButton.addEventListener("click", async () => {
    const found = await images.choose(`Choose ${one}`);
    chooseButton.focus();
    if (found?.files) upload(found.files);
    if (found?.image) set(found.image.id);
  });
  removeButton.addEventListener("click", () => {
    set("");
    chooseButton.focus();
  });
  field.addEventListener("input", show);
  field.hidden = true;
  cover.hidden = false;
  show();
}
