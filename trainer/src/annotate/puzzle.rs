//! Mistakes as positions to solve: EPD with the better move.

use dyad_engine::board::{Board, Color, Move};

use super::analysis::{Annotated, Mistake, Ply};
use super::judgement::Judgement;

/// The positions of a game in which a player made a mistake or a blunder, one EPD line each: `bm` is the better move, or
/// all that mate at once, `am` the move played, `id` the game and move, and `c0` the explanation. `of` selects players by name.
#[must_use]
pub fn puzzles(game: &Annotated, of: impl Fn(&str) -> bool) -> Vec<String> {
    let players = [Color::White, Color::Black].map(|color| of(game.player(color)));
    let wanted = |board: &Board| players[usize::from(board.side_to_move() == Color::Black)];
    let lines = game.positions().filter(|(board, _)| wanted(board)).filter_map(|(board, ply)| {
        let mistake = ply.mistake().filter(|mistake| mistake.judgement >= Judgement::Mistake)?;
        Some(line(game, &board, ply, mistake))
    });
    lines.collect()
}

fn line(game: &Annotated, board: &Board, ply: &Ply, mistake: &Mistake) -> String {
    let fen = board.fen();
    let fields: Vec<&str> = fen.split(' ').collect();
    let mates = |mv: &Move| {
        let after = board.after(*mv);
        after.in_check() && !after.has_legal_move()
    };
    // Every mate in one is a solution.
    let mut solutions = vec![mistake.line[0]];
    if mates(&mistake.line[0]) {
        solutions.extend(board.moves().iter().copied().filter(|mv| *mv != mistake.line[0]).filter(mates));
    }
    let better: Vec<String> = solutions.iter().map(|&mv| board.san(mv)).collect();
    let (better, played) = (better.join(" "), board.san(ply.mv));
    let dots = if board.side_to_move() == Color::White { "." } else { "..." };
    let (white, black) = (game.player(Color::White), game.player(Color::Black));
    let place = format!("{white} - {black}, {}{dots} {played}{}", board.fullmove_number(), mistake.judgement.sign());
    format!(
        "{} bm {better}; am {played}; hmvc {}; fmvn {}; id \"{}\"; c0 \"{}\";",
        fields[..4].join(" "),
        fields[4],
        fields[5],
        quoted(&place),
        quoted(&mistake.explanation),
    )
}

/// The text with characters replaced that are not allowed in a quoted EPD operand.
fn quoted(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c == '"' {
                '\''
            } else if c.is_control() {
                ' '
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::testing::{MISTAKES, annotated};
    use dyad_formats::epd::{Epd, EpdLine};

    #[test]
    fn a_mistake_is_a_position_with_the_better_move() {
        let game = annotated(MISTAKES, 2_000);
        let lines = puzzles(&game, |_| true);
        let last = lines.last().expect("there was a blunder");
        let epd = Epd::parse(last).unwrap();
        assert_eq!(epd.board.fen(), "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3");
        let better = epd.board.san(epd.best.unwrap());
        assert!(["Qe7", "g6", "Qf6", "Nh6"].contains(&better.as_str()), "{better}");
        let line = EpdLine::parse(last).unwrap();
        let played = line.moves("am").unwrap().unwrap();
        assert_eq!(epd.board.san(played[0]), "Nf6");
        assert_eq!(line.operand("id"), Some("A 'quoted' {name} - </script><script>alert(1)</script>, 3... Nf6??"));
        assert!(line.operand("c0").unwrap().starts_with("3... Nf6 allows mate: 4. Qxf7#; "), "{last}");
        // White made no mistake, and the other name does not occur.
        assert_eq!(puzzles(&game, |name| name.starts_with("</script>")).last(), Some(last));
        assert!(puzzles(&game, |name| name == "unknown").is_empty());
    }
}
