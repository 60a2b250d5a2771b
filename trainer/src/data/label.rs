//! Desired moves by search instead of by the game.
//!
//! The move of a game may be a mistake. So the paper trained on the moves that its unmodified engine found with 200,000
//! nodes (Tseng, Chen and Wu, section 4.1). Each position is searched by one thread with a cleared hash table, so that
//! labels do not depend on the threads.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use dyad_engine::board::{Board, Game, Move};
use dyad_engine::control::Control;
use dyad_engine::engine::Engine;
use dyad_engine::eval::Weights;
use dyad_engine::search::{self, BestTwo, Limits, Report};
use dyad_engine::value::gap;
use dyad_formats::error::Error;
use dyad_formats::files::check_output;
use dyad_formats::samples::{SampleFile, SampleSummary, SampleWriter};
use dyad_formats::score::Score;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::base::context::{Context, Progress};
use crate::base::is_default;
use crate::base::number::number;
use crate::base::parallel::ordered_for_each;

/// Settings of a labeling.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[group(skip)]
pub struct LabelSettings {
    /// Nodes per position
    #[arg(long, value_name = "NODES", value_parser = number::<u64>(1..), default_value_t = Self::default().nodes)]
    pub nodes: u64,
    /// Hash of each thread, in megabytes.
    #[arg(skip = Self::default().hash)]
    pub hash: usize,
    /// Margin over the second-best move, in centipawns, that makes the best one a desired move; 0 searches no second
    /// move.
    #[serde(skip_serializing_if = "is_default")]
    #[arg(skip)]
    pub min_margin: u32,
}

impl Default for LabelSettings {
    fn default() -> LabelSettings {
        LabelSettings { nodes: 5_000, hash: 1, min_margin: 0 }
    }
}

/// Range of margins over the second-best move, in centipawns.
pub(crate) const MARGIN: RangeInclusive<u32> = 0..=Score::LARGEST as u32;

/// The best move and its score for the side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label {
    /// The best move.
    pub mv: Move,
    /// Its score.
    pub score: Score,
    /// Whether it has the margin over the second-best move.
    pub has_margin: bool,
}

/// Finds labels; one per thread.
struct Labeler<'a> {
    engine: Engine,
    limits: Limits,
    options: search::Options,
    /// Minimum margin over the second-best move, in centipawns.
    margin: i32,
    control: &'a Control,
}

impl Labeler<'_> {
    fn new<'a>(weights: Arc<Weights>, settings: &LabelSettings, control: &'a Control) -> Result<Labeler<'a>, Error> {
        let engine = Engine::with_hash(weights, settings.hash)?;
        let multipv = if settings.min_margin == 0 { 1 } else { 2 };
        let options = search::Options { multipv, ..search::Options::default() };
        let (limits, margin) = (Limits::nodes(settings.nodes), settings.min_margin as i32);
        Ok(Labeler { engine, limits, options, margin, control })
    }

    /// The best move of a position; `None` if the game is over.
    fn label(&mut self, board: &Board) -> Result<Option<Label>, Error> {
        self.engine.clear();
        let mut best_two = BestTwo::default();
        let mut listen = |report: &Report| best_two.note(report);
        let game = Game::new(*board);
        let outcome = self.engine.search(&game, &self.limits, &self.options, self.control, &mut listen);
        if self.control.stopped() {
            return Err(Error::Stopped);
        }
        let has_margin = match best_two.lines_of(outcome.best) {
            _ if self.margin == 0 => true,
            Some([best, second]) => gap(best.value, second.value) >= self.margin,
            // A single legal move has every margin; otherwise the best move was found after the last pair of lines.
            None => board.count_moves() == 1,
        };
        Ok(outcome.best.map(|mv| Label { mv, score: outcome.score.into(), has_margin }))
    }
}

/// Labels all samples of `input` by searches with `weights` and writes them to `out`. Reports the positions done.
pub fn label(
    input: &SampleFile,
    out: &Path,
    weights: &Arc<Weights>,
    settings: &LabelSettings,
    context: &mut Context<'_, Progress>,
) -> Result<SampleSummary, Error> {
    check_output(out, [&input.path])?;
    let mut found: Vec<Option<Label>> = Vec::with_capacity(input.samples.len());
    let of = input.samples.len();
    let samples = (0..of).map(|index| input.read(index));
    ordered_for_each(
        context.threads,
        samples,
        || Labeler::new(Arc::clone(weights), settings, context.stop),
        |labeler, sample| labeler.label(&sample?.board),
        |label| {
            found.push(label);
            (context.on_event)(Progress { done: found.len() as u64, of: of as u64 });
            if context.stop.stopped() { Err(Error::Stopped) } else { Ok(()) }
        },
    )?;
    let source = &input.summary;
    let from = json!({ "identity": format!("{:016x}", source.identity), "made": source.settings });
    let by = format!("dyad with {} {}", weights.meta.name, weights.id());
    write(input, out, found, json!({ "label": settings, "by": by, "input": from }))
}

