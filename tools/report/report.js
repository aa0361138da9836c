// What the page can do beyond being read: find and sort shaders, and open what a link leads into.
"use strict";

const table = document.querySelector("table.sortable");
const rows = Array.from(table.tBodies[0].rows);

// By the number that a cell stands for, else by its text.
function value(row, column) {
  const cell = row.cells[column];
  return cell.dataset.v === undefined ? cell.textContent.trim().toLowerCase() : Number(cell.dataset.v);
}

function sort(column, head) {
  const numbers = rows.some((row) => row.cells[column].dataset.v !== undefined);
  const falling = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : numbers;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  const order = (a, b) => {
    const x = value(a, column), y = value(b, column);
    return (x < y ? -1 : x > y ? 1 : 0) * (falling ? -1 : 1);
  };
  table.tBodies[0].append(...rows.slice().sort(order));
}

Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  button.addEventListener("click", () => sort(column, head));
  head.append(button);
});

const find = document.getElementById("find");
find.closest("label").hidden = false;
find.form.addEventListener("submit", (event) => event.preventDefault());
find.addEventListener("input", () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) {
    const text = row.cells[0].textContent.toLowerCase() + " " + (row.cells[0].querySelector(".key") || {}).title;
    row.hidden = !words.every((word) => text.includes(word));
  }
});

// A link into what is closed opens it.
function open() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target && target.scrollIntoView) target.scrollIntoView({ block: "nearest" });
}
addEventListener("hashchange", open);
if (location.hash) open();
