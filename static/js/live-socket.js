// The connection to the server: opens, notices when it is dead, and opens again. What it carries is not its business.

const quiet = 20_000; // Without a sign for so long we ask.
const dead = 40_000; // Without a sign for so long the socket is dead, whatever the browser thinks.
const answerWithin = 5_000; // After waking up: an open socket answers at once, or is none.
const longestWait = 30_000;
const finalCodes = { 4401: "signed-out", 4403: "withdrawn", 4404: "gone" };

export class LiveSocket {
  #address;
  #position;
  #onFrame;
  #onState;
  #socket = null;
  #stopped = true;
  #attempts = 0;
  #lastSign = 0;
  #asked = 0;
  #retry = 0;
  #watch = 0;
  #answer = 0;
  #next = 0;

  /** `position()` gives what the page has, `onFrame(frame)` takes each message, `onState(name)` the state:
      connected, lost, or one of the final ones: signed-out, withdrawn, gone. */
  constructor(address, { position, onFrame, onState }) {
    this.#address = address;
    this.#position = position;
    this.#onFrame = onFrame;
    this.#onState = onState;
  }

  /** When it is tried again, in milliseconds of the clock. */
  get nextTry() {
    return this.#next;
  }

  start() {
    this.#stopped = false;
    this.#attempts = 0;
    this.#open();
  }

  stop() {
    this.#stopped = true;
    this.#drop();
  }

  /** Ask for everything missed; an open socket that does not answer is replaced, and a lost one is not waited for. */
  resume() {
    if (this.#stopped) return;
    if (this.#socket?.readyState === WebSocket.OPEN) {
      this.#sendPosition();
      const asked = performance.now();
      clearTimeout(this.#answer);
      this.#answer = setTimeout(() => {
        if (this.#lastSign < asked) this.#lost();
      }, answerWithin);
    } else if (this.#socket?.readyState !== WebSocket.CONNECTING) {
      this.#attempts = 0;
      this.#open();
    }
  }

  #open() {
    this.#drop();
    const socket = new WebSocket(this.#address);
    this.#socket = socket;
    this.#lastSign = performance.now();
    // Events of a socket that has been given up are nobody's any more.
    const mine = (act) => (event) => {
      if (this.#socket === socket) act(event);
    };
    socket.addEventListener("open", mine(() => this.#sendPosition()));
    socket.addEventListener("message", mine((event) => this.#take(event)));
    socket.addEventListener("close", mine((event) => this.#closed(event)));
    this.#watch = setInterval(() => this.#look(), 2_000);
  }

  #take(event) {
    this.#lastSign = performance.now();
    const frame = JSON.parse(event.data);
    if (frame.t === "ping") this.#send({ t: "pong" });
    else if (frame.t !== "pong") {
      if (frame.t === "hello") {
        this.#attempts = 0;
        this.#onState("connected");
      }
      this.#onFrame(frame);
    }
  }

  #look() {
    const now = performance.now();
    const silence = now - this.#lastSign;
    if (silence > dead) this.#lost();
    else if (silence > quiet && now - this.#asked > quiet && this.#socket.readyState === WebSocket.OPEN) {
      this.#asked = now;
      this.#send({ t: "ping" });
    }
  }

  #closed({ code }) {
    const final = finalCodes[code];
    if (!final) return this.#lost();
    this.stop();
    this.#onState(final);
  }

  #lost() {
    this.#drop();
    this.#onState("lost");
    const wait = Math.min(longestWait, 500 * 2 ** this.#attempts) * (0.5 + Math.random() / 2);
    this.#attempts += 1;
    this.#next = Date.now() + wait;
    this.#retry = setTimeout(() => this.#open(), wait);
  }

  #drop() {
    clearTimeout(this.#retry);
    clearTimeout(this.#answer);
    clearInterval(this.#watch);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #sendPosition() {
    this.#send({ t: "resume", ...this.#position() });
  }

  #send(message) {
    this.#socket?.send(JSON.stringify(message));
  }
}
