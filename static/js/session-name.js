// The session's name: press it to change it; Enter keeps, Escape or leaving gives up.

class SessionName extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", this.#clicked);
    this.addEventListener("keydown", this.#keyed);
    this.addEventListener("focusout", this.#left);
    document.addEventListener("click", this.#asked);
    this.#entitle();
  }

  disconnectedCallback() {
    document.removeEventListener("click", this.#asked);
  }

  // ---- actions ----

  #clicked = (event) => {
    if (event.target.closest(".session-name__show")) this.#edit(true);
  };

  #asked = (event) => {
    const control = event.target.closest?.("[data-renames]");
    if (!control) return;
    control.closest("[popover]")?.hidePopover();
    this.#edit(true);
  };

  #keyed = (event) => {
    if (event.key !== "Escape" || this.#form?.hidden !== false) return;
    event.stopPropagation();
    this.#edit(false);
    this.querySelector(".session-name__show").focus();
  };

  #left = (event) => {
    if (!this.contains(event.relatedTarget) && !this.#form?.classList.contains("htmx-request")) this.#edit(false);
  };

  // ---- internal ----

  get #form() {
    return this.querySelector("form");
  }

  // Whoever renamed it: the tab says the same, behind the mark of what nobody has seen.
  #entitle() {
    const name = this.querySelector("h1").textContent.trim();
    const mark = document.title.match(/^● /)?.[0] ?? "";
    document.title = `${mark}${name} · ${document.title.split(" · ").at(-1)}`;
  }

  #edit(editing) {
    const form = this.#form;
    if (!form) return;
    form.hidden = !editing;
    this.querySelector("h1").hidden = editing;
    if (!editing) return form.reset();
    form.elements.name.focus();
    form.elements.name.select();
  }
}

customElements.define("session-name", SessionName);
