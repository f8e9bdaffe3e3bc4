// What scripts say, in the reader's language. The catalogue comes before this wherever that is not English.

/** The translation of literal words; places like {name} in them are for `fill`. */
export function gettext(words) {
  return globalThis.django?.gettext?.(words) ?? words;
}

/** Translated words with their {places} filled. */
export function fill(words, facts) {
  return words.replace(/\{(\w+)\}/g, (place, name) => facts[name] ?? place);
}
