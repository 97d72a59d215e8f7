// Headings of tables become buttons that sort. Without this the page is whole, only unsorted.
"use strict";
document.querySelectorAll("table").forEach(function (table) {
  var body = table.tBodies[0];
  var heads = table.tHead.rows[0].cells;
  table.classList.add("sorts"); // on a narrow page the headings are a list to sort by
  function key(row, at) {
    var cell = row.cells[at];
    var text = cell.dataset.key;
    if (text === undefined) return cell.textContent.toLowerCase();
    return text === "" ? null : Number(text);
  }
  function compare(a, b, at, sign) {
    var x = key(a, at), y = key(b, at);
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (typeof x === "number" && typeof y === "number" ? x - y
                                                                    : String(x).localeCompare(String(y)));
  }
  Array.prototype.forEach.call(heads, function (head, at) {
    var button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by this column";
    while (head.firstChild) button.appendChild(head.firstChild);
    head.appendChild(button);
    button.addEventListener("click", function () {
      var down = head.getAttribute("aria-sort") === "ascending" ||
                 (!head.hasAttribute("aria-sort") && head.classList.contains("num"));
      Array.prototype.forEach.call(heads, function (h) { h.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      Array.prototype.slice.call(body.rows)
        .sort(function (a, b) { return compare(a, b, at, down ? -1 : 1); })
        .forEach(function (row) { body.appendChild(row); });
    });
  });
});
// What is folded away is printed too.
(function () {
  var opened = [];
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details:not([open])").forEach(function (fold) {
      fold.open = true;
      opened.push(fold);
    });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (fold) { fold.open = false; });
    opened = [];
  });
})();
