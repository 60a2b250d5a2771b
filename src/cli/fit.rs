//! `dyad fit`: weights from the results and scores of positions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dyad_engine::board::PIECE_NAMES;
use dyad_engine::control::Control;
use dyad_engine::eval::layout::{MATERIAL, select};
use dyad_engine::eval::units::MAX_SCALE;
use dyad_engine::eval::{FloatWeights, Weights};
use dyad_formats::atomic::check_output;
use dyad_formats::error::Error;
use dyad_formats::samples::SampleFile;
use dyad_trainer::fit::calibration::{calibrate, calibrate_by_scores, scale_like};
use dyad_trainer::fit::norms::norms;
use dyad_trainer::fit::regression;
use dyad_trainer::fit::regression::{Data, Epoch, Event, Fitted, L2Target, Settings};
use serde_json::{Value as Json, json};

use super::progress::Progress;
use super::{Outcome, load_weights, parse_number, settings, stop_on_interrupt, threads};

const STOPPED: &str = "stopped before the first pass was complete: nothing is written";

#[derive(Args)]
pub struct Arguments {
    /// Sample files, as `dyad prepare` makes them.
    #[arg(required = true)]
    samples: Vec<PathBuf>,
    /// The weights file to write.
    #[arg(long, short)]
    out: PathBuf,
    /// Weights to begin with: a file, `default` or `material` [default: material as in Table I, all else zero].
    #[arg(long)]
    from: Option<PathBuf>,
    /// The name of the weights [default: that of the file].
    #[arg(long)]
    name: Option<String>,
    /// Settings from a JSON file; the other arguments override it.
    #[arg(long)]
    settings: Option<PathBuf>,
    /// Learn only these groups of features: names, beginnings of names and *, or @FAMILY, here and below.
    #[arg(long, value_delimiter = ',')]
    groups: Vec<String>,
    /// Do not learn these groups of features.
    #[arg(long, value_delimiter = ',')]
    freeze: Vec<String>,
    /// L2 of a group, as GROUP=POSITIONS: how many positions' evidence holds its weights to zero.
    #[arg(long, value_name = "GROUP=POSITIONS", value_parser = named_number)]
    l2: Vec<(String, f64)>,
    /// Adam's rate for a group, as GROUP=RATE.
    #[arg(long, value_name = "GROUP=RATE", value_parser = named_number)]
    rate: Vec<(String, f64)>,
    /// Share of the game's result in the target where there is a score: 1 is results alone, 0 scores alone.
    #[arg(long)]
    result_share: Option<f64>,
    /// Learn from the leaves of the positions' quiescence with these weights: then all positions not in check are of use, not
    /// only quiet ones.
    #[arg(long, value_name = "WEIGHTS")]
    leaves: Option<PathBuf>,
    /// Hold the weights to those at the start by L2, not to zero.
    #[arg(long)]
    hold_start: bool,
    /// The logits of a score: pawns that multiply the odds by e.
    #[arg(long)]
    pawns: Option<f64>,
    /// Keep scale and win rate model of the start.
    #[arg(long)]
    keep_scale: bool,
    /// Take the scale of these weights, by which both agree with the scores alike; the results say only how often a value wins.
    #[arg(long, value_name = "WEIGHTS", conflicts_with = "keep_scale")]
    scale_like: Option<PathBuf>,
    /// Passes over the data at most.
    #[arg(long)]
    epochs: Option<u32>,
    /// Positions in a batch.
    #[arg(long)]
    batch: Option<usize>,
    /// End after so many passes without a better test loss.
    #[arg(long)]
    patience: Option<u32>,
    /// Seed of the shuffles.
    #[arg(long)]
    seed: Option<u64>,
    /// Threads [default: one per processor].
    #[arg(long)]
    threads: Option<usize>,
}

fn named_number(text: &str) -> Result<(String, f64), String> {
    let (name, number) = text.split_once('=').ok_or("expected GROUP=NUMBER")?;
    Ok((name.to_string(), parse_number(number)?))
}

