// A game against the engine.
// Positions of a move of weights at their age: as in the games against levels, by which their strength is known.
const AGE_NODES = 20;

const TIMES = [
  [100, "a tenth of a second: instant"],
  [300, "a third of a second: quick"],
  [1000, "1 second: strong"],
  [3000, "3 seconds: very strong"],
  [5000, "5 seconds: stronger still"],
  [10000, "10 seconds: strongest"],
];

// Milliseconds before the answer of a level: it would come in the middle of one's own move.
const PAUSE = 600;

class Play {
  // `weights` is a function from the name of an opponent with weights of its own to a promise of these, or of null.
  constructor(table, { rules, engine, analysis, levels, weights }) {
    this.table = table;
    this.rules = rules;
    this.engine = engine;
    this.analysis = analysis;
    this.levels = levels;
    this.weights = weights;
    this.name = "play";
    this.thinking = null;
    this.turn = 0;
    find("level").max = levels.length - 1;
    find("time").max = TIMES.length - 1;
    const kept = recall("settings") ?? {};
    const known = levels.findIndex((level) => level.id === kept.level);
    find("level").value = known < 0 ? 4 : known;
    find("time").value = kept.time ?? 2;
    for (const id of ["level", "time", "opponent", "at-age"]) find(id).addEventListener("input", () => this.describe());
    for (const radio of document.querySelectorAll("[name=variant]"))
      radio.addEventListener("change", () => this.describe());
    find("new-game").addEventListener("submit", (event) => {
      event.preventDefault();
      const side = event.submitter?.value ?? "white";
      this.start(side === "any" ? (Math.random() < 0.5 ? "white" : "black") : side).catch(showError);
    });
    find("take-back").addEventListener("click", () => this.takeBack());
    find("hint").addEventListener("click", () => this.hint().catch(showError));
    find("move-now").addEventListener("click", () => this.moveNow());
    find("resign").addEventListener("click", () => isSure(find("resign"), "Really resign?") && this.resign());
    find("sound").checked = recall("sound") === true;
    find("sound").addEventListener("change", () => remember("sound", find("sound").checked));
    for (const id of ["play-values", "play-comments"])
      find(id).addEventListener("change", () => this.shown(this.table.game.here));
    this.describe();
  }

  get variant() {
    return find("new-game").elements.variant.value;
  }

  // Writes the settings in words.
  describe() {
    const level = this.levels[find("level").value];
    const opponent = find("opponent").value;
    const ofLevel = opponent === "engine" && level.elo !== null;
    find("level-words").textContent = opponent === "engine" ? level.name : "full strength of these weights";
    find("level").disabled = opponent !== "engine";
    find("age-choice").hidden = opponent === "engine";
    const atAge = opponent !== "engine" && find("at-age").checked;
    if (atAge) find("level-words").textContent = `as it plays with ${AGE_NODES} positions a move`;
    find("time-words").textContent = ofLevel
      ? "as long as the level needs, mostly under a second"
      : atAge
        ? "a moment"
        : TIMES[find("time").value][1];
    find("time").disabled = ofLevel || atAge;
    find("level").setAttribute("aria-valuetext", find("level-words").textContent);
    find("time").setAttribute("aria-valuetext", find("time-words").textContent);
    find("start-number").disabled = this.variant !== "number";
    remember("settings", { level: level.id, time: Number(find("time").value) });
  }

  // Whether the game on the board may be thrown away.
  mayReplace() {
    const begun = this.game && !this.game.played.outcome && this.game.end().ply > 1;
    return !begun || confirm("A new game ends the one on the board. Begin it?");
  }

  async start(side, opponent = find("opponent").value) {
    if (!this.mayReplace()) return;
    this.cancel();
    let start = START,
      chess960 = false;
    if (this.variant !== "standard") {
      const input = find("start-number");
      if (this.variant === "random") input.value = Math.floor(960 * Math.random());
      const number = Math.min(Math.max(Math.round(Number(input.value)) || 0, 0), 959);
      input.value = String(number);
      start = await this.rules.call(null, "chess960", [number]);
      chess960 = true;
    }
    const game = new Game({ start, chess960 });
    game.played = this.settings(side, opponent);
    await this.begin(game);
  }

  // What is chosen for a game.
  settings(side, opponent = find("opponent").value) {
    const level = this.levels[find("level").value];
    return {
      side,
      opponent,
      level: opponent === "engine" ? level.id : "full",
      elo: opponent === "engine" ? level.elo : null,
      time: TIMES[find("time").value][0],
      nodes: opponent !== "engine" && find("at-age").checked ? AGE_NODES : null,
      seed: Math.floor(Math.random() * 2 ** 31),
      outcome: null,
      date: today(),
    };
  }

  // Plays on from a position of any game, as the side to move, against the opponent that is chosen.
  async from(game, node) {
    if (!this.mayReplace()) return;
    this.cancel();
    const { start, chess960 } = game;
    const own = new Game({ start, chess960 });
    own.played = this.settings(node.info.turn);
    let at = own.root;
    for (const uci of game.moves(node)) at = own.add(at, uci, "");
    const { sans } = await this.rules.position(own.position(at));
    for (; at.parent; at = at.parent) at.san = sans[at.ply - 1];
    await this.begin(own);
  }

