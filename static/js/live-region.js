// The region where answers grow and tools run: carries out the ops of `live` frames.

export class LiveRegion {
  #root;

  constructor(root) {
    this.#root = root;
  }

  apply(ops) {
    for (const [name, ...args] of ops) this[name]?.(...args);
  }

  snapshot(html) {
    this.#root.innerHTML = html;
  }

  clear() {
    this.#root.replaceChildren();
  }

  message(key, html) {
    this.drop(key);
    this.#root.insertAdjacentHTML("beforeend", html);
  }

  block(key, index, html) {
    const blocks = this.#find(key)?.querySelector(".entry__blocks");
    const slot = blocks?.querySelector(`[data-block="${index}"]`);
    if (slot) slot.outerHTML = html;
    else blocks?.insertAdjacentHTML("beforeend", html);
  }

  stable(key, index, html) {
    this.#slot(key, index, ".stable")?.insertAdjacentHTML("beforeend", html);
  }

  tail(key, index, html) {
    const tail = this.#slot(key, index, ".tail");
    if (tail) tail.innerHTML = html;
  }

  more(key, index, text) {
    let element = this.#slot(key, index, ".tail");
    // The end of an open paragraph or code block.
    while (element?.lastChild instanceof Element) element = element.lastChild;
    element?.append(text);
  }

  // A card that is there already keeps its place, and stays as far open as it was.
  tool(id, html) {
    const card = this.#find(id);
    if (!card) return this.#root.insertAdjacentHTML("beforeend", html);
    const { open } = card.querySelector("details");
    card.insertAdjacentHTML("afterend", html);
    card.nextElementSibling.querySelector("details").open = open;
    card.remove();
  }

  tooltail(id, text) {
    const output = this.#find(id)?.querySelector(".tool__tail");
    if (output) output.textContent = text;
  }

  drop(key) {
    this.#find(key)?.remove();
  }

  #find(key) {
    const name = CSS.escape(key);
    return this.#root.querySelector(`:scope > [data-live="${name}"], :scope > [data-call="${name}"]`);
  }

  #slot(key, index, part) {
    return this.#find(key)?.querySelector(`[data-block="${index}"] ${part}`);
  }
}