/// Writes the samples with their labels. Positions whose game is over are skipped, and their game begins with the next
/// one; so are test positions without the margin, because tests ask for the desired move.
fn write(
    input: &SampleFile,
    out: &Path,
    labels: Vec<Option<Label>>,
    description: serde_json::Value,
) -> Result<SampleSummary, Error> {
    let mut writer = SampleWriter::create(out, description)?;
    let mut starts_game = false;
    for (mut sample, label) in input.samples.iter().copied().zip(labels) {
        starts_game |= sample.starts_game();
        let Some(Label { mv, score, has_margin }) = label else { continue };
        sample.set_has_margin(has_margin);
        sample.relabel(mv, score);
        if has_margin || !sample.is_test() {
            sample.set_starts_game(std::mem::take(&mut starts_game));
            writer.push(&sample)?;
        }
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_formats::packed::Packed;
    use dyad_formats::testing::Temporary;
    use dyad_formats::testing::walk;

    /// A file of `count` samples, in a folder of its own.
    fn samples(count: usize) -> (Temporary, SampleFile) {
        let folder = Temporary::folder();
        let path = folder.join("in.samples");
        let mut writer = SampleWriter::create(&path, json!({ "from": "a walk" })).unwrap();
        walk(count).iter().for_each(|sample| writer.push(&Packed::new(sample)).unwrap());
        writer.finish().unwrap();
        let file = SampleFile::open(&path).unwrap();
        (folder, file)
    }

    /// Writes the samples with a label for each board.
    fn labeled(input: &SampleFile, label: impl Fn(&Board) -> Option<Label>) -> SampleFile {
        let out = input.path.with_file_name("out.samples");
        let labels = (0..input.samples.len()).map(|index| label(&input.read(index).unwrap().board)).collect();
        write(input, &out, labels, json!({})).unwrap();
        SampleFile::open(&out).unwrap()
    }

    #[test]
    fn every_sample_gets_its_move_and_score() {
        let (_folder, input) = samples(1_000);
        // The last legal move, and the number of legal moves for a score.
        let last = |board: &Board| {
            let moves = board.moves();
            moves.last().map(|&mv| Label { mv, score: Score(moves.len() as i16), has_margin: true })
        };
        let labeled = labeled(&input, last);
        for index in 0..1_000 {
            let (before, after) = (input.read(index).unwrap(), labeled.read(index).unwrap());
            let moves = before.board.moves();
            assert_eq!(after.board.fen(), before.board.fen());
            assert_eq!(after.desired, moves.last().copied());
            assert_eq!(after.score, Some(Score(moves.len() as i16)));
            assert_eq!((after.result, after.test), (before.result, before.test));
        }
    }

    /// With material alone the first moves of a game are all alike; a queen that can be taken is not.
    #[test]
    fn moves_of_equal_value_have_no_margin() {
        let settings = LabelSettings { nodes: 500, min_margin: 20, ..LabelSettings::default() };
        let control = Control::new(false);
        let mut labeler = Labeler::new(Arc::new(Weights::material()), &settings, &control).unwrap();
        for (fen, has_margin) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", false),
            ("6k1/5ppp/8/3q4/8/4N3/5PPP/6K1 w - - 0 1", true),
        ] {
            let label = labeler.label(&Board::from_fen(fen).unwrap()).unwrap().unwrap();
            assert_eq!(label.has_margin, has_margin, "{fen}");
        }
        control.stop();
        assert!(matches!(labeler.label(&Board::startpos()), Err(Error::Stopped)));
    }

    /// Positions without the margin keep their label, but those for tests are left out.
    #[test]
    fn labels_without_the_margin_are_marked() {
        let (_folder, input) = samples(200);
        let no_margin = |board: &Board| Some(Label { mv: board.moves()[0], score: Score(1), has_margin: false });
        let labeled = labeled(&input, no_margin);
        let summary = &labeled.summary;
        assert_eq!((summary.count, summary.tests), (200 - input.summary.tests, 0));
        assert!(labeled.samples.iter().all(|sample| !sample.has_margin()));
        assert_eq!(labeled.read(7).unwrap().score, Some(Score(1)));
    }

    /// The next position begins their game.
    #[test]
    fn positions_without_a_move_are_left_out() {
        let (_folder, input) = samples(200);
        // Both positions of a first move begin a game here.
        let later = |board: &Board| {
            let label = Label { mv: board.moves()[0], score: Score(1), has_margin: true };
            (board.fullmove_number() > 1).then_some(label)
        };
        let (labeled, games) = (labeled(&input, later), input.summary.games);
        assert_eq!((labeled.summary.count, labeled.summary.games), (200 - games, games / 2));
        assert!(labeled.read(0).unwrap().starts_game);
    }

    #[test]
    fn our_engine_labels_the_same_on_any_number_of_threads() {
        let (folder, input) = samples(60);
        let settings = LabelSettings { nodes: 500, ..LabelSettings::default() };
        let weights = Arc::new(Weights::material());
        let identities = [1, 3].map(|threads| {
            let out = folder.join(format!("out-{threads}.samples"));
            let stop = Control::new(false);
            let mut context = Context { threads, stop: &stop, on_event: &mut |_| () };
            label(&input, &out, &weights, &settings, &mut context).unwrap().identity
        });
        assert_eq!(identities[0], identities[1]);
    }
}
