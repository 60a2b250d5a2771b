//! How bad a move was: by what it takes from the chances to win.
//!
//! A pawn more or less decides a level game and means nothing in a won one, so moves are judged by chances and not by
//! centipawns. The curve and the three bounds are those of Lichess (lichess.org/page/accuracy, and its open source), fitted
//! to games of people: most users know them.

use dyad_engine::search::Score;

/// How bad a move was.
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

    /// Judges a move by the scores of the best move and of itself, both as its player sees them.
    #[must_use]
    pub fn of(best: Score, played: Score) -> Option<Judgement> {
        let lost = chances(best) - chances(played);
        Judgement::ALL.into_iter().rev().find(|judgement| lost >= judgement.bound())
    }

    /// What it takes of the chances, which run from -1 to 1.
    fn bound(self) -> f64 {
        match self {
            Judgement::Inaccuracy => 0.1,
            Judgement::Mistake => 0.2,
            Judgement::Blunder => 0.3,
        }
    }

    /// Its numeric annotation glyph.
    #[must_use]
    pub fn nag(self) -> u8 {
        match self {
            Judgement::Inaccuracy => 6,
            Judgement::Mistake => 2,
            Judgement::Blunder => 4,
        }
    }

    /// Its sign behind a move.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Judgement::Inaccuracy => "?!",
            Judgement::Mistake => "?",
            Judgement::Blunder => "??",
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Inaccuracy => "Inaccuracy",
            Judgement::Mistake => "Mistake",
            Judgement::Blunder => "Blunder",
        }
    }
}

/// The chances to win less those to lose of a person with this score, -1 to 1.
#[must_use]
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

/// The same score as the other side sees it.
#[must_use]
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
    fn the_same_loss_weighs_most_in_a_level_game() {
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
        // As Lichess tells its users: a pawn ahead wins 59 points of 100.
        assert!((50.0 + 50.0 * chances(Score::Cp(100)) - 59.1).abs() < 0.05);
        assert_eq!(opposite(Score::Mate(-2)), Score::Mate(2));
    }
}
