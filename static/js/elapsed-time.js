// How long something has been going on, counted on from the time in its datetime attribute.

import { fill, gettext } from "words";

class ElapsedTime extends HTMLElement {
  #timer;
  #start;

  connectedCallback() {
    this.#start = Date.parse(this.getAttribute("datetime"));
    if (Number.isNaN(this.#start)) return;
    this.#timer = setInterval(() => this.#tick(), 1000);
    this.#tick();
  }

  disconnectedCallback() {
    clearInterval(this.#timer);
  }

  #tick() {
    const seconds = Math.max(0, Math.round((Date.now() - this.#start) / 1000));
    const minutes = Math.floor(seconds / 60);
    if (minutes >= 60) this.textContent = fill(gettext("{hours} h {minutes} min"), { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
    else if (minutes) this.textContent = fill(gettext("{minutes} min {seconds} s"), { minutes, seconds: seconds % 60 });
    else this.textContent = fill(gettext("{seconds} s"), { seconds });
  }
}

customElements.define("elapsed-time", ElapsedTime);
