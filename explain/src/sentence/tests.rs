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
fn explanations_are_those_of_a_player() {
    for case in include_str!("cases.txt").split("\n\n") {
        let lines: Vec<&str> = case.lines().filter(|line| !line.starts_with('#')).collect();
        let [position, better, worse, expected] = lines[..] else {
            assert!(lines.is_empty(), "{case}");
            continue;
        };
        let (fen, before) = position.split_once(" | ").unwrap_or((position, ""));
        let scored = [better, worse].map(|line| line.split_once(": "));
        let text = match scored {
            [Some((better_score, better)), Some((worse_score, worse))] => {
                let scores = [better_score, worse_score].map(|score| score.parse().expect("a score"));
                of_lines(fen, before, [better, worse], scores)
            }
            _ => explained(fen, before, [better, worse]).1.text,
        };
        let expected = expected.trim_start_matches('-');
        assert!(text.starts_with(expected) && text.is_empty() == expected.is_empty(), "{case}\n{text}");
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
