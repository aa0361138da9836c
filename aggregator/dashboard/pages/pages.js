// The pages. Each is a function of its place in the address that gives a title and the nodes.

import { get } from "./api.js";
import { estimate, interval, lineChart } from "./chart.js";
import { pager, table } from "./table.js";
import { compact, count, el, fraction, link, many, name as nameOf, number, percent, shortKey, tile, tiles, time } from "./view.js";

const LIMIT = 50;

// The parameters of a list as the address has them, and how a control changes them.
export function listState(place, defaults) {
  const state = { limit: LIMIT, offset: Number(place.parameters.offset) || 0, order: place.parameters.order || "natural" };
  for (const [name, value] of Object.entries(defaults)) state[name] = place.parameters[name] || value;
  return state;
}

export function searchForm(place, label, extra) {
  const submit = (event) => {
    event.preventDefault();
    place.change({ ...Object.fromEntries(new FormData(event.target)), offset: 0 });
  };
  const input = el("input", { type: "search", name: "search", id: "search", value: place.parameters.search || "",
    autocomplete: "off", spellcheck: "false", maxlength: 200, "data-focus": "search" });
  return el("form", { class: "filter", role: "search", onsubmit: submit }, el("label", null, label, input), extra,
    el("button", { type: "submit", "data-focus": "do search" }, "Search"));
}

const crumbs = (...links) => el("p", { class: "crumbs" }, links.flatMap((one, i) => (i > 0 ? [" / ", one] : [one])));

function coverage(covered, all) {
  return el("span", null, el("meter", { min: 0, max: Math.max(all, 1), value: covered, "aria-hidden": "true" }), fraction(covered, all));
}

const interval95 = (ratio, low, high) => `${number(ratio)} [${number(low)}, ${number(high)}]`;
const yesNo = (value) => el("span", { class: value ? "yes" : "no" }, value ? "yes" : "not yet");

// Why a shader is not published, in words.
const WAITS = {
  tokens: (one) => `${count(one.have)} of ${count(one.need)} tokens on one day`,
  sessions: (one) => `point ${one.point} has ${count(one.have)} of ${count(one.need)} sessions`,
  pairs: (one) => `${count(one.have)} of ${count(one.need)} pairs`,
  interval: (one) => `point ${one.point} is known to ±${number(one.have)}, needs ±${number(one.need)}`,
};
const duration = (days) => (days < 1 ? "less than a day" : days < 1.5 ? "about a day" : days > 3650 ? "more than ten years" : `about ${count(days)} days`);
const perDay = (sessions) => `${number(sessions)} session${sessions === 1 ? "" : "s"} a day`;
// Why it is not published, and until when; empty where it is.
function waits(one) {
  if (one.published || one.waits === null) return [];
  const when = one.waits.players !== null ? `about ${number(one.waits.players)} players on one day` : one.waits.days === null ? null : `${duration(one.waits.days)} more, at ${perDay(one.waits.sessions_a_day)}`;
  return [WAITS[one.waits.for](one.waits), when].filter((text) => text !== null);
}

const published = (one) => el("span", null, yesNo(one.published), waits(one).map((text) => el("span", { class: "sub why" }, text)));

// ---- games ----

export async function games(place) {
  const state = listState(place, { sort: "uploads", search: "" });
  const answer = await get(["games"], state, place.signal);
  const known = (cell) => (game) => (game.summarized ? cell(game) : "…");
  const columns = [
    { name: "Game", text: true, wrap: true, sort: "name", natural: "ascending", cell: (game) => link(["games", game.name], {}, nameOf(game.name)) },
    { name: "Uploads", sort: "uploads", natural: "descending", cell: (game) => count(game.uploads) },
    { name: "Covered", cell: known((game) => coverage(game.points_covered, game.points)) },
    { name: "Points", cell: known((game) => count(game.points)) },
    { name: "Shaders", cell: known((game) => count(game.shaders)) },
    { name: "Published", cell: known((game) => count(game.shaders_published)) },
    { name: "Curated", cell: known((game) => time(game.curated_at)) },
  ];
  return { title: "Games", nodes: [
    el("h1", { tabindex: -1 }, "Games"),
    searchForm(place, "Name contains"),
    table("Games", columns, answer.games, state, place.change, state.search ? "No game has such a name." : "No game has uploaded anything yet."),
    pager("games", answer, place.change),
  ] };
}

