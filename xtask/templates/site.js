"use strict";
// A link to what is folded opens it.
(() => {
  function open() {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.matches("details")) target.open = true;
  }
  window.addEventListener("hashchange", open);
  open();
})();
(() => {
  const form = document.getElementById("choice");
  if (!form) return;
  const [server, clients] = ["server", "clients"].map((id) => document.getElementById(id));
  const outcome = document.getElementById("outcome");
  const cells = [...document.querySelectorAll("a[data-server]")];
  form.hidden = false;

  function show() {
    const cell = cells.find((one) => one.dataset.server === server.value && one.dataset.clients === clients.value);
    if (!cell) {
      outcome.textContent = server.value === clients.value ? "Both speak the same: nothing is lost." : "Two extensions have no message in common.";
      return;
    }
    const link = document.createElement("a");
    link.href = cell.getAttribute("href");
    link.textContent = "see the changes";
    outcome.replaceChildren(`Number of changes by outcome: ${cell.title} – `, link);
  }

  // The choice is part of the address, so that it can be passed on.
  function follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const one of [server, clients]) {
      const value = asked.get(one.id);
      if ([...one.options].some((option) => option.value === value)) one.value = value;
    }
    show();
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", () => {
    history.replaceState(null, "", `#server=${encodeURIComponent(server.value)}&clients=${encodeURIComponent(clients.value)}`);
    show();
  });
  window.addEventListener("hashchange", follow);
  follow();
})();
