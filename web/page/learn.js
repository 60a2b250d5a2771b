// Watch it learn: hands tasks to the workers, shows what happens, keeps what is learned.
const STAGES = {
  games: { name: "Games", title: "it plays games against itself", unit: "games" },
  fit: { name: "Fit", title: "it fits the weights to what its searches found", unit: "passes" },
  match: { name: "Match", title: "a match: new weights against the weights before", unit: "games" },
  levels: { name: "Levels", title: "it plays against levels, to know how strong it is", unit: "games" },
};
// What the built-in weights reach with as few nodes, from 120 games against levels.
const BUILTIN_ELO = 1880;
const MOST_WORKERS = 16;
const SAVE_EVERY = 10_000;
const STATUS_EVERY = 400;
const FAILURES_IN_A_ROW = 3;
const GAME_STEP = 350;
const LOCK_WAIT = 1000;

// Minutes and seconds.
function clock(seconds) {
  const whole = Math.max(Math.round(seconds), 0);
  if (whole >= 3600) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return whole >= 60 ? `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s` : `${whole} s`;
}

// The pieces after a UCI move; castling as the king's move of two squares or as king takes rook.
function applyMove(pieces, uci) {
  const after = [...pieces];
  const [from, to] = [squareIndex(uci.slice(0, 2)), squareIndex(uci.slice(2, 4))];
  const piece = pieces[from],
    home = from - (from % 8);
  const kind = piece.toLowerCase();
  const takesRook = kind === "k" && pieces[to] !== "" && isWhite(pieces[to]) === isWhite(piece);
  after[from] = "";
  if (takesRook || (kind === "k" && Math.abs(from - to) === 2)) {
    const right = to > from;
    after[takesRook ? to : home + (right ? 7 : 0)] = "";
    after[home + (right ? 6 : 2)] = piece;
    after[home + (right ? 5 : 3)] = isWhite(piece) ? "R" : "r";
    return after;
  }
  if (kind === "p" && from % 8 !== to % 8 && pieces[to] === "") after[from - (from % 8) + (to % 8)] = "";
  after[to] = uci[4] ? (isWhite(piece) ? uci[4].toUpperCase() : uci[4]) : piece;
  return after;
}

// Shows games of the training, move by move: after each the newest.
class Practice {
  constructor() {
    this.map = new SquareMap(find("practice-board"));
    this.next = null;
    this.playing = false;
    this.draw(placement(START));
  }

  async offer(game) {
    this.next = game;
    if (this.playing) return;
    this.playing = true;
    while (this.next) {
      const { start, moves, result } = this.next;
      this.next = null;
      await this.play(placement(start), moves, result);
    }
    this.playing = false;
  }

  async play(start, moves, result) {
    let pieces = start;
    const count = (moves.length + 1) >> 1;
    for (const [index, move] of moves.entries()) {
      // A game that is not visible waits.
      while (find("panel-learn").hidden || document.hidden) await sleep(GAME_STEP);
      this.draw(pieces, `Move ${1 + (index >> 1)} of ${count}`);
      pieces = applyMove(pieces, move);
      await sleep(GAME_STEP);
    }
    const ended = { "1-0": "White won.", "0-1": "Black won.", "1/2-1/2": "A draw." }[result] ?? "";
    this.draw(pieces, `${ended} ${count} moves.`);
    await sleep(2000);
  }

  draw(pieces, words) {
    this.map.show(Array(64).fill(null), 1, pieces);
    if (words) find("practice-words").textContent = words;
  }
}

// A worker that plays games.
class Helper extends Remote {
  constructor(name) {
    super(name, (remote) => remote.direct("Worker", "new"));
    // The identifiers of the weights that it has.
    this.known = [];
    this.leaves = false;
    this.done = null;
  }
}

