// A game as a tree: the main line and variations, with what is known of each position.
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

// A result in print: "1–0", "½–½".
function resultText(result) {
  return result.replace("1/2-1/2", "½–½").replace("-", "–");
}

// The date in PGN.
function today() {
  const now = new Date();
  const padded = (number) => String(number).padStart(2, "0");
  return `${now.getFullYear()}.${padded(now.getMonth() + 1)}.${padded(now.getDate())}`;
}

class Game {
  // `played`, for a game against the engine: the user's side, the opponent, the outcome, the date.
  constructor({ start = START, chess960 = false, tags = {} } = {}) {
    this.start = start;
    this.chess960 = chess960;
    this.tags = tags;
    this.played = null;
    // The text of a pasted game, and its moves.
    this.source = null;
    this.root = { parent: null, children: [], ply: 0, uci: null, san: null };
    this.here = this.root;
    const fields = start.split(" ");
    this.firstNumber = Number(fields[5]) || 1;
    this.blackBegins = fields[1] === "b";
  }

  // The same game with nodes of its own, at the same position.
  copy() {
    const game = Object.assign(new Game(this), { played: this.played, source: this.source });
    const copied = (node, parent) => {
      const made = { ...node, parent };
      if (node === this.here) game.here = made;
      made.children = node.children.map((child) => copied(child, made));
      return made;
    };
    game.root = copied(this.root, null);
    return game;
  }

  // The moves that lead to a node.
  moves(node) {
    const moves = [];
    for (let at = node; at.parent; at = at.parent) moves.unshift(at.uci);
    return moves;
  }

  position(node) {
    return { fen: this.start, moves: this.moves(node), chess960: this.chess960 };
  }

  // The node after a move, made if it is new.
  add(node, uci, san) {
    let child = node.children.find((one) => one.uci === uci);
    if (!child) {
      child = { parent: node, children: [], ply: node.ply + 1, uci, san };
      node.children.push(child);
    }
    return child;
  }

  // Adds moves with their comments and variations.
  addLine(node, moves) {
    let at = node;
    for (const { uci, san, comment, variations } of moves) {
      const parent = at;
      at = this.add(parent, uci, san);
      at.comment = comment;
      for (const line of variations) this.addLine(parent, line);
    }
  }

  remove(node) {
    const { children } = node.parent;
    children.splice(children.indexOf(node), 1);
  }

  // The name of the engine in a game against it.
  get opponentName() {
    const { opponent, elo, nodes } = this.played;
    if (opponent === "engine") return elo === null ? "Dyad" : `Dyad (level ${elo})`;
    const names = { learned: "Dyad as it learned here", "age-0": "Dyad before learning" };
    return `${names[opponent] ?? `Dyad, generation ${opponent.slice(4)}`}${nodes ? " (at its age)" : ""}`;
  }

  // The tags of the PGN.
  get allTags() {
    if (!this.played) return this.tags;
    const { side, outcome, date } = this.played;
    return {
      Event: "Game in a browser",
      Date: date ?? today(),
      White: side === "white" ? "You" : this.opponentName,
      Black: side === "black" ? "You" : this.opponentName,
      Result: outcome?.result ?? "*",
    };
  }

  mainLine() {
    const line = [];
    for (let node = this.root; node; node = node.children[0]) line.push(node);
    return line;
  }

  // The last node of the line through a node.
  end(node = this.root) {
    let at = node;
    while (at.children.length) at = at.children[0];
    return at;
  }

  whiteMoved(node) {
    return (node.ply % 2 === 1) !== this.blackBegins;
  }

  userMoved(node) {
    return this.whiteMoved(node) === (this.played.side === "white");
  }

  // "12." or "12..." before the move of a node.
  number(node) {
    const half = node.ply - 1 + (this.blackBegins ? 1 : 0);
    return `${this.firstNumber + (half >> 1)}${half % 2 ? "..." : "."}`;
  }

  // Moves of a line with their numbers; the first one has this ply.
  numbered(sans, ply) {
    const words = sans.map((san, index) => {
      const at = { ply: ply + index };
      return index === 0 || this.whiteMoved(at) ? `${this.number(at)} ${san}` : san;
    });
    return unbroken(words.join(" "));
  }
}

// The legal moves as the board takes them. A castling move is made by the king's target or the rook's square, unless
// another move of the king has the same target.
function boardMoves(legal) {
  return legal.map((move) => {
    const targets = [move.rook ?? move.to];
    if (move.rook && move.to !== move.rook && move.to !== move.from) {
      const taken = legal.some(
        (other) => other !== move && other.from === move.from && (other.rook ?? other.to) === move.to,
      );
      if (!taken) targets.push(move.to);
    }
    return { uci: move.uci, san: move.san, from: move.from, targets, promotion: move.promotion ?? null };
  });
}

// A move that was typed in SAN or UCI, or null.
function typedMove(legal, text) {
  const plain = (san) => san.replace(/[+#?!=\s]/g, "").replace(/0/g, "O");
  const typed = plain(text);
  return (
    legal.find((move) => plain(move.san) === typed) ??
    legal.find((move) => move.uci === text.trim().toLowerCase()) ??
    legal.find((move) => plain(move.san).toLowerCase() === typed.toLowerCase()) ??
    null
  );
}

// Text in which no line ends between the number of a move and the move.
function unbroken(text) {
  return text.replace(/(\d\.+) (?=\S)/g, "$1\u00a0");
}

// A move, and in words for screen readers.
function moveElements(san) {
  return [san, element("span", { class: "visually-hidden" }, ` (${spoken(san)})`)];
}

// A move in words.
function spoken(san) {
  const ending = san.endsWith("#") ? ", checkmate" : san.endsWith("+") ? ", check" : "";
  if (san.startsWith("O-O-O")) return "castles queenside" + ending;
  if (san.startsWith("O-O")) return "castles kingside" + ending;
  const words = san
    .replace(/[+#]/g, "")
    .replace(/^(?![KQRBN])/, "P")
    .replace(/[KQRBNP]/g, (letter) => ` ${PIECE_NAMES[letter.toLowerCase()]} `)
    .replace("x", " takes ")
    .replace("=", " promotes to ");
  return words.trim().replace(/\s+/g, " ") + ending;
}
