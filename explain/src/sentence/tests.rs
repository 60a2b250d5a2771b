//! Every claim of an explanation is checked against the lines, without the code that made it.

use super::*;
use crate::comparison::ComparedMove;
use crate::difference::{PvEnd, PvLeaf};
use crate::testing::{board, compare, engine, game, random_boards};
use dyad_engine::board::{Board, Game, PAWN_UNITS, attacks, sign};
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::search::{Limits, Options};
use std::collections::BTreeMap;

fn explained(fen: &str, before: &str, moves: [&str; 2]) -> (Comparison, Explanation) {
    let compared = compare(&game(fen, before), moves, 20_000);
    let explanation = explain(&compared);
    check(&compared, &explanation);
    (compared, explanation)
}

/// The name of a claim's kind.
fn check_claim(compared: &Comparison, claim: &Claim) -> &'static str {
    let boards = |line: usize| -> Vec<Board> {
        let after = compared.board.along(&compared.moves[line].line).map(|(board, mv)| board.after(mv));
        std::iter::once(compared.board).chain(after).collect()
    };
    let (own, moves) = (boards(claim.line), &compared.moves[claim.line].line);
    match &claim.what {
        Statement::Mate { winner, moves } => {
            let sign = if *winner == compared.board.side_to_move() { 1 } else { -1 };
            assert_eq!(compared.moves[claim.line].score, Score::Mate(sign * moves));
            "mate"
        }
        Statement::Gain(gain) => {
            let firsts = compared.moves.each_ref().map(|one| one.line[0]);
            let same = firsts.iter().all(|mv| compared.recaptures == Some(mv.to()));
            // What each side captures and promotes, move by move.
            let mut net = [0; 5];
            for ply in usize::from(same)..gain.settled {
                let sign = if own[ply].side_to_move() == gain.winner { 1 } else { -1 };
                if let Some(piece) = own[ply].captured(moves[ply]) {
                    net[piece.to_index()] += sign;
                }
                if let Some(piece) = moves[ply].promotion() {
                    net[piece.to_index()] += sign;
                    net[Piece::Pawn.to_index()] -= sign;
                }
            }
            assert_eq!(net, gain.net);
            let pawns: i32 = net.iter().zip(PAWN_UNITS).map(|(count, value)| count * value).sum();
            assert!(gain.settled >= gain.plies && pawns >= 1, "{gain:?}");
            "gain"
        }
        Statement::Motif(motif) => {
            assert!(motif.ply < moves.len() && !motif.squares.is_empty(), "{motif:?}");
            if motif.kind == Kind::Fork {
                let (board, mv) = (own[motif.ply + 1], moves[motif.ply]);
                let (piece, side) = (board.piece_on(mv.to()).expect("a piece"), !board.side_to_move());
                let reach = attacks::of(piece, side, mv.to(), board.occupied());
                assert!(motif.squares.len() >= 2);
                assert!(motif.squares.iter().all(|&at| reach.has(at) && board.color_on(at) == Some(!side)));
            }
            motif.kind.name()
        }
        Statement::Draw(ending) => {
            let last = own[moves.len()];
            let expected = match (last.has_legal_move(), last.insufficient_material(), last.halfmove_clock()) {
                (false, ..) => Ending::Stalemate,
                (true, true, _) => Ending::InsufficientMaterial,
                (true, false, 100..) => Ending::FiftyMoves,
                (true, false, _) => Ending::Repetition,
            };
            assert!(*ending == expected && (last.has_legal_move() || !last.in_check()));
            "draw"
        }
        Statement::Seen(feature) => {
            let soon = [0, 1].map(|line| boards(line)[compared.moves[line].line.len().min(SOON)]);
            let reason = Reason { line: claim.line, feature: *feature };
            assert!(reason.holds([&soon[0], &soon[1]]), "{reason:?}");
            "seen"
        }
    }
}

