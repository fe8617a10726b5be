"use strict";
(() => {
  const rows = [...document.querySelectorAll("details.row")];
  const groups = [...document.querySelectorAll(".group")];
  const pairs = [...document.querySelectorAll(".pair")];
  const form = document.getElementById("filters");
  const text = document.getElementById("text");
  const count = document.getElementById("count");
  const active = document.getElementById("active");
  const reset = document.getElementById("reset");
  const nothing = document.getElementById("nothing");
  const sets = { level: new Set(), direction: new Set(), kind: new Set() };
  let method = "";
  let pair = "";
  form.hidden = false;

  const words = new Map(rows.map((row) => [row, row.querySelector("summary").textContent.toLowerCase() + " " + row.dataset.counts]));
  // How many changes of a row each message has: a cell of the matrix counts these, and so does what it shows.
  const counts = new Map(rows.map((row) => [row, new Map(row.dataset.counts.split(" ").filter(Boolean).map((one) => {
    const at = one.lastIndexOf("=");
    return [one.slice(0, at), Number(one.slice(at + 1))];
  }))]));
  const any = (set, values) => set.size === 0 || values.some((value) => set.has(value));

  function admits(row) {
    const data = row.dataset;
    return any(sets.level, [data.level])
      && any(sets.kind, [data.kind])
      && any(sets.direction, data.direction.split(" "))
      && (!method || counts.get(row).has(method))
      && (!pair || row.closest(".pair").dataset.pair === pair)
      && text.value.toLowerCase().split(/\s+/).every((word) => words.get(row).includes(word));
  }

  function chip(label, remove) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "chip";
    button.textContent = label + " ×";
    button.addEventListener("click", () => { remove(); apply(); });
    active.append(button);
  }

  function apply() {
    const size = (row) => Number(row.dataset.rows);
    const fits = (row) => row.hidden ? 0 : method ? counts.get(row).get(method) : size(row);
    const sum = (all, of) => all.reduce((sum, row) => sum + of(row), 0);
    for (const row of rows) row.hidden = !admits(row);
    const shown = sum(rows, fits);
    const total = sum(rows, size);
    const filtered = shown < total || method !== "";
    for (const group of groups) {
      const own = [...group.querySelectorAll(".row")];
      group.hidden = own.length > 0 ? own.every((row) => row.hidden) : filtered;
    }
    for (const article of pairs) {
      const own = [...article.querySelectorAll(".row")];
      article.hidden = filtered && own.every((row) => row.hidden);
      article.querySelector(".shown").textContent = filtered ? `${sum(own, fits)} shown` : "";
    }
    count.textContent = filtered ? `${shown} of ${total} changes` : `${total} changes`;
    active.textContent = "";
    if (method) chip(method.replace(":", " "), () => { method = ""; });
    if (pair) chip(document.querySelector(`.pair[data-pair="${pair}"]`).dataset.name, () => { pair = ""; });
    for (const value of sets.kind) chip(value, () => sets.kind.delete(value));
    for (const button of document.querySelectorAll("[data-filter]")) {
      button.setAttribute("aria-pressed", String(sets[button.dataset.filter].has(button.dataset.value)));
    }
    reset.hidden = !filtered;
    nothing.hidden = shown > 0 || rows.length === 0;
  }

  function all() {
    for (const set of Object.values(sets)) set.clear();
    method = "";
    pair = "";
    text.value = "";
    apply();
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  text.addEventListener("input", apply);
  reset.addEventListener("click", all);
  document.getElementById("reset-too").addEventListener("click", all);
  document.getElementById("open").addEventListener("click", () => {
    const shown = rows.filter((row) => !row.hidden);
    const open = shown.some((row) => !row.open);
    for (const row of shown) row.open = open;
  });
  document.addEventListener("click", (event) => {
    const filter = event.target.closest("[data-filter]");
    if (filter) {
      const set = sets[filter.dataset.filter];
      if (!set.delete(filter.dataset.value)) set.add(filter.dataset.value);
      apply();
      return;
    }
    const cell = event.target.closest(".matrix [data-method]");
    if (cell) {
      method = cell.dataset.method;
      pair = cell.dataset.pair || "";
      apply();
      form.scrollIntoView();
    }
  });

  // A link to a row, or to a step, shows it whatever is filtered.
  function follow() {
    for (const row of rows) row.classList.remove("target");
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    const row = target.closest("details.row");
    if ((row || target).closest("[hidden]")) all();
    if (target.matches("details")) target.open = true;
    if (row) {
      row.open = true;
      row.classList.add("target");
    }
    (row || target).scrollIntoView();
  }
  window.addEventListener("hashchange", follow);
  apply();
  follow();
})();
