// The whole drawing in small, and the part of it that is in view: a frame to drag, or to move with the arrow keys.

export class TreeMinimap {
  #place;
  #go;
  #view = { x: 0, y: 0, width: 1, height: 1 };
  #whole = [0, 0, 1, 1];
  #across = 1;
  #down = 1;
  #top = 0;

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
    // Only what is drawn counts: around it there is nothing to be in view.
    const within = (from, size, begin, length) => {
      const low = Math.max(from, begin);
      return [low - begin, Math.max(0, Math.min(from + size, begin + length) - low)];
    };
    const [left, width] = within(view.x, view.width, whole[0], whole[2]);
    const [top, height] = within(view.y, view.height, whole[1], whole[3]);
    style.transform = `translate(${left * this.#across}px, ${top * this.#down + this.#top}px)`;
    style.width = `${Math.max(6, width * this.#across)}px`;
    style.height = `${Math.max(6, height * this.#down)}px`;
  }

  #measure() {
    const { across, down, top } = this.#place.querySelector("svg").dataset;
    [this.#across, this.#down, this.#top] = [Number(across), Number(down), Number(top)];
  }

  #pressed(event, signal) {
    event.preventDefault();
    const box = this.#place.querySelector("svg").getBoundingClientRect();
    const move = ({ clientX, clientY }) => this.#go((clientX - box.x) / this.#across + this.#whole[0], (clientY - box.y - this.#top) / this.#down + this.#whole[1]);
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
