// A column that folds on wide windows (its key, data-key, is remembered) and is a drawer on narrow ones
// (data-drawer-below, in px): it takes the focus, keeps it, and gives it back.

class DrawerPanel extends HTMLElement {
  #narrow;
  #opener;
  #scrim;

  connectedCallback() {
    this.#narrow = matchMedia(`(max-width: ${this.dataset.drawerBelow ?? 860}px)`);
    this.#narrow.addEventListener("change", this.#widthChanged);
    document.addEventListener("keydown", this.#keyed);
    if (!this.hasAttribute("role")) this.setAttribute("role", "complementary");
    if (this.#stored() === "folded") this.toggleAttribute("data-folded", !this.#narrow.matches);
  }

  disconnectedCallback() {
    this.#narrow.removeEventListener("change", this.#widthChanged);
    document.removeEventListener("keydown", this.#keyed);
    this.hide();
  }

  get isOpen() {
    return this.hasAttribute("data-open");
  }

  show() {
    if (!this.#narrow.matches) return this.#fold(false);
    if (this.isOpen) return;
    this.#opener = document.activeElement;
    this.setAttribute("data-open", "");
    this.#markOpeners("true");
    this.#scrim = document.createElement("div");
    this.#scrim.className = "scrim";
    this.#scrim.addEventListener("click", () => this.hide());
    document.body.append(this.#scrim);
    for (const other of this.#others()) other.inert = true;
    (this.querySelector("a[href], button, input") ?? this).focus();
  }

  hide() {
    if (!this.isOpen) return;
    this.removeAttribute("data-open");
    this.#markOpeners("false");
    this.#scrim.remove();
    for (const other of this.#others()) other.inert = false;
    this.#opener?.focus();
  }

  #keyed = (event) => {
    if (event.key === "Escape" && this.isOpen && !document.querySelector("dialog[open], :popover-open")) {
      event.preventDefault();
      this.hide();
    }
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented;
    const writing = event.target.closest?.("input, textarea, select, [contenteditable=true]");
    if (event.key !== this.dataset.key || !plain || writing || document.querySelector("dialog[open]")) return;
    if (document.getElementById("single-keys")?.checked === false) return;
    event.preventDefault();
    if (this.#narrow.matches) return this.isOpen ? this.hide() : this.show();
    this.#fold(!this.hasAttribute("data-folded"));
  };

  #widthChanged = () => {
    this.hide();
    this.toggleAttribute("data-folded", !this.#narrow.matches && this.#stored() === "folded");
  };

  #fold(folded) {
    this.toggleAttribute("data-folded", folded);
    try {
      localStorage.setItem(`agentweb-${this.id}`, folded ? "folded" : "open");
    } catch {
      // Then it is open again on the next page.
    }
  }

  #stored() {
    try {
      return localStorage.getItem(`agentweb-${this.id}`);
    } catch {
      return null;
    }
  }

  #markOpeners(expanded) {
    for (const opener of document.querySelectorAll(`[data-opens="${this.id}"]`)) opener.setAttribute("aria-expanded", expanded);
  }

  #others() {
    return [...document.querySelectorAll("body > .rail, body > .list, body > .main, body > .side, body > .skip")].filter((it) => it !== this);
  }
}

customElements.define("drawer-panel", DrawerPanel);
