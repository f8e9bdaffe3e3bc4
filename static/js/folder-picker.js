// A typed path and a list of folders that follow each other: pressing a folder writes its path into the field.

class FolderPicker extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", this.#picked);
  }

  disconnectedCallback() {
    this.removeEventListener("click", this.#picked);
  }

  #picked = (event) => {
    const row = event.target.closest("[data-path]");
    if (!row) return;
    const field = this.querySelector("input[name=path]");
    field.value = row.dataset.path;
    field.removeAttribute("aria-invalid");
    this.querySelector("#path-error")?.remove();
  };
}

customElements.define("folder-picker", FolderPicker);
