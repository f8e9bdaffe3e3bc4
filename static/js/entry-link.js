// A link to an entry that is not on this page leads through the server: to the part of the branch that holds it, or to the
// branch it is on.

const LINK = /^#entry-(\d{1,9})$/;
const ONCE = "agentweb-sought";

class EntryLink extends HTMLElement {
  connectedCallback() {
    window.addEventListener("hashchange", this.#look);
    this.#look();
  }

  disconnectedCallback() {
    window.removeEventListener("hashchange", this.#look);
  }

  #look = () => {
    const seq = location.hash.match(LINK)?.[1];
    if (!seq || document.getElementById(`entry-${seq}`)) return;
    // What the server does not find either is not asked for again and again.
    const wanted = location.pathname + location.hash;
    if (history.state?.[ONCE] === wanted) return;
    history.replaceState({ ...history.state, [ONCE]: wanted }, "");
    location.assign(this.dataset.address.replace("/0/", `/${seq}/`));
  };
}

customElements.define("entry-link", EntryLink);
