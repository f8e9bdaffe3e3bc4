// The images attached to a message that is being written: chosen, pasted or dropped, shown small, removable.

import { fill, gettext } from "words";

const TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const LARGEST = 5 * 1024 * 1024;
const MOST = 10;

export class AttachedImages {
  #input;
  #shelf;
  #say;
  #place;
  #files = [];

  // `say(words)` tells what is wrong, `place(files)` asks where other files shall go.
  constructor(input, shelf, { say, place }) {
    this.#input = input;
    this.#shelf = shelf;
    this.#say = say;
    this.#place = place;
    input.addEventListener("change", () => this.#chosen([...input.files]));
  }

  get count() {
    return this.#files.length;
  }

  // Images of a paste, a drop or a choice.
  add(files) {
    const images = [...files].filter((file) => file.type.startsWith("image/"));
    for (const file of images) {
      if (!TYPES.has(file.type)) this.#say(fill(gettext("{name} is not a PNG, JPEG, GIF or WebP image."), { name: file.name || gettext("The image") }));
      else if (file.size > LARGEST) this.#say(fill(gettext("{name} is larger than 5 MB."), { name: file.name || gettext("The image") }));
      else if (this.#files.length >= MOST) this.#say(fill(gettext("At most {count} images in one message."), { count: MOST }));
      else if (!this.#files.includes(file)) this.#files.push(file);
    }
    this.#show();
  }

  clear() {
    this.#files = [];
    this.#show();
  }

  #chosen(files) {
    if (files.every((file) => file.type.startsWith("image/"))) return this.add(files);
    this.#show();
    this.#place(files);
  }

  // The form sends what its file input holds.
  #show() {
    const transfer = new DataTransfer();
    for (const file of this.#files) transfer.items.add(file);
    this.#input.files = transfer.files;
    for (const image of this.#shelf.querySelectorAll("img")) URL.revokeObjectURL(image.src);
    this.#shelf.replaceChildren(...this.#files.map((file) => this.#thumbnail(file)), this.#elsewhere());
    this.#shelf.hidden = !this.#files.length;
  }

  #elsewhere() {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn--quiet btn--small";
    button.textContent = gettext("Into a folder instead");
    button.addEventListener("click", () => this.#place(this.#files));
    return button;
  }

  #thumbnail(file) {
    const holder = document.createElement("span");
    holder.className = "composer__image";
    const image = document.createElement("img");
    image.src = URL.createObjectURL(file);
    image.alt = file.name || gettext("Image");
    const remove = document.createElement("button");
    remove.type = "button";
    remove.setAttribute("aria-label", fill(gettext("Remove {name}"), { name: image.alt }));
    remove.innerHTML = '<svg class="icon icon--xs" aria-hidden="true"><use href="#i-x"/></svg>';
    remove.addEventListener("click", () => {
      this.#files = this.#files.filter((other) => other !== file);
      this.#show();
    });
    holder.append(image, remove);
    return holder;
  }
}
