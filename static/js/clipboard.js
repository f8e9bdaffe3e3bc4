// Copying, also where the page is served without TLS and browsers hide their clipboard.

import { gettext } from "words";

export async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "visually-hidden";
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

// Says it to everybody: a tick in place of the icon for a moment, and a word for screen readers.
export function confirmCopy(button, words = gettext("Copied")) {
  const use = button.querySelector("use");
  const before = use?.getAttribute("href");
  use?.setAttribute("href", "#i-check");
  if (use) setTimeout(() => use.setAttribute("href", before), 1500);
  const announcer = document.getElementById("announcer");
  if (announcer) announcer.textContent = words;
}
