// The list above the composer: commands after a / at the start, files of the workspace after an @. The field keeps the
// focus; the list says by aria-activedescendant which option is meant.

const COMMAND = /^\/([a-z-]*)$/;
const FILE = /(?:^|\s)@("[^"\n]*|[^\s"@]*)$/;
const GATHER = 90;

export class Completions {
  #field;
  #list;
  #status;
  #run;
  #timer = 0;
  #asked = null;
  #start = 0;

  // `run(option)` carries out a command that was chosen.
  constructor(field, list, status, run) {
    this.#field = field;
    this.#list = list;
    this.#status = status;
    this.#run = run;
    list.addEventListener("pointerdown", (event) => event.preventDefault());
    list.addEventListener("click", (event) => this.#choose(event.target.closest("[role=option]")));
    field.addEventListener("blur", () => this.close());
  }

  get isOpen() {
    return !this.#list.hidden;
  }

  /** Look at what stands before the caret. */
  look() {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    const before = this.#field.value.slice(0, this.#field.selectionStart);
    const command = this.#field.value.slice(this.#field.selectionStart).trim() ? null : before.match(COMMAND);
    const file = command ? null : before.match(FILE);
    if (command) this.#offerCommands(command[1]);
    else if (file) {
      this.#start = before.length - file[1].length - 1;
      this.#timer = setTimeout(() => this.#offerFiles(file[1].replace(/^"/, "")), GATHER);
    } else this.close();
  }

  /** True when the key was meant for the list. */
  keyed(event) {
    if (!this.isOpen) return false;
    const options = [...this.#list.querySelectorAll("[role=option]")];
    const index = options.findIndex((option) => option.ariaSelected === "true");
    switch (event.key) {
      case "ArrowDown": this.#mark(options[(index + 1) % options.length]); break;
      case "ArrowUp": this.#mark(options.at(index <= 0 ? -1 : index - 1)); break;
      case "Tab": this.#choose(options[Math.max(index, 0)], true); break;
      case "Enter":
        if (event.shiftKey || event.altKey || index < 0) return false;
        this.#choose(options[index]);
        break;
      case "Escape": this.close(); break;
      default: return false;
    }
    event.preventDefault();
    return true;
  }

  close() {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#list.hidden = true;
    this.#field.removeAttribute("aria-activedescendant");
  }

  // ---- internal ----

  #offerCommands(start) {
    const options = [...document.getElementById("named-commands").content.querySelectorAll("[data-command]")]
      .filter((option) => option.dataset.command.startsWith(start))
      .map((option) => option.cloneNode(true));
    this.#show(options);
  }

  async #offerFiles(query) {
    this.#asked = new AbortController();
    const address = `${this.#list.dataset.files}?q=${encodeURIComponent(query)}`;
    try {
      const response = await fetch(address, { headers: { "HX-Request": "true" }, signal: this.#asked.signal });
      if (!response.ok) return this.close();
      const holder = document.createElement("template");
      holder.innerHTML = await response.text();
      this.#show([...holder.content.querySelectorAll("[role=option]")]);
    } catch {
      // Another letter has come, or the server is away: then there is nothing to offer.
    }
  }

  #show(options) {
    if (!options.length) return this.close();
    options.forEach((option, index) => (option.id = `completion-${index}`));
    this.#list.replaceChildren(...options);
    this.#list.hidden = false;
    this.#mark(options[0]);
    this.#status.textContent = options.length === 1 ? "1 suggestion" : `${options.length} suggestions`;
  }

  #mark(option) {
    for (const other of this.#list.querySelectorAll("[role=option]")) other.ariaSelected = String(other === option);
    this.#field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  #choose(option, only = false) {
    if (!option) return;
    const { command, value } = option.dataset;
    this.close();
    if (command && (only || option.dataset.argument === "needed")) this.#write(0, this.#field.value.length, `/${command} `);
    else if (command) this.#run(option);
    else {
      const goesOn = "goesOn" in option.dataset;
      const path = /\s/.test(value) ? `@"${value}${goesOn ? "" : '"'}` : `@${value}`;
      this.#write(this.#start, this.#field.selectionStart, goesOn ? path : `${path} `);
      if (goesOn) this.look();
    }
  }

  #write(start, end, text) {
    this.#field.setRangeText(text, start, end, "end");
    this.#field.dispatchEvent(new Event("input", { bubbles: true }));
    this.#field.focus();
  }
}