class Learn {
  // `play` starts a game against the best weights.
  constructor({ rules, knowledge, play }) {
    this.rules = rules;
    this.knowledge = knowledge;
    this.play = play;
    this.store = new Store();
    this.teacher = null;
    this.run = null;
    this.best = null;
    this.onBest = null;
    this.exported = null;
    this.status = null;
    this.match = null;
    this.fixed = {};
    this.practice = new Practice();
    // The weights of generations, which can be played against at their age.
    this.ages = new Map();
    const cores = navigator.hardwareConcurrency || 2;
    const kept = recall("workers");
    // The other half of the cores is for what the user does meanwhile.
    const chosen = Math.min(kept ?? Math.max(cores >> 1, 1), MOST_WORKERS);
    for (let count = 1; count <= Math.min(Math.max(cores, 2, chosen), MOST_WORKERS); count++) {
      find("workers").append(element("option", { value: count, selected: count === chosen }, count));
    }
    find("workers").addEventListener("change", () => {
      remember("workers", this.workers);
      if (this.run?.active) this.employ();
      this.draw();
    });
    const act = (id, does) => find(id).addEventListener("click", () => Promise.resolve(does()).catch(showError));
    act("learn-start", () => this.begin());
    act("learn-pause", () => (this.run ? this.pause() : this.go()));
    act("play-learned", () => this.play());
    act("download", () => this.download());
    act("share", () => this.share());
    act("start-over", () => this.startOver());
    document.addEventListener("visibilitychange", () => document.hidden && this.saveSometimes());
    find("load").addEventListener("change", () => this.load().catch(showError));
  }

  get workers() {
    return Number(find("workers").value);
  }

  get pausing() {
    return !!this.run && !this.run.active;
  }

  learner(method, args) {
    return this.teacher.call("Learner", method, args);
  }

  learnerJson(method, args, onProgress) {
    return this.teacher.json("Learner", method, args, onProgress);
  }

  // A teacher whose learner is made by `make`.
  async employTeacher(make) {
    this.teacher?.stop();
    this.teacher = new Remote("The worker that fits", make);
    this.cached = new Map();
    await this.teacher.start();
    // What it learned is gone with its worker.
    this.teacher.isFinal = true;
    await this.refreshBest();
    await this.refresh(true);
  }

  // Restores what the browser keeps.
  async restore() {
    try {
      this.draw();
      await this.showKnowledge();
      if (await this.hasKept()) await this.fromStore();
    } finally {
      this.restored = true;
      this.draw();
    }
    if (this.status && recall("running")) await this.go();
  }

  async hasKept() {
    return (await this.store.keys()).includes("state");
  }

  // Asks before something that was learned is deleted, also if it cannot be read.
  async mayDelete(what) {
    const learned = this.status ? this.status.generation > 1 : await this.hasKept().catch(() => false);
    return !learned || confirm(`${what} deletes what was learned in this browser. Continue?`);
  }

  async fromStore() {
    const [state, stamp] = [await this.store.get("state"), await this.store.get("stamp")];
    if (!state) {
      this.forget();
      throw new Error("what was learned here was deleted in another tab");
    }
    this.stamp = stamp;
    this.ages.clear();
    for (const key of await this.store.keys()) {
      if (key.startsWith("age-")) this.ages.set(Number(key.slice(4)), await this.store.get(key));
    }
    await this.employTeacher(async (remote) => {
      await remote.direct("Learner", "new restore", [state]);
      const kept = JSON.parse(await remote.direct("Learner", "kept"));
      for (const generation of kept) {
        const samples = await this.store.get(`samples-${generation}`);
        if (!samples)
          throw new Error(`the positions of generation ${generation} are missing in this browser; start over`);
        await remote.direct("Learner", "restore_samples", [generation, samples]);
      }
    });
  }

  // Begins a training, by default with a random seed.
  async begin(seed = Math.floor(Math.random() * 2 ** 31)) {
    if (!(await this.mayDelete("A new beginning"))) return;
    if (this.run) await this.pause();
    // Otherwise a browser may delete what was learned when space is short.
    navigator.storage?.persist?.().catch(() => {});
    await this.go(() => this.replace((remote) => remote.direct("Learner", "new", [seed])));
  }

  // Replaces what is kept by what a new learner has.
  async replace(make) {
    this.ages.clear();
    await this.employTeacher(make);
    await this.store.clear().catch(showError);
  }

