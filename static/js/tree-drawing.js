// The drawing of the tree: the browser holds one window of it, asks for the next before it is needed, and pans by
// scrolling, so that moving costs no script. What is chosen to be seen stands in the address.

import { LiveSocket } from "live-socket";
import { TreeKeys } from "tree-keys";
import { TreeMinimap } from "tree-minimap";

const zooms = [0.15, 0.25, 0.35, 0.5, 0.7, 1, 1.4, 2];
const ahead = 0.25;

class TreeDrawing extends HTMLElement {
  #scroll = this.querySelector("[data-scroll]");
  #sheet = this.querySelector("[data-sheet]");
  #facts = JSON.parse(this.dataset.facts);
  #params = new URLSearchParams(location.search);
  #zoom = 1;
  #offset = { x: 0, y: 0 };
  #asked = 0;
  #chosen = "";
  #focused = "";
  #hit = -1;
  #rested = "";
  #timers = {};
  #previews = new Map();
  #leaving = new AbortController();
  #socket;
  #mini;

  // ---- lifecycle ----

  connectedCallback() {
    const { signal } = this.#leaving;
    this.#mini = new TreeMinimap(this.querySelector(".tree-mini"), (x, y) => this.#centre(x, y), signal);
    new TreeKeys(this, signal);
    this.#scroll.addEventListener("scroll", () => this.#scrolled(), { passive: true, signal });
    this.#scroll.addEventListener("wheel", (event) => this.#wheeled(event), { passive: false, signal });
    this.#scroll.addEventListener("pointerdown", (event) => this.#dragged(event), { signal });
    this.#sheet.addEventListener("click", (event) => this.#clicked(event), { signal });
    this.#sheet.addEventListener("pointerover", (event) => this.#rests(event.target), { signal });
    this.#sheet.addEventListener("focusin", (event) => this.#rests(event.target), { signal });
    this.#sheet.addEventListener("pointerout", () => this.#unrests(), { signal });
    this.#sheet.addEventListener("focusout", () => this.#unrests(), { signal });
    document.addEventListener("click", (event) => this.#pressed(event), { signal });
    document.addEventListener("submit", (event) => event.target.matches(".tree-find") && event.preventDefault(), { signal });
    this.#search.addEventListener("input", () => this.#later("search", 250, () => this.#find()), { signal });
    this.#search.addEventListener("keydown", (event) => this.#inSearch(event), { signal });
    document.addEventListener("htmx:afterRequest", (event) => this.#answered(event), { signal });
    document.addEventListener("htmx:afterSwap", (event) => event.target.id === "tree-details" && this.#detailed(), { signal });
    window.addEventListener("popstate", () => this.#returned(), { signal });
    window.addEventListener("pagehide", () => this.#socket.stop(), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.#socket.start(), { signal });
    new ResizeObserver(() => this.#later("resize", 60, () => this.#resized())).observe(this.#scroll);
    this.#show(this.#facts);
    this.#centreOn(this.#facts.at);
    this.#detailed();
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
    const words = { connected: ["online", "Connected"], lost: ["offline", "Connection lost"] }[state] ?? ["signed-out", "Signed out"];
    place.dataset.state = words[0];
    place.textContent = words[1];
  }

  // ---- the window ----

  // Ask for what is in view and a little around it; `at` brings an entry into the middle.
  async refresh({ at = "", open = false } = {}) {
    const number = ++this.#asked;
    const view = this.#view();
    const margin = { x: view.width * ahead, y: view.height * ahead };
    const wanted = new URLSearchParams(this.#params);
    wanted.delete("entry");
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
    this.#show(facts, facts.svg);
    if (at || open) this.#centreOn(facts.at || at);
    return facts;
  }

  #show(facts, svg) {
    const held = this.#sheet.contains(document.activeElement) ? document.activeElement.id : "";
    this.#inPlace(() => {
      this.#facts = facts;
      if (svg) this.#sheet.innerHTML = svg;
      this.#size();
    });
    if (facts.minimap) this.#mini.draw(facts.minimap);
    const hidden = this.querySelector("[data-hidden]");
    hidden.hidden = !facts.hidden;
    hidden.textContent = facts.hidden ? `${facts.hidden} more in view: zoom in to see them` : "";
    this.#mark();
    if (held) this.focusNode(document.getElementById(held) ?? this.#tabStop());
    this.#count();
    this.#frame();
  }

  // What is in view stays where it is, however the drawing has grown.
  #inPlace(change) {
    const origin = () => ({
      x: this.#offset.x - this.#facts.whole[0] * this.#zoom - this.#scroll.scrollLeft,
      y: this.#offset.y - this.#facts.whole[1] * this.#zoom - this.#scroll.scrollTop,
    });
    const before = origin();
    change();
    const after = origin();
    if (before.x !== after.x || before.y !== after.y)
      this.#scroll.scrollBy({ left: after.x - before.x, top: after.y - before.y, behavior: "instant" });
  }

  // The sheet has the size of the whole drawing and half a screen around it; the window stands in it where it belongs.
  #size() {
    const { whole, rect } = this.#facts;
    const svg = this.#sheet.querySelector("svg");
    const { clientWidth, clientHeight } = this.#scroll;
    this.#offset = { x: Math.round(clientWidth / 2), y: Math.round(clientHeight / 2) };
    this.#sheet.style.width = `${whole[2] * this.#zoom + 2 * this.#offset.x}px`;
    this.#sheet.style.height = `${whole[3] * this.#zoom + 2 * this.#offset.y}px`;
    // Nothing reaches beyond the sheet, or the sheet would seem larger than the drawing is.
    svg.style.left = `${(rect[0] - whole[0]) * this.#zoom + this.#offset.x}px`;
    svg.style.top = `${(rect[1] - whole[1]) * this.#zoom + this.#offset.y}px`;
    svg.setAttribute("width", rect[2] * this.#zoom);
    svg.setAttribute("height", rect[3] * this.#zoom);
    this.dataset.level = this.#zoom <= 0.25 ? 1 : this.#zoom <= 0.5 ? 2 : 3;
    this.querySelector("[data-zoom]").textContent = `${Math.round(this.#zoom * 100)} %`;
  }

  // What is in view, as the drawing counts.
  #view() {
    const { whole } = this.#facts;
    return {
      x: (this.#scroll.scrollLeft - this.#offset.x) / this.#zoom + whole[0],
      y: (this.#scroll.scrollTop - this.#offset.y) / this.#zoom + whole[1],
      width: this.#scroll.clientWidth / this.#zoom,
      height: this.#scroll.clientHeight / this.#zoom,
    };
  }

  #scrolled() {
    if (this.#timers.frame) return;
    this.#timers.frame = requestAnimationFrame(() => {
      this.#timers.frame = 0;
      this.#frame();
      if (!this.#holdsView()) this.#later("window", 60, () => this.refresh());
    });
  }

  // Whether the window holds what is in view, as far as there is anything drawn.
  #holdsView() {
    const { rect, whole } = this.#facts;
    const view = this.#view();
    const within = (low, high, begin, size, from, length) =>
      Math.max(low, from) >= begin - 1 && Math.min(high, from + length) <= begin + size + 1;
    return (
      within(view.x, view.x + view.width, rect[0], rect[2], whole[0], whole[2]) &&
      within(view.y, view.y + view.height, rect[1], rect[3], whole[1], whole[3])
    );
  }

  #frame() {
    this.#mini.frame(this.#view(), this.#facts.whole);
  }

  #resized() {
    this.#inPlace(() => this.#size());
    this.#frame();
    if (!this.#holdsView()) this.refresh();
  }

  #centre(x, y) {
    const view = this.#view();
    this.#scroll.scrollTo({
      left: (x - view.width / 2 - this.#facts.whole[0]) * this.#zoom + this.#offset.x,
      top: (y - view.height / 2 - this.#facts.whole[1]) * this.#zoom + this.#offset.y,
      behavior: "instant",
    });
  }

  #centreOn(place) {
    const node = place && this.#sheet.querySelector(`[data-place="${place}"]`);
    const { rect } = this.#facts;
    if (!node) return this.#centre(rect[0] + rect[2] / 2, rect[1] + rect[3] / 2);
    const box = node.querySelector(".target").getBBox();
    const view = this.#view();
    // Most of what follows an entry stands to its left: there is nothing behind a tip.
    this.#centre(box.x + box.width / 2 - view.width * 0.15, box.y + box.height / 2);
  }

  // ---- moving ----

  #dragged(event) {
    if (event.button || event.pointerType !== "mouse" || this.#nodeOf(event.target)) return;
    const start = { x: event.clientX, y: event.clientY, left: this.#scroll.scrollLeft, top: this.#scroll.scrollTop };
    const dragging = new AbortController();
    this.#scroll.classList.add("is-dragged");
    this.#scroll.addEventListener("pointermove", (move) => {
      this.#scroll.scrollLeft = start.left - (move.clientX - start.x);
      this.#scroll.scrollTop = start.top - (move.clientY - start.y);
    }, { signal: dragging.signal });
    for (const name of ["pointerup", "pointercancel"])
      window.addEventListener(name, () => {
        dragging.abort();
        this.#scroll.classList.remove("is-dragged");
      }, { signal: dragging.signal });
  }

