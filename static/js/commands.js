// What can be done by name, from the composer (/name) and from the palette: the options in #named-commands say how.
//
//   data-goes     an address to go to               data-clicks   a selector of what is pressed
//   data-loads    an address of a dialog            data-shows    the id of a dialog on the page
//   data-said     words that the server knows: they are written, and sent as a message
//   data-command  those below that need more than that

import { fill, gettext } from "words";

const acts = {
  tree: () => {
    document.getElementById("tree-drawer")?.show?.();
    requestAnimationFrame(() => document.querySelector("[role=tree] [tabindex='0']")?.focus());
  },
  model: (words) => choose("model", words),
  thinking: (words) => choose("thinking_level", words),
  name: rename,
  resume: (words) => document.querySelector("command-palette").open(words),
  copy: () => [...document.querySelectorAll("#transcript > .entry--assistant:not(.entry--bare) [data-act=copy]")].at(-1)?.click(),
};

/** The option of a command, or null. */
export function find(name) {
  return document.getElementById("named-commands").content.querySelector(`[data-command="${CSS.escape(name)}"]`);
}

/** The command that was probably meant. */
export function nearest(name) {
  const names = [...document.getElementById("named-commands").content.querySelectorAll("[data-command]")].map((option) => option.dataset.command);
  const [best] = names.map((other) => [distance(name, other), other]).sort(([a], [b]) => a - b);
  return best && best[0] <= Math.max(1, Math.floor(name.length / 2)) ? best[1] : "";
}

/** Carries it out; gives words when it can't be. */
export async function run(option, words = "") {
  const { command, goes, clicks, loads, shows } = option.dataset;
  if (acts[command]) return acts[command](words);
  if ("said" in option.dataset) return write(`/${command} `);
  if (goes) location.assign(goes);
  if (clicks) document.querySelector(clicks)?.click();
  if (shows) document.getElementById(shows).showModal();
  if (!loads) return "";
  try {
    await window.htmx.ajax("GET", loads, { target: "#dialogs", swap: "innerHTML" });
  } catch {
    return gettext("The server can’t be reached.");
  }
  const focus = document.querySelector("#dialogs [name=instructions]");
  if (focus && words) focus.value = words;
  return "";
}

// Without words the picker opens; with some of its name the first that fits is chosen.
function choose(name, words) {
  const picker = document.querySelector(`#model-picker select[name=${name}]`);
  if (!picker) return gettext("There is nothing to choose with this model.");
  if (!words) {
    document.getElementById("session-controls").setAttribute("data-open", "");
    picker.focus();
    try {
      picker.showPicker();
    } catch {
      // Not every browser opens it without a press.
    }
    return "";
  }
  const wanted = words.toLowerCase();
  const option = [...picker.options].find((it) => it.value.toLowerCase().includes(wanted) || it.label.toLowerCase().includes(wanted));
  if (!option) return fill(gettext("Nothing to choose is called {words}."), { words });
  picker.value = option.value;
  picker.dispatchEvent(new Event("change", { bubbles: true }));
  return "";
}

function write(words) {
  const field = document.querySelector("#message, #text");
  field.focus();
  field.setRangeText(words, 0, field.value.length, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  return "";
}

function rename(words) {
  const field = document.querySelector("session-name [name=name]");
  if (!field) return "";
  if (!words) {
    document.querySelector("[data-renames]").click();
    return "";
  }
  field.value = words;
  field.form.requestSubmit();
  return "";
}

function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}
