// The empty composer: Enter sends, a suggested job becomes the message, another folder shows its own page with the
// words kept, chosen images are named, a chosen session file is sent.

import { refuseLongText } from "long-text";

class JobStarter extends HTMLElement {
  connectedCallback() {
    this.addEventListener("keydown", this.#keyed);
    this.addEventListener("change", this.#changed);
    this.addEventListener("click", this.#pressed);
    const kept = sessionStorage.getItem("agentweb-begin");
    sessionStorage.removeItem("agentweb-begin");
    refuseLongText(this.#text, this.dataset.largest, (words) => this.#tell(words));
    if (kept && !this.#text.value) this.#text.value = kept;
    if (location.hash === "#session-file") document.getElementById("session-file")?.focus();
    // On touch screens the keyboard would cover the page before anybody has read it.
    const wanted = kept || location.hash === "#text" || matchMedia("(pointer: fine)").matches;
    if (wanted && document.activeElement === document.body) this.#text.focus();
  }

  disconnectedCallback() {
    this.removeEventListener("keydown", this.#keyed);
    this.removeEventListener("change", this.#changed);
    this.removeEventListener("click", this.#pressed);
  }

  get #text() {
    return this.querySelector("textarea");
  }

  #keyed = (event) => {
    const offer = event.altKey && !event.ctrlKey && !event.metaKey && this.#offer(event.code);
    if (offer) {
      event.preventDefault();
      this.#suggest(offer);
      return;
    }
    if (event.target !== this.#text || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    const send = this.querySelector("[data-send]");
    send.form.requestSubmit(send);
  };

  #pressed = (event) => {
    const offer = event.target.closest(".offer");
    if (!offer) return;
    event.preventDefault();
    this.#suggest(offer);
  };

  // Alt and a digit gives another character on some keyboards: what counts is which key it is.
  #offer(code) {
    return /^Digit\d$/.test(code) && this.querySelector(`.offer[data-shortcut="${code.at(-1)}"]`);
  }

  // One key or press starts nothing yet: the words can be read, changed, and sent by Enter.
  #suggest(offer) {
    this.#text.value = offer.querySelector("b").textContent;
    this.#text.dispatchEvent(new Event("input", { bubbles: true }));
    this.#text.focus();
  }

  #changed = (event) => {
    const { folders } = event.target.dataset;
    if (folders) {
      sessionStorage.setItem("agentweb-begin", this.#text.value);
      location.assign(folders + encodeURIComponent(event.target.value));
    }
    if (event.target.name === "file" && event.target.files.length) event.target.form.requestSubmit();
    if (event.target.name === "images") {
      this.#tell([...event.target.files].map((file) => file.name).join(", "));
    }
  };

  #tell(words) {
    this.querySelector("[data-attached]").textContent = words;
  }
}

customElements.define("job-starter", JobStarter);
