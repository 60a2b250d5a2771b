// Keeps the page of a running training up to date: reloads it every now and then, at the same place.
"use strict";
(() => {
  const EVERY = 20, STALE = 300, REST = 10;
  const live = document.getElementById("live");
  const name = "dyad " + location.pathname;
  const memory = (() => { try { return window.sessionStorage; } catch { return null; } })();
  const foldable = [...document.querySelectorAll("details")];
  let touched = 0;

  // Where the reader was.
  try {
    const place = JSON.parse(memory.getItem(name));
    if (place) {
      history.scrollRestoration = "manual";
      foldable.forEach((fold, index) => { fold.open = place.open.includes(fold.id || index); });
      scrollTo(0, place.top);
    }
  } catch { /* Nothing is known of an earlier visit. */ }
  addEventListener("pagehide", () => {
    const open = foldable.flatMap((fold, index) => fold.open ? [fold.id || index] : []);
    try { memory.setItem(name, JSON.stringify({ top: scrollY, open })); } catch { /* It is only a comfort. */ }
  });

  const written = Number(live.dataset.written) * 1000;
  const age = () => (Date.now() - written) / 1000;
  const clock = new Date(written).toLocaleTimeString();
  const stale = age() > STALE;
  live.textContent = stale
    ? `Updated ${clock}. Nothing has been written since: the program was closed, or the machine slept.`
    : `Updated ${clock}; this page refreshes itself.`;
  for (const event of ["pointerdown", "keydown"]) addEventListener(event, () => { touched = Date.now(); });
  const due = Date.now() + (stale ? 3 * EVERY : EVERY) * 1000;
  setInterval(() => {
    // Not while the page is hidden, and not just after a click or a key.
    if (!document.hidden && Date.now() > due && Date.now() - touched > REST * 1000) location.reload();
  }, 500);
})();
