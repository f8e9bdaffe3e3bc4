// The comparison: another tip is another address, and a new outcome renews the page.

class BranchCompare extends HTMLElement {
  connectedCallback() {
    this.addEventListener("change", (event) => event.target.form?.id === "compare-form" && event.target.form.submit());
    document.addEventListener("htmx:afterRequest", this.#answered);
  }

  disconnectedCallback() {
    document.removeEventListener("htmx:afterRequest", this.#answered);
  }

  #answered = ({ detail }) => {
    if (detail.successful && detail.requestConfig.path.includes("/outcome/")) location.reload();
  };
}

customElements.define("branch-compare", BranchCompare);