  #wheeled(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoomBy(event.deltaY > 0 ? -1 : 1, event);
  }

  zoomBy(steps, { clientX, clientY } = {}) {
    const index = zooms.findIndex((zoom) => zoom >= this.#zoom - 0.01);
    this.#zoomTo(zooms[Math.max(0, Math.min(zooms.length - 1, index + steps))], clientX, clientY);
  }

  // The point under the pointer, or the middle, stays where it is.
  #zoomTo(zoom, clientX, clientY) {
    if (zoom === this.#zoom) return;
    const box = this.#scroll.getBoundingClientRect();
    const point = { x: (clientX ?? box.x + box.width / 2) - box.x, y: (clientY ?? box.y + box.height / 2) - box.y };
    const view = this.#view();
    const held = { x: view.x + point.x / this.#zoom, y: view.y + point.y / this.#zoom };
    this.#zoom = zoom;
    this.#size();
    const { whole } = this.#facts;
    this.#scroll.scrollTo({
      left: (held.x - whole[0]) * zoom + this.#offset.x - point.x,
      top: (held.y - whole[1]) * zoom + this.#offset.y - point.y,
      behavior: "instant",
    });
    this.#frame();
    if (!this.#holdsView()) this.#later("window", 60, () => this.refresh());
  }

  fit() {
    const { whole } = this.#facts;
    const wanted = Math.min(this.#scroll.clientWidth / whole[2], this.#scroll.clientHeight / whole[3], 1);
    this.#zoomTo(Math.max(0.1, wanted));
    this.#centre(whole[0] + whole[2] / 2, whole[1] + whole[3] / 2);
  }

  async reveal(place) {
    const node = this.#sheet.querySelector(`[data-place="${place}"]`);
    if (!node) await this.refresh({ at: place });
    else this.#centreOn(place);
    const shown = this.#sheet.querySelector(`[data-place="${this.#facts.at || place}"]`) ?? this.#sheet.querySelector(`[data-place="${place}"]`);
    this.focusNode(shown);
    return shown;
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
    if (scroll) this.#keepInSight(node);
  }

  #keepInSight(node) {
    const box = node.querySelector(".target").getBoundingClientRect();
    const frame = this.#scroll.getBoundingClientRect();
    const edge = 60;
    const dx = box.left < frame.left + edge ? box.left - frame.left - edge : Math.max(0, box.right - frame.right + edge);
    const dy = box.top < frame.top + edge ? box.top - frame.top - edge : Math.max(0, box.bottom - frame.bottom + edge);
    if (dx || dy) this.#scroll.scrollBy({ left: dx, top: dy, behavior: "instant" });
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

  choose(seq) {
    if (String(seq) === this.#chosen && document.querySelector(`[data-chosen="${seq}"]`)) return this.openDrawer();
    this.#chosen = String(seq);
    this.#mark();
    this.#set("entry", seq, { push: true });
    this.openDrawer();
    const source = document.getElementById("tree-details");
    window.htmx.ajax("get", this.dataset.entry.replace("/0/", `/${seq}/`), { source, target: source, swap: "innerHTML" }).catch(() => {});
  }

  openDrawer() {
    document.querySelector(".drawer").toggleAttribute("data-empty", false);
  }

  closeDrawer() {
    this.#chosen = "";
    this.#set("entry", "");
    this.#mark();
    document.querySelector(".drawer").toggleAttribute("data-empty", true);
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
    const node = place && (this.#sheet.querySelector(`[data-place="${place}"]`) ?? this.#sheet.querySelector(`[data-within="${key}"]`));
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

  // The place that a command without one means: the focused node's, else the chosen entry's.
  get place() {
    const focused = this.#sheet.contains(document.activeElement) ? document.activeElement.dataset.place : "";
    return focused || this.#chosenPlace;
  }

  async #filter(name) {
    this.#set("filter", name === "default" ? "" : name, { push: true });
    for (const button of this.querySelectorAll("[data-filter]")) button.ariaPressed = String(button.dataset.filter === name);
    await this.refresh({ open: true });
  }

  // ---- search ----

  get #search() {
    return document.querySelector(".tree-find input");
  }

  async #find() {
    this.#hit = -1;
    this.#set("q", this.#search.value.trim());
    await this.refresh();
    if (this.#facts.hits.length && this.#params.get("q")) this.step(1, { focus: false });
  }

  async step(by, { focus = false } = {}) {
    const { hits } = this.#facts;
    if (!hits.length) return;
    this.#hit = (this.#hit + by + hits.length) % hits.length;
    this.#count();
    const place = hits[this.#hit];
    if (this.#sheet.querySelector(`[data-place="${place}"]`)) this.#centreOn(place);
    else await this.refresh({ at: place });
    const node = this.#sheet.querySelector(`[data-place="${place}"]`);
    if (node && focus) this.focusNode(node);
    if (node) node.querySelector(".target").classList.add("is-hit");
  }

  #count() {
    const { hits } = this.#facts;
    const found = document.querySelector("[data-found]");
    const query = this.#params.get("q");
    found.textContent = !query ? "" : hits.length ? `${Math.max(1, this.#hit + 1)} of ${hits.length}${hits.length === 500 ? "+" : ""}` : "None";
    for (const button of document.querySelectorAll("[data-hit]")) button.disabled = !hits.length;
  }

  #inSearch(event) {
    const by = { ArrowDown: 1, ArrowUp: -1, Enter: event.shiftKey ? -1 : 1 }[event.key];
    if (by) {
      event.preventDefault();
      this.step(by);
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.#search.value = "";
      this.#find();
      this.focusNode(this.#tabStop());
    }
  }

  // ---- previews ----

  #rests(target) {
    const node = this.#nodeOf(target);
    if (!node?.dataset.seq) return;
    this.#rested = node.id;
    this.#later("preview", 300, () => this.#preview(node));
  }

  #unrests() {
    this.#rested = "";
    clearTimeout(this.#timers.preview);
    this.querySelector("[data-preview]").hidden = true;
  }

  async #preview(node) {
    const { seq } = node.dataset;
    if (!node.isConnected) return;
    if (!this.#previews.has(seq)) {
      const response = await fetch(`${this.dataset.entry.replace("/0/", `/${seq}/`)}?preview=1`).catch(() => null);
      if (!response?.ok) return;
      if (this.#previews.size > 200) this.#previews.clear();
      this.#previews.set(seq, await response.text());
    }
    if (!node.isConnected || (!this.#rested || node.id !== this.#rested)) return;
    const place = this.querySelector("[data-preview]");
    place.innerHTML = this.#previews.get(seq);
    place.hidden = false;
    const box = node.querySelector(".target").getBoundingClientRect();
    const frame = this.querySelector(".tree-canvas").getBoundingClientRect();
    place.style.left = `${Math.max(8, Math.min(box.left - frame.left, frame.width - place.offsetWidth - 8))}px`;
    const below = box.bottom - frame.top + 8;
    place.style.top = `${below + place.offsetHeight < frame.height ? below : box.top - frame.top - place.offsetHeight - 30}px`;
  }

  // ---- presses elsewhere ----

  #pressed(event) {
    const control = event.target.closest?.("[data-act], [data-filter], [data-hit], [data-details], [data-closes-details], [data-labels]");
    if (!control) return;
    const { act, filter, hit, details } = control.dataset;
    control.closest("[popover]")?.hidePopover();
    if (filter) return this.#filter(filter);
    if (hit) return this.step(Number(hit));
    if (details) return this.choose(details);
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
      case "hoist": return this.hoist(this.place);
      case "back": return this.unhoist();
      case "fold-branch": return this.foldBranch(this.#chosenPlace);
      case "here": return this.refresh({ open: true });
      case "root": return this.#centre(this.#facts.whole[0], this.#facts.whole[1] + this.#facts.whole[3] / 2);
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
      return this.#say("Marked for compare. Press m on the other branch.");
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
    this.#search.value = this.#params.get("q") ?? "";
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
