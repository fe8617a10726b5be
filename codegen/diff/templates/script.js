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
  const notes = [...document.querySelectorAll(".aside [data-about]")];
  const sets = { level: new Set(), direction: new Set(), kind: new Set(), about: new Set() };
  let method = "";
  let role = "";
  let pair = "";
  form.hidden = false;

  const words = new Map(rows.map((row) => [row, row.querySelector("summary").textContent.toLowerCase()]));
  // The marks of each change of a row: a cell of a table counts the changes with its mark, and so does what it shows.
  const marks = new Map(rows.map((row) => [row, [...row.querySelectorAll("[data-marks]")].map((one) => new Set(one.dataset.marks.split(" ")))]));
  for (const row of rows) for (const one of marks.get(row)) words.set(row, words.get(row) + " " + [...one].filter((mark) => !mark.startsWith("server-")).join(" ").toLowerCase());
  const any = (set, values) => set.size === 0 || values.some((value) => set.has(value));
  const says = (content) => text.value.toLowerCase().split(/\s+/).every((word) => content.includes(word));

  // Returns how many changes of a row have the marks that are asked for.
  function marked(row) {
    const asked = [method, role].filter(Boolean);
    return marks.get(row).filter((one) => asked.every((mark) => one.has(mark))).length;
  }

  function admits(row) {
    const data = row.dataset;
    return any(sets.level, [data.level])
      && any(sets.kind, [data.kind])
      && any(sets.about, [data.about])
      && any(sets.direction, data.direction.split(" "))
      && marked(row) > 0
      && (!pair || row.closest(".pair").dataset.pair === pair)
      && says(words.get(row));
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
    const fits = (row) => row.hidden ? 0 : marked(row);
    const sum = (all, of) => all.reduce((sum, row) => sum + of(row), 0);
    for (const row of rows) row.hidden = !admits(row);
    const shown = sum(rows, fits);
    const total = sum(rows, size);
    const ofRows = [method, role, pair, ...sets.level, ...sets.kind, ...sets.direction].some(Boolean);
    const filtered = ofRows || sets.about.size > 0 || text.value.trim() !== "";
    for (const note of notes) note.hidden = ofRows || !any(sets.about, [note.dataset.about]) || !says(note.textContent.toLowerCase());
    for (const group of groups) {
      const own = [...group.querySelectorAll(".row, .aside [data-about]")];
      group.hidden = own.length > 0 ? own.every((row) => row.hidden) : filtered;
    }
    for (const article of pairs) {
      const own = [...article.querySelectorAll(".row")];
      article.hidden = filtered && [...own, ...article.querySelectorAll(".aside [data-about]")].every((one) => one.hidden);
      article.querySelector(".shown").textContent = filtered ? `${sum(own, fits)} shown` : "";
    }
    count.textContent = filtered ? `${shown} of ${total} changes` : `${total} changes`;
    active.textContent = "";
    if (method) chip(method.replace(":", " "), () => { method = ""; });
    if (role) {
      const [who, outcome] = role.split(":");
      const button = document.querySelector(`${pair ? `.pair[data-pair="${pair}"] ` : ""}[data-role="${who}"]`);
      chip([button ? button.textContent : who, outcome].filter(Boolean).join(": "), () => { role = ""; });
    }
    if (pair) chip(document.querySelector(`.pair[data-pair="${pair}"]`).dataset.name, () => { pair = ""; });
    for (const value of sets.kind) chip(value, () => sets.kind.delete(value));
    for (const button of document.querySelectorAll("[data-filter]")) {
      button.setAttribute("aria-pressed", String(sets[button.dataset.filter].has(button.dataset.value)));
    }
    for (const button of document.querySelectorAll("[data-role]")) button.setAttribute("aria-pressed", String(button.dataset.role === role));
    reset.hidden = !filtered;
    nothing.hidden = shown > 0 || notes.some((note) => !note.hidden) || rows.length === 0;
  }

  function all() {
    for (const set of Object.values(sets)) set.clear();
    method = role = pair = "";
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
    const outcome = event.target.closest("[data-role]");
    if (outcome) {
      const article = pairs.length === 1 ? "" : outcome.closest(".pair").dataset.pair;
      const again = role === outcome.dataset.role && pair === article;
      role = again ? "" : outcome.dataset.role;
      pair = again ? "" : article;
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

  // A link to a row, or to a step, shows it whatever is filtered; one to a method or a role, `#method=C2S:tools/call`, filters.
  function follow() {
    for (const row of rows) row.classList.remove("target");
    const asked = new URLSearchParams(location.hash.slice(1));
    if (asked.has("method") || asked.has("role")) {
      all();
      method = asked.get("method") || "";
      role = asked.get("role") || "";
      apply();
      form.scrollIntoView();
      return;
    }
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* it is taken as it stands */ }
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
