// What every page shares: elements imported when they appear, single-key shortcuts, notices, and the state
// of the connection.

const modules = JSON.parse(document.querySelector("script[type=importmap]").textContent).imports;

function importElements(root) {
  for (const element of root.querySelectorAll(":not(:defined)")) {
    const name = element.localName;
    if (name in modules) import(name);
  }
}

importElements(document);
document.addEventListener("htmx:load", (event) => importElements(event.target.parentElement ?? document));

// ---- keys ----------------------------------------------------------------------------------------------

const writes = "input:not([type=radio], [type=checkbox], [type=button], [type=submit]), textarea, select, [contenteditable=true]";
const singleKeys = document.getElementById("single-keys");

function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage may be switched off; the choice then lasts as long as the page.
  }
}

if (singleKeys) {
  singleKeys.checked = remembered("agentweb-single-keys") !== "off";
  singleKeys.addEventListener("change", () => remember("agentweb-single-keys", singleKeys.checked ? "on" : "off"));
}

// Ctrl or Cmd and Z takes back what was just done, as long as its bar stands there; in a field it belongs to the words.
document.addEventListener("keydown", (event) => {
  if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.target.closest?.(writes)) return;
  const button = document.querySelector("undo-bar button:not([data-dismiss])");
  if (!button) return;
  event.preventDefault();
  button.click();
});

let leads = false;

// g and then a letter goes to a page.
function goes(key) {
  const led = leads;
  leads = key === "g";
  if (leads) setTimeout(() => (leads = false), 1500);
  return led && document.querySelector(`[data-goes-by="${CSS.escape(key)}"]`);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest?.(writes) || document.querySelector("dialog[open]") || !singleKeys?.checked) return;
  const place = goes(event.key);
  if (place) {
    event.preventDefault();
    return place.click();
  }
  const control = [...document.querySelectorAll("[data-shortcut]")].find((it) => it.dataset.shortcut === event.key);
  if (!control) return;
  event.preventDefault();
  if (control.matches(writes)) reach(control);
  else control.click();
});

// A field inside a drawer is shown first.
function reach(field) {
  const drawer = field.closest("drawer-panel");
  drawer?.show?.();
  requestAnimationFrame(() => {
    field.focus();
    field.select?.();
  });
}

// ---- a server that was updated under an open page -------------------------------------------------------

document.addEventListener("agentweb:version", () => {
  const notices = document.getElementById("notices");
  if (notices.querySelector("[data-reload]")) return;
  notices.append(document.getElementById("new-version").content.cloneNode(true));
  notices.querySelector("[data-reload]").addEventListener("click", () => location.reload());
});

// ---- clicks that need no element of their own ----------------------------------------------------------

document.addEventListener("click", (event) => {
  const control = event.target.closest?.("[data-dismiss], [data-shows], [data-opens], [data-closes], [data-prints]");
  if (!control) return;
  const { shows, opens, closes } = control.dataset;
  if ("dismiss" in control.dataset) control.closest("[role=alert], [role=status]").remove();
  if ("prints" in control.dataset) window.print();
  if (shows) {
    control.closest("[popover]")?.hidePopover();
    document.getElementById(shows).showModal();
  }
  if (opens) whenReady(opens, (panel) => panel.show());
  if (closes) whenReady(closes, (panel) => panel.hide());
});

// A press may come before the element's module has arrived.
async function whenReady(id, act) {
  const panel = document.getElementById(id);
  await customElements.whenDefined(panel.localName);
  act(panel);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href*='#']");
  if (!link || link.pathname !== location.pathname || event.ctrlKey || event.metaKey) return;
  const field = document.getElementById(link.hash.slice(1));
  if (!field?.matches(writes)) return;
  event.preventDefault();
  document.querySelectorAll("drawer-panel[data-open]").forEach((drawer) => drawer.hide());
  field.focus();
});

// ---- notices -------------------------------------------------------------------------------------------

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!event.target.closest("[data-quiet]")) document.getElementById("notices")?.replaceChildren();
});

// A poll is no reason to complain: the state of the connection says what happened.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.isError && event.detail.requestConfig.elt.closest("[data-quiet]")) event.detail.shouldSwap = false;
});

// ---- connection ----------------------------------------------------------------------------------------

// On a session page the stream knows better, and says so itself.
const connection = document.querySelector("session-stream") ? null : document.getElementById("connection");
const words = connection?.dataset ?? {};

function tell(state, text) {
  if (!connection || connection.dataset.state === state) return;
  connection.dataset.state = state;
  connection.textContent = text;
}

function lost() {
  if (!connection) return;
  const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  tell("offline", words.offline.replace("{time}", time));
}

// A page without a stream has come from the server just now.
if (connection?.dataset.state === "connecting") tell("online", words.online);
window.addEventListener("offline", lost);
document.addEventListener("htmx:sendError", lost);
document.addEventListener("htmx:timeout", lost);
document.addEventListener("htmx:afterOnLoad", (event) => {
  if (event.detail.xhr.status === 401) tell("signed-out", words.signedOut);
  else tell("online", words.online);
});