// ---- one game ----

const single = "one point a sample";

function coverageCharts(history) {
  const line = (name, field) => ({ name, points: history.samples.map((sample) => [sample.time, sample[field]]) });
  return [
    el("h2", null, "Coverage over time"),
    lineChart("Points covered over time, beside what the coupon collector expects", [
      line("covered", "points_covered"),
      line(`expected to have a sample, ${history.batch} points a sample`, "points_expected"),
      line(`expected, ${single}`, "points_expected_single"),
    ]),
    el("p", { class: "note" }, "The expectation is the coupon collector's: how many points would have a sample by then, had each shader's " +
      "sampled calls drawn their points at random. A point that never runs is covered only once enough sessions entered its shader."),
    el("h2", null, "Uploads per second"),
    lineChart("Uploads per second over time", [line("uploads per second", "uploads_per_second")]),
  ];
}

// By what it is called, where that is known, and its key below.
const shaderLink = (name, shader, parameters) => el("span", { class: shader.name === null ? "key" : "key named" },
  link(["games", name, "shaders", shader.key, shader.profile], parameters || {}, shader.name === null ? shortKey(shader.key) : nameOf(shader.name), shader.key));
const below = (shader, text) => el("span", { class: "sub" }, shader.name === null ? text : `${text}, ${shortKey(shader.key)}`);

function shaderColumns(name) {
  return [
    { name: "Shader", text: true, sort: "key", natural: "ascending", cell: (shader) =>
      el("span", null, shaderLink(name, shader), below(shader, shader.profile)) },
    { name: "Share of lanes", sort: "entry_lanes", natural: "descending", cell: (shader) => percent(shader.share) },
    { name: "Covered", sort: "points_missing", natural: "descending", cell: (shader) => coverage(shader.points_covered, shader.points) },
    { name: "Points", sort: "points", natural: "descending", cell: (shader) => shader.left_out === null ? count(shader.points) :
      el("span", null, count(shader.points), el("span", { class: "sub" }, `${count(shader.left_out)} left out`)) },
    { name: "Lacking", sort: "points_lacking", natural: "descending", cell: (shader) => count(shader.points_lacking) },
    { name: "Samples", sort: "calls", natural: "descending", cell: (shader) => el("span", null, compact(shader.samples),
      el("span", { class: "sub" }, `${compact(shader.samples_expected)} until each point has one`)) },
    { name: "Published", text: true, cell: published },
  ];
}

// ---- timings of specialized shaders ----

const faster = (ratio) => (ratio <= 1 ? percent(1 / ratio - 1) + " faster" : percent(ratio - 1) + " slower");
const VERDICTS = { faster: "yes", slower: "no", undecided: "sub" };
const verdict = (measured) => el("span", { class: VERDICTS[measured.verdict] }, measured.verdict);
const measured = (cell) => (shader) => (shader.time === null ? "–" : cell(shader.time));

const hex = (value) => value.toString(16).padStart(4, "0");
const device = (environment) => `device ${hex(environment.vendor_id)}:${hex(environment.device_id)}, ` +
  `driver ${environment.driver_id}, version ${environment.driver_version.toString(16)}`;

const originalLink = (name, shader) => (shader.original === null ? null : el("span", { class: "sub" }, "specialized from ",
  shader.original_known ? link(["games", name, "shaders", shader.original], {}, shortKey(shader.original), shader.original)
    : el("span", { title: shader.original }, shortKey(shader.original))));

