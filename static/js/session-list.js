// The list of sessions follows what happens: at once when the open session's run changes, and by asking,
// more often while something is at work. It marks what has moved unseen, and tells when another session's job has ended.

import { UnreadMarks } from "unread-marks";

const BUSY = 5_000;
const CALM = 20_000;
// What belongs together (state, end, name) comes as one question.
const GATHER = 150;

class SessionList extends HTMLElement {
  #timer;
  #state;
  #marks;
  #busy = new Set();

  connectedCallback() {
    this.#marks = new UnreadMarks(document.body.dataset.user);
    document.body.addEventListener("run:state", this.#moved);
    document.addEventListener("visibilitychange", this.#seen);
    this.addEventListener("htmx:afterSettle", this.#renewed);
    this.addEventListener("htmx:sendError", this.#wait);
    this.#compare();
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
    if (document.hidden) return;
    this.#marks.mark(this);
    this.#ask(GATHER);
  };

  #renewed = () => {
    this.#compare();
    this.#wait();
  };

  // What was at work and is no more, in another session than the open one.
  #compare() {
    const rows = [...this.querySelectorAll("a.session:not([aria-current])")];
    const busy = new Set(rows.filter((row) => row.querySelector(".glyph--running, .glyph--queued")).map((row) => row.id));
    for (const row of rows.filter((it) => this.#busy.has(it.id) && !busy.has(it.id))) {
      const waits = Boolean(row.querySelector(".glyph--wait"));
      this.dispatchEvent(new CustomEvent("session:ended", { bubbles: true, detail: { waits } }));
    }
    this.#busy = busy;
    this.#marks.mark(this);
  }

  #wait = () => {
    this.#ask(this.querySelector(".glyph--running, .glyph--queued") ? BUSY : CALM);
  };

  #ask(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // Nobody looks, and nothing will end.
      if (document.hidden && !this.#busy.size) return;
      window.htmx.trigger(document.body, "sessions-changed");
      // Should there be no answer, it is asked again all the same.
      this.#ask(CALM);
    }, delay);
  }
}

customElements.define("session-list", SessionList);
