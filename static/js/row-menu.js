// The menu of a row in the list of sessions: rename, archive, delete. There is one; it opens beside the row's button.

class RowMenu extends HTMLElement {
  #menu = this.querySelector("[popover]");
  #field = this.querySelector("input");
  #address = "";
  #opener;

  connectedCallback() {
    document.addEventListener("click", this.#clicked);
    this.addEventListener("submit", this.#renamed);
    this.#menu.addEventListener("toggle", this.#toggled);
  }

  disconnectedCallback() {
    document.removeEventListener("click", this.#clicked);
  }

  // ---- actions ----

  #clicked = (event) => {
    const opener = event.target.closest?.("[data-row-menu]");
    if (opener) return this.#open(opener);
    const { rowAct } = event.target.closest?.("[data-row-act]")?.dataset ?? {};
    if (rowAct) this.#send("shelf/", { action: rowAct, stay: "1" });
  };

  #renamed = (event) => {
    event.preventDefault();
    this.#send("name/", { name: this.#field.value });
  };

  #toggled = (event) => {
    this.#opener?.setAttribute("aria-expanded", String(event.newState === "open"));
    if (event.newState === "closed" && this.#menu.contains(document.activeElement)) this.#opener?.focus();
  };

  // ---- internal ----

  #open(opener) {
    const row = opener.parentElement.querySelector("a.session");
    this.#opener = opener;
    this.#address = row.pathname;
    this.#field.value = row.querySelector(".session__name").textContent.trim();
    this.#menu.showPopover();
    const place = opener.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height, style } = this.#menu;
    style.left = `${Math.max(8, Math.min(place.left, innerWidth - width - 8))}px`;
    style.top = `${Math.max(8, Math.min(place.bottom + 4, innerHeight - height - 8))}px`;
    this.#field.focus();
    this.#field.select();
  }

  // A refusal is said by the page's notices, as it is for every command.
  async #send(command, values) {
    this.#menu.hidePopover();
    try {
      await window.htmx.ajax("POST", this.#address + command, { swap: "none", values });
    } catch {
      // Told by the state of the connection.
    }
  }
}

customElements.define("row-menu", RowMenu);