/// Checks the claims and the moves of the text. Returns the kinds of the claims.
fn check(compared: &Comparison, explanation: &Explanation) -> Vec<&'static str> {
    let text = &explanation.text;
    if text.is_empty() {
        assert!(explanation.claims.is_empty());
        return Vec::new();
    }
    assert!(text.ends_with('.') && !text.contains("  ") && !text.contains(['{', '}', '\n', '"']), "{text}");
    for word in ["lead ", "standing", "winnability", "nothing"] {
        assert!(!text.contains(word), "{text}");
    }
    // Each move with a number is that move of one of the lines.
    let mut named = Vec::new();
    for one in &compared.moves {
        named.extend(compared.board.along(&one.line).map(|(board, mv)| {
            let dots = if board.side_to_move() == Color::White { "." } else { "..." };
            (format!("{}{dots}", board.fullmove_number()), board.san(mv))
        }));
    }
    let words: Vec<&str> = text.split(' ').collect();
    for pair in words.windows(2) {
        if pair[0].ends_with('.') && pair[0].starts_with(|c: char| c.is_ascii_digit()) {
            let mv = pair[1].trim_end_matches([',', ';', ':', '.']);
            assert!(named.iter().any(|(number, san)| number == pair[0] && san == mv), "{} {mv} in {text}", pair[0]);
        }
    }
    for mark in &explanation.marks {
        if mark.to.is_some() {
            let after = compared.board.after(compared.moves[1].line[0]);
            assert!(if mark.good { &compared.board } else { &after }.piece_on(mark.square).is_some());
        }
    }
    explanation.claims.iter().map(|claim| check_claim(compared, claim)).collect()
}

#[test]
fn each_claim_holds_on_the_board() {
    let mut engine = engine();
    let (mut counts, mut nth) = (BTreeMap::new(), 0);
    random_boards(6_000, 7, |board| {
        nth += 1;
        let moves = board.moves();
        if nth % 5 != 0 || moves.len() < 2 {
            return;
        }
        // Every other time a random move against the best one, as in a game.
        let mut game = Game::new(*board);
        if nth % 2 == 0 {
            game.push(moves[nth % moves.len()]);
        }
        let moves = game.board().moves();
        if moves.len() < 2 {
            return;
        }
        let (limits, options, control) = (Limits::nodes(600), Options::default(), Control::new(false));
        let played = moves[nth / 2 % moves.len()];
        let found = Comparison::with_best(&mut engine, &game, played, &limits, &options, &control);
        let Some(compared) = found else { return };
        for kind in check(&compared, &explain(&compared)) {
            *counts.entry(kind).or_insert(0) += 1;
        }
    });
    for (kind, least) in [("gain", 200), ("mate", 10), ("fork", 3)] {
        assert!(counts.get(kind).is_some_and(|&count| count >= least), "{kind}: {counts:?}");
    }
}