  // At most one tab learns or deletes, or they would overwrite what the other keeps. Returns what releases the lock.
  async lock() {
    if (!navigator.locks) return () => {};
    const release = await new Promise((resolve) => {
      const hold = () => new Promise((release) => resolve(release));
      // This tab may be about to release it.
      navigator.locks
        .request("dyad-learn", { signal: AbortSignal.timeout(LOCK_WAIT) }, hold)
        .catch((error) => resolve(["AbortError", "TimeoutError"].includes(error.name) ? null : () => {}));
    });
    if (!release) throw new Error("another tab of this page is learning; pause it there, or close it");
    return release;
  }

  // Does something with the lock.
  async locked(does) {
    const release = await this.lock();
    try {
      await does();
    } finally {
      release();
    }
  }

  // Learns. `prepare` makes the learner, unless there is one.
  async go(prepare) {
    if (this.run) return;
    const run = { active: true, starting: true, helpers: [], waiting: [], fit: null, failures: 0, ended: null };
    this.run = run;
    this.draw();
    try {
      run.release = await this.lock();
      if (prepare) await prepare();
      else if (await this.isStale()) await this.fromStore();
      remember("running", true);
      await this.saveNow().catch(showError);
    } catch (error) {
      run.active = false;
      run.release?.();
      this.run = null;
      this.draw();
      throw error;
    }
    run.starting = false;
    this.stageBegan = null;
    run.saver = setInterval(() => this.saveSometimes(), SAVE_EVERY);
    run.ticker = setInterval(() => this.draw(), 1000);
    this.employ();
    this.draw();
  }

  // Whether what is kept is not what this tab has: after an error, or if another tab learned since.
  async isStale() {
    if (!this.teacher?.ready) return true;
    const kept = await this.store.get("stamp").catch(() => this.stamp);
    return kept !== this.stamp;
  }

  // Starts or ends workers until there are as many as are chosen.
  employ() {
    const { run } = this;
    while (run.helpers.length > this.workers) run.helpers.pop().leaves = true;
    while (run.helpers.length < this.workers) {
      const helper = new Helper(`Worker ${run.helpers.length + 1}`);
      run.helpers.push(helper);
      helper.done = this.help(run, helper);
    }
  }

  async pause() {
    const { run } = this;
    if (!run?.active || run.starting) return;
    remember("running", false);
    await this.end(run);
  }

  async end(run) {
    if (!run.active) return run.ended;
    run.active = false;
    this.wake(run);
    this.draw();
    clearInterval(run.saver);
    run.ended = (async () => {
      await Promise.allSettled([...run.helpers.map((helper) => helper.done), run.fit]);
      for (const helper of run.helpers) helper.stop();
      clearInterval(run.ticker);
      try {
        if (this.teacher.ready) {
          await this.saveNow();
          await this.refresh(true);
        }
      } finally {
        run.release();
        if (this.run === run) this.run = null;
        this.draw();
      }
    })();
    return run.ended;
  }

  // An error of the teacher ends the run; the user may continue from what is kept.
  fail(run, error) {
    if (!run.active) return;
    // The teacher may have stopped in another call, which has shown the error.
    if (!(error instanceof Stopped)) showError(error);
    for (const helper of run.helpers) helper.stop();
    this.end(run).catch(showError);
  }

  // What one worker does: tasks until the run ends.
  async help(run, helper) {
    while (run.active && !helper.leaves) {
      let text, task;
      try {
        if (run.fit) await run.fit;
        text = await this.learner("next");
        task = JSON.parse(text);
        if (task.kind === "wait") {
          await this.change(run);
          continue;
        }
        if (task.kind === "fit") {
          run.fit ??= this.fit().finally(() => (run.fit = null));
          await run.fit;
          continue;
        }
      } catch (error) {
        this.fail(run, error);
        return;
      }
      let result = null;
      try {
        await this.bring(helper, task.weights ?? []);
        result = await helper.call("Worker", "run", [text]);
        run.failures = 0;
      } catch (error) {
        helper.stop();
        helper.known = [];
        if (!(error instanceof Stopped)) {
          showError(error);
          run.failures++;
        }
      }
      try {
        if (result) this.events(await this.learnerJson("done", [text, result]));
        else await this.learner("lost", [text]);
        this.wake(run);
        await this.refresh();
      } catch (error) {
        this.fail(run, error);
        return;
      }
      if (run.failures >= FAILURES_IN_A_ROW) {
        this.fail(
          run,
          new Error("the workers fail again and again: the training is paused. Try fewer workers, or reload the page."),
        );
        return;
      }
    }
    helper.stop();
  }

