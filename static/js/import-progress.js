// How far the import of a session file has come, from the moment its form is sent until the session's page is there.

import { fill, gettext } from "words";

const words = new Intl.NumberFormat();

class ImportProgress extends HTMLElement {
  #timer = 0;

  connectedCallback() {
    this.form.addEventListener("submit", this.#sent);
    // The page may come back from the browser's store as it was left.
    window.addEventListener("pageshow", this.#rest);
  }

  disconnectedCallback() {
    this.#rest();
    window.removeEventListener("pageshow", this.#rest);
  }

  get form() {
    return this.closest("form");
  }

  #sent = () => {
    const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    this.form.elements.key.value = key;
    this.textContent = gettext("Sending the file…");
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#ask(key), 500);
  };

  async #ask(key) {
    try {
      const answer = await fetch(`${this.dataset.address}?key=${key}`);
      if (answer.status !== 200) return;
      const { done, of } = await answer.json();
      this.textContent = fill(gettext("{done} of {of} entries"), { done: words.format(done), of: words.format(of) });
    } catch {
      // The import goes on; the next question may be answered.
    }
  }

  #rest = () => {
    clearInterval(this.#timer);
    this.textContent = "";
  };
}

customElements.define("import-progress", ImportProgress);