#[test]
fn what_happens_on_the_board_comes_first() {
    let morphy = "e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7";
    let start = Board::startpos().fen();
    let cases = [
        (&*start, morphy, ["Qxb7", "Nc3"], "8. Qxb7 wins "),
        // Takes a defended pawn with the queen.
        (
            "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5Q2/PPPP1PPP/RNB1KBNR w KQkq - 0 1",
            "",
            ["Bc4", "Qxf7+"],
            "1. Qxf7+ loses a queen for a pawn: 1... Kxf7; 1. Bc4 avoids this.",
        ),
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "", ["Rd8#", "Rd2"], "Misses mate on the back rank: 1. Rd8#."),
        (
            "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3",
            "",
            ["Qe7", "Nf6"],
            "3... Nf6 allows mate: 4. Qxf7#; 3... Qe7 prevents it.",
        ),
        // A knight forks king and rook.
        ("r3k3/5p1p/8/3N4/8/8/5PPP/6K1 w q - 0 1", "", ["Nc7+", "h3"], "1. Nc7+ forks king and rook and wins "),
        // A piece is attacked and stays there.
        (
            "6k1/5ppp/8/8/1b6/8/3N1PPP/6K1 w - - 0 1",
            "",
            ["Nf3", "h3"],
            "1. h3 leaves the knight on d2 hanging: 1... Bxd2; 1. Nf3 saves the knight.",
        ),
        ("4k3/8/8/8/2n5/8/1P6/2K4R b - - 0 1", "Nxb2", ["Kxb2", "Kd2"], "2. Kxb2 takes the knight back; 2. Kd2 "),
        ("7k/8/6K1/p7/P7/8/8/5Q2 w - - 0 1", "", ["Qf2", "Qf7"], "1. Qf7 is stalemate; 1. Qf2 mates in "),
        ("8/1P4k1/8/8/8/8/r7/5K2 w - - 0 1", "", ["b8=Q", "Ke1"], "1. b8=Q promotes; "),
        // The knight attacks the queen and uncovers the rook, which gives check.
        (
            "r1bqr1k1/pppp1ppp/2n5/6NQ/2BPn3/8/P2N1PPP/R3K2R b - - 1 13",
            "",
            ["Ng3+", "Nxg5+"],
            "13... Ng3+ gives discovered check and wins ",
        ),
        // Queens and bishops are traded, the knight is lost.
        (
            "1k1rr3/p1p2q1p/1p1p2pb/3N4/4PPbP/P1N1BnP1/1PP2QK1/R4R2 b - - 8 22",
            "",
            ["Bg7", "Ne5"],
            "22... Ne5 loses the knight: 23. fxe5",
        ),
        (
            "3r3r/3kb2p/4q1pn/B2p1p2/3P1P2/1P2P2P/P1Q3P1/RN2K2R w KQ - 0 21",
            "",
            ["Qc7+", "Bxd8"],
            "21. Bxd8 takes the rook but allows 21... Qxe3+",
        ),
        // Not the repetition of the better line, but the rook.
        ("2r4k/6p1/7p/4P3/7P/r7/2K3P1/2R3R1 w - - 1 46", "", ["Kb2", "Kd1"], "46. Kd1 allows 46... Rxc1+"),
        ("rnbqk1nr/pppp1ppp/8/8/3PP3/5N2/P2b1PPP/RN1QKB1R w KQkq - 0 8", "", ["Nbxd2", "Kxd2"], "After 8. Kxd2 "),
    ];
    for (fen, before, moves, expected) in cases {
        let (_, explanation) = explained(fen, before, moves);
        assert!(explanation.text.starts_with(expected), "{expected}\n{}", explanation.text);
    }
}

/// The explanation of two lines with these scores in centipawns.
fn of_lines(fen: &str, before: &str, lines: [&str; 2], scores: [i32; 2]) -> String {
    let game = game(fen, before);
    let weights = Weights::embedded();
    let moves = [0, 1].map(|at| {
        let played = crate::testing::game(&game.board().fen(), lines[at]);
        let (board, line) = (*played.board(), played.moves().to_vec());
        let end = if scores[at] == 0 { PvEnd::Draw } else { PvEnd::Evaluated };
        let leaf = PvLeaf { board, end, value: sign(game.board().side_to_move()) * scores[at] };
        ComparedMove { san: game.board().san(line[0]), line, score: Score::Cp(scores[at]), leaf }
    });
    let compared = Comparison::new(weights, &game, moves, 1);
    let explanation = explain(&compared);
    check(&compared, &explanation);
    explanation.text
}