  // Resolves when a task is done.
  change(run) {
    return new Promise((resolve) => run.waiting.push(resolve));
  }

  wake(run) {
    for (const resolve of run.waiting.splice(0)) resolve();
  }

  // Brings weights to a worker that lacks them.
  async bring(helper, ids) {
    for (const id of ids) {
      if (helper.known.includes(id)) continue;
      // In a match the first player has the new weights.
      const isNew = this.status?.stage === "match" && id === ids[0];
      const bytes = await this.weightsOf(id, isNew);
      await helper.call("Worker", "set_weights", [id, bytes]);
      helper.known = [...helper.known, id].slice(-4);
    }
  }

  async weightsOf(id, isNew) {
    if (!this.cached.has(id)) {
      this.cached.set(id, this.learner("weights", [id]));
      if (this.cached.size > 6) this.cached.delete(this.cached.keys().next().value);
      const bytes = await this.cached.get(id);
      if (isNew) this.candidate(bytes);
    }
    return this.cached.get(id);
  }

  candidate(bytes) {
    this.newest = bytes;
    this.showKnowledge().catch(showError);
  }

  async fit() {
    this.fitting = { done: 0, of: 1 };
    await this.refresh(true);
    // A rough fit, between games, is short.
    if (this.status.stage === "fit") await this.saveNow().catch(showError);
    const events = await this.learnerJson("fit", [], (progress, bytes) => {
      this.fitting = progress;
      if (bytes) this.candidate(bytes);
      this.draw();
    });
    this.fitting = null;
    this.events(events);
    await this.refresh(true);
  }

  events(events) {
    for (const event of events) {
      if (event.event === "game") this.practice.offer(event);
      else if (event.event === "match") this.match = event;
      else if (event.event === "gain") {
        this.newest = this.match = null;
        this.refreshBest(event.adopted && event.generation).catch(showError);
      } else if (event.event === "saved") {
        this.saveNow().catch(showError);
        const { target } = this;
        if (target && this.status?.generation >= target.generations) {
          this.target = null;
          this.say("The training of the link is repeated: these are its weights. Continue as long as you like.");
          this.pause().catch(showError);
        }
      }
    }
  }

  // Takes the best weights; `generation` is that of new ones.
  async refreshBest(generation) {
    this.best = await this.learner("weights", ["best"]);
    this.exported = { name: await this.learner("export_name"), bytes: this.best };
    if (generation) {
      this.ages.set(generation, this.best);
      await this.store.put({ [`age-${generation}`]: this.best }).catch(showError);
    }
    await this.showKnowledge();
    this.onBest?.();
  }

  async refresh(now) {
    if (!now && Date.now() - (this.refreshed ?? 0) < STATUS_EVERY) return;
    this.refreshed = Date.now();
    this.status = await this.learnerJson("status");
    this.draw();
  }

  saveSometimes() {
    if (!this.run?.active || this.fitting) return;
    this.saveNow().catch(showError);
  }

  // One save at a time.
  saveNow() {
    const save = async () => {
      this.isKept = false;
      await this.save();
      this.isKept = true;
    };
    this.saving = (this.saving ?? Promise.resolve()).catch(() => {}).then(save);
    return this.saving;
  }

  async save() {
    if (!this.teacher?.ready) return;
    const [state, kept] = await Promise.all([this.learner("state"), this.learnerJson("kept")]);
    const keys = await this.store.keys();
    const stamp = `${Date.now()} ${Math.random()}`;
    const entries = { state, stamp };
    for (const generation of kept) {
      const key = `samples-${generation}`;
      if (!keys.includes(key)) entries[key] = await this.learner("samples", [generation]);
    }
    for (const key of keys) {
      if (key.startsWith("samples-") && !kept.includes(Number(key.slice(8)))) entries[key] = undefined;
    }
    await this.store.put(entries);
    this.stamp = stamp;
  }

