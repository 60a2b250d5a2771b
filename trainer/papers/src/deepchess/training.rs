//! From positions with results to a network, in stages: each layer of Pos2Vec as an autoencoder, then everything end to
//! end.
//!
//! *Autoencoder.* A layer learns to give its input back through one more layer that is thrown away afterwards; the loss
//! is half of the squared difference. The layer above then learns the same of what this one gives.
//!
//! *End to end.* Each pair is a position from a game that White won and one from a game that Black won, in random
//! order, and the comparator says which is which; the loss is the cross-entropy. Each epoch draws new pairs. A
//! network that is distilled learns the answers of its teacher, as probabilities, in place of the results.
//!
//! Momentum starts at zero in each epoch, so a checkpoint is the network at the end of one.

use std::fs;
use std::path::Path;
use std::time::Instant;

use dyad_engine::board::Board;
use dyad_formats::error::Error;
use dyad_formats::files::read_json;
use dyad_formats::hash;
use dyad_formats::samples::SampleFile;
use dyad_formats::score::GameResult;
use dyad_trainer::base::context::{Context, Progress};
use ndarray::Array2;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::deepchess::file::write;
use crate::deepchess::network::{ANSWERS, Bits, Layer, Network, Sizes, chance, encoded, gate};

/// How a network is trained.
#[derive(Clone, Debug)]
pub struct NetworkSettings {
    /// Sizes of the layers.
    pub sizes: Sizes,
    /// Which positions are kept for tests.
    pub split: Split,
    /// Epochs of each layer of Pos2Vec over all positions; 0 begins end to end from random weights.
    pub encoder_epochs: u32,
    /// Epochs end to end.
    pub epochs: u32,
    /// Pairs in an epoch at most.
    pub pairs: usize,
    /// Rate and its factor after each epoch, end to end.
    pub rate: [f32; 2],
}

/// How positions are split into training and test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// By game: no game has positions on both sides.
    Game,
    /// By position, as the paper did: for most test positions others of the same game are learned from.
    Position,
}

/// Percent of the positions that a split by position keeps for tests.
const TEST_PERCENT: f64 = 5.0;
/// Pairs of a step, or positions of one of Pos2Vec.
const BATCH: usize = 128;
/// Rate and its factor after each epoch, of Pos2Vec.
const ENCODER_RATE: [f32; 2] = [0.005, 0.98];
const MOMENTUM: f32 = 0.9;

/// The positions of games that White won and of those that Black won, as `T`, and how many games these are.
pub(super) struct Positions<T = Bits> {
    pub won: Vec<T>,
    pub lost: Vec<T>,
    pub games: [usize; 2],
}

impl<T> Positions<T> {
    /// Those of one side of a split.
    ///
    /// # Errors
    /// When the samples cannot be read, or hold no won or no lost games.
    pub fn load(
        samples: &SampleFile,
        split: Split,
        test: bool,
        mut position: impl FnMut(&Board) -> T,
    ) -> Result<Positions<T>, Error> {
        let mut all = Positions { won: Vec::new(), lost: Vec::new(), games: [0; 2] };
        let mut last = [usize::MAX; 2];
        let mut game = 0;
        for (index, packed) in samples.samples.iter().enumerate() {
            game += usize::from(packed.starts_game());
            let kept = match split {
                Split::Game => packed.is_test(),
                Split::Position => hash::unit(hash::fold(1, index as u64)) * 100.0 < TEST_PERCENT,
            };
            if kept != test {
                continue;
            }
            let sample = packed
                .unpack()
                .map_err(|problem| Error::content(&samples.path, format!("sample {index}"), problem.to_string()))?;
            let side = match sample.result {
                Some(GameResult::WhiteWins) => 0,
                Some(GameResult::BlackWins) => 1,
                _ => continue,
            };
            if last[side] != game {
                last[side] = game;
                all.games[side] += 1;
            }
            [&mut all.won, &mut all.lost][side].push(position(&sample.board));
        }
        match all.won.is_empty() || all.lost.is_empty() {
            true => Err(Error::Nothing(format!("{} has no won and lost games to compare", samples.path.display()))),
            false => Ok(all),
        }
    }
}

/// What a training has done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrainingRecord {
    /// Positions learned from.
    pub positions: usize,
    /// Mean loss of each epoch, for each layer of Pos2Vec.
    pub encoder: Vec<Vec<f64>>,
    /// Mean loss of each epoch end to end.
    pub losses: Vec<f64>,
    /// Seconds of training.
    pub seconds: f64,
    /// Pairs a second in the last epoch.
    pub pairs_per_second: f64,
}

