// The session page as it happens: entries are added, the growing answer and running tools shown, parts renewed, and the
// state of the connection told. Nothing here takes the focus.

import "copy-button";
import "count-down";
import "elapsed-time";
import { LiveRegion } from "live-region";
import { LiveSocket } from "live-socket";
import { StickyScroll } from "sticky-scroll";
import { fill, gettext } from "words";

const fields = "input:not([type=checkbox], [type=radio], [type=button], [type=submit]), textarea, select";
// Milliseconds without a connection before the page says so across its width.
const patience = 3000;
const endings = {
  "signed-out": gettext("Signed out. Sign in again to go on; your draft is kept."),
  withdrawn: gettext("You may not see this session any more."),
  gone: gettext("This session is gone."),
};

class SessionStream extends HTMLElement {
  #socket;
  #scroll;
  #live;
  #version;
  #liveId = "";
  #parts = new Map();
  #fetching = false;
  #lostAt = 0;
  #clock = 0;
  #resumed = 0;
  #leaving = new AbortController();

  // ---- lifecycle -----------------------------------------------------------------------------------------

  connectedCallback() {
    const address = new URL(this.dataset.socket, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.#live = new LiveRegion(document.getElementById("live"));
    this.#scroll = new StickyScroll(this.querySelector("#scroll") ?? this, this.#jumpButton());
    this.#socket = new LiveSocket(address.href, {
      position: () => this.#position(),
      onFrame: (frame) => this.#frame(frame),
      onState: (state) => this.#state(state),
    });
    this.#listen();
    this.#socket.start();
  }

  disconnectedCallback() {
    this.#leaving.abort();
    this.#leaving = new AbortController();
    clearInterval(this.#clock);
    this.#socket.stop();
    this.#scroll.stop();
  }

  // A tab that slept may hold a dead socket and old contents; nobody tells it.
  #listen() {
    const { signal } = this.#leaving;
    const wake = () => {
      if (document.visibilityState === "hidden" || performance.now() - this.#resumed < 1000) return;
      this.#resumed = performance.now();
      this.#socket.resume();
    };
    document.addEventListener("visibilitychange", wake, { signal });
    for (const name of ["online", "focus"]) window.addEventListener(name, wake, { signal });
    // A page with an open socket can't be kept for the way back.
    window.addEventListener("pagehide", () => this.#socket.stop(), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.#socket.start(), { signal });
    window.addEventListener("offline", () => this.#tellLost(), { signal });
    // A command's answer may be older than what the socket has brought meanwhile, and is not what was shown last.
    const renewed = (event) => {
      if (this.#parts.delete(event.detail.target?.id)) this.#socket.resume();
    };
    for (const name of ["htmx:oobAfterSwap", "htmx:afterSwap"]) document.addEventListener(name, renewed, { signal });
    // Commands may have brought another transcript: the server must know where it ends.
    document.querySelector("#connection-lost [data-try]")?.addEventListener("click", () => this.#socket.resume(), { signal });
    let log = this.#log;
    document.addEventListener("htmx:afterSwap", () => {
      if (this.#log === log) return;
      log = this.#log;
      if (!this.#fetching) this.#socket.resume();
    }, { signal });
  }

  // ---- frames --------------------------------------------------------------------------------------------

  #frame(frame) {
    switch (frame.t) {
      case "hello": return this.#hello(frame);
      case "entries": return this.#entries(frame);
      case "article": return this.#article(frame);
      case "live": return this.#liveOps(frame);
      case "part": return this.#part(frame.target, frame.html);
      case "say": return void (document.getElementById("announcer").textContent = frame.text);
    }
  }

  #hello({ version }) {
    this.#version ??= version;
    if (version === this.#version) return;
    this.#version = version;
    this.dispatchEvent(new CustomEvent("agentweb:version", { bubbles: true, detail: { version } }));
  }

  #entries({ path, leaf, seq, html, replaces }) {
    // What is being fetched will hold these, or the resume after it brings them.
    if (this.#fetching) return;
    const log = this.#log;
    if (path === "reset") {
      if (log.dataset.leaf !== String(leaf || "")) this.#fetch();
      return;
    }
    const template = document.createElement("template");
    template.innerHTML = html;
    const fresh = [...template.content.children].filter((article) => !document.getElementById(article.id));
    this.#scroll.keep(() => {
      for (const key of replaces) this.#live.drop(key);
      log.append(...fresh);
    });
    for (const article of fresh) adopt(article);
    log.dataset.leaf = leaf;
    log.dataset.seq = seq;
    this.#scroll.arrived(fresh.length);
  }

  // Stays as far open as it was, and keeps the focus; a form in it is not swept away.
  #article({ seq, html }) {
    const before = document.getElementById(`entry-${seq}`);
    if (!before || before.querySelector("form")) return;
    const template = document.createElement("template");
    template.innerHTML = html;
    const article = template.content.firstElementChild;
    const open = [...before.querySelectorAll("details")].map((details) => details.open);
    const focused = before.contains(document.activeElement) ? document.activeElement : null;
    this.#scroll.keep(() => before.replaceWith(article));
    const now = [...article.querySelectorAll("details")];
    if (now.length === open.length) now.forEach((details, index) => (details.open = open[index]));
    adopt(article);
    if (focused) (article.querySelector(`[data-act="${focused.dataset.act}"]`) ?? article).focus({ preventScroll: true });
  }

  #liveOps({ id, ops }) {
    this.#liveId = id;
    this.#scroll.keep(() => this.#live.apply(ops));
  }

  #part(target, html) {
    const element = document.getElementById(target);
    if (!element || this.#parts.get(target) === html) return;
    // Nor is a menu closed that somebody is reading.
    const menu = element.querySelector(":popover-open");
    if (menu) {
      menu.addEventListener("toggle", () => setTimeout(() => this.#part(target, html)), { once: true });
      return;
    }
    // Nobody's half-written words are swept away: the newest version waits until the field is left.
    if (element.contains(document.activeElement) && document.activeElement.matches(fields)) {
      element.addEventListener("focusout", () => setTimeout(() => this.#part(target, html)), { once: true });
      return;
    }
    this.#parts.set(target, html);
    // htmx puts the focus back on the element of the same id.
    htmx.swap(element, html, { swapStyle: "innerHTML", swapDelay: 0, settleDelay: 0 });
  }

  // The leaf stands on another branch.
  async #fetch() {
    this.#fetching = true;
    try {
      const address = this.dataset.socket.replace(/^\/ws/, "");
      await htmx.ajax("GET", address, { source: this, target: "#transcript", swap: "outerHTML" });
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
    this.#fetching = false;
    this.#socket.resume();
  }

  // ---- connection ----------------------------------------------------------------------------------------

  #state(state) {
    if (state === "lost") {
      this.#lostAt ||= Date.now();
      // Most are mended before anybody needs to know.
      this.#clock ||= setInterval(() => this.#tellLost(), 1000);
    } else {
      clearInterval(this.#clock);
      this.#lostAt = this.#clock = 0;
      this.#tell(state === "connected" ? "online" : state, endings[state] ?? gettext("Connected"));
      this.#warn(false);
    }
    this.dispatchEvent(new CustomEvent("agentweb:connection", { bubbles: true, detail: { state } }));
  }

  #tellLost() {
    const local = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
    if (!navigator.onLine && !local) return this.#tell("offline", gettext("Offline. Jobs run on the server."));
    if (!this.#lostAt) return;
    this.#tell("offline", gettext("Connection lost. Jobs run on the server."), ` ${fill(gettext("Lost {ago}."), { ago: ago(Date.now() - this.#lostAt) })}`);
    this.#warn(Date.now() - this.#lostAt > patience);
  }

  // What is shown from here on is the last that was known.
  #warn(lost) {
    document.body.toggleAttribute("data-lost", lost);
    const banner = document.getElementById("connection-lost");
    if (!banner) return;
    banner.hidden = !lost;
    if (!lost) return;
    banner.querySelector("[data-ago]").textContent = ago(Date.now() - this.#lostAt);
    const seconds = Math.ceil((this.#socket.nextTry - Date.now()) / 1000);
    banner.querySelector("[data-next]").textContent = seconds > 0 ? fill(gettext("Next try in {seconds} s"), { seconds }) : gettext("Trying");
  }

  // The age changes every second: it is seen, but not spoken.
  #tell(state, words, age = "") {
    const place = document.getElementById("connection");
    if (!place) return;
    if (place.dataset.state !== state || place.firstChild?.textContent !== words) {
      place.dataset.state = state;
      place.replaceChildren(words);
    }
    let span = place.querySelector("span");
    if (!age) return span?.remove();
    if (!span) {
      span = document.createElement("span");
      span.ariaHidden = "true";
      place.append(span);
    }
    span.textContent = age;
  }

  // ---- internal ------------------------------------------------------------------------------------------

  get #log() {
    return document.getElementById("transcript");
  }

  #position() {
    const { seq, leaf } = this.#log.dataset;
    return { seq: Number(seq) || 0, leaf: Number(leaf) || 0, live: this.#liveId };
  }

  #jumpButton() {
    let button = this.querySelector("[data-jump]");
    if (!button) {
      button = Object.assign(document.createElement("button"), { type: "button", hidden: true });
      button.className = "btn btn--small stream__jump";
      button.dataset.jump = "";
      this.append(button);
    }
    button.addEventListener("click", () => this.#scroll.toEnd());
    return button;
  }
}

function ago(milliseconds) {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 90 ? fill(gettext("{seconds} s ago"), { seconds }) : fill(gettext("{minutes} min ago"), { minutes: Math.round(seconds / 60) });
}

// New content gets its htmx attributes and, through the event that app.js listens to, its elements.
function adopt(element) {
  htmx.process(element);
  element.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true, detail: { elt: element } }));
}

customElements.define("session-stream", SessionStream);