  async download() {
    const { name, bytes } = this.exported;
    saveFile(name, bytes, "application/json");
  }

  // Copies a link that repeats the training: its weights depend on the seed alone.
  async share() {
    const { seed, best_generation, curve } = this.status;
    const address = `${location.href.split("#")[0]}#learn/${seed}/${best_generation}`;
    const minutes = Math.max(Math.round((curve.at(-1)?.seconds ?? 0) / 60), 1);
    const rating = curve.length ? `Lichess ${rounded(curve.at(-1).elo)} in ${counted(minutes, "minute")}` : "itself";
    const text = `Dyad taught itself chess up to ${rating} in my browser. Watch it learn the same, and play it: ${address}`;
    await copyText(find("share"), text);
  }

  // Offers the training of a link.
  invite(seed, generations) {
    find("invitation").hidden = false;
    find("invitation-words").textContent =
      `This link has a training: seed ${seed}, ${counted(generations, "generation")}. ` +
      "Repeated here it gives the same weights, move by move.";
    find("repeat").onclick = () => {
      find("invitation").hidden = true;
      this.target = { seed, generations };
      this.begin(seed).catch(showError);
    };
  }

  async load() {
    const [file] = find("load").files;
    find("load").value = "";
    if (!file) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    let info;
    try {
      info = await this.rules.json(null, "weights_info", [bytes]);
    } catch (error) {
      throw new Error(`the file ${file.name} cannot be used as weights: ${error.message}`);
    }
    if (!(await this.mayDelete("Loading weights"))) return;
    if (this.run) await this.pause();
    const seed = Math.floor(Math.random() * 2 ** 31);
    await this.locked(async () => {
      this.match = this.newest = this.target = null;
      await this.replace((remote) => remote.direct("Learner", "new from_weights", [bytes, seed]));
      await this.saveNow().catch(showError);
    });
    this.say(`${info.name || file.name} is loaded: ${grouped(info.nonzero)} weights are not zero.`);
  }

  async startOver() {
    if (!isSure(find("start-over"), "Delete what it learned?")) return;
    if (this.run) {
      for (const helper of this.run.helpers) helper.stop();
      this.teacher.stop();
      await this.end(this.run).catch(() => {});
    }
    remember("running", false);
    await this.locked(async () => {
      this.forget();
      await this.store.clear();
    });
    await this.showKnowledge();
    find("learn-start").focus();
  }

  forget() {
    this.teacher?.stop();
    this.teacher = this.best = this.exported = this.status = this.stamp = null;
    this.match = this.newest = this.fitting = this.target = null;
    this.ages.clear();
    this.onBest?.();
    this.draw();
  }

  say(text) {
    find("now-time").textContent = text;
    this.message = text;
  }

  // The weights before learning, `start`, or the built-in ones, `builtin`.
  fixedWeights(name) {
    this.fixed[name] ??= this.rules.call(null, `${name}_weights`);
    return this.fixed[name];
  }

  async showKnowledge() {
    const now = this.newest ?? this.best ?? (await this.fixedWeights("start"));
    this.knowledge.show(now, await this.fixedWeights("builtin"));
  }

  // Writes what happens.
  draw() {
    const { status, run } = this;
    const known = !!status;
    find("learn-start").hidden = known || !!run;
    // Until what is kept is read, a beginning would delete it.
    find("learn-start").disabled = !this.restored;
    const starting = !!run?.starting;
    find("load").disabled = !this.restored || starting;
    find("learn-pause").hidden = !known;
    find("learn-pause").textContent = this.pausing ? "Pausing ..." : run ? "Pause" : "Continue";
    find("learn-pause").disabled = this.pausing || starting;
    find("now").hidden = find("stage").hidden = !known;
    find("learn-hint").hidden = find("learn-about").hidden = known;
    for (const id of ["play-learned", "download", "share"]) find(id).disabled = !this.best;
    find("start-over").disabled = !known || starting;
    document.body.dataset.learning = run?.active ? "yes" : "no";
    find("tab-learn").classList.toggle("busy", !!run?.active);
    if (known) {
      this.drawNow();
      this.drawGenerations();
    }
    this.drawDiary();
    this.drawStrength();
    drawCurve(find("curve"), status);
  }