#[test]
fn lines_are_told_as_a_player_would() {
    let cases = [
        // A piece that takes another does not defend the square it leaves.
        (
            "r4k2/7p/p1p3p1/8/PP6/4b1P1/5NKP/5R2 b - - 1 33",
            "",
            ["Bxf2 Kxf2 a5 b5 cxb5 axb5 Ke7 Ke3", "c5 Nd1+ Kg7 Nxe3 cxb4 Kf3 b3 Ke4"],
            [1, -142],
            "33... c5 allows 34. Nd1+, which gives discovered check, and White wins a bishop for a pawn: 34... Kg7 \
             35. Nxe3 cxb4; 33... Bxf2 takes the knight first.",
        ),
        // The rook is not yet where it will be taken.
        (
            "5r2/2p4p/p7/3kN1p1/2N3P1/7P/nPP2P2/3R2K1 b - - 8 27",
            "",
            ["Ke6 Nd7 Rd8 Nc5+ Ke7 Re1+ Kf7 Ne6 Rd7", "Ke4 Nd7 Rf5 gxf5 Kxf5 c3 a5 Nxa5 g4"],
            [-361, -596],
            "27... Ke4 allows 28. Nd7 Rf5 29. gxf5 Kxf5, and White wins a rook for a pawn; 27... Ke6 avoids this.",
        ),
        // Both moves take the knight, and only one of the bishops is lost for it.
        (
            "r2q1rk1/ppp2pp1/3p3p/2bP4/2Bn2b1/2PP1N2/PP3PPP/R1BQ1RK1 b - - 0 11",
            "",
            ["Nxf3+ gxf3 Bh3 d4 Bxf1 Qxf1 Bb6 a4 a5 Qg2", "Bxf3 gxf3 Nf5 d4 Bb6 Kh1 c5 dxc6 bxc6 f4"],
            [46, -54],
            "11... Nxf3+ wins the exchange: 12. gxf3 Bh3 13. d4 Bxf1 14. Qxf1; 11... Bxf3 12. gxf3 only trades a bishop \
             for a knight.",
        ),
        // The pawn that comes back later is not the reason.
        (
            "8/1R3pk1/1pN1p1pp/pPbpP3/P4P2/5KPP/8/8 b - - 8 45",
            "",
            ["Kf8 g4 Ke8 h4 h5 g5 Kf8 Nd8", "Bd4 Nxd4 g5 Rxb6 gxf4 Rc6 fxg3 b6 Kh7 b7 Kg6 b8=Q"],
            [-373, -880],
            "45... Bd4 loses the bishop: 46. Nxd4; 45... Kf8 avoids this.",
        ),
        (
            "2k3r1/p1p5/1pnb4/5p2/1P3P2/2PNB3/r7/3RKR2 w - - 0 28",
            "",
            ["Rh1 a5 Rd2 Ra3 bxa5 Nxa5 Bd4 Nc4", "c4 Re8 Rd2 Ra1+ Rd1 Rxe3+ Kd2 Rxd1+ Rxd1 Re4 c5"],
            [-166, -359],
            "28. c4 allows 28... Re8 29. Rd2 Ra1+ 30. Rd1 Rxe3+, which exploits the pin of the bishop on e3, and Black \
             wins a bishop; 28. Rh1 avoids this.",
        ),
        (
            "r3kbnr/ppp1pp1p/2n3p1/3q4/3P2b1/2N1BN2/PPP2PPP/R2QKB1R b KQkq - 1 6",
            "Bxf3",
            ["Nxd5 Bxd1 Nxc7+ Kd8 Nxa8 Bxc2 d5 Nb4 a3", "gxf3 Qa5 Bb5 O-O-O Qe2 e6 Bxc6 bxc6 O-O-O"],
            [179, 24],
            "7. Nxd5 wins a rook: 7... Bxd1 8. Nxc7+ Kd8 9. Nxa8 Bxc2; 7. gxf3 only takes the bishop back.",
        ),
        // A pawn that could be taken back is not won.
        (
            "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
            "",
            ["exd5 c6 dxc6 Nxc6 Nf3 e5 Nc3 Nf6", "Bd3 dxe4 Bxe4 f5 Bd3 Nc6 Bc4 e5"],
            [41, -14],
            "",
        ),
        // A repetition that is far away.
        (
            "6nr/b2k2pp/2p2p2/4pP2/bq2P3/2NQ2N1/3P2PP/4K2R b K - 1 25",
            "",
            [
                "Bd4 Ke2 Bb3 Rb1 Qc4 Nd5",
                "Qd6 Qxd6+ Kxd6 Nxa4 Nh6 Ke2 Rb8 Nc3 Nf7 Kd3 g6 Ra1 Bd4 Ra6 Nh6 h3 Nf7 Nge2 Bc5 Ng3",
            ],
            [198, 0],
            "25... Qd6 allows 26. Qxd6+ Kxd6 27. Nxa4, and White wins a bishop; ",
        ),
        // A piece ahead and hardly better, but the other move is better by more than a piece.
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "e4 c6 d4 e6 Nf3 Qb6 Nc3 f6 Bd3 Bb4 O-O Bxc3 bxc3 Na6 Ba3 Qa5",
            ["Qc1 Nh6 e5 Nf7 exf6 gxf6 Rb1 b6 Nd2 Bb7", "e5 Qxa3 Nd2 d5 exd6 Qxd6 Ne4 Qd5 Qg4 Kf8"],
            [280, -56],
            "9. e5 leaves the bishop on a3 hanging: 9... Qxa3; 9. Qc1 defends the bishop.",
        ),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "e4 c6 d4 e6 Nf3 Qb6 Nc3 f6 Bd3 Bb4 O-O Bxc3",
            ["bxc3 Qc7 Nd2 d6 Ba3 Nd7 Nc4 c5", "Re1 Bxe1 Qxe1 c5 dxc5 Qxc5 Be3 Qc7 Nd4 Ne7"],
            [196, -93],
            "7. Re1 loses the exchange: 7... Bxe1 8. Qxe1; 7. bxc3 takes the bishop back.",
        ),
        // Two pawns ahead and hardly better: the opponent has something for them.
        (
            "r2qkb1r/p2p1p1p/bpnPp1p1/n5P1/2P1N3/5N2/PP3P1P/R1BQKB1R b KQkq - 0 12",
            "",
            ["Bg7 Bd2 Bxc4 h4 Bxb2 Rb1 Bg7 Bxc4 Nxc4", "Bxc4 Bxc4 Bg7 Bb5 a6 Bxc6 Nxc6 Bd2 O-O"],
            [33, -207],
            "12... Bxc4 loses a bishop for a pawn: 13. Bxc4; 12... Bg7 avoids this.",
        ),
        // A king is not safe because the check that would win something else is not given.
        (
            "8/3k4/2p4R/2P4p/3PP1bP/6P1/4r3/5RK1 w - - 7 48",
            "",
            ["Rf7+ Ke8 Ra7 Bd7 Rh7 Kf8 Raxd7 Kg8 d5 cxd5 exd5", "Rh7+ Ke6 Rc7 Rxe4 Rxc6+ Kd5 Rd6+ Kc4"],
            [701, 379],
            "48. Rf7+ wins a bishop: 48... Ke8 49. Ra7 Bd7 ... 51. Raxd7; 48. Rh7+ misses this.",
        ),
        // The better line loses a pawn, too, but later.
        (
            "6k1/5ppp/8/3n4/1P6/8/5PPP/4R1K1 w - - 0 1",
            "",
            ["b5 Kf8 Kf1 Nc7 Re2 Nxb5 Re1 g6 Re2 h6", "Kf1 Nxb4 Re2 h6 g3 g6 h3 Kg7"],
            [-20, -120],
            "1. Kf1 leaves the pawn on b4 hanging: 1... Nxb4; after 1. b5 the game is level.",
        ),
    ];
    for (fen, before, lines, scores, expected) in cases {
        let text = of_lines(fen, before, lines, scores);
        assert!(text.starts_with(expected) && text.is_empty() == expected.is_empty(), "{expected}\n{text}");
    }
}

