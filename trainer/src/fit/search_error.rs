//! How far the scores of a search are from those of a much stronger one.
//!
//! Short matches select what helps short searches. Search error judges weights at a long horizon by far fewer nodes than
//! games need: positions are labeled by a search with the weights, say of 60,000 nodes, and by a stronger search, the
//! judge. Both scores become expected points by the logistic function. The factor of the judge is the one that predicts
//! the results of the games best. A search has a factor for each of eight phases of the game, the one with the smallest
//! error: neither the scale of its scores nor its win rate model, which divides values by a polynomial of the phase,
//! counts. Search error is the mean squared difference.
//!
//! Positions of a game depend on each other, so standard errors count games. Two searches are compared by the
//! differences on the same positions, which vary less than the errors.

use std::collections::{BTreeMap, BTreeSet};

use dyad_engine::board::Board;
use dyad_formats::error::Error;
use dyad_formats::samples::SampleFile;
use dyad_formats::score::Score;
use dyad_levels::features::phase;

use super::logistic::{Prediction, best_factor, sigmoid};
use super::quality::explained;

/// Scores are clamped to this many pawns; mates are this much.
const LARGEST_SCORE: f64 = 30.0;
/// Number of phases that have a factor of their own.
const PHASES: usize = 8;
/// A phase with fewer positions has the factor of all positions.
const FEWEST_OF_PHASE: usize = 50;
/// Fewest games with a position that both searches scored.
const FEWEST_GAMES: usize = 10;

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// The standard error, by games.
    pub error: f64,
}

/// The search error of one sample file.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchError {
    /// The mean squared difference of expected points.
    pub mean: Mean,
    /// The same for every second game, and for the others.
    pub halves: [f64; 2],
    /// The difference to the first file on the positions that both have scores for.
    pub difference: Mean,
    /// Factors of the scores in pawns, by phase from the endgame to the middlegame.
    pub factors: [f64; PHASES],
    /// Positions with both scores.
    pub positions: usize,
    /// Games that the positions come from.
    pub games: usize,
}

/// Measures the scores of sample files against those of the judge, which are of the same positions.
///
/// # Errors
/// When a file cannot be read, has other positions, or when the positions have no results or too few scores.
pub fn search_errors(judge: &SampleFile, searched: &[SampleFile]) -> Result<Vec<SearchError>, Error> {
    let judged = read_judge(judge)?;
    let mut first = None;
    searched
        .iter()
        .map(|file| {
            let (squares, factors) = squares(&judged, file)?;
            // The games of the positions with both scores, and their squares.
            let found = || judged.iter().zip(&squares).filter_map(|(position, square)| Some((position.game, (*square)?)));
            let games = found().map(|(game, _)| game).collect::<BTreeSet<_>>().len();
            if games < FEWEST_GAMES {
                return Err(Error::Settings(format!(
                    "{}: {games} games have a position with a score of both searches, at least {FEWEST_GAMES} are needed",
                    file.path().display()
                )));
            }
            let first: &Vec<Option<f64>> = first.get_or_insert_with(|| squares.clone());
            let differences = judged
                .iter()
                .zip(squares.iter().zip(first))
                .filter_map(|(position, (square, before))| Some((position.game, (*square)? - (*before)?)));
            let half = |odd| mean_by_games(found().filter(|(game, _)| game % 2 == odd)).value;
            Ok(SearchError {
                mean: mean_by_games(found()),
                halves: [half(0), half(1)],
                difference: mean_by_games(differences),
                factors,
                positions: found().count(),
                games,
            })
        })
        .collect()
}

/// A position of the judge.
struct Judged {
    board: Board,
    /// The phase of the game, below [`PHASES`].
    phase: usize,
    /// The number of its game.
    game: usize,
    /// The expected points, if the judge has a score.
    target: Option<f64>,
}

fn read_judge(file: &SampleFile) -> Result<Vec<Judged>, Error> {
    let (mut game, mut judged, mut predictions) = (0, Vec::new(), Vec::new());
    for index in 0..file.len() {
        let sample = file.read(index)?;
        game += usize::from(sample.starts_game);
        let pawns = sample.score.map(clamped);
        judged.push(Judged { board: sample.board, phase: phase_of(&sample.board), game, target: pawns });
        if let (Some(z), Some(target)) = (pawns, sample.points()) {
            predictions.push(Prediction { z, alpha: 0.0, target });
        }
    }
    if predictions.is_empty() {
        let problem = "no position has a score and the result of its game";
        return Err(Error::content(file.path(), "the samples", problem));
    }
    let factor = best_factor(&predictions);
    for position in &mut judged {
        position.target = position.target.map(|pawns| sigmoid(factor * pawns));
    }
    Ok(judged)
}