  drawNow() {
    const { status, run } = this;
    const { name, title, unit } = STAGES[status.stage];
    find("steps").replaceChildren(
      ...status.stages.map((stage) =>
        element("li", { "aria-current": stage === status.stage && "step" }, STAGES[stage].name),
      ),
    );
    const when = status.generation === 0 ? "Before learning" : `Generation ${status.generation}`;
    const isRough = status.stage === "games" && this.fitting;
    const what = `${when}: ${isRough ? "a first look at its games" : run ? title : name.toLowerCase()}`;
    find("now-title").textContent = run ? what : `Paused. ${what}`;
    const part = this.fitting ?? status;
    const { done, of } = part;
    const progress = find("now-progress");
    progress.value = of > 0 ? Math.min(done / of, 1) : 0;
    const words = [];
    if (status.stage === "fit" || isRough) {
      if (this.fitting?.passes) words.push(`Pass ${this.fitting.pass} of ${this.fitting.passes}.`);
      if (this.fitting?.loss) words.push(`Error of the evaluation: ${this.fitting.loss.toFixed(5)}.`);
      if (this.pausing) words.push("It pauses after the fit.");
    } else if (of > 0) {
      words.push(`${grouped(done)} of ${status.stage === "games" ? "" : "at most "}${grouped(of)} ${unit}.`);
    }
    const match = status.stage === "match" ? this.match : null;
    if (match) words.push(`New weights: ${match.wins} won, ${match.draws} drawn, ${match.losses} lost.`);
    if (status.note && status.stage === "match") words.push(`${status.note}.`);
    if (status.positions)
      words.push(`It has ${grouped(status.positions)} positions of ${grouped(status.games)} games.`);
    find("now-words").textContent = words.join(" ");
    find("now-time").textContent = run
      ? this.times(part)
      : (this.message ??
        (this.isKept === false
          ? "This browser does not keep it: download the weights before you close the page."
          : "Kept in this browser; continue whenever you like."));
    if (run) this.message = null;
  }

  // How long this step takes, where that can be known: only games against itself have a fixed number.
  times({ done, of }) {
    const { status } = this;
    const now = Date.now();
    const step = `${status.generation} ${status.stage}`;
    if (this.stageBegan?.step !== step) this.stageBegan = { step, time: now, done };
    const gone = (now - this.stageBegan.time) / 1000,
      steps = done - this.stageBegan.done;
    const isKnown = status.stage === "games" && !this.fitting && steps > 0 && gone > 5;
    const left = isKnown ? `This step: about ${clock((gone * (of - done)) / steps)} left. ` : "";
    // The learner does not answer during a fit.
    const since = this.fitting ? (now - this.refreshed) / 1000 : 0;
    return `${left}It has learned for ${clock(status.seconds + since)}.`;
  }

