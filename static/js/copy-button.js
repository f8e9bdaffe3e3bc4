// Copies the code it heads, or the address in data-copies.

import { confirmCopy, copyText } from "clipboard";
import { gettext } from "words";

class CopyButton extends HTMLElement {
  connectedCallback() {
    if (!this.querySelector("button")) this.append(this.#button());
    this.addEventListener("click", this.#clicked);
  }

  disconnectedCallback() {
    this.removeEventListener("click", this.#clicked);
  }

  // The code's HTML is sanitised Markdown, which knows no buttons.
  #button() {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn--quiet btn--small";
    button.innerHTML = '<svg class="icon icon--s" aria-hidden="true"><use href="#i-copy"/></svg>';
    button.append(gettext("Copy"));
    return button;
  }

  #clicked = async (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const { copies } = this.dataset;
    const text = copies ? new URL(copies, location.href).href : (this.closest(".code")?.querySelector("pre")?.textContent ?? "");
    await copyText(text);
    confirmCopy(button);
    this.closest("[popover]")?.hidePopover();
  };
}

customElements.define("copy-button", CopyButton);
