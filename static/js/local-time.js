// The server writes times in UTC; this shows them as the reader's clock does.

class LocalTime extends HTMLElement {
  connectedCallback() {
    const moment = new Date(this.getAttribute("datetime"));
    if (Number.isNaN(moment.getTime())) return;
    const before = this.textContent;
    this.textContent = this.#words(moment);
    this.title = moment.toLocaleString();
    const article = this.closest("article");
    const name = article?.getAttribute("aria-label");
    if (name) article.setAttribute("aria-label", name.replace(before, this.textContent));
  }

  #words(moment) {
    const now = new Date();
    const time = moment.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
    if (moment.toDateString() === now.toDateString()) return time;
    const day = `${moment.getDate()} ${moment.toLocaleString(document.documentElement.lang || "en", { month: "short" })}`;
    return moment.getFullYear() === now.getFullYear() ? `${day} ${time}` : `${day} ${moment.getFullYear()}`;
  }
}

customElements.define("local-time", LocalTime);