/// The squared difference at each position with both scores, and the factors of the file's scores.
fn squares(judged: &[Judged], file: &SampleFile) -> Result<(Vec<Option<f64>>, [f64; PHASES]), Error> {
    if file.len() != judged.len() {
        let problem = format!("{} positions, expected the {} of the judge", file.len(), judged.len());
        return Err(Error::content(file.path(), "the samples", problem));
    }
    let mut both = Vec::with_capacity(judged.len());
    for (index, position) in judged.iter().enumerate() {
        let sample = file.read(index)?;
        if sample.board != position.board {
            let problem = "not the position that the judge has here";
            return Err(Error::content(file.path(), format!("sample {}", index + 1), problem));
        }
        both.push(position.target.zip(sample.score.map(clamped)));
    }
    let factors = factors(judged, &both);
    let square = |(position, scores): (&Judged, Option<(f64, f64)>)| {
        scores.map(|(target, pawns)| (sigmoid(factors[position.phase] * pawns) - target).powi(2))
    };
    Ok((judged.iter().zip(both).map(square).collect(), factors))
}

/// The factors with the smallest error, by phase, for the target and the score in pawns at each position.
fn factors(judged: &[Judged], both: &[Option<(f64, f64)>]) -> [f64; PHASES] {
    // The factor of a phase, or of all phases, if there are enough scores.
    let factor = |phase: Option<usize>, fewest: usize| {
        let inside = judged.iter().zip(both).filter(|(position, _)| phase.is_none_or(|phase| phase == position.phase));
        let (targets, pawns): (Vec<f64>, Vec<f64>) = inside.filter_map(|(_, scores)| *scores).unzip();
        (targets.len() >= fewest).then(|| explained(&targets, &pawns).1)
    };
    let of_all = factor(None, 1).unwrap_or(0.0);
    std::array::from_fn(|phase| factor(Some(phase), FEWEST_OF_PHASE).unwrap_or(of_all))
}

/// The phase of a position, from 0 (endgame) to the last of [`PHASES`].
fn phase_of(board: &Board) -> usize {
    ((phase(board) * PHASES as f64) as usize).min(PHASES - 1)
}

fn clamped(score: Score) -> f64 {
    score.pawns().clamp(-LARGEST_SCORE, LARGEST_SCORE)
}