  async begin(game) {
    this.game = game;
    const { played } = game;
    const weights = played.opponent === "engine" ? null : await this.weights(played.opponent);
    // Another game may have begun meanwhile.
    if (game !== this.game) return;
    await this.engine.setWeights(weights);
    if (game !== this.game) return;
    await this.engine.newGame(played.seed);
    if (game !== this.game) return;
    this.table.flip(played.side === "black");
    find("result").hidden = true;
    await this.table.setGame(game);
    await this.next();
  }

  // Continues the game that was kept, or starts one.
  async resume() {
    const kept = recall("game");
    if (kept) {
      try {
        const game = new Game(kept);
        game.played = kept.played;
        // What was learned may be deleted meanwhile.
        if (kept.played.opponent === "engine" || (await this.weights(kept.played.opponent))) {
          const { sans } = await this.rules.position({ fen: kept.start, moves: kept.moves, chess960: kept.chess960 });
          let node = game.root;
          kept.moves.forEach((uci, index) => (node = game.add(node, uci, sans[index])));
          await this.begin(game);
          return;
        }
      } catch (error) {
        console.warn("the kept game cannot be read:", error);
      }
    }
    await this.start("white", "engine");
  }

  keep() {
    const { start, chess960, played } = this.game;
    // Each tab has its own game; a new tab begins with the last one.
    remember("game", { start, chess960, played, moves: this.game.moves(this.game.end()) }, true);
  }

  mayMove(node) {
    return (
      !this.thinking &&
      !this.game.played.outcome &&
      !node.info?.outcome &&
      node === this.game.end() &&
      node.info?.turn === this.game.played.side
    );
  }

  // While the opponent thinks, a move for later can be made.
  premoveSide(node) {
    return this.thinking && node === this.game.end() ? this.game.played.side : null;
  }

  premoved(premove) {
    this.premove = premove;
    if (premove) this.table.say(`When it is your turn: ${premove.join(" to ")}. Escape or a click takes it back.`);
  }

  // Plays the move for later, if it is legal now.
  playPremove() {
    const { board } = this.table;
    const { premove } = this;
    this.premove = board.premove = null;
    if (!premove || this.table.mode !== this || this.game.here !== this.game.end()) return;
    const [from, to] = premove.map(squareIndex);
    const moves = board.movesBetween(from, to);
    board.mark();
    if (moves.length) this.table.userMove((moves.find((move) => move.promotion === "q") ?? moves[0]).uci).catch(showError);
  }

  shown(node) {
    if (this.table.mode !== this || this.table.game !== this.game) return;
    this.table.board.setTints(null);
    this.buttons();
    this.values(node).catch(showError);
    this.comment().catch(showError);
    if (node !== this.game.end()) this.table.say("An earlier position. Step forward to continue the game.");
    else this.status();
  }

  async values(node) {
    if (!find("play-values").checked) {
      this.table.board.setNotes(null);
      return;
    }
    const explained = await this.table.explained(node);
    if (this.table.game.here === node && this.table.mode === this) this.table.board.setNotes(valueNotes(explained));
  }

  // The sentence for the user's last move, where it is wanted.
  async comment() {
    const place = find("play-why");
    const game = this.game;
    let node = game.here;
    while (node.parent && !game.userMoved(node)) node = node.parent;
    place.hidden = !find("play-comments").checked || !node.parent;
    if (place.hidden) return;
    if (!node.why) {
      place.replaceChildren(searchingElement(game, node));
      await this.table.why(node);
    }
    if (game === this.game && !place.hidden) place.replaceChildren(...whyElements(game, node));
  }

  async moved(node) {
    this.keep();
    if (find("sound").checked) sound(node.san.includes("x"));
    await this.next();
  }

  buttons() {
    const { played } = this.game;
    const over = !!played.outcome;
    const own = this.game.moves(this.game.end()).length > (played.side === "white" ? 0 : 1);
    find("take-back").disabled = !own;
    find("hint").disabled = over || !!this.thinking;
    find("move-now").disabled = !this.thinking && !this.failed;
    find("resign").disabled = over || !this.game.root.children.length;
  }

  status() {
    const { played } = this.game;
    const end = this.game.end();
    if (played.outcome) {
      this.table.say(this.resultWords());
    } else if (this.failed) this.table.say(`${this.game.opponentName} has failed. "Move now" starts it again.`);
    else if (this.thinking) this.table.say(`${this.game.opponentName} is thinking.`);
    else {
      const last = end.parent ? [`${this.game.opponentName} plays `, ...moveElements(end.san), ". "] : [];
      this.table.say(...last, `Your move${end.info?.check ? ": you are in check" : ""}.`);
    }
    find("result").hidden = !played.outcome;
    if (played.outcome)
      find("result").textContent = `${resultText(played.outcome.result)}  ${this.resultWords()}`;
  }