  drawGenerations() {
    const { status } = this;
    if (this.drawn === status.gains) return;
    this.drawn = status.gains;
    const rows = status.gains.map((gain) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, gain.generation),
        element("td", {}, `${gain.wins} won, ${gain.draws} drawn, ${gain.losses} lost`),
        element("td", {}, gain.elo === null ? "" : `${signed(gain.elo, 0)} ± ${Math.round(gain.error)}`),
        element("td", {}, gain.adopted ? "yes" : "no"),
      ),
    );
    find("generations").tBodies[0].replaceChildren(...rows);
    find("generations-details").hidden = !rows.length;
  }

  // What it found out, newest first.
  drawDiary() {
    const diary = this.status?.diary ?? [];
    const last = diary.at(-1);
    const key = last ? `${diary.length} ${last.games} ${last.text}` : "none";
    if (key === this.drawnDiary) return;
    this.drawnDiary = key;
    const items = diary.toReversed().map((entry) =>
      element(
        "li",
        {},
        littleBoard(entry) ?? "",
        element("p", {}, element("b", {}, `Game ${grouped(entry.games)}`), " ", entry.text),
      ),
    );
    if (!items.length) items.push(element("li", {}, element("p", {}, "The first sentence comes after 100 games.")));
    find("diary").replaceChildren(...items);
    // The newest sentence is spoken.
    find("diary-news").textContent = last?.text ?? "";
  }

  drawStrength() {
    const { status } = this;
    const last = status?.curve.at(-1);
    find("strength").hidden = !last;
    if (!last) return;
    const { generation, elo, error } = last;
    const isLast = generation === status.best_generation;
    find("strength").replaceChildren(
      `${generation ? `Generation ${generation} plays` : "Before learning it plays"} like a `,
      element("strong", {}, `Lichess ${rounded(elo)}`),
      `, within ${rounded(error)}, at ${status.nodes} positions a move`,
      generation ? "." : ": it looks ahead and counts the pieces.",
      isLast ? "" : ` Generation ${status.best_generation} is not measured yet.`,
    );
  }
}

// Elo to tens: more digits would only pretend.
function rounded(elo) {
  return 10 * Math.round(elo / 10);
}

function counted(number, word) {
  return `${grouped(number)} ${word}${number === 1 ? "" : "s"}`;
}

// The curve of the strength: a point for each measured generation, the built-in weights as a dashed line.
function drawCurve(svg, status) {
  const points = status?.curve ?? [];
  const [width, height] = [Math.max(svg.clientWidth, 280), 260];
  const [left, right, top, bottom] = [50, 12, 14, 32];
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const low = 200 * Math.floor(Math.min(1200, ...points.map(({ elo, error }) => elo - error)) / 200),
    high = 200 * Math.ceil(Math.max(2000, ...points.map(({ elo, error }) => elo + error)) / 200);
  const last = Math.max(6, ...points.map((point) => point.generation), status?.generation ?? 0);
  const x = (generation) => left + ((width - left - right) * generation) / last;
  const y = (elo) => top + ((height - top - bottom) * (high - elo)) / (high - low);
  const line = (x1, x2, y1, y2, kind) => svgElement("line", { x1, x2, y1, y2, class: kind });
  const text = (x, y, anchor, words, kind = "") =>
    svgElement("text", { x, y, "text-anchor": anchor, class: kind }, words);
  const parts = [];
  for (let elo = low; elo <= high; elo += 200) {
    parts.push(line(left, width - right, y(elo), y(elo), "grid"));
    parts.push(text(left - 8, y(elo) + 5, "end", String(elo)));
  }
  const every = Math.ceil((45 * last) / (width - left - right));
  for (let generation = 0; generation <= last; generation += every) {
    parts.push(text(x(generation), height - 12, "middle", generation === 0 ? "start" : String(generation)));
  }
  parts.push(line(left, width - right, y(BUILTIN_ELO), y(BUILTIN_ELO), "goal"));
  parts.push(text(width - right, y(BUILTIN_ELO) - 7, "end", "built-in weights", "goal-name"));
  const path = points.map(({ generation, elo }) => `${x(generation)},${y(elo)}`).join(" ");
  parts.push(svgElement("polyline", { points: path, class: "strength" }));
  for (const { generation, elo, error } of points) {
    const words = `Generation ${generation}: Lichess ${rounded(elo)} ± ${rounded(error)}`;
    parts.push(line(x(generation), x(generation), y(elo - error), y(elo + error), "error"));
    parts.push(
      svgElement("circle", { cx: x(generation), cy: y(elo), r: 5, class: "point" }, svgElement("title", {}, words)),
    );
  }
  svg.replaceChildren(...parts);
  const list = points.map(({ generation, elo }) => `${generation}: ${rounded(elo)}`).join(", ");
  const words = list ? `${list} on the scale of Lichess` : "no measurement yet";
  svg.setAttribute("aria-label", `Strength by generation: ${words}`);
}
