// The board with what belongs to it: the game that is shown, its move list, the buttons that step through it.
/** @returns {any} An element of the page. */
const find = (id) => document.getElementById(id);

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// The comment of a pasted game on a move.
function commentElements({ comment }) {
  return comment ? [element("p", { class: "comment" }, comment)] : [];
}

// A whole number with separators between thousands.
function grouped(number) {
  return Math.round(number).toLocaleString("en");
}

function showError(error) {
  if (error instanceof Stopped) return;
  console.warn(error);
  const text = String(error?.message ?? error);
  const close = element("button", { type: "button", "aria-label": "Close the message" }, "Close");
  const note = element("p", { class: "alert" }, text.charAt(0).toUpperCase() + text.slice(1) + " ", close);
  close.addEventListener("click", () => note.remove());
  find("alerts").replaceChildren(note);
}

// Whether a button is clicked a second time, after it has asked.
function isSure(button, question) {
  if (button.dataset.before) {
    button.textContent = button.dataset.before;
    delete button.dataset.before;
    return true;
  }
  button.dataset.before = button.textContent;
  button.textContent = question;
  setTimeout(() => {
    if (!button.dataset.before) return;
    button.textContent = button.dataset.before;
    delete button.dataset.before;
  }, 5000);
  return false;
}

// Saves a file as a download.
function saveFile(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// Copies a text; without permission, or from a folder, it is shown, to be copied by hand.
async function copyText(button, text) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    find("by-hand").hidden = false;
    find("by-hand-text").value = text;
    find("by-hand-text").select();
  }
  setTimeout(() => (button.textContent = before), 2000);
}

