// Steps through the games of the page. The page holds all data; the script makes no request.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const make = (parent, name, attributes) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  };
  const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

  class Game {
    constructor(section) {
      this.nodes = JSON.parse(section.querySelector("script").textContent);
      this.section = section;
      this.board = section.querySelector(".position");
      this.status = section.querySelector(".status");
      this.list = section.querySelector(".moves");
      this.curve = section.querySelector(".curve");
      this.buttons = new Map([...section.querySelectorAll("[data-node]")].map((b) => [Number(b.dataset.node), b]));
      this.plies = this.nodes.findIndex((node, index) => index > 0 && node.prev !== index - 1);
      if (this.plies < 0) this.plies = this.nodes.length;
      this.turned = section.dataset.turned !== undefined;
      for (const [number, button] of this.buttons) button.addEventListener("click", () => this.show(number));
      section.querySelector(".controls").addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (button) this.act(button.dataset.act);
      });
      this.curve?.addEventListener("click", (event) => {
        const box = this.curve.getBoundingClientRect();
        const place = Math.round(((event.clientX - box.left) / box.width) * (this.plies - 1));
        this.show(Math.min(Math.max(place, 0), this.plies - 1));
      });
      this.show(0, true);
    }

    act(what) {
      const node = this.nodes[this.here];
      const main = this.here < this.plies;
      if (what === "next") this.show(node.next ?? this.here);
      else if (what === "back") this.show(node.prev ?? this.here);
      else if (what === "first") this.show(0);
      else if (what === "last") {
        let end = this.here;
        while (!main && this.nodes[end].next != null) end = this.nodes[end].next;
        this.show(main ? this.plies - 1 : end);
      } else if (what === "turn") {
        this.turned = !this.turned;
        this.draw();
      }
    }

    show(number, quiet) {
      const before = this.buttons.get(this.here);
      before?.removeAttribute("aria-current");
      this.here = number;
      const button = this.buttons.get(number);
      button?.setAttribute("aria-current", "true");
      if (button && this.list.scrollHeight > this.list.clientHeight) this.list.scrollTop = button.offsetTop - 60;
      // On a phone the board may be far above the move that was asked for.
      const box = this.board.getBoundingClientRect();
      if (!quiet && (box.bottom < box.height / 2 || box.top > innerHeight - box.height / 2)) {
        this.board.scrollIntoView({ block: "start" });
      }
      const node = this.nodes[number];
      this.status.textContent = [node.label, node.why].filter(Boolean).join(" ");
      const line = this.curve?.querySelector(".here");
      if (line) {
        let main = number;
        while (main >= this.plies) main = this.nodes[main].prev;
        const x = this.plies > 1 ? (main / (this.plies - 1)) * 600 : 0;
        line.setAttribute("x1", x);
        line.setAttribute("x2", x);
      }
      this.draw();
    }

    corner(square) {
      const file = square.charCodeAt(0) - 97, rank = Number(square[1]) - 1;
      return this.turned ? [(7 - file) * 45, rank * 45] : [file * 45, (7 - rank) * 45];
    }

    draw() {
      const node = this.nodes[this.here], board = this.board;
      board.replaceChildren();
      for (let rank = 0; rank < 8; rank++) {
        for (let file = 0; file < 8; file++) {
          const square = "abcdefgh"[file] + (rank + 1);
          const [x, y] = this.corner(square);
          const dark = (file + rank) % 2 === 0;
          make(board, "rect", { x, y, width: 45, height: 45, class: dark ? "dark" : "light" });
          if (node.move?.includes(square)) make(board, "rect", { x, y, width: 45, height: 45, class: "last" });
          const tone = dark ? "edge on-dark" : "edge";
          if (y === 315) make(board, "text", { x: x + 36, y: 356.5, class: tone }).textContent = square[0];
          if (x === 0) make(board, "text", { x: 2, y: y + 11, class: tone }).textContent = square[1];
        }
      }
      for (const [good, square, to] of node.marks ?? []) {
        if (to) continue;
        const [x, y] = this.corner(square);
        make(board, "rect", { x, y, width: 45, height: 45, class: "tint " + (good ? "good" : "bad") });
      }
      const where = { w: [], b: [] };
      node.board.split("/").forEach((row, index) => {
        let file = 0;
        for (const letter of row) {
          if (letter >= "1" && letter <= "8") file += Number(letter);
          else {
            const square = "abcdefgh"[file++] + (8 - index), kind = letter.toLowerCase();
            const color = kind === letter ? "black" : "white";
            const [x, y] = this.corner(square);
            make(board, "use", { href: "#" + kind, x, y, width: 45, height: 45, class: "piece " + color });
            where[color[0]].push(NAMES[kind] + " " + square);
          }
        }
      });
      for (const [good, from, to] of node.marks ?? []) if (to) this.arrow(good ? "good" : "bad", from, to);
      board.setAttribute("aria-label", `White: ${where.w.join(", ")}. Black: ${where.b.join(", ")}.`);
    }

    arrow(tone, from, to) {
      const center = (square) => this.corner(square).map((edge) => edge + 22.5);
      const [x1, y1] = center(from);
      const [x2, y2] = center(to);
      const length = Math.hypot(x2 - x1, y2 - y1) || 1, dx = (x2 - x1) / length, dy = (y2 - y1) / length;
      const [x, y] = [x2 - 14 * dx, y2 - 14 * dy];
      make(this.board, "line", { x1, y1, x2: x, y2: y, class: "arrow " + tone });
      const points = [[x2 - 2 * dx, y2 - 2 * dy], [x - 7 * dy, y + 7 * dx], [x + 7 * dy, y - 7 * dx]];
      make(this.board, "polygon", { points: points.map((p) => p.join(",")).join(" "), class: "tip " + tone });
    }
  }

  const games = [...document.querySelectorAll(".game")].map((section) => new Game(section));
  // On a page that is about more than games the keys are those of the browser until a game is used.
  let active = games.find((game) => !game.section.matches("h3 + .game"));
  for (const game of games) {
    const activate = () => (active = game);
    game.section.addEventListener("pointerdown", activate);
    game.section.addEventListener("focusin", activate);
  }
  // page.html#2.14 opens the page at the second game, with its fourteenth half-move.
  const [, number, node] = /^#(\d+)\.(\d+)$/.exec(location.hash) ?? [];
  const asked = games[number - 1];
  if (asked?.nodes[node]) {
    active = asked;
    asked.show(Number(node));
  }
  const KEYS = { ArrowRight: "next", ArrowLeft: "back", Home: "first", End: "last", f: "turn" };
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !active || !(event.key in KEYS)) return;
    event.preventDefault();
    active.act(KEYS[event.key]);
  });
})();