function timingColumns(name) {
  return [
    { name: "Specialized shader", text: true, sort: "key", natural: "ascending", cell: (shader) =>
      el("span", null, shaderLink(name, shader), below(shader, device(shader.environment)), originalLink(name, shader)) },
    { name: "Time, over the game's own", sort: "time", natural: "ascending", cell: measured((one) => el("span", null,
      interval95(one.ratio, one.low, one.high), el("span", { class: "sub" }, interval(one.low, one.ratio, one.high, Math.max(1, one.high))))) },
    { name: "A trial is sure to", cell: measured((one) => (one.spread === null ? "–" : "±" + number(one.spread))) },
    { name: "Measured", cell: measured((one) => faster(one.ratio)) },
    { name: "Verdict", text: true, cell: measured(verdict) },
    { name: "Pairs", sort: "calls", natural: "descending", cell: (shader) => compact(shader.calls) },
    { name: "Sessions", cell: measured((one) => count(one.sessions)) },
    { name: "Published", text: true, cell: published },
  ];
}

const timingNote = "A specialized shader has a key of its own. A client uses it only where its own trial finds it faster. What is published as slower for its device and driver one client in twenty tries.";

function timings(name, answer) {
  if (answer.total === 0) return [];
  return [
    el("h2", null, "Specialized shaders, as they were timed"),
    table("Timings", timingColumns(name).map((column) => ({ ...column, sort: undefined })), answer.shaders, {}, () => {}, ""),
    el("p", { class: "note" }, timingNote),
    el("p", null, link(["games", name], { kind: "timing", sort: "time" }, `All ${count(answer.total)} timings`)),
  ];
}

// ---- races of variants ----

const winnerOf = (race) => (race.winner === null ? el("span", { class: "sub" }, "none yet") : el("span", null, race.winner.variant,
  el("span", { class: "sub" }, faster(race.winner.time), ": ", interval95(race.winner.time, race.winner.low, race.winner.high), " of the time")));
const inRace = (race) => race.variants.filter((one) => !one.lost);
const asked = (race) => inRace(race).sort((a, b) => b.share - a.share).slice(0, 3).map((one) => `${one.variant} ${percent(one.share)}`).join(", ");

function races(name, answer) {
  if (answer.total === 0) return [];
  const columns = [
    { name: "Shader", text: true, cell: (race) => el("span", null, el("span", { class: "key" },
      link(["games", name, "shaders", race.key], {}, shortKey(race.key), race.key)), el("span", { class: "sub" }, device(race.environment))) },
    { name: "Winner", text: true, cell: winnerOf },
    { name: "Still in it", cell: (race) => fraction(inRace(race).length, race.variants.length) },
    { name: "Most measurements go to", text: true, wrap: true, cell: asked },
    { name: "Most clusters", cell: (race) => count(Math.max(0, ...race.variants.map((one) => one.clusters))) },
  ];
  return [
    el("h2", null, "Races of variants"),
    table("Races of variants", columns, answer.races, {}, () => {}, ""),
    el("p", { class: "note" }, "Other versions of a shader that compute the same, as players measured them. A winner is tried first on each machine, and used only where " +
      "it is faster there; its gain is from players' days that did not choose it."),
    answer.total > answer.races.length ? el("p", { class: "note" }, `${count(answer.total)} in all`) : null,
  ];
}

// ---- shaders that are left alone ----

function leftAlone(reasons) {
  if (reasons.length === 0) return [];
  const columns = [
    { name: "They have, or are", text: true, wrap: true, cell: (one) => one.text },
    { name: "Shaders, at least", cell: (one) => count(one.shaders) },
    { name: "Players, at least", cell: (one) => count(one.tokens) },
    { name: "Last on", text: true, cell: (one) => new Date(86400000 * one.day).toISOString().slice(0, 10) },
  ];
  return [
    el("h2", null, "Shaders that are left alone"),
    table("Shaders that are left alone", columns, reasons, {}, () => {}, ""),
    el("p", { class: "note" }, "Of these clients can make nothing, so they are neither measured nor specialized. That so many players had so many " +
      "on one day is sure; there may be more. On a machine piecemeal doctor and piecemeal db show have the exact numbers and reasons."),
  ];
}

function kindChoice(place) {
  const kinds = [["any", "all"], ["block", "blocks"], ["zero", "zeros"], ["timing", "timings"], ["constant", "constants"],
    ["turns", "turns of loops"]];
  const now = place.parameters.kind || "any";
  return el("label", null, "Profiles", el("select", { name: "kind", "data-focus": "kind", onchange: (event) =>
    place.change({ kind: event.target.value, sort: event.target.value === "timing" ? "time" : "entry_lanes", order: "natural", offset: 0 }) },
    kinds.map(([value, text]) => el("option", { value, selected: value === now }, text))));
}

