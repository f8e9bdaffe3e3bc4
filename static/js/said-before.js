// What one has said in this session, newest last, for the arrow keys of an empty composer.

export class SaidBefore {
  #field;
  #write;
  #place = 0;
  #shown = "";

  constructor(field, write) {
    this.#field = field;
    this.#write = write;
  }

  /** True when the key went through one's own words: up from an empty field, on as long as they stand unchanged. */
  keyed(event) {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return false;
    const { value } = this.#field;
    if (!value) this.#place = 0;
    if (value && value !== this.#shown) return false;
    const said = [...document.querySelectorAll("#transcript > .entry--user [data-act=copy]")];
    const place = this.#place + (event.key === "ArrowUp" ? 1 : -1);
    if (place < 0 || place > said.length || (!value && event.key === "ArrowDown")) return false;
    event.preventDefault();
    this.#place = place;
    this.#show(place ? said.at(-place) : null);
    return true;
  }

  async #show(copy) {
    let words = "";
    if (copy) {
      try {
        const response = await fetch(copy.dataset.href, { headers: { "HX-Request": "true" } });
        words = response.ok ? await response.text() : "";
      } catch {
        words = copy.closest(".entry").querySelector("[data-copy]")?.innerText ?? "";
      }
    }
    if (this.#field.value && this.#field.value !== this.#shown) return;
    this.#shown = words;
    this.#write(words);
  }
}
