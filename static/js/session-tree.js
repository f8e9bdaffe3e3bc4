// The tree by keyboard: one tab stop, arrows walk, Enter goes there. A press on a row of the active path only
// shows it; on another branch it goes there; a folded run opens below its row, and folds again.

class SessionTree extends HTMLElement {
  #observer = new MutationObserver(() => this.#renewed());
  #inside = false;
  #opened = new Set();
  #follows = true;

  connectedCallback() {
    this.addEventListener("keydown", this.#keyed);
    this.addEventListener("click", this.#clicked);
    this.addEventListener("focusin", () => (this.#inside = true));
    this.addEventListener("focusout", (event) => {
      if (event.relatedTarget && !this.contains(event.relatedTarget)) this.#inside = false;
    });
    this.#observer.observe(this.querySelector("[role=tree]"), { childList: true });
    this.#current?.scrollIntoView({ block: "nearest" });
    this.#scroller?.addEventListener("scroll", this.#scrolled, { passive: true });
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
      ArrowRight: row.ariaExpanded === "false" ? undefined : () => (rows[index + 1]?.dataset.level > row.dataset.level ? rows[index + 1] : undefined),
      ArrowLeft: row.ariaExpanded === "true" ? undefined : () => rows.slice(0, index).findLast((it) => (row.dataset.within ? it.dataset.first === row.dataset.within : it.dataset.level < row.dataset.level)),
    }[event.key];
    if (next) {
      event.preventDefault();
      this.#focus(next());
    } else if (["Enter", " ", "ArrowRight", "ArrowLeft"].includes(event.key) && row.dataset.first) {
      event.preventDefault();
      this.#fold(row);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#go(row);
    }
  };

  #clicked = (event) => {
    const row = event.target.closest("[role=treeitem]");
    if (row?.dataset.first) return void this.#fold(row);
    if (row && "whole" in row.dataset) return void this.#go(row);
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
    if ("whole" in row.dataset) return location.assign(this.dataset.page);
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

  #fold(row) {
    if (row.ariaExpanded === "false") return this.#open(row);
    const { first } = row.dataset;
    this.#opened.delete(first);
    row.ariaExpanded = "false";
    for (const within of this.querySelectorAll(`[data-within="${first}"]`)) within.remove();
    this.#number();
    this.#focus(row);
  }

  // The entries of a folded run stand below its row.
  async #open(row, { focus = true } = {}) {
    const { first, last } = row.dataset;
    row.ariaExpanded = "true";
    const answer = await fetch(`${this.dataset.page}?first=${first}&last=${last}`, { headers: { "HX-Request": "true" } }).catch(() => null);
    if (!answer?.ok) row.ariaExpanded = "false";
    if (!answer?.ok || !row.isConnected) return;
    const template = document.createElement("template");
    template.innerHTML = await answer.text();
    const rows = [...template.content.querySelectorAll("[role=treeitem]")];
    for (const within of rows) within.dataset.within = row.dataset.within ?? first;
    this.#opened.add(first);
    // The rest of a long run is a row of its own, whose entries take its place.
    row.dataset.within ? row.replaceWith(template.content) : row.after(template.content);
    this.#number();
    if (focus) this.#focus(rows[0] ?? row);
  }

  #number() {
    const level = this.#rows.filter((it) => it.dataset.level === "1");
    level.forEach((it, index) => {
      it.ariaPosInSet = index + 1;
      it.ariaSetSize = level.length;
    });
  }

  // New rows come whole: somebody walking through them goes on where the leaf stands.
  #renewed() {
    const rows = this.#rows;
    for (const row of rows) if (this.#opened.has(row.dataset.first) && row.ariaExpanded === "false") this.#open(row, { focus: false });
    if (rows.length && !rows.some((row) => row.tabIndex === 0)) rows.at(-1).tabIndex = 0;
    if (this.#inside && !this.contains(document.activeElement)) this.#current?.focus();
    else if (this.#follows) this.#current?.scrollIntoView({ block: "nearest" });
  }

  get #scroller() {
    return this.closest(".scroll") ?? this;
  }

  // Whoever looks at something further up is not taken away from it by what is written meanwhile.
  #scrolled = () => {
    const here = this.querySelector("[aria-current]")?.getBoundingClientRect();
    const frame = this.#scroller.getBoundingClientRect();
    if (here) this.#follows = here.bottom > frame.top && here.top < frame.bottom + 40;
  };
}

customElements.define("session-tree", SessionTree);
