// A question of the agent: y allows, a allows for the run, n denies, while the card has the focus. It takes the focus
// only where nobody is using anything else.

class QuestionCard extends HTMLElement {
  connectedCallback() {
    this.addEventListener("keydown", this.#keyed);
    if (document.activeElement === document.body) this.focus({ preventScroll: true });
    const { top, bottom } = this.getBoundingClientRect();
    const scroll = document.getElementById("scroll");
    // The newest is in view by itself; who reads further up is not moved.
    if (scroll && top > 0 && bottom > scroll.getBoundingClientRect().bottom && scroll.scrollTop > -40) this.scrollIntoView({ block: "nearest" });
  }

  #keyed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const button = this.querySelector(`[data-answer="${CSS.escape(event.key)}"]`);
    if (!button || button.disabled) return;
    event.preventDefault();
    event.stopPropagation();
    button.click();
  };
}

customElements.define("question-card", QuestionCard);
