// Why the evaluation is what it is: values on the pieces, pairs, parts, the last move, a whole game.
const EXAMPLE = `[White "Paul Morphy"]
[Black "Duke Karl, Count Isouard"]
[Event "Paris 1858"]

1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5 10. Nxb5 cxb5
11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0
`;

// Times of the searches of one position, in milliseconds: each continues from the table of the one before.
const SEARCHES = [50, 150, 500, ...Array(30).fill(1000)];

// The families of features in words.
const FAMILIES = {
  material: "Material",
  piece_square: "Pieces on their squares",
  material_pairs: "Balance of the pieces",
  mobility: "Mobility",
  pawns: "Pawn structure",
  passed: "Passed pawns",
  pieces: "Posts of the pieces",
  threats: "Threats",
  king: "King safety",
  space: "Space",
  winnability: "Winnability",
  pairs: "Pairs of pieces",
};

// A number with a real minus sign; zero has none.
function decimal(value, digits) {
  const text = Math.abs(value).toFixed(digits);
  return (value < 0 && Number(text) !== 0 ? "−" : "") + text;
}

function signed(value, digits) {
  const text = decimal(value, digits);
  return value > 0 && Number(text) !== 0 ? "+" + text : text;
}

// A score as text, with a real minus sign.
function scoreText(score) {
  return score.text.replace("-", "−");
}

// The values of the pieces by square, for the board.
function valueNotes(explained) {
  const note = ({ square, worth }) => [square, decimal(worth, 1)];
  return Object.fromEntries(explained.pieces.map(note));
}

// What the position is, in words, of a score.
function verdictWords(score) {
  const side = (white) => (white ? "White" : "Black");
  if (score.mate !== undefined) return `${side(score.mate > 0)} mates in ${Math.abs(score.mate)}`;
  const size = Math.abs(score.cp),
    who = side(score.cp > 0);
  if (size < 25) return "the position is even";
  return `${who} is ${size < 70 ? "slightly better" : size < 150 ? "better" : size < 300 ? "much better" : "winning"}`;
}

// White's share of the evaluation bar and of the graph, 0 to 1.
function share(score) {
  if (score.mate !== undefined) return score.mate >= 0 ? 1 : 0;
  return 0.5 + 0.5 * Math.tanh(score.cp / 500);
}

// What is shown until the sentence for a move is known.
function searchingElement(game, node) {
  const words = `${game.number(node)} ${node.san}: searching for something better ...`;
  return element("p", { class: "muted" }, words);
}

// The sentence for a move, with the better line.
function whyElements(game, node, play) {
  const { why } = node;
  const kind = why.judgement?.toLowerCase();
  const title = element(
    "p",
    {},
    element("b", {}, `${game.number(node)} ${why.san}${why.glyph ?? ""}`),
    why.judgement ? element("span", { class: kind }, ` ${why.judgement}`) : "",
  );
  if (why.score) title.append(element("span", { class: "muted" }, ` ${scoreText(why.score)}`));
  const parts = why.sentence ? [title, element("p", {}, unbroken(why.sentence))] : [title];
  if (why.judgement && why.line?.length) {
    // The first moves show the point; the button plays all of them.
    const first = game.numbered(why.line.slice(0, 5), node.ply);
    const line = element("p", { class: "better" }, `Better: ${first}${why.line.length > 5 ? " ..." : ""} `);
    if (why.best_score) line.append(element("span", { class: "muted" }, scoreText(why.best_score) + " "));
    if (play) line.append(element("button", { type: "button", onclick: play }, "Show it"));
    parts.push(line);
  }
  return parts;
}

// What was better, and what the move allows: on the board after it.
function arrowsOf({ judgement, best, marks }) {
  if (!judgement) return [];
  const better = { from: best.slice(0, 2), to: best.slice(2, 4), good: true };
  const isKnown = marks.some(({ from, to }) => from === better.from && to === better.to);
  return isKnown ? marks : [better, ...marks];
}

