// On phones the model and the context meter are behind one chip: what they show in short, and the way to them.

const parts = new Set(["model-picker", "session-meta"]);

class ModelChip extends HTMLElement {
  #button;
  #controls;

  connectedCallback() {
    this.#button = this.querySelector("button");
    this.#controls = document.getElementById("session-controls");
    this.#button.addEventListener("click", this.#pressed);
    document.addEventListener("htmx:afterSwap", this.#swapped);
    document.addEventListener("click", this.#clicked);
    document.addEventListener("keydown", this.#keyed);
    this.#tell();
  }

  disconnectedCallback() {
    document.removeEventListener("htmx:afterSwap", this.#swapped);
    document.removeEventListener("click", this.#clicked);
    document.removeEventListener("keydown", this.#keyed);
  }

  // ---- actions ----

  #pressed = () => this.#open(!this.#controls.hasAttribute("data-open"));

  #swapped = (event) => parts.has(event.detail.target?.id) && this.#tell();

  #clicked = (event) => {
    if (!this.contains(event.target) && !this.#controls.contains(event.target)) this.#open(false);
  };

  #keyed = (event) => {
    if (event.key !== "Escape" || !this.#controls.hasAttribute("data-open")) return;
    event.preventDefault();
    this.#open(false);
    this.#button.focus();
  };

  // ---- internal ----

  #open(open) {
    this.#controls.toggleAttribute("data-open", open);
    this.#button.setAttribute("aria-expanded", String(open));
  }

  #tell() {
    const model = this.#controls.querySelector("select[name=model]")?.selectedOptions[0]?.textContent ?? "";
    const meter = this.#controls.querySelector("[role=meter]");
    const known = meter && !meter.getAttribute("aria-valuetext").startsWith("Unknown");
    const share = known ? `${Math.max(1, Math.round((100 * meter.ariaValueNow) / meter.ariaValueMax))} %` : "?";
    const [name, part] = this.#button.querySelectorAll("span");
    name.textContent = model.split(" (")[0];
    part.textContent = share;
  }
}

customElements.define("model-chip", ModelChip);
