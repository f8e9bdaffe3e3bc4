// A draft outlives reloads (localStorage); the key of a message on its way outlives them too (sessionStorage),
// so that sending the same words again does nothing twice.

function read(storage, name) {
  try {
    return storage.getItem(name);
  } catch {
    return null;
  }
}

function write(storage, name, value) {
  try {
    if (value) storage.setItem(name, value);
    else storage.removeItem(name);
  } catch {
    // Storage is full or switched off: the draft then lasts as long as the page.
  }
}

export class MessageDraft {
  #draft;
  #sending;

  // A browser may be used by several people: each has drafts of their own.
  constructor(session, user) {
    this.#draft = `agentweb-draft-${user}-${session}`;
    this.#sending = `agentweb-sending-${user}-${session}`;
  }

  get text() {
    return read(localStorage, this.#draft) ?? "";
  }

  set text(text) {
    write(localStorage, this.#draft, text);
  }

  // The same key for the same message until it is accepted; other words are another message.
  keyFor(message) {
    const before = JSON.parse(read(sessionStorage, this.#sending) ?? "null");
    if (before?.message === message) return before.key;
    const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    write(sessionStorage, this.#sending, JSON.stringify({ key, message }));
    return key;
  }

  accepted() {
    write(sessionStorage, this.#sending, "");
  }
}
