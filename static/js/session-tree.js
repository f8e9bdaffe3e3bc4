// The tree by keyboard: one tab stop, arrows walk, Enter goes there. A press on a row of the active path only
// shows it; on another branch it goes there; a folded run opens in its place.

class SessionTree extends HTMLElement {
  #observer = new MutationObserver(() => this.#renewed());
  #inside = false;

  connectedCallback() {
    this.addEventListener("keydown", this.#keyed);
    this.addEventListener("click", this.#clicked);
    this.addEventListener("focusin", () => (this.#inside = true));
    this.addEventListener("focusout", (event) => {
      if (event.relatedTarget && !this.contains(event.relatedTarget)) this.#inside = false;
    });
    this.#observer.observe(this.querySelector("[role=tree]"), { childList: true });
    this.#current?.scrollIntoView({ block: "nearest" });
  }

  disconnectedCallback() {
    this.#observer.disconnect();
  }

  // ---- actions ----

  #keyed = (event) => {
    const row = event.target.closest("[role=treeitem]");
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = this.#rows;
    const index = rows.indexOf(row);
    const next = {
      ArrowDown: () => rows[index + 1],
      ArrowUp: () => rows[index - 1],
      Home: () => rows[0],
      End: () => rows.at(-1),
      ArrowRight: row.dataset.first ? undefined : () => (rows[index + 1]?.dataset.level > row.dataset.level ? rows[index + 1] : undefined),
      ArrowLeft: () => rows.slice(0, index).findLast((it) => it.dataset.level < row.dataset.level),
    }[event.key];
    if (next) {
      event.preventDefault();
      this.#focus(next());
    } else if (["Enter", " ", "ArrowRight"].includes(event.key) && row.dataset.first) {
      event.preventDefault();
      this.#open(row);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#go(row);
    }
  };

  #clicked = (event) => {
    const row = event.target.closest("[role=treeitem]");
    if (row?.dataset.first) return void this.#open(row);
    if (!row?.dataset.seq) return;
    this.#focus(row);
    if (row.dataset.level === "1" && this.#show(row.dataset.seq)) return;
    this.#go(row);
  };

  // ---- internal ----

  get #rows() {
    return [...this.querySelectorAll("[role=treeitem]")];
  }

  get #current() {
    return this.querySelector("[role=treeitem][tabindex='0']") ?? this.querySelector("[role=treeitem]");
  }

  #focus(row) {
    if (!row) return;
    for (const other of this.#rows) other.tabIndex = other === row ? 0 : -1;
    row.focus();
  }

  // data-go is the address of going to entry 0; whoever may only read has none.
  #go(row) {
    const { seq, tip } = row.dataset;
    const { go } = this.dataset;
    if (!seq || row.ariaCurrent === "true") return;
    if (!go) return this.#show(seq);
    const target = document.querySelector("#transcript") ?? this.querySelector("[role=tree]");
    const values = tip === undefined ? { ask: 1 } : { ask: 1, tip: 1 };
    // A failure is told by the notice that htmx's event brings.
    window.htmx.ajax("post", go.replace("/0/", `/${seq}/`), { source: this, target, swap: "outerHTML", values }).catch(() => {});
    this.closest("drawer-panel")?.hide?.();
  }

  #show(seq) {
    const entry = document.getElementById(`entry-${seq}`);
    entry?.scrollIntoView({ block: "center" });
    if (entry) this.closest("drawer-panel")?.hide?.();
    return entry;
  }

  // The entries of a folded run take its place.
  async #open(row) {
    const { first, last } = row.dataset;
    const answer = await fetch(`${this.dataset.page}?first=${first}&last=${last}`, { headers: { "HX-Request": "true" } }).catch(() => null);
    if (!answer?.ok || !row.isConnected) return;
    const template = document.createElement("template");
    template.innerHTML = await answer.text();
    const [begin] = template.content.querySelectorAll("[role=treeitem]");
    row.replaceWith(template.content);
    const level = this.#rows.filter((it) => it.dataset.level === "1");
    level.forEach((it, index) => {
      it.ariaPosInSet = index + 1;
      it.ariaSetSize = level.length;
    });
    this.#focus(begin);
  }

  // New rows come whole: somebody walking through them goes on where the leaf stands.
  #renewed() {
    const rows = this.#rows;
    if (rows.length && !rows.some((row) => row.tabIndex === 0)) rows.at(-1).tabIndex = 0;
    if (this.#inside && !this.contains(document.activeElement)) this.#current?.focus();
    else this.#current?.scrollIntoView({ block: "nearest" });
  }
}

customElements.define("session-tree", SessionTree);
