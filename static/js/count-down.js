// How long until something happens: counted down to the time in its datetime attribute.

class CountDown extends HTMLElement {
  #timer;
  #end;

  connectedCallback() {
    this.#end = Date.parse(this.getAttribute("datetime"));
    if (Number.isNaN(this.#end)) return;
    this.#timer = setInterval(() => this.#tick(), 1000);
    this.#tick();
  }

  disconnectedCallback() {
    clearInterval(this.#timer);
  }

  #tick() {
    const seconds = Math.max(0, Math.ceil((this.#end - Date.now()) / 1000));
    this.textContent = seconds ? `${seconds} s` : "a moment";
  }
}

customElements.define("count-down", CountDown);
