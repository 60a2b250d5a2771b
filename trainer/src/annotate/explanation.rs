//! Why a move was worse than another, in one sentence and as marks on the board.
//!
//! The exact difference has hundreds of parts. A player wants the two or three that decide, in chess terms, and what
//! favors the move if that is much. Each number is the sum of a topic, in pawns.

use dyad_engine::board::{Board, Color, Move, PAWN_UNITS, PIECES, Piece, PieceSquare, Square, color_name, piece_name};
use dyad_engine::eval::layout::Family;
use dyad_engine::explain::Comparison;
use dyad_engine::explain::difference::{Difference, Part, Subject, Topic, TopicSum};
use dyad_engine::search::Score;

/// A colored arrow or square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The arrow or square.
    pub place: Place,
    /// Green for what is good, red for what is bad.
    pub good: bool,
}

/// The arrow or square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// From one square to another.
    Arrow(Square, Square),
    /// A square.
    Square(Square),
}

/// Maximum number of reasons in a sentence.
const REASONS: usize = 3;
/// Smallest reason after the first, as a fraction of the difference.
const MIN_FRACTION: f64 = 0.15;
/// Maximum number of marked pairs and squares, and their smallest effect in centipawns.
const PAIRS: usize = 3;
const SQUARES: usize = 2;
const MIN_MARK: f64 = 3.0;

/// Why the second move of a comparison is worse than the first.
#[must_use]
pub fn sentence(compared: &Comparison) -> String {
    let [better, played] = &compared.moves;
    let mover = compared.board.side_to_move();
    let lead = |worse: &str| format!("{} is better than {}, which {worse}.", better.san, played.san);
    match (better.score, played.score) {
        (Score::Mate(moves), _) if moves > 0 => {
            return lead(&format!("misses a mate in {moves}"));
        }
        (_, Score::Mate(moves)) if moves < 0 => {
            return lead(&format!("allows a mate in {}", -moves));
        }
        _ => {}
    }
    let total = compared.centipawns(topics_sum(compared));
    let topics = compared.difference.topics();
    let is_large = |net: &&TopicSum| compared.centipawns(net.amount).abs() >= (MIN_FRACTION * total).max(5.0);
    let centipawns = |net: &TopicSum| compared.centipawns(net.amount);
    let phrase = |net: &TopicSum| {
        let pawns = -compared.centipawns(net.amount) / 100.0;
        format!("{} ({pawns:+.1})", words(compared, net, mover))
    };
    let against: Vec<String> =
        topics.iter().filter(|net| net.amount > 0).filter(is_large).take(REASONS).map(phrase).collect();
    let in_favor = topics.iter().filter(|net| net.amount < 0).find(is_large).map(phrase);
    let told_sum: f64 = topics.iter().filter(|net| net.amount > 0).filter(is_large).take(REASONS).map(centipawns).sum();
    let all_against: f64 = topics.iter().filter(|net| net.amount > 0).map(centipawns).sum();
    let reasons = match &against[..] {
        [] => "is worse in many small ways".to_string(),
        [one] if told_sum < all_against / 2.0 => format!("{one}, and is worse in many small ways"),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    };
    let but = in_favor.map(|reason| format!("; in its favor, it {reason}")).unwrap_or_default();
    format!("{} is better by {:.1} than {}, which {reasons}{but}.", better.san, total / 100.0, played.san)
}

fn topics_sum(compared: &Comparison) -> i64 {
    compared.difference.parts().iter().map(|part| part.amount).sum()
}

