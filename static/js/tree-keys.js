// The drawing by keyboard: one tab stop; arrows go to parent, child and sibling. Single letters work only while the focus
// is in the tree, and not where they are switched off.

const singleKeys = () => document.getElementById("single-keys")?.checked ?? true;

export class TreeKeys {
  #tree;

  constructor(tree, signal) {
    this.#tree = tree;
    tree.addEventListener("keydown", (event) => this.#keyed(event), { signal });
  }

  #keyed(event) {
    const node = event.target.closest("[role=treeitem]");
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = this.#moves(event.key, node) ?? (singleKeys() || event.key.length > 1 ? this.#letters(event.key, node) : undefined);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  #moves(key, node) {
    switch (key) {
      case "ArrowLeft": return () => this.#to(this.#parent(node));
      case "ArrowRight": return () => this.#to(this.#child(node));
      case "ArrowUp": return () => this.#to(this.#beside(node, -1));
      case "ArrowDown": return () => this.#to(this.#beside(node, 1));
      case "Home": return () => this.#tree.act("root") || this.#to(this.#tree.nodes[0]);
      case "End": return () => this.#tree.act("here");
      case "Enter": return () => this.#enter(node);
      case " ": return () => this.#fold(node);
    }
  }

  #letters(key, node) {
    const tree = this.#tree;
    switch (key) {
      case "l": return () => tree.labelOf(node);
      case "h": return () => tree.hoist(node.dataset.place);
      case "H": return () => tree.unhoist();
      case "m": return node.dataset.seq && (() => tree.compare(node.dataset.seq));
      case "+": case "=": return () => tree.zoomBy(1);
      case "-": case "−": return () => tree.zoomBy(-1);
      case "0": return () => tree.fit();
      case ".": return () => tree.act("here");
      case "f": return () => tree.foldBranch(node.dataset.place);
      case "Escape": return () => tree.closeDrawer();
    }
  }

  // Enter looks at an entry; on the one that is being looked at it goes there.
  #enter(node) {
    if (node.dataset.seq && node.dataset.seq === this.#tree.isChosen && document.querySelector("[data-go]")) return this.#tree.go();
    this.#tree.activate(node);
  }

  #fold(node) {
    const { key, within, place } = node.dataset;
    if (key) return this.#tree.toggle(key, place);
    if (within) return this.#tree.toggle(within, place);
    if (node.ariaPosInSet === "1") return this.#tree.foldBranch(place);
  }

  #to(node) {
    if (node) this.#tree.focusNode(node);
  }

  #strand(node) {
    return node.dataset.place.split(".")[0];
  }

  #along(node, by) {
    const index = Number(node.getAttribute("aria-posinset")) + by;
    return this.#tree.nodes.find((it) => this.#strand(it) === this.#strand(node) && Number(it.getAttribute("aria-posinset")) === index);
  }

  #parent(node) {
    return this.#along(node, -1) ?? (node.dataset.up && this.#tree.node(node.dataset.up));
  }

  // Along the active path where it turns off, else straight on.
  #child(node) {
    const branches = this.#tree.nodes.filter((it) => it.dataset.up === node.id);
    return branches.find((it) => it.dataset.active !== undefined) ?? this.#along(node, 1) ?? branches[0];
  }

  // The nearest node on the next lane above or below.
  #beside(node, side) {
    const box = (it) => it.querySelector(".target").getBBox();
    const own = box(node);
    let best, least = Infinity;
    for (const other of this.#tree.nodes) {
      const there = box(other);
      const dy = (there.y - own.y) * side;
      if (dy < 20) continue;
      const distance = dy * 3 + Math.abs(there.x - own.x);
      if (distance < least) [best, least] = [other, distance];
    }
    return best;
  }
}
