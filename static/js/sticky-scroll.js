// Keeps the end in view while a person reads the end, and the words under their eyes still when they read elsewhere.

import { fill, gettext } from "words";

const near = 48;

export class StickyScroll {
  #box;
  #button;
  #reversed;
  #atEnd = true;
  #unread = 0;
  #onScroll = () => this.#scrolled();

  constructor(box, button) {
    this.#box = box;
    this.#button = button;
    this.#reversed = getComputedStyle(box).flexDirection === "column-reverse";
    // The browser's own anchoring would correct a second time.
    box.style.overflowAnchor = "none";
    box.addEventListener("scroll", this.#onScroll, { passive: true });
    this.#scrolled();
  }

  stop() {
    this.#box.removeEventListener("scroll", this.#onScroll);
  }

  /** Change the content so that the reader's place stays. */
  keep(change) {
    if (this.#atEnd) {
      change();
      this.toEnd();
      return;
    }
    const anchor = this.#anchor();
    const before = anchor?.getBoundingClientRect().top;
    change();
    if (anchor?.isConnected) this.#box.scrollTop += anchor.getBoundingClientRect().top - before;
  }

  /** Something whole has come: counted when it is out of sight. */
  arrived(count) {
    if (this.#atEnd || !count) return;
    this.#unread += count;
    this.#tell();
  }

  toEnd() {
    this.#box.scrollTop = this.#reversed ? 0 : this.#box.scrollHeight;
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    this.#atEnd = (this.#reversed ? -scrollTop : scrollHeight - clientHeight - scrollTop) <= near;
    if (this.#atEnd) this.#unread = 0;
    this.#tell();
  }

  #tell() {
    this.#button.hidden = this.#atEnd;
    const words = this.#unread ? fill(gettext("Jump to latest, {count} new"), { count: this.#unread }) : gettext("Jump to latest");
    if (this.#button.textContent !== words) this.#button.textContent = words;
  }

  // What stands at the top edge of the box.
  #anchor() {
    const { left, top, width, height } = this.#box.getBoundingClientRect();
    for (const part of [0.05, 0.3, 0.6]) {
      const found = document.elementFromPoint(left + width / 2, top + height * part);
      if (found && found !== this.#box && this.#box.contains(found)) return found;
    }
    return null;
  }
}