/// The effect of the played move in a topic, after "which". Positive amounts count against it.
fn words(compared: &Comparison, net: &TopicSum, mover: Color) -> String {
    let against = net.amount > 0;
    // The side that gains: what counts against a move is good for the opponent.
    let gains = |color: Color| (color == mover) != against;
    let pick = |color: Color, more: &str, less: &str| {
        let color_name = color_name(color);
        if gains(color) { more.replace('@', color_name) } else { less.replace('@', color_name) }
    };
    match net.topic {
        Topic::Material => material(compared, mover),
        Topic::Piece(color, piece, [first, second]) => {
            let how = if gains(color) { "better" } else { "worse" };
            format!("has {}'s {} {how} on {second} than on {first}", color_name(color), piece_name(piece))
        }
        Topic::Family(family, color) => match family {
            Family::Mobility => pick(color, "gives @'s pieces more squares", "leaves @'s pieces fewer squares"),
            Family::Pawns => pick(color, "improves @'s pawn structure", "weakens @'s pawn structure"),
            Family::Passed => pick(color, "makes @'s passed pawns stronger", "makes @'s passed pawns weaker"),
            Family::Pieces => pick(color, "gives @'s pieces better posts", "gives @'s pieces worse posts"),
            Family::Threats => pick(color, "gives @ more to attack", "leaves @ less to attack"),
            Family::King => pick(color, "makes @'s king safer", "makes @'s king less safe"),
            Family::Space => pick(color, "gives @ more space", "leaves @ less space"),
            Family::Winnability => pick(color, "increases @'s advantage", "gives back part of @'s advantage"),
            Family::Material | Family::MaterialPairs | Family::PieceSquare | Family::Pairs => {
                format!("changes {}'s {}", color_name(color), family.name())
            }
        },
        Topic::Alone(subject) => match subject {
            Subject::Phase => {
                let how = if against { "less" } else { "better" };
                format!("leads to a phase of the game that suits {} {how}", color_name(mover))
            }
            Subject::Ending(1) if against => "leads to an endgame known to be worse than it looks".into(),
            Subject::Ending(1) => "leads to an endgame known to be better than it looks".into(),
            Subject::Ending(_) => {
                format!("gives away an endgame known to be {} than it looks", if against { "better" } else { "worse" })
            }
            Subject::Draw(1) => "lets the game end in a draw".into(),
            Subject::Draw(_) => "gives away a draw".into(),
            Subject::Mate(_) | Subject::Decided(_) => "decides the game".into(),
            _ => format!("is {} in the search than its line shows", if against { "worse" } else { "better" }),
        },
    }
}

/// The material that the move loses, misses or wins.
fn material(compared: &Comparison, mover: Color) -> String {
    let [better, played] = &compared.moves;
    let net = Difference::material([&better.leaf, &played.leaf], mover);
    let now = |leaf: &Board| -> i32 { balance(leaf, mover) };
    let (root, after) = (now(&compared.board), now(&played.leaf.board));
    let list = |sign: i32| -> Vec<String> {
        let of = |(index, &count): (usize, &i32)| {
            let piece = [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen][index];
            let count = count * sign;
            (count > 0).then(|| {
                if count == 1 { format!("a {}", piece_name(piece)) } else { format!("{count} {}s", piece_name(piece)) }
            })
        };
        net.iter().enumerate().rev().filter_map(of).collect()
    };
    let (lost, won) = (list(1), list(-1));
    match (&lost[..], &won[..]) {
        ([], []) => "leads to less valuable pieces".into(),
        ([], won) => format!("wins {}", won.join(" and ")),
        (lost, []) if after < root => format!("loses {}", lost.join(" and ")),
        (lost, []) => format!("misses {}", lost.join(" and ")),
        (lost, won) => format!("gives {} for {}", lost.join(" and "), won.join(" and ")),
    }
}

/// Material balance from a side's view, in pawns by the usual values.
fn balance(board: &Board, side: Color) -> i32 {
    let count = |color, piece| board.colored(color, piece).popcnt() as i32;
    let balance = |(&piece, value): (&Piece, i32)| value * (count(side, piece) - count(!side, piece));
    PIECES.iter().zip(PAWN_UNITS).map(balance).sum()
}

/// Marks on the board after the second move: the arrow of the better move, and what counts against the second and is on
/// the board already.
#[must_use]
pub fn marks(compared: &Comparison, after: &Board) -> Vec<Mark> {
    let best = compared.moves[0].line[0];
    let mut marks = vec![Mark { place: arrow(best), good: true }];
    let stands = |piece: PieceSquare| {
        after.piece_on(piece.square) == Some(piece.piece) && after.color_on(piece.square) == Some(piece.color)
    };
    marks.extend(heaviest(compared, -1, stands).into_iter().map(|place| Mark { place, good: false }));
    marks
}

