// The composer: Enter sends or steers, Alt+Enter queues for later, Escape stops. Words leave the field only after
// the server has them; until then they are kept here and say so.

import { AttachedImages } from "attached-images";
import { find, nearest, run } from "commands";
import { Completions } from "completions";
import { megabytes, refuseLongText } from "long-text";
import { MessageDraft } from "message-draft";
import { SaidBefore } from "said-before";
import { fill, gettext } from "words";

const COMMAND = /^\/([a-z-]+)(?:\s+([\s\S]*))?$/;

const DRAGS = ["dragover", "dragleave", "drop"];

class PromptComposer extends HTMLElement {
  #form;
  #field;
  #draft;
  #images;
  #completions;
  #said;
  #refused = "";
  #sent = "";
  #next = "";

  connectedCallback() {
    this.#form = this.querySelector("form");
    this.#field = this.querySelector("textarea");
    this.#draft = new MessageDraft(this.dataset.session, this.dataset.user);
    this.#images = new AttachedImages(this.querySelector("[type=file]"), this.querySelector(".composer__images"), {
      say: (words) => this.#tell(words),
      place: (files) => this.#place(files),
    });
    this.#completions = new Completions(this.#field, this.querySelector("#completions"), this.querySelector("[data-suggested]"), (option) => this.#command(option));
    this.#said = new SaidBefore(this.#field, (words) => this.#write(words));
    refuseLongText(this.#field, this.dataset.largest, (words) => this.#tell(words));
    if (!this.#field.value) this.#field.value = this.#draft.text;
    this.#measure();
    this.#form.addEventListener("submit", this.#submitted, { capture: true });
    this.#form.addEventListener("htmx:afterRequest", this.#answered);
    this.#form.addEventListener("session:accepted", this.#accepted);
    this.#field.addEventListener("keydown", this.#keyed);
    this.#field.addEventListener("input", (event) => {
      this.#written();
      if (!event.isComposing) this.#completions.look();
    });
    this.addEventListener("click", this.#pressed);
    document.addEventListener("files:said", this.#filesSaid);
    document.addEventListener("files:placed", this.#filesPlaced);
    this.#field.addEventListener("paste", (event) => this.#received(event, event.clipboardData));
    // Wherever on the page a file is dropped: beside the field the browser would leave the page for it.
    for (const name of DRAGS) document.addEventListener(name, this.#dragged);
    this.#field.addEventListener("compositionend", () => this.#completions.look());
    document.addEventListener("run:state", this.#stateChanged);
    document.addEventListener("session:moved", this.#moved);
    window.addEventListener("online", this.#online);
    const state = document.querySelector("run-state");
    if (state) this.#become(state.hasAttribute("data-active"), state.dataset.state, state.hasAttribute("data-summary"));
  }

  disconnectedCallback() {
    for (const name of DRAGS) document.removeEventListener(name, this.#dragged);
    document.removeEventListener("run:state", this.#stateChanged);
    document.removeEventListener("session:moved", this.#moved);
    document.removeEventListener("files:said", this.#filesSaid);
    document.removeEventListener("files:placed", this.#filesPlaced);
    window.removeEventListener("online", this.#online);
  }

  // ---- actions ----

  #keyed = (event) => {
    // An Enter that ends a composition belongs to the input method.
    if (event.isComposing || event.keyCode === 229) return;
    if (this.#completions.keyed(event) || (!event.shiftKey && !event.altKey && this.#said.keyed(event))) return;
    if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this.#form.elements.mode.value = event.altKey ? "follow_up" : "steer";
      if (this.#field.value.trim() || this.#images.count) this.#form.requestSubmit();
    } else if (event.key === "Escape" && this.hasAttribute("data-active")) {
      event.preventDefault();
      document.getElementById("stop-form").requestSubmit();
    }
  };

  #submitted = (event) => {
    const text = this.#field.value;
    const size = new Blob([text]).size;
    const command = this.#images.count || text === this.#refused ? null : text.trim().match(COMMAND);
    this.#refused = "";
    if (command && !("said" in (find(command[1])?.dataset ?? {}))) this.#commandWritten(text, command[1], command[2]?.trim() ?? "");
    else if (!text.trim() && !this.#images.count) this.#tell(gettext("Write what should be done."));
    else if (size > Number(this.dataset.largest)) this.#tell(fill(gettext("This message has {size}; at most {largest} can be sent. Put it into a file."), { size: megabytes(size), largest: megabytes(this.dataset.largest) }));
    // One message at a time: these words go once those on their way have arrived.
    else if (this.#form.classList.contains("htmx-request")) this.#next = this.#form.elements.mode.value;
    else {
      this.#sent = text;
      this.#form.elements.key.value = this.#draft.keyFor(JSON.stringify([text, this.#form.elements.mode.value, this.#images.count]));
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    this.#field.focus();
  };

  #answered = (event) => {
    if (event.target !== this.#form) return;
    const { successful, xhr } = event.detail;
    const unreachable = xhr.status === 0 || xhr.status >= 500;
    const next = this.#next;
    this.#next = "";
    this.querySelector(".composer__unsent").hidden = successful || !unreachable;
    if (!successful) return;
    this.#draft.accepted();
    this.#form.elements.mode.value = next || "steer";
    const rest = this.#field.value.startsWith(this.#sent) ? this.#field.value.slice(this.#sent.length).trimStart() : this.#field.value;
    this.#write(rest);
    this.#images.clear();
    this.#tell("");
    // Only afterwards is htmx done with this one.
    if (next && rest.trim()) setTimeout(() => this.#form.requestSubmit());
  };

  #commandWritten(text, name, words) {
    const option = find(name);
    if (option) return this.#command(option, words);
    // Words may begin like this too: the second Enter sends them.
    this.#refused = text;
    const meant = nearest(name);
    const told = meant
      ? gettext("There is no command /{name}. Did you mean /{meant}? Enter again sends it as it is.")
      : gettext("There is no command /{name}. Enter again sends it as it is.");
    this.#tell(fill(told, { name, meant }));
  }

  async #command(option, words = "") {
    this.#completions.close();
    this.#write("");
    this.#tell((await run(option, words)) ?? "");
  }

  // What a button writes, as if it had been typed.
  #pressed = (event) => {
    const sign = event.target.closest("[data-writes]")?.dataset.writes;
    if (!sign) return;
    this.#field.focus();
    const { selectionStart: at, value } = this.#field;
    if (sign === "/" && value.trim()) return this.#tell(gettext("A command stands alone, at the beginning."));
    this.#field.setRangeText(sign === "@" && at && !/\s/.test(value[at - 1]) ? ` ${sign}` : sign, at, this.#field.selectionEnd, "end");
    this.#field.dispatchEvent(new Event("input", { bubbles: true }));
  };

  async #place(files) {
    await customElements.whenDefined("place-files");
    document.querySelector("place-files").ask(files);
  }

  // Images are attached; texts are quoted behind the words.
  #filesSaid = async (event) => {
    const { files } = event.detail;
    this.#images.add(files);
    for (const file of files.filter((it) => !it.type.startsWith("image/"))) {
      const text = (await file.text()).trimEnd();
      const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
      this.#write(`${this.#field.value.trimEnd()}\n\n${file.name}:\n${fence}\n${text}\n${fence}\n`.trimStart());
    }
    this.#field.focus();
  };

  #filesPlaced = (event) => {
    this.#images.clear();
    const names = event.detail.paths.map((path) => (/\s/.test(path) ? `@"${path}"` : `@${path}`)).join(" ");
    this.#write(`${this.#field.value.trimEnd()} ${names} `.trimStart());
    this.#field.focus();
  };

  // The socket brings the new entry; without it the transcript is fetched.
  #accepted = (event) => {
    const { seq } = event.detail;
    if (seq) setTimeout(() => document.getElementById(`entry-${seq}`) ?? this.#fetchTranscript(), 1500);
  };

  #received(event, data) {
    if (!data?.files.length) return;
    event.preventDefault();
    if ([...data.files].every((file) => file.type.startsWith("image/"))) this.#images.add(data.files);
    else this.#place(data.files);
  }

  #dragged = (event) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files") || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    this.#form.toggleAttribute("data-dropping", event.type === "dragover");
    if (event.type === "drop") this.#received(event, event.dataTransfer);
  };

  #stateChanged = (event) => this.#become(event.detail.active, event.detail.state, event.detail.summary);

  // Text of a message one went back before returns to the field, if nothing else stands there (01 TR-04).
  #moved = (event) => {
    const { text } = event.detail;
    if (text && !this.#field.value.trim()) this.#write(text);
    this.#field.focus();
  };

  #online = () => {
    if (!this.querySelector(".composer__unsent").hidden) this.#form.requestSubmit();
  };

  // ---- internal ----

  #fetchTranscript() {
    const place = { source: "#transcript", target: "#transcript", swap: "outerHTML" };
    // Without a server there is nothing to fetch; the socket brings it once there is.
    window.htmx.ajax("get", this.#form.getAttribute("action").replace(/prompt\/$/, ""), place).catch(() => {});
  }

  // While a summary is being written there is nobody to steer: words wait for its end.
  #become(active, state, summary) {
    const steers = active && !summary;
    this.toggleAttribute("data-active", active);
    const stop = this.querySelector("[data-stop]");
    stop.hidden = !active;
    stop.toggleAttribute("aria-busy", state === "stopping");
    this.querySelector("[data-send]").textContent = steers ? gettext("Steer") : gettext("Send");
    this.querySelector("[data-word]").textContent = steers ? gettext("steer now") : gettext("send");
    this.#field.placeholder = steers ? this.#field.dataset.running : active ? this.#field.dataset.waiting : this.#field.dataset.idle;
  }

  #written() {
    this.#draft.text = this.#field.value;
    this.#measure();
  }

  #write(text) {
    this.#field.value = text;
    this.#written();
  }

  #measure() {
    const size = this.#field.value.length < 10_000 ? 0 : new Blob([this.#field.value]).size;
    const over = size > Number(this.dataset.largest);
    const note = this.querySelector(".composer__size");
    note.toggleAttribute("data-over", over);
    if (size > Number(this.dataset.largest) / 2) note.textContent = fill(gettext("{size} of {largest}"), { size: megabytes(size), largest: megabytes(this.dataset.largest) });
    else if (note.textContent) note.textContent = "";
    if (CSS.supports("field-sizing", "content")) return;
    this.#field.style.height = "auto";
    this.#field.style.height = `${this.#field.scrollHeight}px`;
  }

  #tell(words) {
    this.querySelector(".composer__size").textContent = words;
  }
}

customElements.define("prompt-composer", PromptComposer);
