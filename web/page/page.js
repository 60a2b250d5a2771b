// Starts the page: workers, tabs, the board.
(async () => {
  const TABS = ["play", "explain", "learn"];
  addEventListener("unhandledrejection", (event) => showError(event.reason));
  addEventListener("error", (event) => showError(event.error ?? new Error(event.message)));

  const rules = new EngineRemote("The worker of the rules");
  const engine = new EngineRemote("The worker that plays");
  const analysis = new EngineRemote("The worker that analyzes");
  const table = new Table(rules, analysis);
  find("status").textContent = "Loading the engine ...";
  /** @type {NodeListOf<HTMLButtonElement>} */
  const buttons = document.querySelectorAll("#play-actions button, #new-game button");
  for (const button of buttons) button.disabled = true;
  let levels;
  try {
    levels = await rules.json(null, "levels");
  } catch (error) {
    find("status").textContent = "The engine cannot start in this browser.";
    showError(error);
    return;
  }
  for (const button of buttons) button.disabled = false;

  const knowledge = new Knowledge(rules);
  const learn = new Learn({ rules, knowledge, play: playLearned });
  // The weights of an opponent, or null: "learned", or those of a generation, as "age-3".
  const weights = async (name) => {
    await restored;
    if (name === "learned") return learn.best;
    return name === "age-0" ? learn.fixedWeights("start") : (learn.ages.get(Number(name.slice(4))) ?? null);
  };
  const play = new Play(table, { rules, engine, analysis, levels, weights });
  const explain = new Explain(table, { rules, analysis, weights });

  learn.onBest = () => {
    const select = find("opponent");
    for (const option of select.querySelectorAll(".age")) option.remove();
    for (const generation of [...learn.ages.keys()].sort((a, b) => a - b)) {
      const rating = learn.status?.curve.find((point) => point.generation === generation);
      const words = `Generation ${generation}${rating ? `: Lichess ${rounded(rating.elo)}` : ""}`;
      select.append(element("option", { value: `age-${generation}`, class: "age" }, words));
    }
    select.querySelector("[value=learned]").disabled = !learn.best;
    if (!learn.best && select.value === "learned") select.value = "engine";
    find("weights-choice").hidden = !learn.best;
    if (find("explain-weights").value === "learned") {
      if (!learn.best) find("explain-weights").value = "builtin";
      if (table.mode === explain) explain.changeWeights().catch(showError);
      else if (learn.best) explain.learner?.setWeights(learn.best).catch(showError);
    }
  };

  async function playLearned() {
    choose("play", { isNew: true });
    find("opponent").value = "learned";
    find("at-age").checked = true;
    play.describe();
    await play.start("white", "learned");
    find("board").scrollIntoView({ block: "nearest" });
  }

  // Shows a view. `isNew` if the user chose it, so that Back goes to the one before.
  function choose(tab, { focus = false, isNew = false } = {}) {
    for (const name of TABS) {
      const button = find("tab-" + name);
      button.setAttribute("aria-selected", String(name === tab));
      button.tabIndex = name === tab ? 0 : -1;
      find("panel-" + name).hidden = name !== tab;
    }
    if (focus) find("tab-" + tab).focus();
    find("table").hidden = tab === "learn";
    if (isNew && document.body.dataset.tab !== tab) history.pushState(null, "", "#" + tab);
    document.body.dataset.tab = tab;
    if (tab === "learn") {
      learn.draw();
      knowledge.draw();
      return;
    }
    const mode = tab === "play" ? play : explain;
    if (table.mode === mode) return;
    table.mode = mode;
    find("bar").hidden = tab !== "explain";
    find("result").hidden = find("graph-figure").hidden = true;
    if (tab === "play") {
      explain.stopAnnotating();
      if (play.game) {
        table.setGame(play.game);
        table.flip(play.game.played.side === "black");
      }
    } else {
      const game = explain.ownGame ?? explain.copyOf(play.game);
      table.setGame(game, game.here);
    }
  }

  for (const tab of TABS) {
    find("tab-" + tab).addEventListener("click", () => choose(tab, { isNew: true }));
    find("tab-" + tab).addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: TABS.length - 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      choose(TABS[(TABS.indexOf(tab) + step) % TABS.length], { focus: true, isNew: true });
    });
  }
  addEventListener("resize", () => drawCurve(find("curve"), learn.status));
  find("explain-game").addEventListener("click", () => {
    explain.ownGame = null;
    choose("explain", { isNew: true });
    explain.annotate().catch(showError);
  });
  find("to-played").addEventListener("click", () => {
    explain.ownGame = null;
    table.setGame(explain.copyOf(play.game));
  });
  find("play-from").addEventListener("click", async () => {
    const { game } = table;
    choose("play", { isNew: true });
    await play.from(game, game.here).catch(showError);
  });
  find("bench").addEventListener("click", async () => {
    find("bench").disabled = true;
    find("bench-result").textContent = "Searching 50 positions ...";
    try {
      const { nodes, ms, nps } = await analysis.json("Engine", "bench");
      find("bench-result").textContent =
        `${nodes} nodes in ${(ms / 1000).toFixed(1)} seconds, ${Math.round(nps)} nodes per second`;
    } finally {
      find("bench").disabled = false;
    }
  });
  find("version").textContent =
    `Dyad ${await rules.call(null, "version")}${DYAD.revision ? ` (${DYAD.revision})` : ""}`;

  // The view that the address names; "#learn/7/3" is the training of seed 7 with 3 generations.
  function visit() {
    const [tab, seed, generations] = location.hash.slice(1).split("/");
    choose(TABS.includes(tab) ? tab : "play");
    if (tab === "learn" && /^\d+$/.test(seed) && /^\d+$/.test(generations)) learn.invite(Number(seed), Number(generations));
  }

  table.mode = play;
  // The game that is resumed may be one against the weights that are restored.
  const restored = learn.restore().catch(showError);
  await play.resume();
  visit();
  addEventListener("popstate", visit);
  // Works offline from then on, and can be installed; a page that was opened as a file works offline anyway.
  if (location.protocol.startsWith("http")) {
    document.head.append(element("link", { rel: "manifest", href: "manifest.json" }));
    navigator.serviceWorker?.register("offline.js").catch(() => {});
  }
  document.body.dataset.ready = "yes";
})();
