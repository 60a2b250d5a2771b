//! Severity of mistakes, by the loss of winning chances.
//!
//! A pawn decides a level game and means nothing in a won one, so moves are judged by chances, not by centipawns. The
//! curve and the three thresholds are those of Lichess (lichess.org/page/accuracy, and its open source), fitted to
//! games of people and known to most users.

use dyad_engine::search::Score;

/// The severity of a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// `?!`
    Inaccuracy,
    /// `?`
    Mistake,
    /// `??`
    Blunder,
}

impl Judgement {
    /// All of them, the mildest first.
    pub const ALL: [Judgement; 3] = [Judgement::Inaccuracy, Judgement::Mistake, Judgement::Blunder];

    /// Judges a move by the scores of the best move and of itself, both from its player's view; `None` if it is no
    /// mistake.
    pub fn of(best: Score, played: Score) -> Option<Judgement> {
        let lost = chances(best) - chances(played);
        Judgement::ALL.into_iter().rev().find(|judgement| lost >= judgement.row().0)
    }

    /// Smallest loss of chances on the scale from -1 to 1, numeric annotation glyph, symbol, name.
    fn row(self) -> (f64, u8, &'static str, &'static str) {
        match self {
            Judgement::Inaccuracy => (0.1, 6, "?!", "Inaccuracy"),
            Judgement::Mistake => (0.2, 2, "?", "Mistake"),
            Judgement::Blunder => (0.3, 4, "??", "Blunder"),
        }
    }

    /// Its numeric annotation glyph.
    pub fn nag(self) -> u8 {
        self.row().1
    }

    /// Its annotation symbol.
    pub fn sign(self) -> &'static str {
        self.row().2
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().3
    }
}

/// Chances to win minus chances to lose at this score, -1 to 1.
pub fn chances(score: Score) -> f64 {
    const PER_CENTIPAWN: f64 = 0.003_682_08;
    match score {
        Score::Mate(moves) => f64::from(if moves > 0 { 1 } else { -1 }),
        Score::Cp(centipawns) => {
            let centipawns = f64::from(centipawns.clamp(-1_000, 1_000));
            2.0 / (1.0 + (-PER_CENTIPAWN * centipawns).exp()) - 1.0
        }
    }
}

/// The accuracy of a move in percent, by the best score and that of the move, both from its player's view: 100 for no
/// loss of chances, about 61 for a loss of 20 percentage points.
pub fn accuracy(best: Score, played: Score) -> f64 {
    let lost = 50.0 * (chances(best) - chances(played)).max(0.0);
    (103.1668 * (-0.04354 * lost).exp() - 3.1669).clamp(0.0, 100.0)
}

/// The score from the other side's view.
pub fn opposite(score: Score) -> Score {
    match score {
        Score::Cp(centipawns) => Score::Cp(-centipawns),
        Score::Mate(moves) => Score::Mate(-moves),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_loss_counts_most_in_a_level_game() {
        let cases = [
            (Score::Cp(20), Score::Cp(0), None),
            (Score::Cp(30), Score::Cp(-30), Some(Judgement::Inaccuracy)),
            (Score::Cp(50), Score::Cp(-70), Some(Judgement::Mistake)),
            (Score::Cp(50), Score::Cp(-150), Some(Judgement::Blunder)),
            (Score::Cp(900), Score::Cp(700), None),
            (Score::Cp(-700), Score::Cp(-1200), None),
            (Score::Mate(3), Score::Mate(8), None),
            (Score::Mate(3), Score::Cp(100), Some(Judgement::Blunder)),
            (Score::Cp(0), Score::Mate(-2), Some(Judgement::Blunder)),
            (Score::Cp(-1_000), Score::Mate(-2), None),
            (Score::Cp(10), Score::Cp(40), None),
        ];
        for (best, played, expected) in cases {
            assert_eq!(Judgement::of(best, played), expected, "{best:?} {played:?}");
        }
        // As Lichess documents: a pawn ahead scores 59 %.
        assert!((50.0 + 50.0 * chances(Score::Cp(100)) - 59.1).abs() < 0.05);
        assert_eq!(opposite(Score::Mate(-2)), Score::Mate(2));
        assert!((accuracy(Score::Cp(30), Score::Cp(50)) - 100.0).abs() < 0.01);
        assert!((accuracy(Score::Mate(1), Score::Mate(-1)) - 0.0).abs() < 0.01);
    }
}