class Explain {
  constructor(table, { rules, analysis, weights }) {
    this.table = table;
    this.rules = rules;
    this.analysis = analysis;
    this.weights = weights;
    this.name = "explain";
    this.showsScores = true;
    this.turn = 0;
    this.learner = null;
    this.annotating = null;
    this.chosen = null;
    this.hovered = null;
    find("show-values").addEventListener("change", () => this.paint());
    find("pairs-fold").addEventListener("toggle", () => this.paint());
    find("save-pgn").addEventListener("click", () => this.savePgn().catch(showError));
    find("show-engine").addEventListener("change", () => this.search().catch(showError));
    find("explain-weights").addEventListener("change", () => this.changeWeights().catch(showError));
    find("annotate").addEventListener("click", () =>
      this.annotating ? this.stopAnnotating() : this.annotate().catch(showError),
    );
    find("paste").addEventListener("submit", (event) => {
      event.preventDefault();
      this.read(find("paste-text").value).catch(showError);
    });
    find("example").addEventListener("click", () => {
      find("paste-text").value = EXAMPLE;
      this.read(EXAMPLE).catch(showError);
    });
    find("pgn-file").addEventListener("change", () => this.readFile().catch(showError));
    find("game-number").addEventListener("change", () => this.choose(Number(find("game-number").value)));
    find("graph").addEventListener("click", (event) => {
      const line = this.game.mainLine();
      const box = find("graph").getBoundingClientRect();
      const place = Math.round(((event.clientX - box.left) / box.width) * (line.length - 1));
      this.table.go(line[Math.min(Math.max(place, 0), line.length - 1)]);
    });
  }

  get game() {
    return this.table.game;
  }

  mayMove() {
    return true;
  }

  // A copy of the game that is played, so that variations stay out of it; the same one until a move is played.
  copyOf(game) {
    const moves = game.moves(game.end()).join(" ");
    if (this.copy?.of === game && this.copy.moves === moves) return this.copy.game;
    this.copy = { of: game, moves, game: game.copy() };
    return this.copy.game;
  }

  selected(square) {
    const pieces = placement(this.game.here.info?.fen ?? this.game.start);
    this.chosen = square && pieces[squareIndex(square)] ? square : null;
    if (this.chosen) find("pairs-fold").open = true;
    this.pairs().catch(showError);
  }

  shown(node) {
    this.chosen = null;
    this.hovered = null;
    const turn = ++this.turn;
    find("to-played").hidden = !this.ownGame;
    this.say(node);
    this.explain(node, turn).catch(showError);
    this.lastMove(node, turn).catch(showError);
    this.search().catch(showError);
    this.graph();
  }

  // How the game ended here; null where it goes on after a draw that was not claimed.
  outcome(node) {
    const { outcome, legal } = node.info;
    return legal.length && node.children.length ? null : outcome;
  }

  // The sentence below the board.
  say(node) {
    const { check, turn } = node.info;
    const outcome = this.outcome(node);
    const move = node.parent ? [`${this.game.number(node)} `, ...moveElements(node.san), ". "] : [];
    const next = outcome
      ? `${resultText(outcome.result)}: ${outcome.reason}.`
      : `${turn === "white" ? "White" : "Black"} to move${check ? ", in check" : ""}.`;
    this.table.say(...move, next);
  }

  async explain(node, turn) {
    const explainer = this.explainer();
    const found =
      explainer === this.rules
        ? await this.table.explained(node)
        : await explainer.at(this.game.position(node), "explain");
    if (turn !== this.turn || node !== this.game.here) return;
    this.explained = found;
    this.node = node;
    this.verdict(found.score, "static");
    this.families(found.groups);
    this.worths(found.pieces);
    await this.pairs();
  }

