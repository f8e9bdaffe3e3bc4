/* The columns of a review: tabs on a narrow page, lines that light their sources, and keys. */

class ReviewPage extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", this);
    this.addEventListener("toggle", this, true);
    this.addEventListener("htmx:afterSettle", () => this.show(this.dataset.tab));
    this.onkey = (event) => this.key(event);
    document.addEventListener("keydown", this.onkey);
    this.show(this.dataset.tab);
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.onkey);
  }

  handleEvent(event) {
    if (event.type === "toggle") {
      this.light(event.target.open ? event.target : null);
      return;
    }
    const tab = event.target.closest("[data-tab]");
    if (tab && tab !== this) this.show(tab.dataset.tab);
    const link = event.target.closest("[data-to]");
    if (link && !event.ctrlKey && !event.metaKey) this.goTo(event, link.dataset.to);
  }

  show(name) {
    this.dataset.tab = name;
    for (const button of this.querySelectorAll("button[data-tab]")) {
      button.setAttribute("aria-pressed", String(button.dataset.tab === name));
    }
  }

  /* The source where it stands in the column; if that is not shown here, the link leads to the entry. */
  goTo(event, seq) {
    const row = this.querySelector(`[data-source="${CSS.escape(seq)}"]`);
    if (!row) return;
    event.preventDefault();
    this.show("replaced");
    row.classList.add("is-source");
    row.scrollIntoView({ block: "center" });
  }

  light(line) {
    for (const row of this.querySelectorAll(".is-source")) {
      row.classList.remove("is-source");
      const words = row.querySelector(".src__supports");
      if (words) words.hidden = true;
    }
    for (const seq of line?.dataset.sources?.trim().split(" ") ?? []) {
      const row = this.querySelector(`[data-source="${CSS.escape(seq)}"]`);
      if (!row) continue;
      row.classList.add("is-source");
      const words = row.querySelector(".src__supports");
      if (words) words.hidden = false;
      if (row.checkVisibility()) row.scrollIntoView({ block: "nearest" });
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
    if (event.key === "j" || event.key === "k") {
      const lines = [...this.querySelectorAll("[data-line]")];
      const focused = document.activeElement?.closest("[data-line]");
      const place = lines.indexOf(focused) + (event.key === "j" ? 1 : -1);
      const line = lines[Math.max(0, Math.min(lines.length - 1, place))];
      (line?.querySelector("summary") ?? line)?.focus();
      event.preventDefault();
    }
    if (event.key === "p") this.querySelector('.finding button')?.focus();
    if (event.key === "d") this.querySelector('a[href*="diff="]')?.click();
  }
}

customElements.define("review-page", ReviewPage);
