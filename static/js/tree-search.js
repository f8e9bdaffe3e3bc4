// Looking for words in the tree: hits are walked in time order, and what hides them opens.

import { fill, gettext } from "words";

export class TreeSearch {
  #tree;
  #form;
  #field;
  #hit = -1;
  #timer;

  constructor(tree, form, signal) {
    [this.#tree, this.#form, this.#field] = [tree, form, form.querySelector("input")];
    form.addEventListener("submit", (event) => event.preventDefault(), { signal });
    this.#field.addEventListener("input", () => this.#typed(), { signal });
    this.#field.addEventListener("keydown", (event) => this.#keyed(event), { signal });
  }

  set words(text) {
    this.#field.value = text;
  }

  // How many there are, and which one is shown.
  tell() {
    const { hits } = this.#tree;
    const of = `${hits.length}${hits.length === 500 ? "+" : ""}`;
    const found = !this.#field.value.trim() ? "" : hits.length ? fill(gettext("{hit} of {of}"), { hit: Math.max(1, this.#hit + 1), of }) : gettext("None");
    this.#form.querySelector("[data-found]").textContent = found;
    for (const button of this.#form.querySelectorAll("[data-hit]")) button.disabled = !hits.length;
  }

  async step(by) {
    const { hits } = this.#tree;
    if (!hits.length) return;
    this.#hit = (this.#hit + by + hits.length) % hits.length;
    this.tell();
    const node = await this.#tree.lookAt(hits[this.#hit]);
    node?.querySelector(".target").classList.add("is-hit");
  }

  #typed() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#find(), 250);
  }

  async #find() {
    this.#hit = -1;
    const words = this.#field.value.trim();
    await this.#tree.look(words);
    if (words) await this.step(1);
  }

  #keyed(event) {
    const by = { ArrowDown: 1, ArrowUp: -1, Enter: event.shiftKey ? -1 : 1 }[event.key];
    if (by) {
      event.preventDefault();
      this.step(by);
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.#field.value = "";
      this.#find();
      this.#tree.focusTree();
    }
  }
}
