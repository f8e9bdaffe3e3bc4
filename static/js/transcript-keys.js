// Walking through the transcript by single keys: j k to the next and previous entry, J K of one's own, End to the newest,
// and for the one that has the focus ← → (versions), o (open or fold), e (edit and branch), b (branch from here),
// c (copy), y (copy link), l (label), p (pin), x (leave out or restore). Escape there stops the running job.

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
    if (event.key === "Escape") return this.#stop(event);
    if (document.getElementById("single-keys")?.checked === false) return;
    if (event.key === "j" || event.key === "k") this.#walk(event, ".entry:not(.entry--bare)");
    else if (event.key === "J" || event.key === "K") this.#walk(event, ".entry--user");
    else if (event.key === "End") this.#toEnd(event);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") this.#version(event);
    else if (event.key === "o") this.#fold(event);
    else if (event.key in ACTS) this.#act(event, ACTS[event.key]);
  };

  // ---- internal ----

  get #current() {
    return document.activeElement?.closest("#transcript > .entry");
  }

  #walk(event, wanted) {
    const entries = [...document.querySelectorAll("#transcript > .entry")];
    const here = this.#current ? entries.indexOf(this.#current) : entries.length;
    const forth = event.key.toLowerCase() === "j";
    const rest = forth ? entries.slice(this.#current ? here + 1 : 0) : entries.slice(0, here).reverse();
    const next = rest.find((entry) => entry.matches(wanted));
    if (!next) return;
    event.preventDefault();
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  #toEnd(event) {
    const last = [...document.querySelectorAll("#transcript > .entry:not(.entry--bare)")].at(-1);
    if (!last) return;
    event.preventDefault();
    last.focus({ preventScroll: true });
    const box = document.getElementById("scroll");
    box.scrollTop = 0;
  }

  #version(event) {
    const [before, after] = this.#current?.querySelectorAll(".sibs button") ?? [];
    const button = event.key === "ArrowLeft" ? before : after;
    if (!button || button.disabled) return;
    event.preventDefault();
    button.click();
  }

  // What is running stops from the transcript as it does from the composer, nowhere else.
  #stop(event) {
    const composer = document.querySelector("prompt-composer[data-active]");
    if (!composer || !document.activeElement?.closest("#scroll") || document.querySelector("drawer-panel[data-open]")) return;
    event.preventDefault();
    document.getElementById("stop-form").requestSubmit();
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
