// The state of the run, wherever it came from: tells the composer (run:state) and the side panel (run:ended), and puts the notice of a
// run that ended badly at the end of the transcript.

let wasActive = false;

class RunState extends HTMLElement {
  connectedCallback() {
    const { state } = this.dataset;
    const active = this.hasAttribute("data-active");
    const summary = this.hasAttribute("data-summary");
    this.dispatchEvent(new CustomEvent("run:state", { bubbles: true, detail: { state, active, summary } }));
    if (wasActive && !active) this.dispatchEvent(new CustomEvent("run:ended", { bubbles: true }));
    wasActive = active;
    const notice = document.getElementById("run-notice");
    const template = this.querySelector("template");
    if (!notice || !template) return;
    notice.replaceChildren(template.content.cloneNode(true));
    window.htmx?.process(notice);
  }
}

customElements.define("run-state", RunState);
