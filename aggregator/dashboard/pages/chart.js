// Line charts, and the small drawings in tables. Every line has its own dashes besides its colour,
// and every chart its numbers as a table below.

import { el, svg, compact, time, number } from "./view.js";

const HEIGHT = 260;
const LEFT = 56, RIGHT = 14, TOP = 14, BOTTOM = 28;

// 1, 2 or 5 times a power of ten, so that about `parts` of them make the span.
function step(span, parts) {
  const raw = span / parts;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
}

const DAY = 86400;
const TIMES = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, DAY, 2 * DAY,
  7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY, 365 * DAY];

function timeLabel(seconds, span) {
  const text = time(seconds);
  if (span < 300) return text.slice(11) + ":" + String(new Date(1000 * seconds).getSeconds()).padStart(2, "0");
  if (span < 2 * DAY) return text.slice(11);
  return span < 6 * DAY ? text.slice(5) : text.slice(0, 10);
}

// So that a label is not cut off at either edge.
const LABEL = 40;
const anchor = (at, width) => (at < LABEL ? "start" : at > width - LABEL ? "end" : "middle");

function axes(x, y, most, first, last) {
  const parts = [];
  const rise = step(most, 4);
  for (let value = 0; value <= most * 1.0001; value += rise) {
    parts.push(svg("line", { class: "grid", x1: x(first), x2: x(last), y1: y(value), y2: y(value) }),
      svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, compact(value)));
  }
  const span = Math.max(last - first, 1);
  const room = Math.max(2, Math.floor((x(last) - x(first)) / 85));
  const every = TIMES.find((seconds) => span / seconds <= room) || 365 * DAY;
  const zone = new Date(1000 * first).getTimezoneOffset() * 60;
  for (let at = Math.ceil((first - zone) / every) * every + zone; at <= last; at += every)
    parts.push(svg("text", { x: x(at), y: HEIGHT - 8, "text-anchor": anchor(x(at), x(last) + RIGHT) }, timeLabel(at, span)));
  if (first === last) parts.push(svg("text", { x: x(first), y: HEIGHT - 8, "text-anchor": "start" }, time(first)));
  return parts;
}

function path(points, x, y) {
  let text = "";
  let down = false;
  for (const [at, value] of points) {
    if (value === null) {
      down = false;
      continue;
    }
    text += (down ? "L" : "M") + x(at).toFixed(1) + " " + y(value).toFixed(1);
    down = true;
  }
  return text;
}

// Samples without one beside them, of which a line shows nothing.
const alone = (points) => points.filter(([, value], i) => value !== null &&
  (i === 0 || points[i - 1][1] === null) && (i === points.length - 1 || points[i + 1][1] === null));

const CLASSES = ["one", "two", "three"];

function draw(width, series, most, first, last, title) {
  const x = (at) => LEFT + ((width - LEFT - RIGHT) * (at - first)) / Math.max(last - first, 1);
  const y = (value) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / most;
  return svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": title },
    axes(x, y, most, first, last),
    // The first line last, so that it lies on top.
    series.map((one, i) => [svg("path", { class: "line " + CLASSES[i], d: path(one.points, x, y) }), alone(one.points).map(([at, value]) =>
      svg("circle", { class: "line " + CLASSES[i], cx: x(at), cy: y(value), r: 3.5 }))]).reverse().flat(2));
}

function numbers(series) {
  const times = series[0].points.map(([at]) => at);
  const rows = times.map((at, i) =>
    el("tr", null, el("td", { class: "text" }, time(at)),
      series.map((one) => el("td", null, one.points[i][1] === null ? "–" : number(one.points[i][1])))));
  return el("details", null, el("summary", null, "The numbers"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The numbers of the chart" },
      el("table", null,
        el("thead", null, el("tr", null, el("th", { class: "text", scope: "col" }, "Time"),
          series.map((one) => el("th", { scope: "col" }, one.name)))),
        el("tbody", null, rows))));
}