  // The parts of the evaluation, summed by family.
  families(groups) {
    const sums = new Map();
    for (const { family, about, white, black, total } of groups) {
      const name = FAMILIES[family] ?? about;
      const sum = sums.get(name) ?? [0, 0, 0];
      sums.set(name, [sum[0] + white, sum[1] + black, sum[2] + total]);
    }
    const rows = [...sums].filter(([, values]) => values.some((value) => Math.abs(value) >= 0.005));
    find("groups").tBodies[0].replaceChildren(
      ...rows.map(([name, values]) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, name),
          ...values.map((value) => element("td", {}, signed(value, 2))),
        ),
      ),
    );
  }

  worths(pieces) {
    const one = (white) =>
      pieces
        .filter(({ piece }) => isWhite(piece) === white)
        .sort((a, b) => b.worth - a.worth)
        .map(({ square, piece, worth }) =>
          element(
            "li",
            {},
            pieceImage(piece),
            element("span", {}, `${piece.toUpperCase() === "P" ? "" : piece.toUpperCase()}${square}`),
            element("b", {}, decimal(worth, 2)),
          ),
        );
    find("worths-white").replaceChildren(...one(true));
    find("worths-black").replaceChildren(...one(false));
  }

  // The worker that explains: the one of the rules has the built-in weights.
  explainer() {
    return find("explain-weights").value === "learned" && this.learner ? this.learner : this.rules;
  }

  async changeWeights() {
    if (find("explain-weights").value === "learned") {
      this.learner ??= new EngineRemote("The worker of the learned weights");
      await this.learner.setWeights(await this.weights("learned"));
    }
    this.shown(this.game.here);
  }

  // Shows a score. Before a static one goes that of the search of the last move, if it is known.
  verdict(given, how) {
    const { here } = this.game;
    if (how === "static" && this.searched === here) return;
    const outcome = this.outcome(here);
    const before = how === "static" && this.explainer() === this.rules ? here.why?.score : null;
    const score = before ?? given;
    find("verdict").textContent = outcome ? resultText(outcome.result) : scoreText(score);
    const origin = before ? `by search (${scoreText(given)} without)` : how === "static" ? "without search" : "by search";
    find("verdict-words").textContent = outcome ? outcome.reason : `${verdictWords(score)}, ${origin}`;
    const bar = find("bar");
    const white = outcome ? ({ "1-0": 1, "0-1": 0 }[outcome.result] ?? 0.5) : share(score);
    bar.firstElementChild.style.height = `${100 * white}%`;
    bar.setAttribute("aria-label", `Evaluation ${scoreText(score)}`);
  }

  // The list of pairs: of the chosen piece, or of the whole position.
  async pairs() {
    const { node, explained, chosen, turn } = this;
    let pairs = explained?.pairs ?? [];
    let title = "Pairs that matter most";
    if (chosen && node === this.game.here) {
      const hint = await this.explainer().at(this.game.position(node), "hint", [chosen]);
      if (turn !== this.turn || chosen !== this.chosen) return;
      pairs = hint.pairs;
      title = `Pairs of the ${pieceWords(placement(node.info.fen)[squareIndex(chosen)])} on ${chosen}`;
    }
    find("pairs-title").textContent = title;
    this.shownPairs = pairs;
    this.hovered = null;
    find("pairs").replaceChildren(
      ...pairs.map((pair, index) => {
        const button = element(
          "button",
          { type: "button", class: pair.pawns >= 0 ? "for-white" : "for-black", "aria-pressed": "false" },
          this.pairWords(pair),
          element(
            "span",
            { class: "who" },
            `${Math.abs(pair.pawns).toFixed(2)} for ${pair.pawns >= 0 ? "White" : "Black"}`,
          ),
        );
        const show = () => {
          this.hovered = index;
          this.paint();
        };
        // Only a pointer that moves: the list is also renewed below a pointer at rest.
        button.addEventListener("pointermove", (event) => {
          if ((event.movementX || event.movementY) && this.hovered !== index) show();
        });
        button.addEventListener("focus", show);
        button.addEventListener("click", show);
        return element("li", {}, button);
      }),
    );
    if (!pairs.length) {
      const words = "No pair stands out: what both sides have alike is left out.";
      find("pairs").append(element("li", { class: "muted" }, words));
    }
    this.paint();
  }

  pairWords({ a, b }) {
    const words = ({ square, piece }) => [
      pieceImage(piece),
      element("span", { class: "visually-hidden" }, pieceWords(piece) + " "),
      square,
    ];
    return element(
      "span",
      { class: "two" },
      ...words(a),
      " with ",
      ...words(b),
      element("span", { class: "visually-hidden" }, ": "),
    );
  }

  // Numbers and tints on the board.
  paint() {
    if (this.table.mode !== this) return;
    const { board } = this.table;
    board.setNotes(find("show-values").checked && this.explained ? valueNotes(this.explained) : null);
    const pair = this.shownPairs?.[this.hovered ?? 0];
    [...find("pairs").querySelectorAll("button")].forEach((button, index) => {
      button.setAttribute("aria-pressed", String(find("pairs-fold").open && index === (this.hovered ?? 0)));
    });
    if (!pair || !find("pairs-fold").open) return board.setTints(null);
    const tint = pair.pawns >= 0 ? "good" : "bad";
    return board.setTints({ [pair.a.square]: tint, [pair.b.square]: tint });
  }

  // The sentence for the last move, once the user stays for a moment.
  async lastMove(node, turn) {
    const place = find("last-move");
    const { game } = this;
    place.hidden = !node.parent;
    if (!node.parent) return;
    if (!node.why) {
      place.replaceChildren(...commentElements(node), searchingElement(game, node));
      await sleep(250);
      if (turn !== this.turn || game !== this.game) return;
      await this.why(node, game);
      if (turn !== this.turn || game !== this.game) return;
    }
    place.replaceChildren(...commentElements(node), ...whyElements(game, node, () => this.better(node)));
    if (this.table.mode === this) this.table.board.setArrows(arrowsOf(node.why));
    if (this.explained && this.node === node) this.verdict(this.explained.score, "static");
  }

  async why(node, game = this.game) {
    await this.table.why(node, game);
    if (game === this.table.game) this.table.list();
  }

  // Adds the better line as a variation and goes to its first move.
  async better(node) {
    let at = node.parent;
    let first = null;
    for (const san of node.why.line) {
      const { legal } = await this.table.info(at);
      const move = typedMove(legal, san);
      if (!move) break;
      at = this.game.add(at, move.uci, move.san);
      first ??= at;
    }
    this.table.list();
    await this.table.go(first ?? node);
  }

  // Searches the position that is shown, longer and longer.
  async search() {
    const wanted = find("show-engine").checked && this.table.mode === this;
    find("engine").hidden = !wanted;
    this.searched = null;
    const { turn } = this;
    const game = this.game;
    const node = game.here;
    if (!wanted) {
      if (this.explained) this.verdict(this.explained.score, "static");
      return;
    }
    find("engine-line").textContent = "";
    const isOver = !!this.outcome(node);
    find("engine-score").textContent = isOver ? "The game is over." : "Searching ...";
    if (isOver || this.searching === turn) return;
    this.searching = turn;
    const still = () =>
      turn === this.turn && node === this.game.here && find("show-engine").checked && this.table.mode === this;
    const show = (found) => {
      if (!still() || !found.best) return;
      this.searched = node;
      this.verdict(found.score, "search");
      find("engine-score").textContent =
        `${scoreText(found.score)} after ${found.depth} plies, ${grouped(found.nodes)} nodes`;
      find("engine-line").textContent = game.numbered(found.pv_san.slice(0, 12), node.ply + 1);
    };
    for (const movetime of SEARCHES) {
      if (!still()) break;
      const found = await this.analysis.at(game.position(node), "go", [JSON.stringify({ movetime })], show);
      show(found);
      if (found.score.mate !== undefined && movetime >= 500) break;
    }
    if (this.searching === turn) this.searching = null;
  }

  // Explains all moves of the main line, one after another.
  async annotate() {
    const game = this.game;
    const line = game.mainLine().slice(1);
    if (!line.length) {
      this.problem("There are no moves to explain: paste a game first.");
      return;
    }
    const work = { stopped: false };
    this.annotating = work;
    find("annotate").textContent = "Stop";
    find("annotating").hidden = false;
    try {
      for (const [index, node] of line.entries()) {
        find("annotate-progress").value = index / line.length;
        find("annotate-words").textContent = `Move ${(index >> 1) + 1} of ${(line.length + 1) >> 1}`;
        await this.why(node, game);
        if (work.stopped || this.table.game !== game) break;
        if (game.here === node) this.lastMove(node, this.turn).catch(showError);
        this.graph();
      }
    } finally {
      if (this.annotating === work) this.annotating = null;
      // Another game may be explained by now.
      if (!this.annotating) {
        find("annotate").textContent = "Explain every move";
        find("annotating").hidden = true;
      }
    }
    if (!work.stopped && this.table.game === game) this.summary(line);
  }

  // Saves the game as PGN with the explanations as comments, arrows and variations.
  async savePgn() {
    const { game } = this;
    const button = find("save-pgn");
    const before = button.textContent;
    button.disabled = true;
    try {
      const end = game.position(game.end());
      // The text of a pasted game has its comments and variations.
      const text =
        game.source?.moves === end.moves.join(" ")
          ? game.source.text
          : await this.rules.callAt(end, "pgn", [JSON.stringify(game.allTags)]);
      const pgn = await this.analysis.call("Engine", "annotated_pgn", [text, 60_000], (progress) => {
        const { done, of } = JSON.parse(progress);
        button.textContent = `Move ${(done + 1) >> 1} of ${(of + 1) >> 1}`;
      });
      const { White = "game", Black } = game.allTags;
      saveFile(`${[White, Black].filter(Boolean).join("-")}.pgn`.replace(/[^\w.-]+/g, "_"), pgn, "application/x-chess-pgn");
    } finally {
      button.disabled = false;
      button.textContent = before;
    }
  }

  stopAnnotating() {
    if (this.annotating) this.annotating.stopped = true;
    this.annotating = null;
  }

  summary(line) {
    const count = (judgement, white) =>
      line.filter((node) => node.why?.judgement === judgement && this.game.whiteMoved(node) === white).length;
    const kinds = {
      Inaccuracy: ["inaccuracy", "inaccuracies"],
      Mistake: ["mistake", "mistakes"],
      Blunder: ["blunder", "blunders"],
    };
    const words = (white) =>
      Object.entries(kinds)
        .map(([kind, [one, more]]) => {
          const number = count(kind, white);
          return `${number} ${number === 1 ? one : more}`;
        })
        .join(", ");
    this.table.say(`All moves are explained. White: ${words(true)}. Black: ${words(false)}.`);
  }

  graph() {
    const line = this.game.mainLine();
    const known = line.filter((node) => node.why?.score);
    find("graph-figure").hidden = known.length < 2;
    if (known.length < 2) return;
    const x = (index) => (line.length > 1 ? (600 * index) / (line.length - 1) : 0);
    const points = line.flatMap((node, index) =>
      node.why?.score ? [[x(index), 100 - 100 * share(node.why.score)]] : index === 0 ? [[0, 47]] : [],
    );
    const path = points.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");
    const end = points.at(-1)[0];
    const marks = line.flatMap((node, index) =>
      node.why?.judgement
        ? [
            svgElement("line", {
              x1: x(index),
              x2: x(index),
              y1: 0,
              y2: 100,
              class: `mark ${node.why.judgement.toLowerCase()}`,
            }),
          ]
        : [],
    );
    let main = this.game.here;
    while (!line.includes(main)) main = main.parent;
    const here = x(line.indexOf(main));
    find("graph").replaceChildren(
      svgElement("rect", { x: 0, y: 0, width: 600, height: 100, class: "black-side" }),
      svgElement("polygon", { points: `0,100 ${path} ${end},100`, class: "white-side" }),
      svgElement("line", { x1: 0, x2: 600, y1: 50, y2: 50, class: "middle" }),
      ...marks,
      svgElement("line", { x1: here, x2: here, y1: 0, y2: 100, class: "here" }),
    );
  }

  problem(text) {
    find("paste-problem").textContent = text;
  }

  async readFile() {
    const [file] = find("pgn-file").files;
    find("pgn-file").value = "";
    if (!file) return;
    if (file.size > 5_000_000) {
      this.problem("This file is larger than 5 MB. Paste one game of it.");
      return;
    }
    const bytes = await file.arrayBuffer();
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      text = new TextDecoder("windows-1252").decode(bytes);
    }
    find("paste-text").value = text.slice(0, 20000);
    await this.read(text);
  }

  // Reads a game or a position.
  async read(text) {
    this.problem("");
    this.stopAnnotating();
    find("game-choice").hidden = true;
    if (!text.trim()) {
      this.problem("Paste the moves of a game, or a position as FEN.");
      return;
    }
    const plain = text.trim();
    if (/^([pnbrqkPNBRQK1-8]+\/){7}[pnbrqkPNBRQK1-8]+\s/.test(plain + " ")) {
      const fields = plain.split(/\s+/);
      const fen = [...fields, ..."w - - 0 1".split(" ").slice(fields.length - 1)].slice(0, 6).join(" ");
      try {
        await this.rules.position({ fen });
      } catch (error) {
        this.problem(`This is not a position: ${error.message}.`);
        return;
      }
      this.open(new Game({ start: fen, chess960: /[A-HJ-Za-hj-z]/.test((fields[2] ?? "").replace(/[KQkq-]/g, "")) }));
      return;
    }
    const { games, problems } = await this.rules.json("Engine", "read_pgn", [text]);
    if (problems.length) this.problem(problems.slice(0, 3).join(" "));
    this.games = games.filter((game) => game.moves.length || game.start !== START);
    if (!this.games.length) {
      if (!problems.length) this.problem("No game is found in this text. A game looks like: 1. e4 e5 2. Nf3 Nc6");
      return;
    }
    const name = ({ tags }, index) =>
      `${index + 1}. ${tags.White ?? "?"} – ${tags.Black ?? "?"}${tags.Date ? `, ${tags.Date.slice(0, 4)}` : ""}`;
    find("game-choice").hidden = this.games.length < 2;
    find("game-number").replaceChildren(
      ...this.games.map((game, index) => element("option", { value: index }, name(game, index))),
    );
    this.choose(0);
  }

  choose(index) {
    const { start, chess960, tags, moves, result, text } = this.games[index];
    const game = new Game({ start, chess960, tags: result ? { ...tags, Result: result } : tags });
    game.addLine(game.root, moves);
    game.source = { text, moves: game.moves(game.end()).join(" ") };
    this.open(game);
    if (moves.length && this.table.game === game) this.annotate().catch(showError);
  }

  open(game) {
    this.stopAnnotating();
    this.ownGame = game;
    // Otherwise it is shown when this tab is chosen.
    if (this.table.mode === this) this.table.setGame(game, game.root).catch(showError);
  }
}