export async function game(place, name) {
  const state = listState(place, { sort: "entry_lanes", search: "", kind: "any" });
  const [whole, history, shaders, candidates, timed, raced] = await Promise.all([
    get(["games", name], {}, place.signal),
    get(["games", name, "coverage"], {}, place.signal),
    get(["games", name, "shaders"], state, place.signal),
    get(["games", name, "candidates"], { limit: 5 }, place.signal),
    get(["games", name, "shaders"], { kind: "timing", sort: "time", limit: 5 }, place.signal),
    get(["games", name, "variants"], { limit: 20 }, place.signal),
  ]);
  const isTiming = state.kind === "timing";
  return { title: name, nodes: [
    crumbs(link([], {}, "Games")),
    el("h1", { tabindex: -1 }, nameOf(name)),
    tiles(
      tile("of the points covered", fraction(whole.points_covered, whole.points), `${whole.points_covered} of ${whole.points}`),
      tile("points", count(whole.points)),
      tile("measured at least once", fraction(whole.points_measured, whole.points)),
      tile("expected to be, " + single, fraction(whole.points_expected_single, whole.points)),
      tile("shaders", count(whole.shaders)),
      tile("of them published", count(whole.shaders_published)),
      tile("uploads", count(whole.uploads)),
      tile("a second, last minute", number(whole.uploads_per_second))),
    el("p", { class: "note" }, `Curated ${time(whole.curated_at)}.`),
    coverageCharts(history),
    el("h2", null, "Zero candidates, most zeros first"),
    candidateTable(name, candidates.candidates),
    candidates.total > 0 ? el("p", null, link(["games", name, "candidates"], {}, `All ${count(candidates.total)} zero candidates`)) : null,
    timings(name, timed),
    races(name, raced),
    el("h2", null, isTiming ? "Timings" : "Shaders, most lanes first"),
    searchForm(place, "Key begins with", kindChoice(place)),
    table("Shaders", isTiming ? timingColumns(name) : shaderColumns(name), shaders.shaders, state, place.change, "No shader is like that."),
    pager("shaders", shaders, place.change),
    isTiming ? null : el("p", { class: "note" }, "Share of lanes: of all that were sampled. What shaders cost takes their code, which stays on the players' machines: " +
      "there piecemeal report and piecemeal db show have the hottest first."),
    ...leftAlone(whole.left_alone),
  ] };
}

// ---- zero candidates ----

const measuredGain = (name, timing) => [
  link(["games", name, "shaders", timing.key, timing.profile], {}, faster(timing.ratio), timing.key),
  el("span", { class: "sub" }, interval95(timing.ratio, timing.low, timing.high), " of the time"),
  el("span", { class: "sub" }, verdict(timing), timing.timings > 1 ? `, of ${count(timing.timings)} timings the one with most sessions` : ""),
];

function candidateTable(name, rows) {
  const columns = [
    { name: "Shader", text: true, cell: (one) => el("span", null,
      shaderLink(name, one, { offset: LIMIT * Math.floor(one.point / LIMIT) }),
      below(one, one.profile)) },
    { name: "Point", cell: (one) => count(one.point) },
    { name: "Zeros / 100 subgroups", cell: (one) => el("span", null, number(100 * one.zeros),
      el("span", { class: "sub" }, `at least ${number(100 * one.zeros_low)}`)) },
    { name: "Shader, measured", cell: (one) => (one.measured === null ? "–" : el("span", null, measuredGain(name, one.measured))) },
    { name: "Shader's share", cell: (one) => percent(one.shader_share) },
    { name: "P(zero)", cell: (one) => el("span", null, interval95(one.probability, one.probability_low, one.probability_high),
      el("span", { class: "sub" }, `${number(one.writes)} writes / subgroup`)) },
    { name: "Must save", cell: (one) => one.break_even < 1.005 ? "1 check" : `${number(one.break_even)} checks` },
    { name: "Sessions", cell: (one) => count(one.sessions) },
  ];
  return table("Zero candidates", columns, rows, {}, () => {}, "No value has been seen to be zero yet.");
}

