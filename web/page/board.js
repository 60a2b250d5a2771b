// The chess board: squares as a grid of cells, above them one layer each for pieces, numbers and arrows; moves by drag,
// click, touch and keyboard.
const FILES = "abcdefgh";
const PIECE_NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };
const SVG = "http://www.w3.org/2000/svg";

function squareName(index) {
  return FILES[index % 8] + (1 + (index >> 3));
}

function squareIndex(name) {
  return FILES.indexOf(name[0]) + 8 * (Number(name[1]) - 1);
}

// The piece letters of a FEN by square, a1 first.
function placement(fen) {
  const squares = Array(64).fill("");
  fen
    .split(" ")[0]
    .split("/")
    .forEach((row, index) => {
      let file = 0;
      for (const letter of row) {
        if (letter >= "1" && letter <= "8") file += Number(letter);
        else squares[8 * (7 - index) + file++] = letter;
      }
    });
  return squares;
}

function isWhite(letter) {
  return letter !== "" && letter === letter.toUpperCase();
}

function pieceWords(letter) {
  return (isWhite(letter) ? "white " : "black ") + PIECE_NAMES[letter.toLowerCase()];
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value == null) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function svgElement(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function pieceImage(letter) {
  const image = svgElement("svg", {
    viewBox: "0 0 45 45",
    class: `piece ${isWhite(letter) ? "white" : "black"}`,
    "aria-hidden": "true",
  });
  image.append(svgElement("use", { href: "#" + letter.toLowerCase() }));
  return image;
}

// How far the pointer travels before a press on a piece becomes a drag, in pixels.
const DRAG_DISTANCE = 5;

function isDark(square) {
  return ((square % 8) + (square >> 3)) % 2 === 0;
}

class Board {
  // `onMove` is called with the user's move in UCI notation, and whether it was made by dragging; `onPremove` with the
  // squares of a move for later, or null; `onSelect` with the selected square or null.
  constructor(root, { onMove, onPremove, onSelect }) {
    this.root = root;
    this.onMove = onMove;
    this.onPremove = onPremove;
    this.onSelect = onSelect;
    this.pieces = Array(64).fill("");
    this.flipped = false;
    this.moves = [];
    this.last = [];
    // The side whose moves for later are taken, and such a move.
    this.premoveSide = null;
    this.premove = null;
    this.selected = null;
    this.focus = squareIndex("e2");
    this.drag = null;
    this.cells = [];
    this.grid = element("div", { class: "squares", role: "grid", "aria-label": "Chess board" });
    const layer = (kind) => element("div", { class: kind, "aria-hidden": "true" });
    this.edges = layer("edges");
    this.layer = layer("pieces");
    this.numbers = layer("numbers");
    this.images = Array(64).fill(null);
    this.arrows = svgElement("svg", { viewBox: "0 0 8 8", class: "arrows", "aria-hidden": "true" });
    this.ghost = element("div", { class: "ghost", hidden: true });
    this.chooser = element("div", { class: "chooser", role: "dialog", "aria-label": "Promote to", hidden: true });
    root.append(this.grid, this.edges, this.layer, this.arrows, this.numbers, this.ghost, this.chooser);
    this.build();
    this.grid.addEventListener("pointerdown", (event) => this.press(event));
    this.grid.addEventListener("pointermove", (event) => this.move(event));
    this.grid.addEventListener("pointerup", (event) => this.release(event));
    this.grid.addEventListener("pointercancel", () => this.endDrag());
    this.grid.addEventListener("keydown", (event) => this.key(event));
    // The mark of the focus is for the keyboard: a click focuses its square too.
    this.grid.addEventListener("focusin", () => this.root.classList.toggle("keyboard", !this.pressing));
    this.grid.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  build() {
    const focused = this.grid.contains(document.activeElement);
    this.grid.replaceChildren();
    this.edges.replaceChildren();
    this.cells = Array(64);
    for (let row = 0; row < 8; row++) {
      const line = element("div", { role: "row", class: "rank" });
      for (let column = 0; column < 8; column++) {
        const square = this.squareIn(row, column);
        const shade = isDark(square) ? "dark" : "light";
        const cell = element("div", {
          role: "gridcell",
          class: `square ${shade}`,
          "data-square": squareName(square),
          tabindex: -1,
        });
        // Names of files and ranks lie above the squares: the label of a square has its name.
        const edge = (kind, text, side, at) => {
          const label = element("span", { class: `edge ${shade} ${kind}` }, text);
          label.style[side] = `${12.5 * at}%`;
          this.edges.append(label);
        };
        if (column === 0) edge("rank-name", String(1 + (square >> 3)), "top", row);
        if (row === 7) edge("file-name", FILES[square % 8], "left", column);
        this.cells[square] = { cell };
        line.append(cell);
      }
      this.grid.append(line);
    }
    this.images.forEach((image, square) => image && this.put(image, square));
    this.setFocus(this.focus, focused);
    this.mark();
  }

  flip(flipped) {
    if (this.flipped === flipped) return;
    this.flipped = flipped;
    this.endDrag();
    this.build();
    this.setNotes(this.notes);
    this.setTints(this.tints);
    this.setArrows(this.shownArrows ?? []);
  }

  // Row and column of a square, from the top left.
  placeOf(square) {
    const [row, column] = [7 - (square >> 3), square % 8];
    return this.flipped ? [7 - row, 7 - column] : [row, column];
  }

  // Places a piece; where it glides, from where it is.
  put(image, square, glides = false) {
    const [row, column] = this.placeOf(square);
    image.classList.toggle("glides", glides);
    image.style.transform = `translate(${100 * column}%, ${100 * row}%)`;
  }

  // Shows a position. `moves` are the legal moves of the user, as { uci, from, targets, promotion }; `last` is the move
  // that led to the position, as squares; `check` the square of a king in check; `dropped` whether the user has moved the
  // piece there already; `premoveSide` the side whose moves for later are taken.
  show({ fen, moves, last, check, dropped, premoveSide }) {
    this.closeChooser();
    const pieces = placement(fen);
    // A piece stays in the user's hand while the other side moves.
    if (this.drag && pieces[this.drag.square] !== this.pieces[this.drag.square]) this.endDrag();
    this.moves = moves;
    this.last = last;
    this.check = check;
    this.premoveSide = premoveSide ?? null;
    if (!this.movesFrom(this.selected).length && !this.isForLater(this.selected)) this.selected = null;
    this.setPieces(pieces, dropped ? last[1] : null);
    this.mark();
  }

  // Pieces that are on other squares now glide there, but for one that was dropped.
  setPieces(pieces, dropped) {
    const changed = pieces.map((letter, square) => letter !== this.pieces[square]);
    const leaving = [...this.images.keys()].filter((square) => changed[square] && this.images[square]);
    const images = this.images.map((image, square) => (changed[square] ? null : image));
    const distance = (a, b) => Math.hypot((a % 8) - (b % 8), (a >> 3) - (b >> 3));
    pieces.forEach((letter, square) => {
      if (!letter || !changed[square]) return;
      const same = leaving.filter((from) => this.pieces[from] === letter);
      const from = same.sort((a, b) => distance(a, square) - distance(b, square))[0];
      let image;
      if (from === undefined) {
        image = pieceImage(letter);
        this.layer.append(image);
      } else {
        leaving.splice(leaving.indexOf(from), 1);
        image = this.images[from];
      }
      this.put(image, square, from !== undefined && squareName(square) !== dropped);
      images[square] = image;
    });
    for (const square of leaving) this.images[square].remove();
    this.images = images;
    this.pieces = [...pieces];
  }

  // Small numbers on the pieces, by square name.
  setNotes(notes) {
    this.notes = notes;
    const all = Object.entries(notes ?? {}).map(([name, text]) => {
      const [row, column] = this.placeOf(squareIndex(name));
      const note = element("span", { class: "note" }, text);
      note.style.right = `${12.5 * (7 - column)}%`;
      note.style.top = `${12.5 * row}%`;
      return note;
    });
    this.numbers.replaceChildren(...all);
    this.label();
  }

  // Draws arrows, or circles without `to`: { from, to, good }.
  setArrows(arrows) {
    this.shownArrows = arrows;
    const center = (name) => {
      const [row, column] = this.placeOf(squareIndex(name));
      return [column + 0.5, row + 0.5];
    };
    const drawn = arrows.map(({ from, to, good }) => {
      const kind = good ? "good" : "bad";
      const [x, y] = center(from);
      if (!to) return svgElement("circle", { cx: x, cy: y, r: 0.44, class: kind });
      const [u, v] = center(to);
      const length = Math.hypot(u - x, v - y);
      const [dx, dy] = [(u - x) / length, (v - y) / length];
      // A shaft and a head, along and across the arrow.
      const outline = [
        [0.2, 0.09],
        [length - 0.42, 0.09],
        [length - 0.42, 0.24],
        [length - 0.04, 0],
      ];
      const point = ([along, across]) => `${x + along * dx - across * dy},${y + along * dy + across * dx}`;
      const other = outline.toReversed().map(([along, across]) => [along, -across]);
      return svgElement("polygon", { points: [...outline, ...other].map(point).join(" "), class: kind });
    });
    this.arrows.replaceChildren(...drawn);
  }

  // Colors squares: "good" or "bad" by square name.
  setTints(tints) {
    this.tints = tints;
    this.cells.forEach(({ cell }, square) => {
      const tint = tints?.[squareName(square)];
      cell.classList.toggle("tint-good", tint === "good");
      cell.classList.toggle("tint-bad", tint === "bad");
    });
  }

  // No piece can be moved until the next position is shown.
  lock() {
    this.moves = [];
    this.mark();
  }

  // Whether the piece on a square can be moved for later.
  isForLater(square) {
    const letter = square === null ? "" : this.pieces[square];
    return letter !== "" && this.premoveSide === (isWhite(letter) ? "white" : "black");
  }

  // Takes a move for later, or forgets it.
  setPremove(premove) {
    this.premove = premove;
    this.selected = null;
    this.mark();
    this.onPremove(premove);
  }

  movesFrom(square) {
    const from = square === null ? null : squareName(square);
    return this.moves.filter((move) => move.from === from);
  }

  // More than one for a promotion.
  movesBetween(from, to) {
    return this.movesFrom(from).filter((move) => to !== null && move.targets.includes(squareName(to)));
  }

  mark() {
    const targets = new Set(this.movesFrom(this.selected).flatMap((move) => move.targets));
    this.cells.forEach(({ cell }, square) => {
      const name = squareName(square);
      cell.classList.toggle("last", this.last.includes(name));
      cell.classList.toggle("premove", !!this.premove?.includes(name));
      cell.classList.toggle("check", this.check === name);
      cell.classList.toggle("selected", this.selected === square);
      cell.classList.toggle("target", targets.has(name));
      cell.classList.toggle("taken", targets.has(name) && this.pieces[square] !== "");
      cell.classList.toggle("movable", this.movesFrom(square).length > 0);
      cell.classList.toggle("later", this.isForLater(square));
      cell.setAttribute("aria-selected", String(this.selected === square));
    });
    this.label();
  }

  label() {
    this.cells.forEach(({ cell }, square) => {
      const letter = this.pieces[square];
      const words = [squareName(square), letter ? pieceWords(letter) : "empty"];
      if (cell.classList.contains("target")) words.push("can be moved to");
      if (this.notes?.[squareName(square)] !== undefined) words.push("value " + this.notes[squareName(square)]);
      cell.setAttribute("aria-label", words.join(", "));
    });
  }

  setFocus(square, focus) {
    this.cells[this.focus].cell.tabIndex = -1;
    this.focus = square;
    this.cells[square].cell.tabIndex = 0;
    if (focus) this.cells[square].cell.focus({ preventScroll: false });
  }

  select(square) {
    this.selected = square;
    this.mark();
    this.onSelect(square === null ? null : squareName(square));
  }

  // The move from the selected square to another one, or a new selection.
  choose(square) {
    const moves = this.movesBetween(this.selected, square);
    if (moves.length) return this.play(moves, square);
    if (this.isForLater(this.selected) && !this.isForLater(square)) {
      return this.setPremove([squareName(this.selected), squareName(square)]);
    }
    if (this.premove) this.setPremove(null);
    if (square === this.selected) return this.select(null);
    return this.select(this.movesFrom(square).length || this.pieces[square] ? square : null);
  }

  // `dropped` if the piece is at its target already, by dragging.
  play(moves, square, dropped = false) {
    this.selected = null;
    this.mark();
    this.onSelect(null);
    if (moves.length === 1) return this.onMove(moves[0].uci, dropped);
    const buttons = moves.map((move) =>
      element(
        "button",
        {
          type: "button",
          "aria-label": PIECE_NAMES[move.promotion],
          onclick: () => {
            this.closeChooser();
            this.onMove(move.uci, false);
          },
        },
        pieceImage(square >> 3 === 7 ? move.promotion.toUpperCase() : move.promotion),
      ),
    );
    this.chooser.replaceChildren(
      ...buttons,
      element("button", { type: "button", class: "cancel", onclick: () => this.closeChooser(true) }, "Cancel"),
    );
    const column = this.flipped ? 7 - (square % 8) : square % 8;
    this.chooser.style.left = `${Math.min(12.5 * column, 62)}%`;
    this.chooser.classList.toggle("below", (square >> 3 === 7) === this.flipped);
    this.chooser.hidden = false;
    buttons[0].focus({ preventScroll: true });
    this.chooser.onkeydown = (event) => {
      if (event.key === "Escape") this.closeChooser(true);
      const all = [...this.chooser.querySelectorAll("button")],
        here = all.indexOf(document.activeElement);
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (step) all[(here + step + all.length) % all.length].focus();
      if (step || event.key === "Escape") event.preventDefault();
      event.stopPropagation();
    };
    return undefined;
  }

  closeChooser(back) {
    if (this.chooser.hidden) return;
    const focused = this.chooser.contains(document.activeElement);
    this.chooser.hidden = true;
    this.chooser.replaceChildren();
    if (back || focused) this.setFocus(this.focus, true);
  }

  squareIn(row, column) {
    return this.flipped ? 8 * row + (7 - column) : 8 * (7 - row) + column;
  }

  squareAt(event) {
    const box = this.grid.getBoundingClientRect();
    const column = Math.floor((8 * (event.clientX - box.left)) / box.width);
    const row = Math.floor((8 * (event.clientY - box.top)) / box.height);
    if (column < 0 || column > 7 || row < 0 || row > 7) return null;
    return this.squareIn(row, column);
  }

  press(event) {
    if (event.button !== 0 || !event.isPrimary) return;
    const square = this.squareAt(event);
    if (square === null) return;
    this.closeChooser();
    event.preventDefault();
    this.root.classList.remove("keyboard");
    this.setFocus(square, false);
    this.pressing = true;
    this.cells[square].cell.focus({ preventScroll: true });
    this.pressing = false;
    const before = this.selected;
    const isOwn = this.movesFrom(square).length || this.isForLater(square);
    if (isOwn && !this.movesBetween(before, square).length) {
      if (before !== square) this.select(square);
      this.drag = { square, x: event.clientX, y: event.clientY, wasSelected: before === square, started: false };
      this.grid.setPointerCapture(event.pointerId);
    } else this.choose(square);
  }

  move(event) {
    if (!this.drag) return;
    const { x, y, square } = this.drag;
    if (!this.drag.started) {
      if (Math.hypot(event.clientX - x, event.clientY - y) < DRAG_DISTANCE) return;
      this.drag.started = true;
      this.ghost.replaceChildren(pieceImage(this.pieces[square]));
      this.ghost.hidden = false;
      this.images[square]?.classList.add("dragged");
    }
    const box = this.root.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    this.ghost.style.transform = `translate(${left}px, ${top}px) translate(-50%, -50%)`;
    const over = this.squareAt(event);
    this.cells.forEach(({ cell }, index) =>
      cell.classList.toggle("over", index === over && cell.classList.contains("target")),
    );
  }

  release(event) {
    const drag = this.drag;
    if (!drag) return;
    this.endDrag();
    const square = this.squareAt(event);
    if (!drag.started) {
      if (drag.wasSelected) this.select(null);
      return;
    }
    const moves = this.movesBetween(drag.square, square);
    if (moves.length) {
      this.setFocus(square, false);
      this.play(moves, square, true);
    } else if (this.isForLater(drag.square) && square !== null && square !== drag.square) {
      this.setPremove([squareName(drag.square), squareName(square)]);
    }
  }

  endDrag() {
    if (!this.drag) return;
    for (const image of this.layer.querySelectorAll(".dragged")) image.classList.remove("dragged");
    this.cells.forEach(({ cell }) => cell.classList.remove("over"));
    this.drag = null;
    this.ghost.hidden = true;
    this.ghost.replaceChildren();
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    this.root.classList.add("keyboard");
    const turn = this.flipped ? -1 : 1;
    const steps = { ArrowLeft: [-turn, 0], ArrowRight: [turn, 0], ArrowUp: [0, turn], ArrowDown: [0, -turn] };
    if (event.key in steps) {
      const [x, y] = steps[event.key];
      const file = (this.focus % 8) + x,
        rank = (this.focus >> 3) + y;
      if (file >= 0 && file < 8 && rank >= 0 && rank < 8) this.setFocus(8 * rank + file, true);
    } else if (event.key === "Enter" || event.key === " ") this.choose(this.focus);
    else if (event.key === "Escape" && this.premove) this.setPremove(null);
    else if (event.key === "Escape" && this.selected !== null) this.select(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
