// Which sessions have moved since this browser last showed them: a dot in place of their shape.

const NAME = "agentweb-seen";
const MOST = 500;

export class UnreadMarks {
  #name;
  #seen;

  constructor(user) {
    this.#name = `${NAME}-${user}`;
    try {
      this.#seen = JSON.parse(localStorage.getItem(this.#name) ?? "null");
    } catch {
      this.#seen = null;
    }
    // What was there before anybody looked is not news.
    this.#seen ??= { since: new Date().toISOString(), rows: {} };
  }

  /** Mark the rows of a list; the open session counts as seen while its page is in sight. */
  mark(list) {
    for (const row of list.querySelectorAll("a.session")) {
      const moved = Date.parse(row.querySelector("time")?.dateTime);
      if (Number.isNaN(moved)) continue;
      if (row.matches("[aria-current]") && !document.hidden) this.#seen.rows[row.id] = moved;
      const seen = this.#seen.rows[row.id] ?? Date.parse(this.#seen.since);
      if (moved > seen + 1000 && row.querySelector(".glyph--worked, .glyph--stopped, .glyph--error, .glyph--wait")) show(row);
    }
    this.#keep();
  }

  #keep() {
    const rows = Object.entries(this.#seen.rows).sort(([, a], [, b]) => b - a).slice(0, MOST);
    this.#seen.rows = Object.fromEntries(rows);
    try {
      localStorage.setItem(this.#name, JSON.stringify(this.#seen));
    } catch {
      // Then everything is news again on the next page.
    }
  }
}

function show(row) {
  if (row.classList.contains("session--unread")) return;
  row.classList.add("session--unread");
  const finished = row.querySelector(".glyph--worked, .glyph--stopped");
  if (finished) {
    finished.setAttribute("class", "glyph glyph--unread");
    finished.querySelector("use").setAttribute("href", "#g-unread");
  }
  const word = document.createElement("span");
  word.className = "visually-hidden";
  word.textContent = "unread";
  row.append(word);
}
