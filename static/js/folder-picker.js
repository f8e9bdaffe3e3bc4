// A typed path and a list of folders that follow each other: pressing a folder writes its path into the field.

class FolderPicker extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", this.#picked);
    this.addEventListener("input", this.#typed);
  }

  disconnectedCallback() {
    this.removeEventListener("click", this.#picked);
    this.removeEventListener("input", this.#typed);
  }

  get #field() {
    return this.querySelector("input[name=path]");
  }

  #picked = (event) => {
    const row = event.target.closest("[data-path]");
    if (!row) return;
    this.#field.value = row.dataset.path;
    this.#forget();
  };

  #typed = () => this.#forget();

  // What was wrong was said of the path before.
  #forget() {
    this.#field.removeAttribute("aria-invalid");
    this.#field.removeAttribute("aria-describedby");
    this.querySelector("#path-error")?.remove();
  }
}

customElements.define("folder-picker", FolderPicker);
