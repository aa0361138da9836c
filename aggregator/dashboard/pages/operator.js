// The pages for who operates the server: what was refused, and how the service is. Each is a function of its place in the
// address that gives a title and the nodes, as in pages.js.

import { get } from "./api.js";
import { listState, searchForm } from "./pages.js";
import { pager, table } from "./table.js";
import { bytes, compact, count, el, many, name as nameOf, number, tile, tiles, time } from "./view.js";

// ---- quarantine ----

function inQuarantine(total, game) {
  const of = game ? " of a game with such a name" : "";
  if (total === 0) return `No upload${of} is in quarantine.`;
  return `${many(total, "upload")}${of} ${total === 1 ? "is" : "are"} in quarantine. None of them counted.`;
}

export async function quarantine(place) {
  const state = listState(place, { search: "" });
  const answer = await get(["quarantine"], { limit: state.limit, offset: state.offset, game: state.search }, place.signal);
  const columns = [
    { name: "Why", text: true, wrap: true, cell: (entry) => entry.reason },
    { name: "Game", text: true, wrap: true, cell: (entry) => (entry.game ? nameOf(entry.game) : "(could not be read)") },
    { name: "When", text: true, cell: (entry) => time(entry.time) },
    { name: "Kept", text: true, cell: (entry) => (entry.body_bytes === null ? "no" : bytes(entry.body_bytes)) },
  ];
  return { title: "Quarantine", nodes: [
    el("h1", { tabindex: -1 }, "Quarantine"),
    el("p", { class: "verdict" }, inQuarantine(answer.total, state.search)),
    el("p", { class: "note" }, "Here are uploads that were refused because what they say is impossible (more zeros than values, say), the latest first. " +
      "A few of them: a client with a fault, or of another version. Many: somebody makes numbers up. " +
      "Times are to the hour, and nothing says who sent them. Those that could be read whole are kept, up to 64 KiB each."),
    searchForm(place, "Game"),
    table("Quarantine", columns, answer.entries, {}, () => {}, state.search ? "No upload of such a game." : "No upload."),
    pager("entries", answer, place.change),
  ] };
}

// ---- the service ----

// What became of an upload: in words, and whether the server lacked something.
const RESULTS = {
  stored: ["It counts."],
  duplicate: ["It had come before, and counts once."],
  invalid: ["It could not be read, or what it says is impossible: see Quarantine."],
  unauthorized: ["It came without a token that is known."],
  too_large: ["It, or what it unpacks to, is above the limit."],
  busy: ["The client was asked to come later: too many at once, or beyond its rate."],
  full: ["There is no room for it: on the disk, or for one more game.", true],
  stopping: ["It came while the server ended, and is sent again."],
  failed: ["It could not be stored, and is sent again; the log says why.", true],
};

// The first sentence: is all well?
function howItIs(uploads) {
  const sum = (names) => names.reduce((all, name) => all + (uploads[name] || 0), 0);
  const lost = Object.keys(uploads).filter((name) => RESULTS[name]?.[1] && uploads[name] > 0);
  if (lost.length > 0)
    return el("p", { class: "verdict error" }, `Not all is well: of ${many(sum(Object.keys(uploads)), "upload")} ${count(sum(lost))} could not be stored.`);
  const refused = sum(["invalid", "unauthorized", "too_large"]), taken = sum(["stored", "duplicate"]), later = sum(["busy", "stopping"]);
  if (taken + refused + later === 0) return el("p", { class: "verdict" }, "It runs, and waits for the first upload.");
  return el("p", { class: "verdict" }, `It runs: it took ${many(taken, "upload")}, and refused ${refused === 0 ? "none" : count(refused)}.` +
    (later > 0 ? ` ${count(later)} were asked to come later.` : ""));
}

export async function service(place) {
  const answer = await get(["status"], {}, place.signal);
  const columns = [
    { name: "Answered", text: true, cell: ([name]) => name.replace("_", " ") },
    { name: "Uploads", cell: ([, uploads]) => count(uploads) },
    { name: "What that means", text: true, wrap: true, cell: ([name]) => RESULTS[name]?.[0] ?? "" },
  ];
  const age = Math.max(0, Date.now() / 1000 - answer.started_at);
  return { title: "Service", nodes: [
    el("h1", { tabindex: -1 }, "Service"),
    howItIs(answer.uploads),
    tiles(
      tile("uploads a second, last minute", number(answer.uploads_per_second)),
      tile("uploads that wait to be stored", count(answer.queue_depth)),
      tile("connections", count(answer.connections)),
      tile("storage", bytes(answer.storage_bytes)),
      tile("memory", bytes(answer.resident_bytes)),
      tile("of one processor, on average", age > 0 ? number((100 * answer.cpu_seconds) / age) + "%" : "–", `${compact(answer.cpu_seconds)} seconds`),
      tile("version", answer.version)),
    el("h2", null, `Uploads since ${time(answer.started_at)}`),
    table("Uploads", columns, Object.entries(answer.uploads), {}, () => {}, ""),
  ] };
}