/// Fits weights and writes them.
pub fn run(arguments: Arguments) -> Outcome {
    let settings = arguments.settings()?;
    let start = match &arguments.from {
        Some(name) => load_weights(name)?,
        None => Arc::new(Weights::material()),
    };
    let other = arguments.scale_like.as_deref().map(load_weights).transpose()?;
    let leaves = arguments.leaves.as_deref().map(load_weights).transpose()?.map(Arc::new);
    let Arguments { from, leaves: other_leaves, scale_like: like, settings: file, .. } = &arguments;
    let others = [from, other_leaves, like, file].into_iter().flatten();
    check_output(&arguments.out, arguments.samples.iter().chain(others).map(PathBuf::as_path))?;
    let files = arguments.samples.iter().map(|path| SampleFile::open(path)).collect::<Result<Vec<_>, _>>()?;
    let threads = threads("threads", arguments.threads)?;
    let stop = stop_on_interrupt();
    let mut data = Data::load(&files, &settings.target)?;
    if let Some(weights) = &leaves {
        data = match data.at_leaves(weights, threads, &stop) {
            Err(Error::Stopped) => return Err(STOPPED.into()),
            data => data?,
        };
    }
    println!("{} training and {} test positions", data.train.len(), data.test.len());

    let fitted = match fit(&settings, &data, &start, threads, &stop) {
        Err(Error::Stopped) => return Err(STOPPED.into()),
        fitted => fitted?,
    };
    let made = json!({
        "by": "dyad fit",
        "data": files.iter().map(describe).collect::<Vec<_>>(),
        "settings": settings,
        "leaves": leaves.map(|weights| weights.id()),
        "parent": json!({ "name": start.meta.name, "id": start.id(), "made": start.meta.provenance }),
        "measured": {
            "train": data.train.len(),
            "test": data.test.len(),
            "start_loss": rounded(fitted.start_loss),
            "test_loss": rounded(fitted.test_loss()),
            "epochs": fitted.epochs.len(),
            "stopped": fitted.stopped,
        },
    });
    let mut weights = Weights::from_floats(&fitted.weights, made)?;
    weights.meta.name = arguments.name.clone().unwrap_or_else(|| stem(&arguments.out));
    let (gamma, pawns) = (fitted.weights.gamma()?, settings.target.pawns);
    if arguments.keep_scale {
        weights.units.scale = kept_scale(start.units.scale, fitted.unit * gamma)?;
        weights.units.win_rate = start.units.win_rate;
    } else if let Err(error) = calibrate(&mut weights, data.train.iter().chain(&data.test)) {
        eprintln!("{error}; a pawn of the scores is a pawn");
        calibrate_by_scores(&mut weights, 1.0 / gamma, pawns);
    }
    if let Some(other) = &other {
        scale_like(&mut weights, other, &data.train, pawns)?;
    }
    weights.save(&arguments.out)?;
    print(&weights, &fitted);
    Ok(())
}

/// The scale of the weights a fit began with, for weights of which so many are one of theirs.
fn kept_scale(scale: i32, unit: f64) -> Result<i32, String> {
    let kept = (f64::from(scale) / unit).round();
    match (1.0..=f64::from(MAX_SCALE)).contains(&kept) {
        true => Ok(kept as i32),
        false => Err(format!("--keep-scale: {scale}/1024 would be {kept}/1024 here, and must be 1 to {MAX_SCALE}")),
    }
}

