// The list of sessions follows what happens: at once when the open session's run changes, and by asking,
// more often while something is at work.

const BUSY = 5_000;
const CALM = 20_000;
// What belongs together (state, end, name) comes as one question.
const GATHER = 150;

class SessionList extends HTMLElement {
  #timer;
  #state;

  connectedCallback() {
    document.body.addEventListener("run:state", this.#moved);
    document.addEventListener("visibilitychange", this.#seen);
    this.addEventListener("htmx:afterSettle", this.#wait);
    this.addEventListener("htmx:sendError", this.#wait);
    this.#state = document.querySelector("run-state")?.dataset.state;
    this.#wait();
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
    document.body.removeEventListener("run:state", this.#moved);
    document.removeEventListener("visibilitychange", this.#seen);
  }

  #moved = (event) => {
    if (event.detail.state === this.#state) return;
    this.#state = event.detail.state;
    this.#ask(GATHER);
  };

  #seen = () => {
    if (!document.hidden) this.#ask(GATHER);
  };

  #wait = () => {
    this.#ask(this.querySelector(".glyph--running, .glyph--queued") ? BUSY : CALM);
  };

  #ask(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (document.hidden) return;
      window.htmx.trigger(document.body, "sessions-changed");
      // Should there be no answer, it is asked again all the same.
      this.#ask(CALM);
    }, delay);
  }
}

customElements.define("session-list", SessionList);
