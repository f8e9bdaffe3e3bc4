// The part of a drawing that is in view: a box that scrolls over a sheet of the drawing's size, in which one window of it
// stands. Panning is scrolling; everything here counts in pixels of the drawing at 100 %.

const zooms = [0.15, 0.25, 0.35, 0.5, 0.7, 1, 1.4, 2];

export class TreeViewport {
  zoom = 1;
  #scroll;
  #sheet;
  #facts;
  #offset = { x: 0, y: 0 };
  #isNode;

  // `moved` is called when something else is in view, `isNode` says whether a press is on something.
  constructor(scroll, sheet, facts, { moved, isNode, signal }) {
    [this.#scroll, this.#sheet, this.#facts, this.#isNode] = [scroll, sheet, facts, isNode];
    let frame = 0;
    const tell = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        moved();
      });
    };
    scroll.addEventListener("scroll", tell, { passive: true, signal });
    scroll.addEventListener("wheel", (event) => this.#wheeled(event, moved), { passive: false, signal });
    scroll.addEventListener("pointerdown", (event) => this.#dragged(event), { signal });
    new ResizeObserver(() => {
      this.#inPlace(() => this.#size());
      tell();
    }).observe(scroll);
  }

  // Another window, or the same one anew. What is in view stays where it is, however the drawing has grown.
  show(facts, svg) {
    this.#inPlace(() => {
      this.#facts = facts;
      if (svg) this.#sheet.innerHTML = svg;
      this.#size();
    });
    for (const ground of this.#sheet.querySelectorAll("[data-chip]"))
      ground.setAttribute("width", Number(ground.dataset.chip) + ground.nextElementSibling.getComputedTextLength() + 5);
  }

  get view() {
    const { whole } = this.#facts;
    return {
      x: (this.#scroll.scrollLeft - this.#offset.x) / this.zoom + whole[0],
      y: (this.#scroll.scrollTop - this.#offset.y) / this.zoom + whole[1],
      width: this.#scroll.clientWidth / this.zoom,
      height: this.#scroll.clientHeight / this.zoom,
    };
  }

  // Whether the window holds what is in view, as far as there is anything drawn.
  get isHeld() {
    const { rect, whole } = this.#facts;
    const { x, y, width, height } = this.view;
    const within = (low, high, begin, size, from, length) =>
      Math.max(low, from) >= begin - 1 && Math.min(high, from + length) <= begin + size + 1;
    return (
      within(x, x + width, rect[0], rect[2], whole[0], whole[2]) &&
      within(y, y + height, rect[1], rect[3], whole[1], whole[3])
    );
  }

  centre(x, y) {
    const { width, height } = this.view;
    this.#to(x - width / 2, y - height / 2);
  }

  // What led to an entry says more than the room behind it; a sheet over the lower part hides nothing.
  centreOn(node) {
    const { rect } = this.#facts;
    if (!node) return this.centre(rect[0] + rect[2] / 2, rect[1] + rect[3] / 2);
    const box = node.querySelector(".target").getBBox();
    const sheet = document.querySelector(".drawer:not([data-empty])");
    const covers = sheet && getComputedStyle(sheet).position === "fixed";
    const over = covers ? this.#scroll.getBoundingClientRect().bottom - sheet.getBoundingClientRect().top : 0;
    this.centre(box.x + box.width / 2 - this.view.width * 0.15, box.y + box.height / 2 + Math.max(0, over) / 2 / this.zoom);
  }

  keepInSight(node) {
    const box = node.querySelector(".target").getBoundingClientRect();
    const frame = this.#scroll.getBoundingClientRect();
    const edge = 60;
    const dx = box.left < frame.left + edge ? box.left - frame.left - edge : Math.max(0, box.right - frame.right + edge);
    const dy = box.top < frame.top + edge ? box.top - frame.top - edge : Math.max(0, box.bottom - frame.bottom + edge);
    if (dx || dy) this.#scroll.scrollBy({ left: dx, top: dy, behavior: "instant" });
  }

  zoomBy(steps, { clientX, clientY } = {}) {
    const index = zooms.findIndex((zoom) => zoom >= this.zoom - 0.01);
    this.#zoomTo(zooms[Math.max(0, Math.min(zooms.length - 1, index + steps))], clientX, clientY);
  }

  // At what zoom all of the drawing is in view.
  get wholeZoom() {
    const { whole } = this.#facts;
    return Math.max(0.1, Math.min(this.#scroll.clientWidth / whole[2], this.#scroll.clientHeight / whole[3], 1));
  }

  fit() {
    const { whole } = this.#facts;
    this.#zoomTo(this.wholeZoom);
    this.centre(whole[0] + whole[2] / 2, whole[1] + whole[3] / 2);
  }

  // ---- internal ----

  #to(x, y) {
    const { whole } = this.#facts;
    this.#scroll.scrollTo({
      left: (x - whole[0]) * this.zoom + this.#offset.x,
      top: (y - whole[1]) * this.zoom + this.#offset.y,
      behavior: "instant",
    });
  }

  #inPlace(change) {
    const origin = () => ({
      x: this.#offset.x - this.#facts.whole[0] * this.zoom - this.#scroll.scrollLeft,
      y: this.#offset.y - this.#facts.whole[1] * this.zoom - this.#scroll.scrollTop,
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
    const isDown = svg.classList.contains("tsvg--down");
    this.#offset = { x: isDown ? 0 : Math.round(this.#scroll.clientWidth / 2), y: Math.round(this.#scroll.clientHeight / 2) };
    this.#sheet.style.setProperty("--zoom", this.zoom);
    this.#sheet.style.width = `${whole[2] * this.zoom + 2 * this.#offset.x}px`;
    this.#sheet.style.height = `${whole[3] * this.zoom + 2 * this.#offset.y}px`;
    svg.style.left = `${(rect[0] - whole[0]) * this.zoom + this.#offset.x}px`;
    svg.style.top = `${(rect[1] - whole[1]) * this.zoom + this.#offset.y}px`;
    svg.setAttribute("width", rect[2] * this.zoom);
    svg.setAttribute("height", rect[3] * this.zoom);
  }

  // The point under the pointer, or the middle, stays where it is.
  #zoomTo(zoom, clientX, clientY) {
    if (zoom === this.zoom) return;
    const box = this.#scroll.getBoundingClientRect();
    const point = { x: (clientX ?? box.x + box.width / 2) - box.x, y: (clientY ?? box.y + box.height / 2) - box.y };
    const { x, y } = this.view;
    const held = { x: x + point.x / this.zoom, y: y + point.y / this.zoom };
    this.zoom = zoom;
    this.#size();
    this.#to(held.x - point.x / zoom, held.y - point.y / zoom);
  }

  #wheeled(event, moved) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoomBy(event.deltaY > 0 ? -1 : 1, event);
    moved();
  }

  #dragged(event) {
    if (event.button || event.pointerType !== "mouse" || this.#isNode(event.target)) return;
    const start = { x: event.clientX, y: event.clientY, left: this.#scroll.scrollLeft, top: this.#scroll.scrollTop };
    const { signal, ...dragging } = stoppable();
    this.#scroll.classList.add("is-dragged");
    this.#scroll.addEventListener("pointermove", ({ clientX, clientY }) => {
      this.#scroll.scrollLeft = start.left - (clientX - start.x);
      this.#scroll.scrollTop = start.top - (clientY - start.y);
    }, { signal });
    for (const name of ["pointerup", "pointercancel"])
      window.addEventListener(name, () => {
        dragging.stop();
        this.#scroll.classList.remove("is-dragged");
      }, { signal });
  }
}

function stoppable() {
  const controller = new AbortController();
  return { signal: controller.signal, stop: () => controller.abort() };
}