// series: up to three of {name, points: [[seconds, value or null], …]}, over the same times. Drawn
// to the width it has, and again when that changes.
export function lineChart(title, series) {
  const values = series.flatMap((one) => one.points.map(([, value]) => value || 0));
  const all = series[0].points.map(([at]) => at);
  const first = all[0], last = all[all.length - 1];
  const highest = Math.max(...values, 0);
  const most = highest > 0 ? Math.ceil(highest / step(highest, 4) - 1e-9) * step(highest, 4) : 1;
  const place = el("div");
  let width = 0;
  const redraw = () => {
    const now = Math.max(280, Math.round(place.clientWidth || 720));
    if (now === width) return;
    width = now;
    place.replaceChildren(draw(width, series, most, first, last, title));
  };
  new ResizeObserver(redraw).observe(place);
  const legend = el("ul", { class: "legend" }, series.map((one, i) =>
    el("li", null, svg("svg", { viewBox: "0 0 36 10", "aria-hidden": "true" },
      svg("line", { class: "line " + CLASSES[i], x1: 1, x2: 35, y1: 5, y2: 5 })), one.name)));
  return el("figure", null, legend, place, numbers(series));
}

const edge = (value) => (value === null ? "∞" : number(value));
function binName(bin, i) {
  if (bin.low === bin.high) return edge(bin.low);
  return i === 1 ? "0–" + edge(bin.high) : edge(bin.low) + "–" + edge(bin.high);
}

const ONE = 11; // the bin of exactly 1

// Where a value lies among the bins, in bins from the left: 0 and 1 have bins of their own, and what
// is above 1 lies within its wider one. The last has no end.
function place(value, bins) {
  if (value <= 0) return 0.5;
  if (value < 1) return 1 + 10 * value;
  if (value === 1) return ONE + 0.5;
  const i = bins.findIndex((bin, at) => at > ONE && (bin.high === null || value <= bin.high));
  return bins[i].high === null ? i + 0.5 : i + (value - bins[i].low) / (bins[i].high - bins[i].low);
}

// An estimate with its interval, under the bars of how many sessions had which value of their own: on
// one axis, from 0 over 1 to the last bin that anything is in. Above 1 in another colour, since those
// bins are wider.
export function estimate(low, value, high, counts, bins) {
  const most = Math.max(...counts, 1);
  const filled = counts.map((count, i) => [count, i]).filter(([count]) => count > 0);
  const last = Math.max(ONE, ...filled.map(([, i]) => i), Math.floor(place(high, bins)));
  const slot = 150 / (last + 1);
  const x = (bin) => 2 + slot * bin;
  const bar = ([count, i]) => {
    const height = Math.max(1.5, (22 * count) / most);
    return svg("rect", { x: x(i), y: 24 - height, width: Math.max(slot - 1, 1), height, class: i > ONE && "above", "data-bin": i });
  };
  const at = [low, value, high].map((one) => x(place(one, bins)));
  const text = "Sessions by value. " + filled.map(([count, i]) => binName(bins[i], i) + ": " + count).join("; ");
  return svg("svg", { class: "mini", width: 154, height: 46, viewBox: "0 0 154 46", role: "img", "aria-label": text },
    svg("title", null, text),
    filled.map(bar),
    svg("line", { class: "rule", x1: 0, x2: 154, y1: 25, y2: 25 }),
    svg("line", { class: "span", x1: at[0], x2: Math.max(at[2], at[0] + 1), y1: 30, y2: 30 }),
    svg("line", { class: "mark", x1: at[1], x2: at[1], y1: 25, y2: 35 }),
    // Of two that would touch, the end's.
    [[0, "0"], ...(last > ONE && slot * (last - ONE) < 24 ? [] : [[ONE, "1"]]), ...(last > ONE ? [[last, bins[last].high === null ? "∞" : number(bins[last].high)]] : [])].map(([bin, label]) =>
      svg("text", { x: bin === last ? 153 : x(bin + 0.5), y: 45, "text-anchor": bin === last ? "end" : "middle" }, label)));
}

// An estimate with its interval, over 0 to `most`.
export function interval(low, value, high, most) {
  const x = (at) => 2 + (116 * Math.min(Math.max(at, 0), most)) / most;
  return svg("svg", { class: "mini", width: 120, height: 14, viewBox: "0 0 120 14", "aria-hidden": "true" },
    svg("line", { class: "rule", x1: 2, x2: 118, y1: 7, y2: 7 }),
    svg("line", { class: "span", x1: x(low), x2: Math.max(x(high), x(low) + 1), y1: 7, y2: 7 }),
    svg("line", { class: "mark", x1: x(value), x2: x(value), y1: 1, y2: 13 }));
}