#[test]
fn arrows_are_moves() {
    let (_, explanation) =
        explained("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5Q2/PPPP1PPP/RNB1KBNR w KQkq - 0 1", "", ["Bc4", "Qxf7+"]);
    let arrow = |square, to, good| Mark { good, square, to: Some(to) };
    assert_eq!(explanation.marks[..2], [arrow(Square::F1, Square::C4, true), arrow(Square::E8, Square::F7, false)]);
    assert!(explanation.goal.iter().all(|mark| mark.to.is_none() && mark.good));
    // Castling goes from the king to its destination.
    let (_, explanation) = explained("4k3/8/8/8/8/8/5PPP/4K2R w K - 0 1", "", ["O-O", "Ke2"]);
    assert_eq!(explanation.marks[0], arrow(Square::E1, Square::G1, true));
}

#[test]
fn features_are_seen_where_they_are() {
    let french = "rnbqk2r/pp2nppp/4p3/2ppP3/3P4/2P2N2/PP3PPP/RNBQKB1R b KQkq - 0 1";
    let pawns = "6k1/pp6/8/4P2p/8/8/7P/6K1 w - - 0 1";
    let cases = [
        // The French bishop, the same bishop outside the chain, and one with pawns that can move.
        (french, Seen::BadBishop, Color::Black, Square::C8, true),
        (
            "rn1qk2r/pp2nppp/4p3/2ppPb2/3P4/2P2N2/PP3PPP/RNBQKB1R b KQkq - 0 1",
            Seen::BadBishop,
            Color::Black,
            Square::F5,
            false,
        ),
        (
            "rnbqk2r/pp2nppp/4p3/3p4/8/2P2N2/PP3PPP/RNBQKB1R b KQkq - 0 1",
            Seen::BadBishop,
            Color::Black,
            Square::C8,
            false,
        ),
        // Pawns that only own pieces and no enemy pawns block.
        (
            "r1bqk1nr/pppp2pp/1bn2p2/4p3/2BPP3/2P5/PB3PPP/RN1QK1NR w KQkq - 1 7",
            Seen::BadBishop,
            Color::Black,
            Square::B6,
            false,
        ),
        // A passed pawn is not weak.
        (pawns, Seen::Isolated, Color::White, Square::E5, false),
        (pawns, Seen::Isolated, Color::White, Square::H2, true),
    ];
    for (fen, kind, color, square, expected) in cases {
        let feature = Feature { kind, color, square: Some(square) };
        assert_eq!(feature.is_on(&board(fen)), expected, "{feature:?} in {fen}");
    }
}

