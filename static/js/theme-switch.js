// Light, dark, or what the system says. The choice is a cookie, so that the server's first byte has the right
// colours, and localStorage tells other tabs.

const COOKIE = "agentweb_theme";
const YEAR = 365 * 24 * 3600;

class ThemeSwitch extends HTMLElement {
  connectedCallback() {
    this.addEventListener("change", this.#choose);
    window.addEventListener("storage", this.#follow);
  }

  disconnectedCallback() {
    this.removeEventListener("change", this.#choose);
    window.removeEventListener("storage", this.#follow);
  }

  #choose = (event) => {
    const theme = event.target.value;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `${COOKIE}=${theme}; Path=/; Max-Age=${theme ? YEAR : 0}; SameSite=Lax${secure}`;
    try {
      localStorage.setItem(COOKIE, theme);
    } catch {
      // The cookie is enough for this tab and the next page.
    }
    this.#apply(theme);
  };

  #follow = (event) => {
    if (event.key === COOKIE) this.#apply(event.newValue ?? "");
  };

  #apply(theme) {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    for (const radio of this.querySelectorAll("input")) radio.checked = radio.value === theme;
  }
}

customElements.define("theme-switch", ThemeSwitch);
