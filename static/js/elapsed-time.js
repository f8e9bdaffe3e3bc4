// How long something has been going on, counted on from the time in its datetime attribute.

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
    if (minutes >= 60) this.textContent = `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
    else if (minutes) this.textContent = `${minutes} min ${seconds % 60} s`;
    else this.textContent = `${seconds} s`;
  }
}

customElements.define("elapsed-time", ElapsedTime);
