// Tests of the scripts' pure functions, without a browser: `node --test web`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const source = readFileSync(new URL("page/game.js", import.meta.url), "utf8");
const names = "{ START, Game, boardMoves, typedMove, spoken, unbroken, resultText }";
const context = { PIECE_NAMES: { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" } };
const { START, Game, boardMoves, typedMove, spoken, unbroken, resultText } = vm.runInNewContext(
  `${source}\n(${names})`,
  context,
);

test("moves have the numbers of the game", () => {
  const game = new Game({});
  assert.equal(game.numbered(["e4", "e5", "Nf3"], 1), unbroken("1. e4 e5 2. Nf3"));
  assert.equal(game.numbered(["e5", "Nf3"], 2), unbroken("1... e5 2. Nf3"));
  const black = new Game({ start: START.replace(" w ", " b ").replace(" 1", " 12") });
  assert.equal(black.numbered(["e5", "Nf3"], 1), unbroken("12... e5 13. Nf3"));
});

test("a pasted game keeps variations and comments", () => {
  const game = new Game({});
  const move = (uci, comment = "", variations = []) => ({ uci, san: uci, comment, variations });
  game.addLine(game.root, [move("e2e4", "best", [[move("d2d4"), move("d7d5")]]), move("e7e5")]);
  assert.equal(game.mainLine().map((node) => node.uci).join(" "), " e2e4 e7e5");
  assert.equal(game.root.children.length, 2);
  assert.equal(game.root.children[0].comment, "best");
  assert.equal(game.moves(game.end(game.root.children[1])).join(" "), "d2d4 d7d5");
  assert.deepEqual([...game.copy().moves(game.copy().end())], ["e2e4", "e7e5"]);
});

test("a typed move is found in any spelling", () => {
  const legal = [
    { uci: "g1f3", san: "Nf3" },
    { uci: "e1g1", san: "O-O", from: "e1", to: "g1", rook: "h1" },
    { uci: "e7e8q", san: "e8=Q+" },
    { uci: "b2c3", san: "bxc3" },
    { uci: "d2c3", san: "Bxc3" },
  ];
  const typed = ["Nf3", "nf3", "g1f3", "0-0", "e8Q", "e8=q", "bxc3", "Bxc3", "Ke2"].map((text) => typedMove(legal, text)?.uci);
  assert.deepEqual(typed, ["g1f3", "g1f3", "g1f3", "e1g1", "e7e8q", "e7e8q", "b2c3", "d2c3", undefined]);
  const castling = boardMoves([{ uci: "e1g1", san: "O-O", from: "e1", to: "g1", rook: "h1" }]);
  assert.deepEqual([...castling[0].targets], ["h1", "g1"]);
  const king = { uci: "f1g1", san: "Kg1", from: "f1", to: "g1" };
  const beside = boardMoves([king, { uci: "f1h1", san: "O-O", from: "f1", to: "g1", rook: "h1" }]);
  assert.deepEqual([...beside[1].targets], ["h1"]);
});

test("moves and results in words", () => {
  assert.equal(spoken("exd8=N#"), "pawn e takes d8 promotes to knight, checkmate");
  assert.equal(spoken("O-O-O+"), "castles queenside, check");
  assert.equal(resultText("1/2-1/2"), "½–½");
});
