// Tables whose order and pages are the server's: a heading that sorts is a button, and what is shown
// is part of the address, so that it can be bookmarked and gone back to.

import { el, count } from "./view.js";

// columns: {name, text: is it text, sort: the API's name, natural: how that is ordered without
// "reverse" ("descending" or "ascending"), cell: (row) => node or text, wrap}. state: {sort, order}
// as they are; go({sort, order, offset}) changes them.
export function table(caption, columns, rows, state, go, empty) {
  const heading = (column) => {
    if (!column.sort)
      return el("th", { class: column.text && "text", scope: "col" }, column.name);
    const current = state.sort === column.sort;
    const opposite = { ascending: "descending", descending: "ascending" };
    const direction = current && state.order === "reverse" ? opposite[column.natural] : column.natural;
    const next = current && state.order !== "reverse" ? "reverse" : "natural";
    return el("th", { class: column.text && "text", scope: "col", "aria-sort": current ? direction : "none" },
      el("button", { type: "button", "data-focus": "sort " + caption + " " + column.sort,
        onclick: () => go({ sort: column.sort, order: next, offset: 0 }) }, column.name));
  };
  const cell = (column, row) =>
    el("td", { class: [column.text && "text", column.wrap && "wrap"].filter(Boolean).join(" ") || null }, column.cell(row));
  const body = rows.length > 0
    ? rows.map((row) => el("tr", null, columns.map((column) => cell(column, row))))
    : el("tr", null, el("td", { class: "text", colspan: columns.length }, empty));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", null, el("caption", { class: "visually-hidden" }, caption),
      el("thead", null, el("tr", null, columns.map(heading))), el("tbody", null, body)));
}

export function pager(name, answer, go) {
  const { total, limit, offset } = answer;
  if (total <= limit && offset === 0) return el("p", { class: "note" }, `${count(total)} in all`);
  const last = Math.min(offset + limit, total);
  const button = (text, to, possible) =>
    el("button", { type: "button", disabled: !possible, "data-focus": `page ${name} ${text}`,
      onclick: () => go({ offset: to }) }, text);
  return el("div", { class: "pager", role: "group", "aria-label": "Pages of " + name },
    button("Previous", Math.max(0, offset - limit), offset > 0),
    el("span", null, total > 0 && offset < total ? `${count(offset + 1)}–${count(last)} of ${count(total)}` : `none of ${count(total)}`),
    button("Next", offset + limit, last < total));
}
