// Weights as boards: piece-square tables, and what a pair of pieces is worth on each square.
const KINDS = ["P", "N", "B", "R", "Q", "K"];

function kindName(letter) {
  const name = PIECE_NAMES[letter.toLowerCase()];
  return name.charAt(0).toUpperCase() + name.slice(1);
}

// Full color of a pair, in pawns, for all pairs and all weights.
const PAIR_SCALE = 0.25;

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

  // `values` in pawns or null by square; `largest` gets the full color; `pieces` are piece letters by square; `marked`
  // are squares.
  show(values, largest, pieces = {}, marked = []) {
    this.cells.forEach((cell, square) => {
      const value = values[square] ?? null;
      const letter = pieces[square];
      const size = value === null || largest <= 0 ? 0 : Math.min(Math.abs(value) / largest, 1);
      // Small values are visible, and noise is not in full color.
      cell.style.setProperty("--size", `${Math.round(100 * size ** 0.65)}%`);
      cell.className = value === null ? (letter ? "marked" : "none") : value < 0 ? "minus" : "plus";
      if (marked.includes(square)) cell.classList.add("hit");
      cell.title = `${squareName(square)}${value === null ? "" : ` ${signed(value, 2)}`}`;
      if (letter) {
        if (cell.dataset.piece !== letter) cell.replaceChildren(pieceImage(letter));
        cell.dataset.piece = letter;
      } else {
        delete cell.dataset.piece;
        const text = this.numbers && value !== null ? decimal(100 * value, 0) : "";
        if (cell.textContent !== text || cell.firstElementChild) cell.textContent = text;
      }
    });
  }
}

// A little board to a sentence of the diary, if it has one.
function littleBoard({ text, squares, position, pair }) {
  if (!squares && !position && !pair) return null;
  const root = element("div", { class: "map-board little", role: "img", "aria-label": `A board: ${text}` });
  const map = new SquareMap(root);
  const none = Array(64).fill(null);
  if (squares) {
    const at = squares.at ?? squares.values.indexOf(Math.max(...squares.values));
    map.show(squares.values, 0.5, { [at]: squares.piece });
  } else if (position) {
    root.classList.add("position");
    map.show(none, 1, placement(position.fen), position.marked.map(squareIndex));
  } else {
    root.classList.add("position");
    const on = Object.fromEntries(pair.map(([square, piece]) => [squareIndex(square), piece]));
    map.show(none, 1, on, Object.keys(on).map(Number));
  }
  return root;
}

