// Everything by name: commands of this page, sessions and folders. Ctrl or Cmd and K opens it.

import { run } from "commands";

class CommandPalette extends HTMLElement {
  #dialog;
  #field;
  #opener;

  connectedCallback() {
    this.#dialog = this.querySelector("dialog");
    this.#field = this.querySelector("input");
    document.addEventListener("keydown", this.#pressed);
    document.addEventListener("click", this.#asked);
    this.#field.addEventListener("keydown", this.#keyed);
    this.#field.addEventListener("input", () => this.#filter());
    this.addEventListener("htmx:afterSwap", () => this.#number());
    this.addEventListener("click", this.#clicked);
    this.#dialog.addEventListener("close", () => this.#opener?.focus?.());
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.#pressed);
    document.removeEventListener("click", this.#asked);
  }

  open(words = "") {
    if (this.#dialog.open) return;
    document.querySelectorAll(":popover-open").forEach((menu) => menu.hidePopover());
    this.#opener = document.activeElement;
    const commands = document.getElementById("named-commands").content.cloneNode(true);
    this.querySelector("[data-commands]").replaceChildren(commands);
    this.#field.value = words;
    this.#dialog.showModal();
    this.#filter();
    window.htmx.trigger(this.#field, "palette:opened");
  }

  // ---- actions ----

  #pressed = (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (this.#dialog.open) this.#dialog.close();
    else if (!document.querySelector("dialog[open]")) this.open();
  };

  #asked = (event) => {
    if (event.target.closest?.("[data-palette]")) this.open();
  };

  #keyed = (event) => {
    const options = this.#options;
    const index = options.findIndex((option) => option.ariaSelected === "true");
    if (event.key === "ArrowDown") this.#mark(options[(index + 1) % options.length]);
    else if (event.key === "ArrowUp") this.#mark(options.at(index <= 0 ? -1 : index - 1));
    else if (event.key === "Enter" && !event.isComposing) this.#choose(options[index]);
    else return;
    event.preventDefault();
  };

  #clicked = (event) => {
    if (event.target === this.#dialog) this.#dialog.close();
    this.#choose(event.target.closest("[role=option]"));
  };

  // ---- internal ----

  get #options() {
    return [...this.querySelectorAll("[role=option]")].filter((option) => !option.hidden);
  }

  #filter() {
    const words = this.#field.value.toLowerCase().replace(/^\//, "").split(/\s+/).filter(Boolean);
    for (const option of this.querySelectorAll("[data-commands] [role=option]")) {
      const text = option.textContent.toLowerCase();
      option.hidden = !words.every((word) => text.includes(word));
    }
    this.#number();
  }

  #number() {
    for (const group of this.querySelectorAll("[role=group]")) group.hidden = !group.querySelector("[role=option]:not([hidden])");
    const options = this.#options;
    options.forEach((option, index) => (option.id = `palette-${index}`));
    this.querySelector("[data-nothing]").hidden = options.length > 0;
    this.#mark(options[0]);
  }

  #mark(option) {
    for (const other of this.querySelectorAll("[role=option]")) other.ariaSelected = String(other === option);
    if (!option) return this.#field.removeAttribute("aria-activedescendant");
    this.#field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  async #choose(option) {
    if (!option) return;
    this.#opener = option.dataset.goes ? this.#opener : null;
    this.#dialog.close();
    const words = await run(option);
    const announcer = document.getElementById("announcer");
    if (words && announcer) announcer.textContent = words;
  }
}

customElements.define("command-palette", CommandPalette);
