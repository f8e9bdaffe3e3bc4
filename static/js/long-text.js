// Words that are too long to be sent are refused before they reach the field: laying out megabytes freezes the page.

import { fill, gettext } from "words";

export function megabytes(bytes) {
  return `${(Number(bytes) / 1_000_000).toFixed(1)} MB`;
}

// Pasted or dropped text beyond `largest` bytes stays out; `tell` gets what to do instead.
export function refuseLongText(field, largest, tell) {
  field.addEventListener("beforeinput", (event) => {
    const added = event.data ?? event.dataTransfer?.getData("text/plain") ?? "";
    // A character takes at least one byte, so this never refuses what could be sent.
    const length = field.value.length - (field.selectionEnd - field.selectionStart) + added.length;
    if (added.length < 10_000 || length <= Number(largest)) return;
    event.preventDefault();
    tell(fill(gettext("{size} is too much, {largest} can be sent. Put it into a file."), { size: megabytes(length), largest: megabytes(largest) }));
  });
}
