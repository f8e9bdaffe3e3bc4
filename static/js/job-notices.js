// When a job ends, fails or waits while nobody looks: a mark in the title and, if the person wants it, a notification
// of the browser. It never says what was said.

import { gettext } from "words";

const NAME = "agentweb-notify";
const MARK = "● ";
const WORDS = {
  completed: gettext("A job has finished."),
  failed: gettext("A job stopped on an error."),
  interrupted: gettext("A job was interrupted."),
  limited: gettext("A job waits: its ceiling is reached."),
  asking: gettext("A job waits for your answer."),
  reviewing: gettext("A job waits for a review of its compaction."),
  stopped: gettext("A job was stopped."),
};

class JobNotices extends HTMLElement {
  #tick;
  #last;

  connectedCallback() {
    this.#tick = this.querySelector("input");
    this.hidden = !("Notification" in window);
    this.#tick.checked = !this.hidden && Notification.permission === "granted" && wanted();
    this.#tick.addEventListener("change", this.#changed);
    this.#last = document.querySelector("run-state")?.dataset.state;
    document.addEventListener("run:state", this.#stateChanged);
    document.addEventListener("session:ended", this.#ended);
    document.addEventListener("visibilitychange", this.#seen);
    window.addEventListener("focus", this.#seen);
  }

  disconnectedCallback() {
    document.removeEventListener("run:state", this.#stateChanged);
    document.removeEventListener("session:ended", this.#ended);
    document.removeEventListener("visibilitychange", this.#seen);
    window.removeEventListener("focus", this.#seen);
  }

  // ---- actions ----

  #changed = async () => {
    const on = this.#tick.checked && (await Notification.requestPermission()) === "granted";
    const refused = this.#tick.checked && !on;
    this.#tick.checked = on;
    this.querySelector("[data-refused]").hidden = !refused;
    try {
      localStorage.setItem(NAME, on ? "on" : "off");
    } catch {
      // Then it holds for this page.
    }
  };

  #stateChanged = (event) => {
    const { state, active } = event.detail;
    const before = this.#last;
    this.#last = state;
    if (state === before || before === undefined || before === "idle") return;
    if (!active || state === "asking" || state === "reviewing") this.#tell(WORDS[state]);
  };

  // One of the other sessions in the list.
  #ended = (event) => this.#tell(event.detail.waits ? WORDS.asking : gettext("A job has ended."));

  #seen = () => {
    if (!document.hidden && document.title.startsWith(MARK)) document.title = document.title.slice(MARK.length);
  };

  // ---- internal ----

  #tell(words) {
    if (!words || (!document.hidden && document.hasFocus())) return;
    if (!document.title.startsWith(MARK)) document.title = MARK + document.title;
    if (!this.#tick.checked) return;
    try {
      const notice = new Notification("agentweb", { body: words, tag: "agentweb-job" });
      notice.addEventListener("click", () => window.focus());
    } catch {
      // On phones only an installed page may notify.
    }
  }
}

function wanted() {
  try {
    return localStorage.getItem(NAME) === "on";
  } catch {
    return false;
  }
}

customElements.define("job-notices", JobNotices);
