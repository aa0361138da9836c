// Which page the address names, moving between them, and the token.

import { ApiError, get, token } from "./api.js";
import * as operator from "./operator.js";
import * as pages from "./pages.js";
import { el, number } from "./view.js";

const main = document.getElementById("main");
const spoken = document.getElementById("spoken");
const STATUS_SECONDS = 10;

let shown = null; // the address whose page is there
let running = null; // aborts what is being fetched

function parse(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const segments = path.split("/").filter(Boolean).map((segment) => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment;
    }
  });
  return { segments, parameters: Object.fromEntries(new URLSearchParams(query || "")) };
}

function choose([first, name, list, key, profile]) {
  if (!first) return ["games", (place) => pages.games(place)];
  if (first === "quarantine") return ["quarantine", (place) => operator.quarantine(place)];
  if (first === "service") return ["service", (place) => operator.service(place)];
  if (first !== "games" || name === undefined) return [null, null];
  if (list === undefined) return ["games", (place) => pages.game(place, name)];
  if (list === "candidates") return ["games", (place) => pages.candidates(place, name)];
  if (list === "shaders" && profile !== undefined) return ["games", (place) => pages.shader(place, name, key, profile)];
  if (list === "shaders" && key !== undefined) return ["games", (place) => pages.profiles(place, name, key)];
  return [null, null];
}

// ---- the token ----

function login(message) {
  const submit = (event) => {
    event.preventDefault();
    token.set(new FormData(event.target).get("token").trim());
    show(true);
    status();
  };
  return el("form", { class: "login", onsubmit: submit },
    el("h1", { tabindex: -1 }, "Sign in"),
    el("p", { class: "note" }, "This aggregator shows its dashboard to those who have a token of it (--dashboard-token-file). The token is kept until this tab is closed."),
    message ? el("p", { class: "error", role: "alert" }, message) : null,
    el("input", { type: "text", name: "username", value: "dashboard", autocomplete: "username", hidden: true }),
    el("label", null, "Token", el("input", { type: "password", name: "token", required: true, autocomplete: "current-password", "data-first": "" })),
    el("button", { type: "submit" }, "Sign in"));
}

function failure(error) {
  if (error instanceof ApiError && error.status === 401) {
    const had = token.get() !== "";
    token.set("");
    return { title: "Sign in", nodes: [login(had ? "This token is not known." : "")] };
  }
  const title = error instanceof ApiError && error.status === 404 ? "Not found" : "This did not work";
  return { title, nodes: [el("h1", { tabindex: -1 }, title), el("p", { class: "error", role: "alert" }, error.message)] };
}

// ---- showing ----

// A control that made the page change has the focus again afterwards; else the heading has it.
function place(nodes, stay) {
  const focused = document.activeElement && document.activeElement.dataset.focus;
  main.replaceChildren(...nodes.flat(3).filter(Boolean));
  const again = stay && focused && [...main.querySelectorAll("[data-focus]")].find((one) => one.dataset.focus === focused && !one.disabled);
  const first = main.querySelector("[data-first]");
  if (first) {
    first.focus();
  } else if (again) {
    again.focus({ preventScroll: true });
  } else if (shown !== null && (!stay || focused)) {
    const heading = main.querySelector("h1");
    if (heading) heading.focus({ preventScroll: stay });
    if (!stay) window.scrollTo(0, 0);
  }
}

// stay: the same page, otherwise ordered or read anew.
async function show(stay) {
  const address = location.hash;
  const { segments, parameters } = parse(address);
  const [current, page] = choose(segments);
  if (running) running.abort();
  running = new AbortController();
  const { signal } = running;
  for (const anchor of document.querySelectorAll("nav a")) {
    if (anchor.dataset.page === current) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  const change = (changed) => {
    const next = new URLSearchParams(Object.entries({ ...parameters, ...changed }).filter(([, value]) => value !== "" && value !== 0));
    location.hash = "#/" + segments.map(encodeURIComponent).join("/") + (next.toString() ? "?" + next : "");
  };
  main.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => {
    spoken.textContent = "Reading…";
    if (!main.firstElementChild || !stay) main.replaceChildren(el("p", { class: "note" }, "Reading…"));
  }, 400);
  let result;
  try {
    if (!page) throw new ApiError(404, "There is no such page.");
    result = await page({ parameters, change, signal });
  } catch (error) {
    if (signal.aborted) return;
    result = failure(error);
  } finally {
    clearTimeout(slow);
  }
  if (signal.aborted) return;
  document.title = result.title + " – Piecemeal";
  place(result.nodes, stay);
  spoken.textContent = result.title;
  shown = address;
  document.getElementById("leave").hidden = token.get() === "";
  main.removeAttribute("aria-busy");
}

// The page that an address without its query names.
const pathOf = (address) => (address || "").split("?")[0];

async function status() {
  const now = document.getElementById("now");
  try {
    const answer = await get(["status"]);
    now.textContent = number(answer.uploads_per_second) + " uploads/s";
  } catch {
    now.textContent = "";
  }
}

addEventListener("hashchange", () => show(pathOf(shown) === pathOf(location.hash)));
document.getElementById("refresh").addEventListener("click", () => {
  show(true);
  status();
});
document.getElementById("leave").addEventListener("click", () => {
  token.set("");
  show(false);
});
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address names the page
  main.focus();
});
setInterval(() => document.visibilityState === "visible" && status(), 1000 * STATUS_SECONDS);
show(false);
status();
