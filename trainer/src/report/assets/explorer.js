// What every piece adds to the chosen one: reads the choice, colors the boards, writes the words.
"use strict";
(() => {
  const { rows, colors, inks, alone: own, pairs } = JSON.parse(document.getElementById("numbers").textContent);
  const LETTERS = "PNBRQK", MOST = 12, BOARD = 64, OTHERS = 12, ROWS = 32, PIECES = 6;
  const find = (id) => document.getElementById(id);
  const bytes = Uint8Array.from(atob(pairs), (letter) => letter.charCodeAt(0));
  const values = new DataView(bytes.buffer);
  const boards = [find("explorer").querySelector(".chosen"), ...find("explorer").querySelectorAll(".other")].map((board) => ({
    board, squares: [...board.querySelectorAll("rect")], numbers: [...board.querySelectorAll(".number")],
  }));
  const chosen = () => ({
    piece: Number(find("piece").value), square: Number(find("square").value), stage: Number(find("stage").value),
  });
  const canStand = (piece, square) => piece % PIECES !== 0 || (square > 7 && square < 56);
  const name = (square) => "abcdefgh"[square % 8] + (1 + (square >> 3));
  const alone = ({ piece, stage }, square) => own[stage][piece][square];
  const worth = ({ piece, square, stage }, other, where) => {
    const turn = square % 8 > 3 ? 7 : 0;
    const index = (((stage * PIECES + piece) * ROWS + rows[square]) * OTHERS + other) * BOARD + (where ^ turn);
    return values.getInt16(2 * index, true) / 1000;
  };
  const written = (piece, square) => (piece % PIECES === 0 ? "" : LETTERS[piece % PIECES]) + name(square);
  const inWords = (choice, other, where) =>
    `white ${written(choice.piece, choice.square)} with ${other < PIECES ? "white" : "black"} ${written(other, where)}`;
  const signed = (value) => {
    const text = Math.abs(value).toFixed(3);
    return Number(text) === 0 ? "0" : (value < 0 ? "\u2212" : "+") + text;
  };
  // Hundredths below a pawn, tenths below ten.
  const short = (value) => {
    const size = Math.abs(value), text = size.toFixed(size < 0.995 ? 2 : size < 9.95 ? 1 : 0).replace(/^0/, "");
    return text === ".00" ? "0" : (value < 0 ? "-" : "") + text;
  };
  const middle = (colors.length - 1) / 2;

  const paint = ({ squares, numbers }, values, largest, mark) => values.forEach((value, square) => {
    const color = value === null ? null : middle + Math.round(middle * (largest > 0 ? value / largest : 0));
    squares[square].setAttribute("fill", color === null ? "#C8C8C8" : colors[color]);
    const here = mark && mark.square === square;
    numbers[square].textContent = here ? mark.letter : value === null ? "" : short(value);
    numbers[square].setAttribute("font-size", here ? 15 : 11);
    numbers[square].setAttribute("fill", color === null ? "#000" : inks[color]);
  });

  const show = () => {
    const choice = chosen();
    const squares = [...Array(BOARD).keys()];
    const own = squares.map((square) => canStand(choice.piece, square) ? alone(choice, square) : null);
    paint(boards[0], own, Math.max(...own.map((value) => Math.abs(value ?? 0))), { square: choice.square, letter: LETTERS[choice.piece] });
    const there = (other, where) => canStand(other, where) && where !== choice.square;
    const all = [...Array(OTHERS).keys()].map((other) => squares.map((where) => there(other, where) ? worth(choice, other, where) : null));
    const largest = Math.max(...all.flat().map((value) => Math.abs(value ?? 0)));
    all.forEach((values, other) => paint(boards[1 + other], values, largest, { square: choice.square, letter: LETTERS[choice.piece] }));
    find("least").textContent = signed(-largest);
    find("greatest").textContent = signed(largest);
    find("status").textContent = `White ${written(choice.piece, choice.square)} on its square alone: ${signed(alone(choice, choice.square))}`;
    const ranked = all.flatMap((values, other) => values.map((value, where) => ({ value: value ?? 0, other, where })));
    ranked.sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
    find("most").replaceChildren(...ranked.slice(0, MOST).map(({ value, other, where }) => {
      const entry = document.createElement("li");
      entry.textContent = `${signed(value)}  ${inWords(choice, other, where)}`;
      return entry;
    }));
  };

  for (const id of ["piece", "square", "stage"]) find(id).addEventListener("change", () => {
    const { piece, square } = chosen();
    // A pawn goes to a rank where it can stand.
    if (!canStand(piece, square)) find("square").value = square < 8 ? square + 8 : square - 8;
    show();
  });
  boards.forEach(({ squares }, board) => squares.forEach((element, square) => element.addEventListener("click", () => {
    const choice = chosen();
    if (board === 0) {
      if (!canStand(choice.piece, square)) return;
      find("square").value = square;
      show();
    } else if (canStand(board - 1, square) && square !== choice.square) {
      find("status").textContent = `${inWords(choice, board - 1, square)}: ${signed(worth(choice, board - 1, square))}`;
    }
  })));
  show();
})();
