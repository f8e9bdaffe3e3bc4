// When a command meets an expired sign-in or an old form token, it is held, the sign-in is asked for in place,
// and the command is sent again. Drafts and the page stay as they are.

// htmx hands out a proxy; a plain copy outlives the request.
function copyOf(formData) {
  const copy = new FormData();
  for (const [name, value] of formData.entries()) copy.append(name, value);
  return copy;
}

class SignInDialog extends HTMLElement {
  #held = [];
  #asking = null;

  connectedCallback() {
    document.addEventListener("htmx:beforeSwap", this.#refused);
  }

  disconnectedCallback() {
    document.removeEventListener("htmx:beforeSwap", this.#refused);
  }

  #refused = (event) => {
    const { xhr, requestConfig } = event.detail;
    const expired = xhr.status === 401 || xhr.getResponseHeader("X-Form-Expired");
    // A poll waits until the person does something.
    if (!expired || requestConfig.elt.closest("[data-quiet]")) return;
    event.detail.shouldSwap = false;
    const { verb, path, elt, target, formData } = requestConfig;
    const values = copyOf(formData);
    this.#held.push({ verb, path, source: elt, target, values });
    this.#asking ??= this.#ask().finally(() => (this.#asking = null));
  };

  // Asks the server first: another tab may have signed in already, then only the token is old.
  async #ask() {
    const response = await fetch(document.body.dataset.signIn, { headers: { "HX-Request": "true" } });
    if (await this.#signedIn(response)) return;
    const dialog = document.createElement("dialog");
    dialog.className = "dialog";
    dialog.setAttribute("aria-labelledby", "sign-in-title");
    dialog.innerHTML = await response.text();
    dialog.addEventListener("submit", (event) => this.#submit(event, dialog));
    this.replaceChildren(dialog);
    dialog.showModal();
    await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
    dialog.remove();
    if (dialog.returnValue === "again") await this.#ask();
    else this.#held = [];
  }

  async #submit(event, dialog) {
    if (event.target.method === "dialog") return;
    event.preventDefault();
    const body = new FormData(event.target);
    const response = await fetch(event.target.action, { method: "POST", body, headers: { "HX-Request": "true" } });
    if (await this.#signedIn(response)) {
      dialog.close();
      return;
    }
    dialog.innerHTML = await response.text();
    (dialog.querySelector("[aria-invalid=true]") ?? dialog.querySelector("input:not([type=hidden])")).focus();
  }

  // A JSON answer means signed in: it brings the new token. Somebody else's sign-in shows their own page.
  async #signedIn(response) {
    if (!response.headers.get("Content-Type")?.startsWith("application/json")) return false;
    const { user, csrf } = await response.json();
    if (String(user) !== document.body.dataset.user) {
      location.reload();
      return true;
    }
    document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": csrf }));
    for (const input of document.querySelectorAll("input[name=csrfmiddlewaretoken]")) input.value = csrf;
    for (const { verb, path, source, target, values } of this.#held.splice(0)) {
      values.delete("csrfmiddlewaretoken");
      if (source.isConnected) htmx.ajax(verb, path, { source, target, values }).catch(() => {});
    }
    return true;
  }
}

customElements.define("sign-in-dialog", SignInDialog);
