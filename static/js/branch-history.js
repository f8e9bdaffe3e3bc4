// Back and Forward walk the branches one has gone to: each move is a step of the browser's history.

class BranchHistory extends HTMLElement {
  #leaf;
  #walking = false;

  connectedCallback() {
    this.#leaf = Number(document.getElementById("transcript").dataset.leaf);
    history.replaceState({ ...history.state, leaf: this.#leaf }, "");
    document.addEventListener("session:moved", this.#moved);
    window.addEventListener("popstate", this.#walked);
  }

  disconnectedCallback() {
    document.removeEventListener("session:moved", this.#moved);
    window.removeEventListener("popstate", this.#walked);
  }

  // ---- actions ----

  #moved = (event) => {
    const { leaf } = event.detail;
    if (!leaf) return;
    if (!this.#walking) history.pushState({ leaf }, "", location.pathname);
    this.#walking = false;
    this.#leaf = leaf;
  };

  // To the newest entry below where one stood then. While the agent works the server asks first.
  #walked = async (event) => {
    const leaf = event.state?.leaf;
    if (!leaf || leaf === this.#leaf) return;
    this.#walking = true;
    const address = this.dataset.address.replace("/0/", `/${leaf}/`);
    try {
      await window.htmx.ajax("POST", address, { target: "#transcript", swap: "outerHTML", values: { tip: "1" } });
    } catch {
      this.#walking = false;
    }
  };
}

customElements.define("branch-history", BranchHistory);
