// Says in the composer that words which begin with ! are a command of one's own, and whether the model is told.

class OwnCommandHint extends HTMLElement {
  #field;

  connectedCallback() {
    this.#field = this.closest("prompt-composer").querySelector("textarea");
    this.#field.addEventListener("input", this.#look);
    this.closest("form").addEventListener("htmx:afterRequest", this.#look);
    this.#look();
  }

  disconnectedCallback() {
    this.#field.removeEventListener("input", this.#look);
  }

  // The composer clears its field after the request, in the same event.
  #look = () => queueMicrotask(() => {
    const text = this.#field.value;
    const own = text.startsWith("!") && text.replace(/^!!?/, "").trim() !== "";
    this.hidden = !own;
    if (own) this.textContent = text.startsWith("!!") ? this.dataset.excluded : this.dataset.told;
  });
}

customElements.define("own-command-hint", OwnCommandHint);