class Table {
  // `rules` is the worker that knows the rules, `analysis` the one that judges moves. The mode of the page, play or
  // explain, decides who may move.
  constructor(rules, analysis) {
    this.rules = rules;
    this.analysis = analysis;
    this.mode = null;
    this.turn = 0;
    this.buttons = new Map();
    this.board = new Board(find("board"), {
      onMove: (uci, dropped) => this.userMove(uci, dropped).catch(showError),
      onPremove: (premove) => this.mode?.premoved?.(premove),
      onSelect: (square) => this.mode?.selected?.(square),
    });
    for (const what of ["first", "back", "next", "last"]) {
      find(`go-${what}`).addEventListener("click", () => this.step(what));
    }
    find("flip").addEventListener("click", () => this.flip());
    find("typed").addEventListener("submit", (event) => this.typed(event));
    find("copy-pgn").addEventListener("click", () => this.copyPgn().catch(showError));
    find("copy-fen").addEventListener("click", () => {
      if (this.game) copyText(find("copy-fen"), this.game.here.info?.fen ?? this.game.start);
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || find("table").hidden) return;
    if (event.target.closest?.("input, select, textarea, [role=tab], .scroll")) return;
    const act = { ArrowRight: "next", ArrowLeft: "back", Home: "first", End: "last" }[event.key];
    if (act) this.step(act);
    else if (event.key === "f") this.flip();
    else return;
    event.preventDefault();
  }

  flip(flipped = !this.board.flipped) {
    this.board.flip(flipped);
    if (this.game) this.strips();
    find("bar").classList.toggle("flipped", flipped);
  }

  step(what) {
    // No game is shown yet.
    if (!this.game) return;
    const { here } = this.game;
    if (what === "next") this.go(here.children[0] ?? here);
    else if (what === "back") this.go(here.parent ?? here);
    else if (what === "first") this.go(this.game.root);
    else this.go(this.game.end(here));
  }

  setGame(game, node = game.end()) {
    if (game !== this.game) this.board.select(null);
    this.game = game;
    this.list();
    return this.go(node);
  }

  // What is known of a node's position.
  async info(node, game = this.game) {
    node.info ??= await this.rules.position(game.position(node));
    return node.info;
  }

  // What its position is worth by the built-in weights.
  async explained(node) {
    node.explained ??= await this.rules.at(this.game.position(node), "explain");
    return node.explained;
  }

  // How good its move is.
  async why(node, game = this.game) {
    node.why ??= await this.analysis.at(game.position(node.parent), "why", [node.uci]);
    return node.why;
  }

  // Shows the position of a node.
  async go(node, dropped = false) {
    const turn = ++this.turn;
    this.game.here = node;
    this.board.setArrows([]);
    this.current();
    let info;
    try {
      info = await this.info(node);
    } catch (error) {
      showError(error);
      return;
    }
    if (turn !== this.turn) return;
    this.show(node, dropped);
    this.mode?.shown?.(node);
  }

  show(node, dropped = false) {
    const { info } = node;
    this.board.show({
      fen: info.fen,
      moves: this.mode?.mayMove(node) ? boardMoves(info.legal) : [],
      last: info.last ? [info.last.from, info.last.to] : [],
      check: info.check,
      dropped,
      premoveSide: this.mode?.premoveSide?.(node),
    });
    this.strips();
  }

  async userMove(uci, dropped = false) {
    const { here } = this.game;
    const move = here.info?.legal.find((one) => one.uci === uci);
    if (!move || !this.mode.mayMove(here)) return;
    // The user may choose another mode meanwhile.
    const { mode } = this;
    const known = here.children.length;
    const node = this.game.add(here, uci, move.san);
    if (here.children.length > known && mode.name !== "play") node.tried = true;
    this.board.lock();
    this.list();
    await this.go(node, dropped);
    mode.moved?.(node);
  }

  typed(event) {
    event.preventDefault();
    if (!this.game) return;
    const input = find("typed-move");
    const { here } = this.game;
    const move = here.info && this.mode.mayMove(here) ? typedMove(here.info.legal, input.value) : null;
    input.setAttribute("aria-invalid", String(!move));
    if (!move) {
      this.say(
        !input.value.trim()
          ? "Type a move, such as Nf3 or e2e4."
          : this.mode.mayMove(here)
            ? `${input.value.trim()} is not a legal move here.`
            : "It is not your move.",
      );
      return;
    }
    input.value = "";
    this.userMove(move.uci).catch(showError);
  }

  // The line below the board, which screen readers speak: texts and elements.
  say(...parts) {
    const line = element("p", {}, ...parts);
    if (find("status").textContent !== line.textContent) find("status").replaceChildren(...line.childNodes);
  }

  // The names of the players above and below the board, with what each has more.
  strips() {
    const { White, Black } = this.game.allTags;
    const pieces = placement(this.game.here.info?.fen ?? this.game.start);
    const values = { p: 1, n: 3, b: 3, r: 5, q: 9, k: 0 };
    const count = (letter) => pieces.filter((one) => one === letter).length;
    const surplus = (white) =>
      [..."qrbnp"].flatMap((kind) => {
        const [own, other] = white ? [kind.toUpperCase(), kind] : [kind, kind.toUpperCase()];
        return Array(Math.max(count(own) - count(other), 0)).fill(own);
      });
    const points = pieces.reduce(
      (sum, letter) => sum + (letter ? values[letter.toLowerCase()] * (isWhite(letter) ? 1 : -1) : 0),
      0,
    );
    for (const [id, white] of [
      ["strip-top", this.board.flipped],
      ["strip-bottom", !this.board.flipped],
    ]) {
      const color = white ? "white" : "black";
      const ahead = white ? points : -points;
      const images = element("span", { class: "surplus", "aria-hidden": "true" }, ...surplus(white).map(pieceImage));
      const turn = this.game.here.info && !this.game.here.info.outcome && this.game.here.info.turn === color;
      find(id).replaceChildren(
        element("span", { class: `dot ${color}${turn ? " turn" : ""}`, "aria-hidden": "true" }),
        element("span", { class: "name" }, white ? (White ?? "White") : (Black ?? "Black")),
        images,
        ahead > 0 ? element("span", { class: "muted", title: "material ahead, in pawns" }, `+${ahead}`) : "",
      );
      if (this.mode.thinking && color !== this.game.played.side) find(id).append(element("span", { class: "thinking" }, "thinking"));
    }
  }

  // Writes the move list.
  list() {
    const moves = find("moves");
    const scroll = moves.scrollTop;
    const [focused] = [...this.buttons].find(([, button]) => button === document.activeElement) ?? [];
    this.buttons.clear();
    moves.replaceChildren();
    const line = this.game.mainLine().slice(1);
    if (!line.length) moves.append(element("p", { class: "muted" }, "No moves yet."));
    let row = null;
    for (const node of line) {
      const white = this.game.whiteMoved(node);
      if (white || !row) {
        row = element(
          "div",
          { class: "row" },
          element("span", { class: "number" }, this.game.number(node).replace("...", ".")),
        );
        if (!white) row.append(element("span", { class: "gap" }, "…"));
        moves.append(row);
      }
      row.append(this.moveButton(node));
      const others = node.parent.children.slice(1).map((child) => this.variation(child));
      const notes = [...commentElements(node), ...this.remarks(node), ...others];
      if (notes.length) {
        moves.append(element("div", { class: "notes" }, ...notes));
        row = null;
      }
      if (!white) row = null;
    }
    moves.scrollTop = scroll;
    this.buttons.get(focused)?.focus({ preventScroll: true });
    this.current();
  }

  moveButton(node, number) {
    const { why } = node;
    const button = element("button", {
      type: "button",
      class: why?.judgement ? why.judgement.toLowerCase() : null,
      onclick: () => this.go(node),
    });
    button.append((number ? this.game.number(node) + " " : "") + node.san);
    if (why?.glyph) button.append(element("b", { class: "glyph" }, why.glyph));
    if (why?.score && this.mode?.showsScores) button.append(element("span", { class: "eval" }, scoreText(why.score)));
    this.buttons.set(node, button);
    return button;
  }

  variation(first) {
    const line = element("div", { class: "variation" });
    let number = true;
    for (let node = first; node; node = node.children[0]) {
      line.append(this.moveButton(node, number || this.game.whiteMoved(node)));
      line.append(...commentElements(node));
      number = !!node.comment;
      for (const other of node === first ? [] : node.parent.children.slice(1)) {
        line.append(this.variation(other));
        number = true;
      }
    }
    return line;
  }

  remarks(node) {
    if (!node.why?.judgement || !node.why.sentence || !this.mode?.showsScores) return [];
    return [element("p", { class: `remark ${node.why.judgement.toLowerCase()}` }, unbroken(node.why.sentence))];
  }

  // Marks the move that is shown.
  current() {
    for (const [node, button] of this.buttons) {
      if (node === this.game.here) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    const button = this.buttons.get(this.game.here);
    const moves = find("moves");
    if (!button) moves.scrollTop = 0;
    else {
      const [inner, outer] = [button.getBoundingClientRect(), moves.getBoundingClientRect()];
      if (inner.top < outer.top) moves.scrollTop -= outer.top - inner.top + 8;
      else if (inner.bottom > outer.bottom) moves.scrollTop += inner.bottom - outer.bottom + 8;
    }
    find("go-back").disabled = find("go-first").disabled = !this.game.here.parent;
    find("go-next").disabled = find("go-last").disabled = !this.game.here.children.length;
  }

  async copyPgn() {
    const end = this.game.end(this.game.here);
    const tags = { ...this.game.allTags };
    // The result is that of the game, not of a variation or of moves that the user tried.
    const isGame = end === this.game.end() && !this.game.mainLine().some((node) => node.tried);
    if (!isGame) tags.Result = "*";
    const text = await this.rules.callAt(this.game.position(end), "pgn", [JSON.stringify(tags)]);
    await copyText(find("copy-pgn"), text);
  }
}
