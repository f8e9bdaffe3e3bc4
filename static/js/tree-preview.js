// A few lines of the entry that the pointer rests on or the focus is at; asked for once, and never the only copy of a fact.

const delay = 300;
const kept = 200;

export class TreePreview {
  #place;
  #frame;
  #address;
  #texts = new Map();
  #rested = "";
  #timer;

  constructor(frame, sheet, address, nodeOf, signal) {
    [this.#frame, this.#address] = [frame, address];
    this.#place = frame.querySelector("[data-preview]");
    for (const name of ["pointerover", "focusin"]) sheet.addEventListener(name, (event) => this.#rests(nodeOf(event.target)), { signal });
    // What was pressed is read in the drawer.
    for (const name of ["pointerout", "focusout", "click"]) sheet.addEventListener(name, () => this.#leaves(), { signal });
  }

  #rests(node) {
    if (!node?.dataset.seq) return;
    this.#rested = node.id;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#show(node), delay);
  }

  #leaves() {
    this.#rested = "";
    clearTimeout(this.#timer);
    this.#place.hidden = true;
  }

  async #show(node) {
    const { seq } = node.dataset;
    if (!this.#texts.has(seq)) {
      const response = await fetch(`${this.#address.replace("/0/", `/${seq}/`)}?preview=1`).catch(() => null);
      if (!response?.ok) return;
      if (this.#texts.size > kept) this.#texts.clear();
      this.#texts.set(seq, await response.text());
    }
    if (!node.isConnected || node.id !== this.#rested) return;
    this.#place.innerHTML = this.#texts.get(seq);
    this.#place.hidden = false;
    const box = node.querySelector(".target").getBoundingClientRect();
    const frame = this.#frame.getBoundingClientRect();
    const { offsetWidth, offsetHeight, style } = this.#place;
    const below = box.bottom - frame.top + 8;
    style.left = `${Math.max(8, Math.min(box.left - frame.left, frame.width - offsetWidth - 8))}px`;
    style.top = `${below + offsetHeight < frame.height ? below : box.top - frame.top - offsetHeight - 30}px`;
  }
}