#[test]
fn gains_are_named_as_players_name_them() {
    let words = |net: [i32; 5]| Gain { winner: Color::White, plies: 1, settled: 1, net }.words();
    for (net, expected) in [
        ([1, 0, 0, 0, 0], "a pawn"),
        ([2, 0, 0, 0, 0], "two pawns"),
        ([0, -1, 0, 1, 0], "the exchange"),
        ([-1, 0, -1, 1, 0], "the exchange for a pawn"),
        ([1, 0, -1, 1, 0], "the exchange and a pawn"),
        ([0, 1, 1, -1, 0], "two pieces for a rook"),
        ([-1, 1, 1, -1, 0], "two pieces for a rook and a pawn"),
        ([1, 1, -1, 0, 0], "a pawn"),
        ([-2, 1, 0, 0, 0], "a knight for two pawns"),
        ([0, 0, 0, -1, 1], "a queen for a rook"),
        ([1, 0, 0, 1, 0], "a rook and a pawn"),
    ] {
        assert_eq!(words(net), expected);
    }
}

/// The better of two moves is named, in whatever order they come.
#[test]
fn a_verdict_does_not_depend_on_the_order() {
    let fen = "6k1/5ppp/8/8/1b6/8/3N1PPP/6K1 w - - 0 1";
    let (compared, explanation) = explained(fen, "", ["Nf3", "h3"]);
    assert!(!compared.is_equal());
    assert_eq!(verdict(&compared), explanation.text);
    assert_eq!(verdict(&compared.swapped()), explanation.text);
    let (same, _) = explained("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "", ["Ra2", "Rh2"]);
    assert!(verdict(&same).ends_with(" are equally good.") || !same.is_equal());
}