impl Arguments {
    fn settings(&self) -> Result<Settings, Box<dyn std::error::Error>> {
        let mut settings: Settings = settings::load(self.settings.as_deref(), "fit")?;
        if !self.groups.is_empty() {
            let learn: Result<Vec<_>, _> = self.groups.iter().map(|groups| select(groups)).collect();
            settings.learn = learn?.iter().flatten().map(|group| group.name.to_string()).collect();
        }
        for groups in &self.freeze {
            select(groups)?.iter().for_each(|of| settings.set_group(of.name, |group| group.learn = false));
        }
        for (groups, l2) in &self.l2 {
            select(groups)?.iter().for_each(|of| settings.set_group(of.name, |group| group.l2 = *l2));
        }
        for (groups, rate) in &self.rate {
            select(groups)?.iter().for_each(|of| settings.set_group(of.name, |group| group.rate = *rate));
        }
        settings.target.result_share = self.result_share.unwrap_or(settings.target.result_share);
        settings.target.pawns = self.pawns.unwrap_or(settings.target.pawns);
        if self.hold_start {
            settings.l2_target = L2Target::Start;
        }
        settings.epochs = self.epochs.unwrap_or(settings.epochs);
        settings.batch = self.batch.unwrap_or(settings.batch);
        settings.patience = self.patience.unwrap_or(settings.patience);
        settings.seed = self.seed.unwrap_or(settings.seed);
        Ok(settings)
    }
}

fn fit(settings: &Settings, data: &Data, start: &Weights, threads: usize, stop: &Control) -> Result<Fitted, Error> {
    let mut progress = Progress::new();
    let positions = data.train.len();
    let mut report = |event: Event<'_>| match event {
        Event::Start { scale, test_loss } => {
            progress.say(&format!("start: test loss {test_loss:.5}, one unit is {scale:.6} logits"));
        }
        Event::Progress { epoch, positions: done } => progress.show(|| {
            let all = event.done(positions as u64).unwrap_or_default();
            format!("pass {epoch}: {done} of {positions} positions ({all} in all)")
        }),
        Event::Epoch(Epoch { number, train_loss, test_loss, best }) => {
            let mark = if *best { " *" } else { "" };
            let seconds = progress.elapsed().as_secs();
            progress.say(&format!("pass {number}: loss {train_loss:.5}, test loss {test_loss:.5}{mark} ({seconds} s)"));
        }
    };
    regression::fit(settings, data, &FloatWeights::from(start), threads, stop, &mut report)
}

/// What is known of a file of samples, for the `made` of weights that come from it.
pub fn describe(file: &SampleFile) -> Json {
    let summary = file.summary();
    json!({
        "file": file.path().file_name().map(|name| name.to_string_lossy()),
        "samples": summary.count,
        "identity": format!("{:016x}", summary.identity),
        "made": summary.settings,
    })
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "fitted".to_string(), |name| name.to_string_lossy().into_owned())
}

fn rounded(loss: f64) -> f64 {
    (loss * 1e6).round() / 1e6
}

fn print(weights: &Weights, fitted: &Fitted) {
    if fitted.stopped {
        println!("stopped after {} passes: these are the best weights so far", fitted.epochs.len());
    }
    println!("weights {} ({}), scale {}/1024", weights.meta.name, weights.id(), weights.units.scale);
    println!("test loss {:.5} at first, {:.5} now", fitted.start_loss, fitted.test_loss());
    if !fitted.epochs.iter().any(|epoch| epoch.best) {
        println!("no pass made it smaller: these are the weights it started from");
    }
    println!(
        "won half of the games at {:?}, softness {:?} (cubic in the phase)",
        weights.units.win_rate.a, weights.units.win_rate.b
    );
    for (index, name) in PIECE_NAMES[..5].iter().enumerate() {
        let [mg, eg] = weights.ints()[MATERIAL.nth(index)];
        println!("{name:>7} {mg:5} {eg:5}");
    }
    for (name, [mg, eg]) in norms(&fitted.weights).into_iter().filter(|(_, norms)| *norms != [0.0; 2]) {
        println!("{name:>24}: norms {mg:7.3} {eg:7.3}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_that_is_kept_can_be_loaded() {
        assert_eq!(kept_scale(1_000, 0.5), Ok(2_000));
        assert_eq!(kept_scale(MAX_SCALE, 1.0), Ok(MAX_SCALE));
        for (scale, unit) in [(MAX_SCALE, 0.999), (1, 3.0), (1_000, f64::NAN)] {
            assert!(kept_scale(scale, unit).unwrap_err().contains("must be 1 to 1000000"));
        }
    }
}