export async function candidates(place, name) {
  const state = listState(place, {});
  const answer = await get(["games", name, "candidates"], { limit: state.limit, offset: state.offset }, place.signal);
  const dropped = answer.candidates_known - answer.total;
  return { title: "Zero candidates of " + name, nodes: [
    crumbs(link([], {}, "Games"), link(["games", name], {}, nameOf(name))),
    el("h1", { tabindex: -1 }, "Zero candidates"),
    el("p", { class: "note" }, "Zeros: how many times the fast path would be taken, P(zero) times writes, for every 100 subgroups sampled in " +
      "shaders with candidates; the most at the lower end of P(zero)'s interval come first. That is no gain in time: what one " +
      "zero saves takes the shader's code, which stays on the players' machines. Every write is checked, so a zero must save more than " +
      "1 / P(zero) checks cost. Measured is what the whole shader took, specialized for those of its candidates that clients found " +
      "worth it, beside the game's own: of the published timings the one with most sessions."),
    candidateTable(name, answer.candidates),
    pager("zero candidates", answer, place.change),
    dropped > 0 ? el("p", { class: "note" }, `${count(dropped)} more were written, but are never zero or not among the first ${count(answer.total)}.`) : null,
  ] };
}

// ---- one shader ----

// What a profile is of.
const OF = {
  block: "How often its blocks run", zero: "How often its values are zero", constant: "How often its uniforms are the same",
  timing: "How long its specialized version takes", turns: "How often its loops turn, a point a turn",
};
function subject(one) {
  const lanes = one.environment.subgroup_size;
  return `${OF[one.kind] || one.kind}${one.kind === "timing" ? `, on ${device(one.environment)}` : lanes > 0 ? `, where subgroups have ${count(lanes)} lanes` : ""}. `;
}

// The first sentence: is it known, and do clients have it?
function known(one) {
  const told = one.published ? el("span", { class: "yes" }, "Published: clients have it.")
    : el("span", null, el("span", { class: "no" }, "Not published yet"), waits(one).length > 0 ? `: ${waits(one).join("; ")}.` : ".");
  const gain = one.time ? { faster: `${faster(one.time.ratio)} than the game's own. `, slower: `${faster(one.time.ratio)} than the game's own. `,
    undecided: "Not known yet whether it is faster. " }[one.time.verdict] : "";
  return el("p", { class: "verdict" }, subject(one), gain, told);
}

// How many tokens may lie, and by how much they put it off at most: so it is rounded up.
function lying(one) {
  if (one.lying === null) return null;
  const { tokens } = one.lying, error = number(Math.ceil(one.lying.error * 1000) / 1000);
  return el("p", { class: "note" }, tokens > 0 ? `If ${many(tokens, "token")} of a day's ${tokens === 1 ? "lies" : "lie"}, no estimate below is off by more than ${error}.`
    : `One token that lies may put an estimate below off by ${error}.`);
}

const MEASURES = {
  frequency: "Runs per invocation", uniform: "Uniform lanes", subgroups: "Runs per subgroup",
  zero: "P(zero)", writes: "Writes per subgroup", time: "Time, variant over original", spread: "A trial's own interval, ±",
  same: "Loads of the most frequent value", loads: "Loads per subgroup",
};

function pointColumns(answer, kind) {
  const names = answer.points.length > 0 ? answer.points[0].measures.map((measure) => measure.name) : [];
  const cell = (m) => (point) => {
    const measure = point.measures[m];
    if (measure.sessions === 0) return el("span", { class: "sub" }, "no sample");
    return el("span", null, interval95(measure.ratio, measure.ratio_low, measure.ratio_high),
      el("span", { class: "sub" }, estimate(measure.ratio_low, measure.ratio, measure.ratio_high, measure.histogram, answer.bins)));
  };
  return [
    { name: "Point", sort: "point", natural: "ascending", cell: (point) => count(point.point) },
    ...names.map((name, m) => ({ name: MEASURES[name] || name, sort: m === 0 ? "estimate" : undefined, natural: "descending", cell: cell(m) })),
    ...(answer.points.some((point) => point.provisional !== null)
      ? [{ name: "Zero, provisionally", text: true, cell: (point) => el("span", { class: "provisional" }, point.provisional ?? "–") }] : []),
    { name: "Calls", sort: "calls", natural: "descending", cell: (point) => count(point.calls) },
    { name: "Sessions", cell: (point) => count(point.sessions) },
    { name: kind === "timing" ? "Enough pairs" : "Enough samples", text: true, cell: (point) => yesNo(!point.lacking) },
  ];
}

