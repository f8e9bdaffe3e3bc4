// What can be done with an entry beside htmx's own buttons: copy its words, copy its link, and the menu on touch.

import { confirmCopy, copyText } from "clipboard";
import { gettext } from "words";

class EntryActions extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", this.#clicked);
    document.addEventListener("click", this.#clickedElsewhere);
    this.addEventListener("keydown", this.#keyed);
  }

  disconnectedCallback() {
    this.removeEventListener("click", this.#clicked);
    document.removeEventListener("click", this.#clickedElsewhere);
    this.removeEventListener("keydown", this.#keyed);
  }

  // ---- actions ----

  #clicked = async (event) => {
    const button = event.target.closest("[data-act]");
    // In the head of a card a press would also fold it.
    if (this.closest("summary")) event.preventDefault();
    switch (button?.dataset.act) {
      case "more":
        return this.#open(!this.hasAttribute("data-open"));
      case "copy":
        await copyText(await this.#words(button.dataset.href));
        confirmCopy(button);
        break;
      case "link":
        await copyText(new URL(button.dataset.href, location.href).href);
        confirmCopy(button, gettext("Link copied"));
        break;
    }
    if (button) this.#open(false);
  };

  #clickedElsewhere = (event) => {
    if (!this.contains(event.target)) this.#open(false);
  };

  #keyed = (event) => {
    if (event.key === "Escape" && this.hasAttribute("data-open")) {
      event.stopPropagation();
      this.#open(false);
    }
  };

  // ---- internal ----

  // As they were written; without the server, as they are shown.
  async #words(address) {
    try {
      const response = await fetch(address, { headers: { "HX-Request": "true" } });
      if (response.ok) return await response.text();
    } catch {
      // Offline.
    }
    return this.closest(".entry")?.querySelector("[data-copy]")?.innerText ?? "";
  }

  #open(open) {
    this.toggleAttribute("data-open", open);
    this.querySelector("[data-act=more]")?.setAttribute("aria-expanded", String(open));
  }
}

customElements.define("entry-actions", EntryActions);
