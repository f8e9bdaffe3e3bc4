// A dialog that came from the server: opens at once, closes when its command is carried out, and goes with it.
// What is refused is told inside, so that nothing written in it is lost. One with an address of its own (data-address) is a
// step of the browser's history: Back closes it, Forward opens it again.

window.addEventListener("popstate", (event) => {
  const address = event.state?.dialog;
  if (!address || document.querySelector("open-dialog")) return;
  window.htmx.ajax("GET", address, { target: "#dialogs", swap: "innerHTML" }).catch(() => {});
});

class OpenDialog extends HTMLElement {
  connectedCallback() {
    const dialog = this.querySelector("dialog");
    document.querySelectorAll(":popover-open").forEach((menu) => menu.hidePopover());
    dialog.addEventListener("close", () => this.#closed());
    dialog.addEventListener("click", this.#clicked);
    this.addEventListener("htmx:beforeRequest", () => this.querySelector("[data-dialog-notices]")?.replaceChildren());
    this.addEventListener("htmx:afterRequest", this.#answered);
    this.addEventListener("input", this.#written);
    document.addEventListener("htmx:beforeSwap", this.#swapped);
    if (!dialog.open) dialog.showModal();
    const { address } = this.dataset;
    if (!address) return;
    window.addEventListener("popstate", this.#walked);
    if (history.state?.dialog !== address) history.pushState({ ...history.state, dialog: address }, "", address);
  }

  disconnectedCallback() {
    document.removeEventListener("htmx:beforeSwap", this.#swapped);
    window.removeEventListener("popstate", this.#walked);
  }

  // ---- actions ----

  #closed() {
    this.remove();
    if (this.dataset.address && history.state?.dialog === this.dataset.address) history.back();
  }

  #walked = () => {
    if (history.state?.dialog !== this.dataset.address) this.querySelector("dialog").close();
  };

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
