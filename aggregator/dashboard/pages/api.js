// The JSON API (docs/openapi.json). A token that a person gave is kept for this tab alone, and goes
// to nobody but the server that the page is from.

const KEY = "piecemeal-token";

export const token = {
  get: () => sessionStorage.getItem(KEY) || "",
  set: (text) => (text ? sessionStorage.setItem(KEY, text) : sessionStorage.removeItem(KEY)),
};

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const READING_TRIES = 60; // a game that is being read for the first time: a try a second

const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

// segments: of the path after /v1, unescaped. parameters that are empty are left out.
export async function get(segments, parameters = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const path = "/v1/" + segments.map(encodeURIComponent).join("/");
  const headers = token.get() ? { Authorization: "Bearer " + token.get() } : {};
  for (let tries = 0; ; tries++) {
    const address = query.size > 0 || query.toString() ? path + "?" + query : path;
    const response = await fetch(address, { headers, signal, credentials: "omit", cache: "no-store" });
    const body = await response.json().catch(() => ({ error: "the answer is no JSON" }));
    if (response.ok) return body;
    if (response.status !== 503 || tries >= READING_TRIES)
      throw new ApiError(response.status, String(body.error || response.statusText));
    await pause(Number(response.headers.get("Retry-After")) || 1);
  }
}