  resultWords() {
    const { outcome, side } = this.game.played;
    const won = outcome.result === (side === "white" ? "1-0" : "0-1");
    const words = {
      "threefold repetition": "the position occurred three times",
      "fifty-move rule": "fifty moves without a capture or a pawn move",
      "insufficient material": "neither side can mate",
    };
    if (outcome.reason === "resignation") return "You resigned.";
    if (outcome.reason === "checkmate") return won ? "Checkmate: you win." : "Checkmate: you lose.";
    return `Draw: ${words[outcome.reason] ?? outcome.reason}.`;
  }

  // Ends the game, lets the engine move, or waits for the user.
  async next() {
    const game = this.game;
    const end = game.end();
    const info = await this.table.info(end, game);
    if (game !== this.game || end !== game.end()) return;
    if (info.outcome) {
      game.played.outcome = info.outcome;
      this.keep();
      this.refresh();
      return;
    }
    if (game.played.outcome || info.turn === game.played.side) {
      this.refresh();
      this.playPremove();
      return;
    }
    const turn = ++this.turn;
    this.failed = false;
    this.thinking = { turn, best: null };
    this.refresh();
    const since = Date.now();
    const { level, time, nodes } = game.played;
    const limits = nodes ? { nodes } : { level, movetime: time };
    let found;
    try {
      found = await this.engine.at(game.position(end), "go", [JSON.stringify(limits)], (step) => {
        if (this.thinking?.turn === turn) this.thinking.best = step.best;
      });
    } catch (error) {
      if (turn !== this.turn) return;
      this.thinking = null;
      this.failed = true;
      this.refresh();
      throw error;
    }
    if (level !== "full" || nodes) await sleep(PAUSE - (Date.now() - since));
    if (turn !== this.turn) return;
    await this.engineMove(found.best);
  }

  async engineMove(uci) {
    const game = this.game;
    const end = game.end();
    this.thinking = null;
    const move = end.info.legal.find((one) => one.uci === uci);
    const node = game.add(end, uci, move.san);
    this.keep();
    if (find("sound").checked) sound(move.capture);
    if (this.table.game === game) {
      const following = game.here === end;
      this.table.list();
      if (following) await this.table.go(node);
    }
    await this.next();
  }

  // Shows what changed, if this game is on the board.
  refresh() {
    if (this.table.mode !== this || this.table.game !== this.game) return;
    this.buttons();
    if (this.game.here.info) this.table.show(this.game.here);
    this.status();
  }

  cancel() {
    this.turn++;
    this.premove = this.table.board.premove = null;
    this.failed = false;
    if (!this.thinking) return;
    this.thinking = null;
    this.engine.stop();
  }

  takeBack() {
    const game = this.game;
    const { played } = game;
    this.cancel();
    // A resignation, or else the moves since before the user's last one.
    let done = played.outcome?.reason === "resignation";
    played.outcome = null;
    let node = game.end();
    while (!done && node.parent) {
      done = game.userMoved(node);
      game.remove(node);
      node = node.parent;
    }
    this.keep();
    this.table.list();
    this.table
      .go(node)
      .then(() => this.next())
      .catch(showError);
  }

  moveNow() {
    if (this.failed) this.next().catch(showError);
    if (!this.thinking) return;
    const { best } = this.thinking;
    if (!best) return;
    this.turn++;
    this.engine.stop();
    this.engineMove(best).catch(showError);
  }

  resign() {
    this.cancel();
    this.game.played.outcome = { result: this.game.played.side === "white" ? "0-1" : "1-0", reason: "resignation" };
    this.keep();
    this.refresh();
  }

  async hint() {
    const game = this.game;
    const node = game.end();
    if (game.here !== node) await this.table.go(node);
    if (!this.mayMove(node)) return;
    find("hint").disabled = true;
    this.table.say("Looking for a good move ...");
    try {
      const found = await this.analysis.at(game.position(node), "go", [JSON.stringify({ movetime: 500 })]);
      if (game !== this.game || game.here !== node || !this.mayMove(node)) return;
      const move = node.info.legal.find((one) => one.uci === found.best);
      this.table.board.setTints({ [move.from]: "good", [move.rook ?? move.to]: "good" });
      this.table.board.setArrows([{ from: move.from, to: move.rook ?? move.to, good: true }]);
      this.table.say("Hint: ", ...moveElements(move.san), ".");
    } finally {
      this.buttons();
    }
  }
}

let audio = null;

// A short knock for a move, lower for a capture.
function sound(isCapture) {
  const context = (audio ??= new AudioContext());
  const [oscillator, gain] = [context.createOscillator(), context.createGain()];
  oscillator.type = "triangle";
  oscillator.frequency.value = isCapture ? 180 : 320;
  gain.gain.setValueAtTime(0.25, context.currentTime);
  gain.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.09);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start();
  oscillator.stop(context.currentTime + 0.1);
}
