// The drawing of the tree: the browser holds one window of it, asks for the next before it is needed, and pans by
// scrolling, so that moving costs no script. What is chosen to be seen stands in the address.

import { LiveSocket } from "live-socket";
import { TreeKeys } from "tree-keys";
import { TreeMinimap } from "tree-minimap";
import { TreePreview } from "tree-preview";
import { TreeSearch } from "tree-search";
import { TreeViewport } from "tree-viewport";
import { fill, gettext } from "words";

const ahead = 0.25;

class TreeDrawing extends HTMLElement {
  #sheet = this.querySelector("[data-sheet]");
  #facts = JSON.parse(this.dataset.facts);
  #params = new URLSearchParams(location.search);
  #asked = 0;
  #sought;
  #chosen = "";
  #focused = "";
  #timers = {};
  #leaving = new AbortController();
  #socket;
  #narrow = matchMedia("(max-width: 640px)");
  #mini;
  #port;
  #search;

  // ---- lifecycle ----

  connectedCallback() {
    const { signal } = this.#leaving;
    this.#mini = new TreeMinimap(this.querySelector(".tree-mini"), (x, y) => this.#port.centre(x, y), signal);
    new TreeKeys(this, signal);
    new TreePreview(this.querySelector(".tree-canvas"), this.#sheet, this.dataset.entry, (target) => this.#nodeOf(target), signal);
    this.#search = new TreeSearch(this, document.querySelector(".tree-find"), signal);
    this.#port = new TreeViewport(this.querySelector("[data-scroll]"), this.#sheet, this.#facts, {
      moved: () => this.#moved(),
      isNode: (target) => this.#nodeOf(target),
      signal,
    });
    this.#sheet.addEventListener("click", (event) => this.#clicked(event), { signal });
    document.addEventListener("click", (event) => this.#pressed(event), { signal });
    document.addEventListener("htmx:afterRequest", (event) => this.#answered(event), { signal });
    document.addEventListener("htmx:afterSwap", (event) => event.target.id === "tree-details" && this.#detailed(), { signal });
    window.addEventListener("popstate", () => this.#returned(), { signal });
    window.addEventListener("pagehide", () => this.#socket.stop(), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.#socket.start(), { signal });
    this.#show(this.#facts);
    this.#port.centreOn(this.#at(this.#facts.at));
    this.#detailed();
    this.#narrow.addEventListener("change", () => this.refresh({ open: true, at: this.#facts.at }), { signal });
    if (this.#narrow.matches) this.refresh({ open: true, at: this.#chosenPlace || this.#facts.at });
    this.#listen();
  }

  disconnectedCallback() {
    this.#leaving.abort();
    this.#socket.stop();
  }

  // New entries, marks and moves of the leaf are told here; the drawing is asked for anew, in the same place.
  #listen() {
    const address = new URL(this.dataset.socket, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    let { seq, leaf } = this.dataset;
    this.#socket = new LiveSocket(address.href, {
      position: () => ({ seq: Number(seq) || 0, leaf: Number(leaf) || 0, live: "" }),
      onFrame: (frame) => {
        if (frame.t === "entries") [seq, leaf] = [frame.seq, frame.leaf];
        if (frame.t === "entries" || (frame.t === "part" && ["session-tree", "run-status", "queue"].includes(frame.target)))
          this.#later("live", 250, () => this.refresh());
      },
      onState: (state) => this.#connection(state),
    });
    this.#socket.start();
  }

  #connection(state) {
    const place = document.getElementById("connection");
    if (!place) return;
    const words = { connected: ["online", gettext("Connected")], lost: ["offline", gettext("Connection lost")] }[state] ?? ["signed-out", gettext("Signed out")];
    place.dataset.state = words[0];
    place.textContent = words[1];
  }

  // ---- the window ----

  // Ask for what is in view and a little around it; `at` brings an entry into the middle.
  async refresh({ at = "", open = false } = {}) {
    // Whoever asks meanwhile for what is in view must not lose the entry that is being looked for.
    if (at || open) this.#sought = { at, open };
    else if (this.#sought) ({ at, open } = this.#sought);
    const number = ++this.#asked;
    const view = this.#port.view;
    const margin = { x: view.width * ahead, y: view.height * ahead };
    const wanted = new URLSearchParams(this.#params);
    wanted.delete("entry");
    // On a narrow screen time runs down, and the drawing is as wide as the screen.
    if (this.#narrow.matches) {
      wanted.set("down", 1);
      margin.x = 0;
    }
    wanted.set("width", Math.ceil(view.width + 2 * margin.x));
    wanted.set("height", Math.ceil(view.height + 2 * margin.y));
    if (at || open) at && wanted.set("at", at);
    else {
      wanted.delete("at");
      wanted.set("x", Math.floor(view.x - margin.x));
      wanted.set("y", Math.floor(view.y - margin.y));
    }
    const response = await fetch(`${this.dataset.window}?${wanted}`, { headers: { Accept: "application/json" } }).catch(() => null);
    if (!response?.ok || number !== this.#asked) return;
    const facts = await response.json();
    if (number !== this.#asked) return;
    this.#sought = undefined;
    this.#show(facts, facts.svg);
    if (at || open) this.#port.centreOn(this.#at(facts.at || at));
    return facts;
  }

  #show(facts, svg) {
    const held = this.#sheet.contains(document.activeElement) ? document.activeElement.id : "";
    this.#facts = facts;
    this.#port.show(facts, svg);
    if (facts.minimap) this.#mini.draw(facts.minimap);
    const hidden = this.querySelector("[data-hidden]");
    hidden.hidden = !facts.hidden;
    hidden.textContent = facts.hidden ? fill(gettext("{count} more in view: zoom in to see them"), { count: facts.hidden }) : "";
    this.#mark();
    if (held) this.focusNode(document.getElementById(held) ?? this.#tabStop());
    this.#search.tell();
    this.#frame();
  }

  #moved() {
    this.#frame();
    if (!this.#port.isHeld) this.#later("window", 60, () => this.refresh());
  }

  #frame() {
    this.dataset.level = this.#port.zoom <= 0.25 ? 1 : this.#port.zoom <= 0.5 ? 2 : 3;
    this.querySelector("[data-zoom]").textContent = `${Math.round(this.#port.zoom * 100)} %`;
    this.#mini.frame(this.#port.view, this.#facts.whole);
  }

  zoomBy(steps) {
    this.#port.zoomBy(steps);
    this.#moved();
  }

  fit() {
    this.#port.fit();
    this.#moved();
  }

  // ---- choosing ----

  get nodes() {
    return [...this.#sheet.querySelectorAll("[role=treeitem]")];
  }

  node(id) {
    return document.getElementById(id);
  }

  focusNode(node, { scroll = true } = {}) {
    if (!node) return;
    for (const other of this.#sheet.querySelectorAll('[tabindex="0"]')) other.setAttribute("tabindex", -1);
    node.setAttribute("tabindex", 0);
    node.focus({ preventScroll: true });
    this.#focused = node.id;
    if (scroll) this.#port.keepInSight(node);
  }

  #tabStop() {
    return (this.#focused && document.getElementById(this.#focused)) || this.#sheet.querySelector('[aria-current="true"], [role=treeitem]');
  }

  #mark() {
    for (const node of this.nodes) node.setAttribute("aria-selected", String(Boolean(this.#chosen) && node.dataset.seq === this.#chosen));
    if (!this.#sheet.querySelector('[tabindex="0"]')) this.#tabStop()?.setAttribute("tabindex", 0);
  }

  #clicked(event) {
    const node = this.#nodeOf(event.target);
    if (!node) return;
    this.focusNode(node, { scroll: false });
    this.activate(node);
  }

  // The node of a shape, or of the words beside it.
  #nodeOf(target) {
    const node = target.closest?.("[role=treeitem], [data-of]");
    return node?.dataset.of ? document.getElementById(node.dataset.of) : node;
  }

  // What a press on a node does: a fold opens, an entry is looked at.
  activate(node) {
    const { key, seq } = node.dataset;
    if (seq) return this.choose(seq);
    if (node.id.endsWith("-above")) return this.unhoist();
    if (node.id.endsWith("-times")) return this.toggle(this.#before(node)?.dataset.key);
    if (key) return this.toggle(key, node.dataset.place);
  }

  #before(node) {
    const nodes = this.nodes;
    return nodes[nodes.indexOf(node) - 1];
  }

  choose(seq, { push = true } = {}) {
    if (String(seq) === this.#chosen && document.querySelector(`[data-chosen="${seq}"]`)) return this.openDrawer();
    this.#chosen = String(seq);
    this.#mark();
    this.#set("entry", seq, { push });
    this.openDrawer();
    const source = document.getElementById("tree-details");
    window.htmx.ajax("get", this.dataset.entry.replace("/0/", `/${seq}/`), { source, target: source, swap: "innerHTML" }).catch(() => {});
  }

  // What a list or a button names: it is looked at, and brought into the middle.
  async #goTo(seq, place) {
    this.choose(seq);
    if (place) await this.bringInSight(place);
  }

  // A hit that is walked to is read beside the drawing where there is room for that.
  async lookAt(place) {
    const node = await this.bringInSight(place);
    if (node?.dataset.seq && !matchMedia("(max-width: 860px)").matches) this.choose(node.dataset.seq, { push: false });
    return node;
  }

  openDrawer() {
    document.querySelector(".drawer").toggleAttribute("data-empty", false);
  }

  closeDrawer() {
    this.#chosen = "";
    this.#set("entry", "");
    this.#mark();
    document.querySelector(".drawer").toggleAttribute("data-empty", true);
    document.getElementById("tree-details").innerHTML = document.getElementById("tree-nothing").innerHTML;
    this.focusNode(this.#tabStop());
  }

  #detailed() {
    const chosen = document.querySelector("[data-chosen]");
    this.#chosen = chosen?.dataset.chosen ?? "";
    this.#mark();
  }

  get isChosen() {
    return this.#chosen;
  }

  // ---- what is open ----

  toggle(key, place) {
    if (!key) return;
    if (key.startsWith("f")) return this.#toggleIn("fold", key.slice(1), place);
    return this.#toggleIn("open", key, place);
  }

  async #toggleIn(name, key, place) {
    const keys = new Set((this.#params.get(name) ?? "").split(",").filter(Boolean));
    keys.has(key) ? keys.delete(key) : keys.add(key);
    this.#set(name, [...keys].join(","));
    await this.refresh();
    const node = place && (this.#at(place) ?? this.#sheet.querySelector(`[data-within="${key}"]`));
    if (node) this.focusNode(node);
  }

  foldBranch(place) {
    const strand = place?.split(".")[0];
    if (strand) return this.#toggleIn("fold", strand, place);
  }

  async hoist(place) {
    if (!place) return;
    this.#set("root", place, { push: true });
    await this.refresh({ at: place });
    this.#hoisted();
  }

  async unhoist() {
    const root = this.#params.get("root");
    this.#set("root", "", { push: true });
    await this.refresh({ at: root ?? "" });
    this.#hoisted();
  }

  #hoisted() {
    this.querySelector('[data-act="back"]').hidden = !this.#params.get("root");
  }

  async foldAll() {
    this.#set("open", "");
    this.#set("fold", "");
    await this.refresh({ open: true, at: this.#chosenPlace });
  }

  get #chosenPlace() {
    return document.querySelector("[data-chosen]")?.dataset.chosenPlace ?? "";
  }

  get #chosenRoot() {
    return document.querySelector("[data-chosen]")?.dataset.chosenRoot;
  }

  // The place that a command without one means: the focused node's, else the chosen entry's.
  get place() {
    const focused = this.#sheet.contains(document.activeElement) ? document.activeElement.dataset.place : "";
    return focused || this.#chosenPlace;
  }

  async #filter(name) {
    this.#set("filter", name === "default" ? "" : name, { push: true });
    for (const button of this.querySelectorAll("[data-filter]")) button.ariaPressed = String(button.dataset.filter === name);
    await this.refresh({ open: true });
    // What is left is read from its beginning, or seen whole where that is still readable.
    if (["default", "no-tools", "all"].includes(name)) return;
    if (this.#port.wholeZoom >= 0.5) return this.fit();
    this.act("root");
    this.#moved();
  }

  // ---- search ----

  get hits() {
    return this.#facts.hits;
  }

  look(words) {
    this.#set("q", words);
    return this.refresh();
  }

  async bringInSight(place) {
    if (this.#at(place)) this.#port.centreOn(this.#at(place));
    else await this.refresh({ at: place });
    return this.#at(place);
  }

  focusTree() {
    this.focusNode(this.#tabStop());
  }

  #at(place) {
    return this.#sheet.querySelector(`[data-place="${place}"]`);
  }

  // ---- presses elsewhere ----

  #pressed(event) {
    const control = event.target.closest?.("[data-act], [data-filter], [data-hit], [data-details], [data-closes-details], [data-labels]");
    if (!control) return;
    const { act, filter, hit, details } = control.dataset;
    control.closest("[popover]")?.hidePopover();
    if (filter) return this.#filter(filter);
    if (hit) return this.#search.step(Number(hit));
    if (details) return this.#goTo(details, control.dataset.goto);
    if ("closesDetails" in control.dataset) return this.closeDrawer();
    if ("labels" in control.dataset) return this.label();
    this.act(act);
  }

  act(name) {
    switch (name) {
      case "in": return this.zoomBy(1);
      case "out": return this.zoomBy(-1);
      case "fit": return this.fit();
      case "fold": return this.foldAll();
      case "hoist": return this.hoist(this.#chosenRoot || this.place);
      case "back": return this.unhoist();
      case "fold-branch": return this.foldBranch(this.#chosenPlace);
      case "here": return this.refresh({ open: true });
      case "root": return this.#port.centre(this.#facts.whole[0] + this.#port.view.width * 0.45, this.#facts.whole[1] + this.#facts.whole[3] / 2);
      case "legend": return this.querySelector("[data-legend]").toggleAttribute("open");
    }
  }

  label() {
    const form = document.querySelector("[data-label]");
    if (!form) return;
    form.hidden = false;
    form.querySelector("input[name=label]").focus();
  }

  // The label of a node that may not be chosen yet.
  async labelOf(node) {
    if (!node.dataset.seq) return;
    if (this.#chosen !== node.dataset.seq) {
      this.choose(node.dataset.seq);
      await new Promise((resolve) => document.addEventListener("htmx:afterSwap", resolve, { once: true }));
    }
    this.label();
  }

  go() {
    document.querySelector("[data-go]")?.click();
  }

  compare(seq) {
    const first = this.#params.get("mark");
    if (!first || first === seq) {
      this.#set("mark", seq);
      return this.#say(gettext("Marked for compare. Press m on the other branch."));
    }
    location.assign(`${this.dataset.compare}?a=${first}&b=${seq}`);
  }

  #say(words) {
    const hidden = this.querySelector("[data-hidden]");
    hidden.hidden = false;
    hidden.textContent = words;
  }

  // A command of the drawer has changed something: look again.
  #answered(event) {
    const { requestConfig, successful } = event.detail;
    if (!successful || requestConfig.verb !== "post" || !/\/entries\/\d+\/(label|pin|outcome)\//.test(requestConfig.path)) return;
    this.refresh();
    if (!requestConfig.path.includes("/outcome/") && this.#chosen) {
      const source = document.getElementById("tree-details");
      window.htmx.ajax("get", this.dataset.entry.replace("/0/", `/${this.#chosen}/`), { source, target: source, swap: "innerHTML" }).catch(() => {});
    }
  }

  // ---- the address ----

  #set(name, value, { push = false } = {}) {
    value ? this.#params.set(name, value) : this.#params.delete(name);
    this.#params.delete("at");
    const text = this.#params.toString();
    history[push ? "pushState" : "replaceState"](null, "", text ? `?${text}` : location.pathname);
  }

  #returned() {
    this.#params = new URLSearchParams(location.search);
    this.#search.words = this.#params.get("q") ?? "";
    const filter = this.#params.get("filter") || "default";
    for (const button of this.querySelectorAll("[data-filter]")) button.ariaPressed = String(button.dataset.filter === filter);
    this.#hoisted();
    this.refresh({ open: true });
    const seq = this.#params.get("entry");
    if (!seq) return this.closeDrawer();
    if (seq !== this.#chosen) this.choose(seq);
  }

  #later(name, milliseconds, act) {
    clearTimeout(this.#timers[name]);
    this.#timers[name] = setTimeout(act, milliseconds);
  }
}

customElements.define("tree-drawing", TreeDrawing);
