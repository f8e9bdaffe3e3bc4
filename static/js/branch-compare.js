// The comparison: another tip is another address, and a new outcome renews the page.

class BranchCompare extends HTMLElement {
  connectedCallback() {
    this.addEventListener("change", (event) => event.target.form?.id === "compare-form" && event.target.form.submit());
    document.addEventListener("htmx:afterRequest", this.#answered);
    this.#showFork();
  }

  // A drawing that is wider than its frame is shown from where the second branch leaves.
  #showFork() {
    const frame = this.querySelector(".cmp-top");
    const fork = frame?.querySelector(".edge--b")?.getBoundingClientRect();
    if (fork) frame.scrollLeft += fork.left - frame.getBoundingClientRect().left - frame.clientWidth * 0.3;
  }

  disconnectedCallback() {
    document.removeEventListener("htmx:afterRequest", this.#answered);
  }

  #answered = ({ detail }) => {
    if (detail.successful && detail.requestConfig.path.includes("/outcome/")) location.reload();
  };
}

customElements.define("branch-compare", BranchCompare);
