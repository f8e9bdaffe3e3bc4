// Where dropped or chosen files go: into the message, as images and quoted text, or into a folder of the workspace.

import { gettext } from "words";

const LONGEST_TEXT = 100_000;

class PlaceFiles extends HTMLElement {
  #files = [];

  connectedCallback() {
    const form = this.querySelector("form");
    form.addEventListener("submit", this.#submitted, { capture: true });
    form.addEventListener("files:kept", this.#kept);
    this.addEventListener("click", (event) => event.target.closest("[data-cancels]") && this.#dialog.close());
    this.#dialog.addEventListener("close", () => (this.#files = []));
    document.addEventListener("htmx:beforeSwap", this.#swapped);
  }

  disconnectedCallback() {
    document.removeEventListener("htmx:beforeSwap", this.#swapped);
  }

  /** Opens the dialog for these files. */
  async ask(files) {
    this.#files = [...files];
    this.querySelector("[data-dialog-notices]").replaceChildren();
    this.querySelector("[data-files]").replaceChildren(...this.#files.map(row));
    const said = (await Promise.all(this.#files.map(canBeSaid))).every(Boolean);
    const [message, folder] = this.querySelectorAll("[name=where]");
    message.disabled = !said;
    message.checked = said;
    folder.checked = !said;
    this.querySelector("[data-unsaid]").hidden = said;
    const transfer = new DataTransfer();
    for (const file of this.#files) transfer.items.add(file);
    this.querySelector("[name=uploads]").files = transfer.files;
    if (!this.#dialog.open) this.#dialog.showModal();
    (said ? message : this.querySelector("[name=folder]")).focus();
  }

  // ---- actions ----

  #submitted = (event) => {
    if (this.querySelector("[name=where]:checked").value === "folder") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.#tell("files:said", { files: this.#files });
    this.#dialog.close();
  };

  #kept = (event) => {
    this.#tell("files:placed", { paths: event.detail.paths });
    this.#dialog.close();
  };

  // What is refused is told in the dialog.
  #swapped = (event) => {
    const { isError, requestConfig } = event.detail;
    if (isError && this.contains(requestConfig.elt)) event.detail.target = this.querySelector("[data-dialog-notices]");
  };

  // ---- internal ----

  get #dialog() {
    return this.querySelector("dialog");
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  }
}

function row(file) {
  const line = document.createElement("li");
  const size = file.size < 1000 ? `${file.size} B` : file.size < 100_000 ? `${(file.size / 1000).toFixed(1)} KB` : `${(file.size / 1_000_000).toFixed(1)} MB`;
  const name = document.createElement("bdi");
  name.textContent = file.name || gettext("Image");
  name.className = "clip";
  line.append(name, Object.assign(document.createElement("span"), { className: "faint micro", textContent: size }));
  return line;
}

async function canBeSaid(file) {
  if (file.type.startsWith("image/")) return true;
  return file.size <= LONGEST_TEXT && !(await file.slice(0, 4000).text()).includes("\0");
}

customElements.define("place-files", PlaceFiles);