const CHECKPOINT: &str = "checkpoint.json";

/// Trains a network, or resumes from the checkpoint in `folder`, which must be of the same settings and samples.
///
/// # Errors
/// When the samples cannot be used, the folder not be written, or it was stopped.
pub fn train(
    settings: &NetworkSettings,
    seed: u64,
    samples: &SampleFile,
    teacher: Option<&Network>,
    folder: &Path,
    context: &mut Context<Progress>,
) -> Result<(Network, TrainingRecord), Error> {
    let positions = Positions::load(samples, settings.split, false, Bits::new)?;
    let path = folder.join(CHECKPOINT);
    let (network, record) = match path.exists() {
        true => read_json(&path)?,
        false => {
            let count = positions.won.len() + positions.lost.len();
            (Network::random(&settings.sizes, seed), TrainingRecord { positions: count, ..TrainingRecord::default() })
        }
    };
    let mut trainer = Trainer { settings, seed, positions: &positions, network, teacher, record, context };
    for layer in trainer.record.encoder.len()..settings.sizes.encoder.len() {
        let begun = Instant::now();
        let losses = trainer.autoencode(layer + 1)?;
        trainer.record.encoder.push(losses);
        trainer.save(&path, begun)?;
    }
    for epoch in trainer.record.losses.len()..settings.epochs as usize {
        let begun = Instant::now();
        let loss = trainer.epoch(epoch as u32 + 1)?;
        trainer.record.losses.push(loss);
        trainer.record.pairs_per_second = trainer.pairs() as f64 / begun.elapsed().as_secs_f64().max(1e-9);
        trainer.save(&path, begun)?;
    }
    fs::remove_file(&path).map_err(Error::file("remove", &path))?;
    Ok((trainer.network, trainer.record))
}

/// A position of a won and one of a lost game; whether the won one comes first.
type Pair<'a> = (&'a Bits, &'a Bits, bool);

struct Trainer<'a, 'b> {
    settings: &'a NetworkSettings,
    seed: u64,
    positions: &'a Positions,
    network: Network,
    teacher: Option<&'a Network>,
    record: TrainingRecord,
    context: &'a mut Context<'b, Progress>,
}

