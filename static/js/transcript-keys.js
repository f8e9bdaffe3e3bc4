// Walking through the transcript by single keys: j k to the next and previous entry, and for the one that has the
// focus o (open or fold), e (edit and branch), b (branch from here), c (copy), y (copy link), l (label),
// p (pin), x (leave out or restore).

const ACTS = { e: "edit", b: "go", c: "copy", y: "link", l: "label", p: "pin", x: "omit" };
const WRITES = "input, textarea, select, [contenteditable=true]";

class TranscriptKeys extends HTMLElement {
  connectedCallback() {
    document.addEventListener("keydown", this.#keyed);
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.#keyed);
  }

  // ---- actions ----

  #keyed = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest?.(WRITES) || document.querySelector("dialog[open], :popover-open")) return;
    if (document.getElementById("single-keys")?.checked === false) return;
    if (event.key === "j" || event.key === "k") this.#walk(event);
    else if (event.key === "o") this.#fold(event);
    else if (event.key in ACTS) this.#act(event, ACTS[event.key]);
  };

  // ---- internal ----

  get #current() {
    return document.activeElement?.closest("#transcript > .entry");
  }

  #walk(event) {
    const entries = [...document.querySelectorAll("#transcript > .entry:not(.entry--bare)")];
    const index = entries.indexOf(this.#current);
    const next = event.key === "j" ? entries[index + 1] : index < 0 ? entries.at(-1) : entries[index - 1];
    if (!next) return;
    event.preventDefault();
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  #fold(event) {
    const details = this.#current?.querySelector("details");
    if (!details) return;
    event.preventDefault();
    details.open = !details.open;
  }

  #act(event, act) {
    const button = this.#current?.querySelector(`[data-act=${act}]`);
    if (!button) return;
    event.preventDefault();
    button.click();
  }
}

customElements.define("transcript-keys", TranscriptKeys);