/// Marks at the end of the better line: the pairs and pieces that count most for it.
#[must_use]
pub fn goal(compared: &Comparison) -> Vec<Mark> {
    heaviest(compared, 1, |_| true).into_iter().map(|place| Mark { place, good: true }).collect()
}

/// The places of the largest parts in favor of the first move that exist at the end of one line only: the first's for
/// 1, the second's for -1.
fn heaviest(compared: &Comparison, which: i32, stands: impl Fn(PieceSquare) -> bool) -> Vec<Place> {
    let parts = compared.difference.parts();
    let weighs = |part: &&Part| part.amount > 0 && compared.centipawns(part.amount) >= MIN_MARK;
    let pair = |part: &Part| match part.subject {
        Subject::Pair(first, second, count) if count == which && stands(first) && stands(second) => {
            Some(Place::Arrow(first.square, second.square))
        }
        _ => None,
    };
    let square = |part: &Part| match part.subject {
        Subject::Square(piece, count) if count == which && stands(piece) => Some(Place::Square(piece.square)),
        _ => None,
    };
    let heavy = || parts.iter().filter(weighs);
    let arrows = heavy().filter_map(pair).take(PAIRS);
    arrows.chain(heavy().filter_map(square).take(SQUARES)).collect()
}

fn arrow(mv: Move) -> Place {
    Place::Arrow(mv.from(), mv.to())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Game;
    use dyad_engine::control::Control;
    use dyad_engine::engine::Engine;
    use dyad_engine::eval::Weights;
    use dyad_engine::search::{Limits, Options};

    fn compare(fen: &str, moves: [&str; 2]) -> Comparison {
        let game = Game::new(Board::from_fen(fen).unwrap());
        let moves = moves.map(|mv| game.board().parse_san(mv).unwrap());
        let mut engine = Engine::with_hash(Weights::embedded(), 1).unwrap();
        let (limits, options) = (Limits::nodes(5_000), Options::default());
        Comparison::search(&mut engine, &game, moves, &limits, &options, &Control::new(false)).unwrap()
    }

    #[test]
    fn the_sentence_names_what_decides() {
        let cases = [
            // Takes a defended pawn with the queen.
            (
                "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5Q2/PPPP1PPP/RNB1KBNR w KQkq - 0 1",
                ["Bc4", "Qxf7+"],
                "which gives a queen ",
            ),
            ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", ["Rd8#", "Rd2"], "which misses a mate in 1."),
            ("3r2k1/5ppp/8/8/8/8/5PPP/3Q2K1 w - - 0 1", ["Qxd8#", "h3"], "misses a mate in 1."),
            (
                "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3",
                ["Qe7", "Nf6"],
                "which allows a mate in 1.",
            ),
        ];
        for (fen, moves, expected) in cases {
            let text = sentence(&compare(fen, moves));
            assert!(text.contains(expected), "{text}");
            assert!(text.starts_with(&format!("{} is better ", moves[0])) && text.ends_with('.'), "{text}");
            assert!(!text.contains(['{', '}', '\n']), "{text}");
        }
    }

    #[test]
    fn marks_are_on_occupied_squares() {
        let compared = compare("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5Q2/PPPP1PPP/RNB1KBNR w KQkq - 0 1", ["Bc4", "Qxf7+"]);
        let after = compared.board.after(compared.moves[1].line[0]);
        let marks = marks(&compared, &after);
        assert_eq!(marks[0], Mark { place: Place::Arrow(Square::F1, Square::C4), good: true });
        let occupied = |board: &Board, square: Square| board.piece_on(square).is_some();
        let on = |board: &Board, mark: &Mark| match mark.place {
            Place::Arrow(from, to) => occupied(board, from) && occupied(board, to),
            Place::Square(square) => occupied(board, square),
        };
        assert!(marks[1..].iter().all(|mark| !mark.good && on(&after, mark)), "{marks:?}");
        let goal = goal(&compared);
        assert!(!goal.is_empty() && goal.len() <= PAIRS + SQUARES);
        assert!(goal.iter().all(|mark| mark.good && on(&compared.moves[0].leaf.board, mark)), "{goal:?}");
    }
}