function whichChoice(place) {
  const now = place.parameters.which || "all";
  return el("form", { class: "filter", onsubmit: (event) => event.preventDefault() },
    el("label", null, "Show", el("select", { name: "which", "data-focus": "which", onchange: (event) => place.change({ which: event.target.value, offset: 0 }) },
      [["all", "all points"], ["lacking", "those that lack samples"]].map(([value, text]) => el("option", { value, selected: value === now }, text)))));
}

export async function shader(place, name, key, profile) {
  const state = listState(place, { sort: "point", which: "all" });
  const answer = await get(["games", name, "shaders", key, profile], state, place.signal);
  const one = answer.shader;
  const caveat = one.flags.occluded ? "Counts pixels that were occluded, too. " : "";
  return { title: "Shader " + shortKey(key), nodes: [
    crumbs(link([], {}, "Games"), link(["games", name], {}, nameOf(name)), link(["games", name, "shaders", key], {}, "all profiles of this shader")),
    el("h1", { tabindex: -1 }, "Shader ", one.name === null ? el("span", { class: "key" }, one.key) : nameOf(one.name)),
    one.name === null ? null : el("p", { class: "note key" }, one.key),
    known(one),
    tiles(
      tile("of the points covered", fraction(one.points_covered, one.points), `${one.points_covered} of ${one.points}`),
      tile("points that lack samples", count(one.points_lacking)),
      ...(one.left_out === null ? [] : [tile("left out, not worth measuring", count(one.left_out))]),
      tile("of all lanes sampled", percent(one.share)),
      ...(one.time ? [
        tile("measured", faster(one.time.ratio)),
        tile("verdict", verdict(one.time)),
        tile("pairs", compact(one.calls)),
        ...(one.time.spread === null ? [] : [tile("a trial is sure to", "±" + number(one.time.spread))]),
      ] : [
        tile("samples", compact(one.samples)),
        tile("expected until each point has one", compact(one.samples_expected)),
      ])),
    one.time ? el("p", { class: "note" }, timingNote, one.original === null ? null : [" It was ", originalLink(name, one), "."]) : null,
    lying(one),
    caveat ? el("p", { class: "note" }, caveat) : null,
    el("h2", null, "Points"),
    whichChoice(place),
    table("Points", pointColumns(answer, one.kind), answer.points, state, place.change, "No point is like that."),
    pager("points", answer, place.change),
    answer.points.some((point) => point.provisional !== null) ? el("p", { class: "note" }, "Provisionally: whether a value is likely " +
      "to be zero more often than not, as far as few sessions and other shaders can tell. No estimate: clients use it to choose what they try, and nothing else.") : null,
    el("p", { class: "note" }, "Each estimate is the ratio of sums with its 95% interval over sessions. The bars above it, on the same axis, count sessions by their own ratio: 0, ten " +
      "steps to 1, exactly 1, and above 1 in the other colour, in ever wider steps."),
  ] };
}

export async function profiles(place, name, key) {
  const state = listState(place, {});
  const answer = await get(["games", name, "shaders", key], { limit: state.limit, offset: state.offset }, place.signal);
  const columns = shaderColumns(name).map((column) => ({ ...column, sort: undefined }));
  return { title: "Shader " + shortKey(key), nodes: [
    crumbs(link([], {}, "Games"), link(["games", name], {}, nameOf(name))),
    el("h1", { tabindex: -1 }, "Shader ", el("span", { class: "key" }, key)),
    el("p", { class: "note" }, "A line for each thing that is measured of it, and each size of subgroups or device."),
    table("Profiles of the shader", columns, answer.shaders, {}, () => {}, "There is none."),
    pager("profiles", answer, place.change),
  ] };
}