// The six tables and the map of one pair: the learned weights beside those that are built in, on one scale.
class Knowledge {
  constructor(rules) {
    this.rules = rules;
    this.weights = null;
    // What is known of weights, as promises by function and its arguments.
    this.asked = new Map();
    this.turn = 0;
    // The square of the map that the words are about; that of the largest value until the user chooses.
    this.pointed = null;
    const board = (whose) => {
      const root = element("div", { class: "map-board", role: "img" });
      return { whose, root, map: new SquareMap(root) };
    };
    this.maps = KINDS.map((kind) => {
      const boards = [board("now"), board("built in")];
      const title = element("figcaption");
      find("tables").append(element("figure", {}, title, ...boards.map(({ root }) => root)));
      return { kind, title, boards };
    });
    this.pairMaps = ["pair-board", "pair-builtin"].map((id) => new SquareMap(find(id), { numbers: true }));
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
    for (const id of ["pair-piece", "pair-square", "pair-other"]) {
      find(id).addEventListener("change", () => {
        if (id === "pair-piece") this.squares();
        this.draw();
      });
    }
    find("phase").addEventListener("change", () => this.draw());
    for (const map of this.pairMaps) {
      map.cells[0].parentElement.addEventListener("click", (event) => {
        const square = map.cells.indexOf(event.target.closest("i"));
        if (square >= 0) {
          this.pointed = square;
          this.words();
        }
      });
    }
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

  show(weights, builtin) {
    this.weights = weights;
    this.builtin = builtin;
    this.draw();
  }

  draw() {
    this.update().catch(showError);
  }

  // What the module says of the weights, asked once while they are shown.
  ask(weights, method, ...args) {
    const key = `${method} ${args.join(" ")}`;
    let known = this.asked.get(weights);
    if (!known) {
      for (const old of this.asked.keys()) if (old !== this.weights && old !== this.builtin) this.asked.delete(old);
      this.asked.set(weights, (known = new Map()));
    }
    if (!known.has(key)) known.set(key, this.rules.json(null, method, [weights, ...args]));
    return known.get(key);
  }

  async update() {
    if (!this.weights || find("panel-learn").hidden) return;
    const turn = ++this.turn;
    const both = [this.weights, this.builtin];
    const phase = Number(find("phase").value);
    const [piece, square, other] = ["pair-piece", "pair-square", "pair-other"].map((id) => find(id).value);
    const [tables, pairs] = await Promise.all([
      Promise.all(both.map((weights) => this.ask(weights, "tables"))),
      Promise.all(both.map((weights) => this.ask(weights, "pair_map", piece, square, other))),
    ]);
    if (turn !== this.turn) return;
    // A pawn is 1 here: evaluations count in advantages that win half of the games.
    const pawns = tables.map(({ material }) => Math.max(material.P[phase], 0.1));
    const centered = tables.map(({ squares }, whose) =>
      KINDS.map((kind) => {
        const values = squares[kind].map((value, at) =>
          kind === "P" && (at < 8 || at > 55) ? null : value[phase] / pawns[whose],
        );
        const known = values.filter((value) => value !== null);
        const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
        return values.map((value) => (value === null ? null : value - mean));
      }),
    );
    // One scale for all boards, which does not change while it learns: that of the built-in weights.
    const largest = Math.max(0.25, ...centered[1].flat().map((value) => Math.abs(value ?? 0)));
    this.maps.forEach(({ kind, title, boards }, index) => {
      boards.forEach(({ whose, root, map }, at) => {
        const values = centered[at][index];
        map.show(values, largest);
        const best = values.indexOf(Math.max(...values.map((value) => value ?? -Infinity)));
        const even = values.every((value) => Math.abs(value ?? 0) < 0.005);
        const words = even ? "all squares are alike" : `best on ${squareName(best)}`;
        root.setAttribute("aria-label", `${kindName(kind)}, ${whose}: ${words}`);
      });
      const worth = tables[0].material[kind]?.[phase];
      title.textContent = `${kindName(kind)}${worth === undefined ? "" : ` ${(worth / pawns[0]).toFixed(1)}`}`;
    });
    find("tables-scale").textContent = `Full color: ${largest.toFixed(2)} pawns.`;
    this.pairs = pairs.map(({ values }, whose) => values.map((value) => (value ? value[phase] / pawns[whose] : null)));
    this.chosen = { piece, square, other };
    const at = squareIndex(square);
    this.pairMaps.forEach((map, whose) => map.show(this.pairs[whose], PAIR_SCALE, { [at]: piece }));
    this.words();
  }

  words() {
    const { piece, square, other } = this.chosen;
    const first = `A white ${PIECE_NAMES[piece.toLowerCase()]} on ${square} with a ${pieceWords(other)} on`;
    const sizes = this.pairs[0].map((value) => Math.abs(value ?? 0));
    const at = this.pointed ?? sizes.indexOf(Math.max(...sizes));
    const [now, builtin] = this.pairs.map((values) => values[at]);
    const words =
      now === null || at === squareIndex(square)
        ? `${first} ${squareName(at)}: impossible.`
        : `${first} ${squareName(at)}: ${signed(now, 3)} pawns for White, ${signed(builtin, 3)} in the built-in weights.`;
    find("pair-words").textContent = `${words} The numbers are hundredths of a pawn; click a square to read it.`;
    find("pair-board").setAttribute("aria-label", `Now: ${words}`);
    find("pair-builtin").setAttribute("aria-label", "The same pair in the built-in weights");
  }
}
