// Weights as boards: piece-square tables, and what a pair of pieces is worth on each square.
const KINDS = ["P", "N", "B", "R", "Q", "K"];

function kindName(letter) {
  const name = PIECE_NAMES[letter.toLowerCase()];
  return name.charAt(0).toUpperCase() + name.slice(1);
}

// A board of 64 squares, colored by values: blue for positive, orange for negative.
class SquareMap {
  constructor(root, { numbers = false } = {}) {
    this.numbers = numbers;
    this.cells = Array(64);
    for (let row = 7; row >= 0; row--) {
      for (let file = 0; file < 8; file++) {
        const square = 8 * row + file;
        const cell = element("i", { title: squareName(square), "data-dark": isDark(square) });
        this.cells[square] = cell;
        root.append(cell);
      }
    }
  }

  // `values` in pawns or null by square; `largest` gets the full color; `marked` are piece letters by square.
  show(values, largest, marked = {}) {
    this.cells.forEach((cell, square) => {
      const value = values[square];
      const letter = marked[square];
      const size = value === null || largest <= 0 ? 0 : Math.min(Math.abs(value) / largest, 1);
      cell.style.setProperty("--size", `${Math.round(100 * Math.sqrt(size))}%`);
      cell.className = letter ? "marked" : value === null ? "none" : value < 0 ? "minus" : "plus";
      cell.title = `${squareName(square)}${value === null ? "" : ` ${signed(value, 2)}`}`;
      if (letter) {
        if (cell.dataset.piece !== letter) cell.replaceChildren(pieceImage(letter));
        cell.dataset.piece = letter;
      } else {
        delete cell.dataset.piece;
        const text = this.numbers && value !== null ? decimal(100 * value, largest < 0.1 ? 1 : 0) : "";
        if (cell.textContent !== text || cell.firstElementChild) cell.textContent = text;
      }
    });
  }
}

// The six tables and the map of one pair, for one set of weights at a time.
class Knowledge {
  constructor(rules) {
    this.rules = rules;
    this.weights = null;
    // The tables of the weights, as a promise.
    this.tables = null;
    this.turn = 0;
    // The square of the map that the words are about.
    this.pointed = squareIndex("g8");
    this.maps = KINDS.map((kind) => {
      const board = element("div", { class: "map-board", role: "img" });
      const title = element("figcaption");
      find("tables").append(element("figure", {}, board, title));
      return { kind, board, title, map: new SquareMap(board) };
    });
    this.pairMap = new SquareMap(find("pair-board"), { numbers: true });
    for (const kind of KINDS)
      find("pair-piece").append(
        element("option", { value: kind, selected: kind === "N" }, PIECE_NAMES[kind.toLowerCase()]),
      );
    for (const color of ["Black", "White"]) {
      for (const kind of KINDS) {
        const letter = color === "Black" ? kind.toLowerCase() : kind;
        find("pair-other").append(element("option", { value: letter, selected: letter === "k" }, pieceWords(letter)));
      }
    }
    this.squares();
    find("pair-square").value = "f5";
    find("pair-piece").addEventListener("change", () => {
      this.squares();
      this.draw();
    });
    for (const id of ["pair-square", "pair-other", "phase"]) find(id).addEventListener("change", () => this.draw());
    find("pair-board").addEventListener("click", (event) => {
      const square = this.pairMap.cells.indexOf(event.target.closest("i"));
      if (square >= 0) {
        this.pointed = square;
        this.words();
      }
    });
  }

  // The squares where the chosen piece can stand.
  squares() {
    const pawn = find("pair-piece").value === "P";
    const before = find("pair-square").value;
    const all = Array.from({ length: 64 }, (_, square) => squareName(square)).filter(
      (name) => !pawn || (name[1] !== "1" && name[1] !== "8"),
    );
    find("pair-square").replaceChildren(...all.map((name) => element("option", { value: name }, name)));
    find("pair-square").value = all.includes(before) ? before : "e4";
  }

  show(weights) {
    this.weights = weights;
    this.tables = null;
    this.draw();
  }

  draw() {
    this.update().catch(showError);
  }

  async update() {
    if (!this.weights || find("panel-learn").hidden) return;
    const turn = ++this.turn;
    const phase = Number(find("phase").value);
    const [piece, square, other] = ["pair-piece", "pair-square", "pair-other"].map((id) => find(id).value);
    this.tables ??= this.rules.json(null, "tables", [this.weights]);
    const [tables, pair] = await Promise.all([
      this.tables,
      this.rules.json(null, "pair_map", [this.weights, piece, square, other]),
    ]);
    if (turn !== this.turn) return;
    // A pawn is 1 here: evaluations count in advantages that win half of the games.
    const pawn = Math.max(tables.material.P[phase], 0.1);
    const values = KINDS.map((kind) =>
      tables.squares[kind].map((value, at) => (kind === "P" && (at < 8 || at > 55) ? null : value[phase] / pawn)),
    );
    const centered = values.map((table) => {
      const known = table.filter((value) => value !== null);
      const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
      return table.map((value) => (value === null ? null : value - mean));
    });
    const largest = Math.max(0.25, ...centered.flat().map((value) => Math.abs(value ?? 0)));
    this.maps.forEach(({ kind, board, title, map }, index) => {
      map.show(centered[index], largest);
      const worth = tables.material[kind]?.[phase];
      title.textContent = `${kindName(kind)}${worth === undefined ? "" : ` ${(worth / pawn).toFixed(1)}`}`;
      const best = centered[index].indexOf(Math.max(...centered[index].map((value) => value ?? -Infinity)));
      const even = centered[index].every((value) => Math.abs(value ?? 0) < 0.005);
      board.setAttribute(
        "aria-label",
        `${kindName(kind)}: ${even ? "all squares are alike" : `best on ${squareName(best)}`}`,
      );
    });
    find("tables-scale").textContent = `Full color: ${largest.toFixed(2)} pawns. The number is the value of the piece in pawns.`;
    this.pair = pair.values.map((value) => (value ? value[phase] / pawn : null));
    this.chosen = { piece, square, other };
    const most = Math.max(0.01, ...this.pair.map((value) => Math.abs(value ?? 0)));
    const at = squareIndex(square);
    this.pairMap.show(
      this.pair.map((value, index) => (index === at ? null : value)),
      most,
      { [at]: piece },
    );
    this.words();
  }

  words() {
    const { piece, square, other } = this.chosen;
    const first = `A white ${PIECE_NAMES[piece.toLowerCase()]} on ${square} with a ${pieceWords(other)} on`;
    const at = this.pointed;
    const value = at === squareIndex(square) ? null : this.pair[at];
    const words =
      value === null
        ? `${first} ${squareName(at)}: impossible.`
        : `${first} ${squareName(at)}: ${signed(value, 3)} pawns for White.`;
    find("pair-words").textContent = `${words} The numbers are hundredths of a pawn; click a square to read it.`;
    find("pair-board").setAttribute("aria-label", words);
  }
}
