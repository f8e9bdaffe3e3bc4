// A dialog that came from the server: opens at once, closes when its command is carried out, and goes with it.
// What is refused is told inside, so that nothing written in it is lost.

class OpenDialog extends HTMLElement {
  connectedCallback() {
    const dialog = this.querySelector("dialog");
    document.querySelectorAll(":popover-open").forEach((menu) => menu.hidePopover());
    dialog.addEventListener("close", () => this.remove());
    dialog.addEventListener("click", this.#clicked);
    this.addEventListener("htmx:beforeRequest", () => this.querySelector("[data-dialog-notices]")?.replaceChildren());
    this.addEventListener("htmx:afterRequest", this.#answered);
    this.addEventListener("input", this.#written);
    document.addEventListener("htmx:beforeSwap", this.#swapped);
    if (!dialog.open) dialog.showModal();
  }

  disconnectedCallback() {
    document.removeEventListener("htmx:beforeSwap", this.#swapped);
  }

  // ---- actions ----

  #clicked = (event) => {
    if (event.target.closest("[data-cancels]")) this.querySelector("dialog").close();
  };

  #answered = (event) => {
    // What is only looked up inside carries nothing out.
    if (!event.detail.successful || event.detail.requestConfig.verb === "get") return;
    this.querySelector("dialog").close();
    // A summary that is being written stands there, with its way out.
    document.querySelector("#run-notice > *")?.scrollIntoView({ block: "end" });
  };

  #swapped = (event) => {
    const { isError, requestConfig } = event.detail;
    if (isError && this.contains(requestConfig.elt)) event.detail.target = this.querySelector("[data-dialog-notices]");
  };

  // Words for a focus choose the summary that has one.
  #written = (event) => {
    const choice = event.target.name === "instructions" && this.querySelector("[name=summarise][value=custom]");
    if (choice && event.target.value) choice.checked = true;
  };
}

customElements.define("open-dialog", OpenDialog);
