// What was just done and the way back: ten seconds, longer while somebody points at it or has the focus in it.

const SECONDS = 10;

class UndoBar extends HTMLElement {
  #timer;

  connectedCallback() {
    this.addEventListener("pointerenter", this.#stop);
    this.addEventListener("pointerleave", this.#start);
    this.addEventListener("focusin", this.#stop);
    this.addEventListener("focusout", this.#start);
    this.#start();
  }

  disconnectedCallback() {
    this.#stop();
  }

  #start = () => {
    this.#stop();
    if (this.matches(":hover, :focus-within")) return;
    this.#timer = setTimeout(() => this.remove(), SECONDS * 1000);
  };

  #stop = () => clearTimeout(this.#timer);
}

customElements.define("undo-bar", UndoBar);