/// The mean of values, and its standard error if the values of a game depend on each other.
fn mean_by_games(values: impl Iterator<Item = (usize, f64)>) -> Mean {
    let mut games: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (game, value) in values {
        let (count, sum) = games.entry(game).or_default();
        *count += 1.0;
        *sum += value;
    }
    let (count, sum) = games.values().fold((0.0, 0.0), |(counts, sums), (count, sum)| (counts + count, sums + sum));
    let value = sum / count;
    let residuals: f64 = games.values().map(|(count, sum)| (sum - count * value).powi(2)).sum();
    let correction = games.len() as f64 / (games.len() as f64 - 1.0).max(1.0);
    Mean { value, error: (correction * residuals).sqrt() / count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::board::Game;
    use dyad_formats::hash;
    use dyad_formats::packed::{Packed, Sample};
    use dyad_formats::samples::SampleWriter;
    use dyad_formats::score::GameResult;
    use dyad_formats::testing::Temporary;
    use std::path::Path;

    /// Ten positions in each of 60 games, whose results follow the scores of the judge. Every second game is an endgame.
    fn samples(path: &Path, score: impl Fn(usize, f64) -> Option<Score>) -> SampleFile {
        let mut writer = SampleWriter::create(path, serde_json::json!({})).unwrap();
        for game in 0..60 {
            let endgame = "4k3/5p2/8/8/8/8/2P5/4K3 w - - 0 1".parse().unwrap();
            let mut line = Game::new(if game % 2 == 0 { Board::startpos() } else { endgame });
            for ply in 0..10 {
                let index = 10 * game + ply;
                let moves = line.board().moves();
                line.push(moves[(game + 7 * ply) % moves.len()]);
                let pawns = 8.0 * hash::unit(hash::mix(index as u64)) - 4.0;
                let white = if ply % 2 == 1 { pawns } else { -pawns };
                let won = hash::unit(hash::mix(index as u64 ^ 0xABCD)) < sigmoid(white);
                let sample = Sample {
                    board: *line.board(),
                    desired: None,
                    result: Some(if won { GameResult::WhiteWins } else { GameResult::BlackWins }),
                    score: score(index, pawns),
                    test: false,
                    starts_game: ply == 0,
                    has_margin: true,
                };
                writer.push(&Packed::new(&sample)).unwrap();
            }
        }
        writer.finish().unwrap();
        SampleFile::open(path).unwrap()
    }

    #[test]
    fn a_search_with_more_noise_has_more_error_and_the_scale_of_a_phase_does_not_count() {
        let folder = Temporary::folder();
        let noisy = |noise: f64, [middlegame, endgame]: [f64; 2]| {
            move |index: usize, pawns: f64| {
                let factor = if (index / 10).is_multiple_of(2) { middlegame } else { endgame };
                let random = hash::unit(hash::mix(index as u64 ^ 0x5EED)) - 0.5;
                Some(Score::centipawns(100.0 * factor * (pawns + noise * random)))
            }
        };
        let judge = samples(&folder.join("judge"), noisy(0.0, [1.0, 1.0]));
        let files = [
            samples(&folder.join("a"), noisy(0.5, [1.0, 1.0])),
            samples(&folder.join("b"), noisy(0.5, [0.5, 2.0])),
            samples(&folder.join("c"), noisy(2.0, [1.0, 1.0])),
            samples(&folder.join("d"), noisy(0.0, [1.0, 1.0])),
        ];
        let [a, b, c, d] = search_errors(&judge, &files).unwrap().try_into().unwrap();
        assert_eq!((a.positions, a.games, a.difference), (600, 60, Mean { value: 0.0, error: 0.0 }));
        assert!((a.mean.value - b.mean.value).abs() < 5e-5, "{a:?} {b:?}");
        let ratio = |phase: usize| b.factors[phase] / a.factors[phase];
        assert!((ratio(PHASES - 1) - 2.0).abs() < 0.02 && (ratio(0) - 0.5).abs() < 0.01, "{a:?} {b:?}");
        assert!(c.mean.value > 4.0 * a.mean.value && c.difference.value > 5.0 * c.difference.error, "{a:?} {c:?}");
        assert!(c.halves.iter().all(|half| (half / c.mean.value - 1.0).abs() < 0.4), "{c:?}");
        assert!(d.mean.value < 1e-6, "{d:?}");
    }

    #[test]
    fn files_of_other_positions_are_refused() {
        let folder = Temporary::folder();
        let judge = samples(&folder.join("judge"), |_, pawns| Some(Score::centipawns(100.0 * pawns)));
        let unscored = samples(&folder.join("unscored"), |_, _| None);
        let error = search_errors(&judge, &[unscored]).unwrap_err().to_string();
        assert!(error.contains("0 games have a position with a score of both searches"), "{error}");
        let unscored = samples(&folder.join("unscored"), |_, _| None);
        let error = search_errors(&unscored, &[]).unwrap_err().to_string();
        assert!(error.contains("no position has a score and the result"), "{error}");
        let mut writer = SampleWriter::create(&folder.join("short"), serde_json::json!({})).unwrap();
        writer.push(&judge.packed(0).unwrap()).unwrap();
        writer.finish().unwrap();
        let short = SampleFile::open(&folder.join("short")).unwrap();
        let error = search_errors(&judge, &[short]).unwrap_err().to_string();
        assert!(error.contains("1 positions, expected the 600"), "{error}");
    }

    #[test]
    fn a_standard_error_counts_games() {
        // The positions of a game are alike: 10 games of 100 positions are worth 10 positions.
        let alike = (0..1_000).map(|index| (index / 100, f64::from(u8::from(index / 100 % 2 == 0))));
        let Mean { value, error } = mean_by_games(alike);
        assert!((value - 0.5).abs() < 1e-12 && (error - 0.5 / 3.0).abs() < 1e-3, "{value} {error}");
    }
}
