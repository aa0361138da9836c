// Elements, and numbers as people read them. Text only ever becomes text nodes and attributes: a
// game may be called anything.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const precise = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const share = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const count = (value) => whole.format(value);
export const compact = (value) => (Math.abs(value) < 10000 ? precise3(value) : short.format(value));
const precise3 = (value) => (Number.isInteger(value) ? whole.format(value) : precise.format(value));
export const number = (value) => (value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(1) : precise.format(value));
export const percent = (value) => (value > 0 && value < 0.001 ? "< 0.1%" : share.format(value));
export const fraction = (part, all) => (all > 0 ? percent(Math.floor((1000 * Math.min(part, all)) / all) / 1000) : "–");

export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return precise3(unit ? Number(value.toPrecision(3)) : value) + " " + units[unit];
}

export const many = (value, unit) => `${count(value)} ${unit}${value === 1 ? "" : "s"}`;

const two = (value) => String(value).padStart(2, "0");

// Seconds since the epoch, in the reader's time zone.
export function time(seconds) {
  const date = new Date(1000 * seconds);
  return (
    date.getFullYear() + "-" + two(date.getMonth() + 1) + "-" + two(date.getDate()) + " " +
    two(date.getHours()) + ":" + two(date.getMinutes())
  );
}

// A name from outside: what it does to the direction of text stays in it.
export const name = (text) => el("bdi", null, text || "(no name)");

export const shortKey = (key) => key.slice(0, 12);

export const tile = (name, value, title) =>
  el("li", { title }, el("span", { class: "value" }, value), el("span", { class: "name" }, name));
export const tiles = (...items) => el("ul", { class: "tiles" }, items);

export const link = (segments, parameters, text, title) => {
  const query = new URLSearchParams(parameters || {}).toString();
  const path = segments.map(encodeURIComponent).join("/");
  return el("a", { href: "#/" + path + (query ? "?" + query : ""), title }, text);
};
