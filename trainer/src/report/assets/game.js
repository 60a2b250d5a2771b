// Steps through games: the buttons below a board, its moves, and the arrow keys.
"use strict";
for (const game of document.querySelectorAll(".game")) {
  const positions = JSON.parse(game.querySelector("script").textContent);
  const pieces = [...game.querySelectorAll(".piece")];
  const list = game.querySelector(".moves");
  const moves = [...list.querySelectorAll("button")];
  const glyphs = { k: "\u265A", q: "\u265B", r: "\u265C", b: "\u265D", n: "\u265E", p: "\u265F\uFE0E" };
  let shown = positions.length - 1;

  const show = (number) => {
    shown = Math.max(0, Math.min(positions.length - 1, number));
    const squares = positions[shown].replace(/\d/g, (empty) => " ".repeat(empty)).split("/").reverse().join("");
    [...squares].forEach((letter, square) => {
      pieces[square].textContent = glyphs[letter.toLowerCase()] ?? "";
      pieces[square].setAttribute("class", "piece " + (letter === letter.toUpperCase() ? "white" : "black"));
    });
    moves.forEach((move, index) => {
      const here = index === shown - 1;
      here ? move.setAttribute("aria-current", "true") : move.removeAttribute("aria-current");
      if (here) list.scrollTop = move.offsetTop - list.offsetTop - 60;
    });
  };

  const steps = [() => 0, () => shown - 1, () => shown + 1, () => positions.length - 1];
  game.querySelectorAll(".buttons button").forEach((button, index) => { button.onclick = () => show(steps[index]()); });
  moves.forEach((move, index) => { move.onclick = () => show(index + 1); });
  game.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) { show(shown + step); event.preventDefault(); }
  });
}