impl<'a> Trainer<'a, '_> {
    fn save(&mut self, path: &Path, begun: Instant) -> Result<(), Error> {
        self.record.seconds += begun.elapsed().as_secs_f64();
        write(path, &(&self.network, &self.record))
    }

    /// Checks the loss of an epoch and reports the epochs that are done, `more` of them unsaved.
    fn check(&mut self, loss: f64, more: usize) -> Result<f64, Error> {
        if !loss.is_finite() {
            return Err(Error::Settings(format!("the loss of an epoch is {loss}: the rate is too high")));
        }
        let (layers, epochs) = (self.settings.sizes.encoder.len(), self.settings.encoder_epochs as usize);
        let done = (self.record.encoder.len() * epochs + self.record.losses.len() + more) as u64;
        let of = (layers * epochs + self.settings.epochs as usize) as u64;
        (self.context.on_event)(Progress { done, of });
        Ok(loss)
    }

    fn stopped(&self) -> Result<(), Error> {
        if self.context.stop.stopped() { Err(Error::Stopped) } else { Ok(()) }
    }

    fn random(&self, stage: usize, epoch: u32) -> Pcg64 {
        Pcg64::seed_from_u64(hash::fold(hash::fold(self.seed, stage as u64), u64::from(epoch)))
    }

    fn pairs(&self) -> usize {
        self.positions.won.len().max(self.positions.lost.len()).min(self.settings.pairs)
    }

    /// The pairs of an epoch: positions of the smaller side come more than once.
    fn paired(&self, epoch: u32) -> Vec<Pair<'a>> {
        let mut random = self.random(0, epoch);
        let mut shuffled = |all: &'a [Bits]| {
            let mut all: Vec<&Bits> = all.iter().collect();
            all.shuffle(&mut random);
            all
        };
        let (won, lost) = (shuffled(&self.positions.won), shuffled(&self.positions.lost));
        let pairs = won.iter().cycle().zip(lost.iter().cycle()).enumerate().take(self.pairs());
        let first = |number: usize| hash::fold(hash::fold(self.seed, u64::from(epoch)), number as u64) & 1 == 0;
        pairs.map(|(number, (&won, &lost))| (won, lost, first(number))).collect()
    }

    /// Trains a layer of Pos2Vec, from 1, to give its input back. Returns the loss of each epoch.
    fn autoencode(&mut self, layer: usize) -> Result<Vec<f64>, Error> {
        let (inputs, outputs) = self.settings.sizes.shapes()[0][layer - 1];
        let mut decoder = Layer::stack(&[(outputs, inputs)], hash::fold(self.seed, layer as u64)).remove(0);
        let [mut rate, factor] = ENCODER_RATE;
        let mut losses = Vec::new();
        for epoch in 1..=self.settings.encoder_epochs {
            let mut sum = 0.0;
            let mut all: Vec<&Bits> = self.positions.won.iter().chain(&self.positions.lost).collect();
            all.shuffle(&mut self.random(layer, epoch));
            for batch in all.chunks(BATCH) {
                self.stopped()?;
                let encoder = &self.network.encoder[..layer];
                let (loss, of_layer, of_decoder) = autoencoder_gradient(encoder, &decoder, batch);
                let step = rate / batch.len() as f32;
                descend(&mut self.network.encoder[layer - 1], &of_layer, step);
                descend(&mut decoder, &of_decoder, step);
                sum += loss;
            }
            rate *= factor;
            losses.push(self.check(sum / all.len() as f64, epoch as usize)?);
        }
        Ok(losses)
    }

    /// An epoch end to end, from 1. Returns its mean loss.
    fn epoch(&mut self, epoch: u32) -> Result<f64, Error> {
        let pairs = self.paired(epoch);
        let [rate, factor] = self.settings.rate;
        let rate = rate * factor.powi(epoch as i32 - 1);
        let mut velocity = Network::zeros(&self.network.sizes());
        let mut sum = 0.0;
        for batch in pairs.chunks(BATCH) {
            self.stopped()?;
            let (loss, gradient) = pair_gradient(&self.network, self.teacher, batch);
            sum += loss;
            let step = rate / batch.len() as f32;
            for (layer, gradient) in velocity.layers_mut().zip(gradient.layers()) {
                layer.weights *= MOMENTUM;
                layer.bias *= MOMENTUM;
                descend(layer, gradient, step);
            }
            for (layer, velocity) in self.network.layers_mut().zip(velocity.layers()) {
                descend(layer, velocity, -1.0);
            }
        }
        self.check(sum / pairs.len() as f64, 1)
    }
}

fn descend(layer: &mut Layer, gradient: &Layer, step: f32) {
    layer.weights.scaled_add(-step, &gradient.weights);
    layer.bias.scaled_add(-step, &gradient.bias);
}

/// The summed loss of giving positions back, and its gradient by the last layer of the encoder and by the decoder.
fn autoencoder_gradient(encoder: &[Layer], decoder: &Layer, batch: &[&Bits]) -> (f64, Layer, Layer) {
    let last = encoder.last().expect("there is the layer that learns");
    let outputs = encoded(encoder, batch);
    let (hidden, below) = outputs.split_last().expect("one for each layer");
    let mut slope = decoder.dense(hidden.view());
    match below.last() {
        Some(inputs) => slope -= inputs,
        None => {
            for (mut row, bits) in slope.rows_mut().into_iter().zip(batch) {
                bits.set().for_each(|bit| row[bit] -= 1.0);
            }
        }
    }
    let loss = slope.iter().map(|&difference| f64::from(difference) * f64::from(difference)).sum::<f64>() / 2.0;
    let mut of_decoder = Layer::zeros(decoder.weights.nrows(), decoder.weights.ncols());
    of_decoder.learn_dense(hidden.view(), slope.view());
    let mut slope = decoder.backward(slope.view());
    gate(&mut slope, hidden);
    let mut of_layer = Layer::zeros(last.weights.nrows(), last.weights.ncols());
    match below.last() {
        Some(inputs) => of_layer.learn_dense(inputs.view(), slope.view()),
        None => of_layer.learn_sparse(batch, slope.view()),
    }
    (loss, of_layer, of_decoder)
}

