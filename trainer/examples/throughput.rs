//! Positions per second of training: a table by search depth, batch and threads.
//!
//! ```text
//! throughput SAMPLES [--weights WEIGHTS] [--positions N] [--depths 1,2] [--batches 1,50] [--threads 1,2]
//! ```
//!
//! Each row is a training of one iteration on the same N positions (an eighth of them for each ply beyond the
//! second), without reports. Positions per second of processor time are listed as well: they are
//! more reliable on a busy machine.

use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_formats::samples::SampleFile;
use dyad_formats::weights_file;
use dyad_trainer::base::context::Context;
use dyad_trainer::learn::examples::FileExamples;
use dyad_trainer::learn::log::LogLine;
use dyad_trainer::learn::settings::TrainingSettings;
use dyad_trainer::learn::training::{TrainingProgress, begin};
use std::path::PathBuf;
use std::str::FromStr;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().expect("the first argument is a sample file"));
    let options: Vec<String> = arguments.collect();
    let option = |name: &str| options.iter().position(|word| word == name).and_then(|at| options.get(at + 1));
    let samples = SampleFile::open(&path).expect("a sample file");
    let positions = option("--positions").map_or(4000, |n| n.parse().expect("a number of positions"));
    println!("depth batch threads positions/s  /s of processor  nodes  mean |S|");
    for depth in list(option("--depths"), "1,2,3,4") {
        for batch in list(option("--batches"), "1,50,100,200") {
            for threads in list(option("--threads"), "1,2") {
                let mut settings =
                    TrainingSettings { samples: path.clone(), depth, batch, ..TrainingSettings::default() };
                settings.start = option("--weights").map(PathBuf::from);
                settings.train_positions = Some(positions >> (3 * depth.saturating_sub(2)));
                settings.test_positions = Some(0);
                settings.iterations = 1;
                settings.report_every = u64::MAX;
                settings.machine.threads = threads;
                let before = processor_seconds();
                let line = train(&settings, &samples);
                let spent = processor_seconds() - before;
                let (speed, nodes, s) = (line.positions_per_second, line.nodes, line.mean_s);
                let done = line.done as f64 / spent;
                println!("{depth:5} {batch:5} {threads:7} {speed:11.0} {done:16.0} {nodes:6.0} {s:9.2}");
            }
        }
    }
}

fn list<T: FromStr>(option: Option<&String>, default: &str) -> Vec<T> {
    let parse = |word: &str| word.parse().unwrap_or_else(|_| panic!("{word} does not belong in this list"));
    option.map_or(default, String::as_str).split(',').map(parse).collect()
}

fn train(settings: &TrainingSettings, samples: &SampleFile) -> LogLine {
    let folder = std::env::temp_dir().join(format!("dyad-throughput-{}", std::process::id()));
    let mut last = LogLine::default();
    let mut on_event = |progress: TrainingProgress| last = progress.line.unwrap_or_default();
    let stop = Control::new(false);
    let start =
        settings.start.as_deref().map_or_else(Weights::material, |path| weights_file::load(path).expect("weights"));
    let examples = FileExamples::new(samples, &start);
    let threads = settings.machine.thread_count();
    let mut context = Context { threads, stop: &stop, on_event: &mut on_event };
    let ended = begin(settings, &folder, &examples, &mut context);
    std::fs::remove_dir_all(&folder).ok();
    ended.expect("the training runs");
    last
}

/// Processor time of this process so far; 0 where /proc is not available.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.split(' ').skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>();
    ticks / 100.0
}
