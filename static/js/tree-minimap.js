// The whole drawing in small, and the part of it that is in view: a frame to drag, or to move with the arrow keys.

export class TreeMinimap {
  #place;
  #go;
  #view = { x: 0, y: 0, width: 1, height: 1 };
  #whole = [0, 0, 1, 1];
  #scale = 1;

  constructor(place, go, signal) {
    this.#place = place;
    this.#go = go;
    this.#measure();
    place.addEventListener("pointerdown", (event) => this.#pressed(event, signal), { signal });
    place.querySelector("[data-frame]").addEventListener("keydown", (event) => this.#keyed(event), { signal });
  }

  draw(svg) {
    this.#place.querySelector("[data-mini]").innerHTML = svg;
    this.#measure();
  }

  frame(view, whole) {
    [this.#view, this.#whole] = [view, whole];
    const style = this.#place.querySelector("[data-frame]").style;
    const left = Math.max(0, view.x - whole[0]) * this.#scale;
    const top = Math.max(0, view.y - whole[1]) * this.#scale;
    style.transform = `translate(${left}px, ${top}px)`;
    style.width = `${Math.max(6, Math.min(view.width, whole[2]) * this.#scale)}px`;
    style.height = `${Math.max(6, Math.min(view.height, whole[3]) * this.#scale)}px`;
  }

  #measure() {
    this.#scale = Number(this.#place.querySelector("svg").dataset.scale);
  }

  #pressed(event, signal) {
    event.preventDefault();
    const box = this.#place.querySelector("svg").getBoundingClientRect();
    const move = ({ clientX, clientY }) => this.#go((clientX - box.x) / this.#scale + this.#whole[0], (clientY - box.y) / this.#scale + this.#whole[1]);
    move(event);
    const dragging = new AbortController();
    signal.addEventListener("abort", () => dragging.abort());
    window.addEventListener("pointermove", move, { signal: dragging.signal });
    window.addEventListener("pointerup", () => dragging.abort(), { signal: dragging.signal });
  }

  #keyed(event) {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!by) return;
    event.preventDefault();
    const { x, y, width, height } = this.#view;
    this.#go(x + width * (0.5 + by[0] * 0.5), y + height * (0.5 + by[1] * 0.5));
  }
}