/// The summed cross-entropy of pairs and its gradient.
fn pair_gradient(network: &Network, teacher: Option<&Network>, pairs: &[Pair]) -> (f64, Network) {
    let first: Vec<&Bits> = pairs.iter().map(|&(won, lost, order)| if order { won } else { lost }).collect();
    let second: Vec<&Bits> = pairs.iter().map(|&(won, lost, order)| if order { lost } else { won }).collect();
    let trace = network.forward(&first, &second);
    let taught = teacher.map(|teacher| teacher.forward(&first, &second));
    let mut slope = Array2::zeros((pairs.len(), ANSWERS));
    let mut loss = 0.0;
    for (index, &(_, _, order)) in pairs.iter().enumerate() {
        let of = |answers: &Array2<f32>| chance([answers[(index, 0)], answers[(index, 1)]]);
        let target = match &taught {
            Some(taught) => of(taught.answers()),
            None => f32::from(u8::from(order)),
        };
        let chance = of(trace.answers());
        slope[(index, 0)] = chance - target;
        slope[(index, 1)] = target - chance;
        let entropy = |share: f32, of: f32| -f64::from(share) * f64::from(of).max(1e-30).ln();
        loss += entropy(target, chance) + entropy(1.0 - target, 1.0 - chance);
    }
    let mut gradient = Network::zeros(&network.sizes());
    network.backward(&first, &second, &trace, slope, &mut gradient);
    (loss, gradient)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use dyad_engine::control::Control;
    use dyad_formats::packed::{Packed, Sample};
    use dyad_formats::samples::SampleWriter;
    use dyad_formats::testing::Temporary;
    use dyad_formats::testing::walk;
    use serde_json::json;
    use std::path::PathBuf;

    /// Positions of a random walk whose winner is the side with more material, which can be learned.
    pub fn samples(folder: &Path, count: usize) -> PathBuf {
        let path = folder.join("in.samples");
        let mut writer = SampleWriter::create(&path, json!({})).unwrap();
        for (index, sample) in walk(count).into_iter().enumerate() {
            let count = |color| sample.board.colors(color).popcnt();
            let [white, black] = dyad_engine::board::COLORS.map(count);
            let result = if white > black { GameResult::WhiteWins } else { GameResult::BlackWins };
            let test = index.is_multiple_of(10);
            let sample = Sample { result: Some(result), test, starts_game: true, ..sample };
            writer.push(&Packed::new(&sample)).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    pub fn settings() -> NetworkSettings {
        NetworkSettings {
            sizes: Sizes { encoder: vec![12, 8], comparator: vec![8, 2] },
            split: Split::Game,
            encoder_epochs: 2,
            epochs: 3,
            pairs: 400,
            rate: [0.05, 0.99],
        }
    }

    type Made = Result<(Network, TrainingRecord), Error>;

    fn run(path: &Path, folder: &Path, stop_after: Option<u64>) -> Made {
        fs::create_dir_all(folder).unwrap();
        let stop = Control::new(false);
        let mut reports = 0;
        let mut on_event = |_| {
            reports += 1;
            if stop_after == Some(reports) {
                stop.stop();
            }
        };
        let mut context = Context { threads: 1, stop: &stop, on_event: &mut on_event };
        train(&settings(), 7, &SampleFile::open(path).unwrap(), None, folder, &mut context)
    }

    #[test]
    fn losses_fall_and_interruptions_change_nothing() {
        let folder = Temporary::folder();
        let path = samples(&folder, 900);
        let (network, record) = run(&path, &folder.join("whole"), None).unwrap();
        assert_eq!((record.encoder.len(), record.losses.len()), (2, 3));
        for losses in record.encoder.iter().chain([&record.losses]) {
            assert!(losses.last() < losses.first(), "{losses:?}");
        }
        for after in 1..=6 {
            let resumed = folder.join(format!("stopped-{after}"));
            assert!(matches!(run(&path, &resumed, Some(after)), Err(Error::Stopped)), "{after}");
            let (other, made) = run(&path, &resumed, None).unwrap();
            let count = |record: &TrainingRecord| (record.encoder.concat().len(), record.losses.len());
            assert_eq!((other.id(), count(&made)), (network.id(), count(&record)), "{after}");
        }
    }

    #[test]
    fn a_pupil_learns_from_its_teacher() {
        let folder = Temporary::folder();
        let path = samples(&folder, 300);
        let (teacher, _) = run(&path, &folder.join("teacher"), None).unwrap();
        let small = NetworkSettings { sizes: Sizes { encoder: vec![6], comparator: vec![2] }, ..settings() };
        let stop = Control::new(false);
        let mut context = Context { threads: 1, stop: &stop, on_event: &mut |_| () };
        let file = SampleFile::open(&path).unwrap();
        fs::create_dir_all(folder.join("pupil")).unwrap();
        let (_, record) = train(&small, 7, &file, Some(&teacher), &folder.join("pupil"), &mut context).unwrap();
        assert!(record.losses.last() < record.losses.first(), "{record:?}");
    }
}
