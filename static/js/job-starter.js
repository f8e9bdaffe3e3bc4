// The empty composer: Enter sends, another folder shows its own page with the words kept, chosen images are named.

import { refuseLongText } from "long-text";

class JobStarter extends HTMLElement {
  connectedCallback() {
    this.addEventListener("keydown", this.#keyed);
    this.addEventListener("change", this.#changed);
    const kept = sessionStorage.getItem("agentweb-begin");
    sessionStorage.removeItem("agentweb-begin");
    refuseLongText(this.#text, this.dataset.largest, (words) => this.#tell(words));
    if (kept && !this.#text.value) this.#text.value = kept;
    // On touch screens the keyboard would cover the page before anybody has read it.
    const wanted = kept || location.hash === "#text" || matchMedia("(pointer: fine)").matches;
    if (wanted && document.activeElement === document.body) this.#text.focus();
  }

  disconnectedCallback() {
    this.removeEventListener("keydown", this.#keyed);
    this.removeEventListener("change", this.#changed);
  }

  get #text() {
    return this.querySelector("textarea");
  }

  #keyed = (event) => {
    if (event.target !== this.#text || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    const send = this.querySelector("[data-send]");
    send.form.requestSubmit(send);
  };

  #changed = (event) => {
    const { folders } = event.target.dataset;
    if (folders) {
      sessionStorage.setItem("agentweb-begin", this.#text.value);
      location.assign(folders + encodeURIComponent(event.target.value));
    }
    if (event.target.name === "images") {
      this.#tell([...event.target.files].map((file) => file.name).join(", "));
    }
  };

  #tell(words) {
    this.querySelector("[data-attached]").textContent = words;
  }
}

customElements.define("job-starter", JobStarter);
