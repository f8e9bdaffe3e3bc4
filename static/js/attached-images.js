// The images attached to a message that is being written: chosen, pasted or dropped, shown small, removable.

const TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const LARGEST = 5 * 1024 * 1024;
const MOST = 10;

export class AttachedImages {
  #input;
  #shelf;
  #say;
  #files = [];

  constructor(input, shelf, say) {
    this.#input = input;
    this.#shelf = shelf;
    this.#say = say;
    input.addEventListener("change", () => this.add(input.files));
  }

  get count() {
    return this.#files.length;
  }

  // Files of a paste or drop; true when there was an image among them.
  add(files) {
    const images = [...files].filter((file) => file.type.startsWith("image/"));
    for (const file of images) {
      if (!TYPES.has(file.type)) this.#say(`${file.name || "The image"} is not a PNG, JPEG, GIF or WebP image.`);
      else if (file.size > LARGEST) this.#say(`${file.name || "The image"} is larger than 5 MB.`);
      else if (this.#files.length >= MOST) this.#say(`At most ${MOST} images in one message.`);
      else if (!this.#files.includes(file)) this.#files.push(file);
    }
    this.#show();
    return images.length > 0;
  }

  clear() {
    this.#files = [];
    this.#show();
  }

  // The form sends what its file input holds.
  #show() {
    const transfer = new DataTransfer();
    for (const file of this.#files) transfer.items.add(file);
    this.#input.files = transfer.files;
    for (const image of this.#shelf.querySelectorAll("img")) URL.revokeObjectURL(image.src);
    this.#shelf.replaceChildren(...this.#files.map((file) => this.#thumbnail(file)));
    this.#shelf.hidden = !this.#files.length;
  }

  #thumbnail(file) {
    const holder = document.createElement("span");
    holder.className = "composer__image";
    const image = document.createElement("img");
    image.src = URL.createObjectURL(file);
    image.alt = file.name || "Image";
    const remove = document.createElement("button");
    remove.type = "button";
    remove.setAttribute("aria-label", `Remove ${image.alt}`);
    remove.innerHTML = '<svg class="icon icon--xs" aria-hidden="true"><use href="#i-x"/></svg>';
    remove.addEventListener("click", () => {
      this.#files = this.#files.filter((other) => other !== file);
      this.#show();
    });
    holder.append(image, remove);
    return holder;
  }
}
