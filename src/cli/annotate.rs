//! `dyad annotate`: games explained.

use std::path::{Path, PathBuf};

use clap::Args;
use dyad_formats::files::check_output;
use dyad_formats::input::{is_standard_input, without_packing};
use dyad_trainer::annotate::{AnnotateEvent, AnnotateSettings, AnnotateSummary, annotate};
use dyad_trainer::base::number::number;
use dyad_trainer::base::words::counted;

use super::progress::ProgressDisplay;
use super::{Outcome, Threads, load_weights, stop_on_interrupt};

#[derive(Args)]
pub struct Arguments {
    /// Games (PGN, also packed; `-` is standard input), standard chess or Chess960
    games: PathBuf,
    /// File for the annotated games (PGN) [default: NAME.annotated.pgn next to the games]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// HTML file to step through the games in a browser
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// File for the games with scores, mistakes and explanations as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Player from whose side --html shows the board: a part of the name
    #[arg(long, value_name = "NAME", requires = "html")]
    player: Option<String>,
    /// Nodes for each move, and again for each comparison with a better one; mistakes four times as many
    #[arg(long, value_parser = number(AnnotateSettings::FEWEST_NODES..), default_value_t = AnnotateSettings::NODES)]
    nodes: u64,
    /// Weights: a file, `default` or `material`
    #[arg(long, default_value = "default")]
    weights: PathBuf,
    #[command(flatten)]
    threads: Threads,
}

/// Annotates the games and says where they are.
pub fn run(arguments: Arguments) -> Outcome {
    if arguments.out.is_none() && is_standard_input(&arguments.games) {
        return Err("games of standard input have no name: name the annotated games with --out FILE".into());
    }
    let settings = AnnotateSettings {
        out: arguments.out.unwrap_or_else(|| output_for(&arguments.games)),
        input: arguments.games,
        html: arguments.html,
        json: arguments.json,
        player: arguments.player,
        nodes: arguments.nodes,
        threads: arguments.threads.count(),
    };
    for out in [&settings.out].into_iter().chain(&settings.html).chain(&settings.json) {
        check_output(out, [arguments.weights.as_path()])?;
    }
    let weights = load_weights(&arguments.weights)?;
    let control = stop_on_interrupt();
    let mut progress = ProgressDisplay::new();
    let summary = annotate(&settings, &weights, &control, |event| match event {
        AnnotateEvent::Broken(broken) => progress.say(&format!("left out: {broken}")),
        AnnotateEvent::Move { game: [game, games], ply: [ply, plies], mistake_counts } => progress.show(|| {
            format!("game {game} of {games}: {ply} of {plies} half-moves; so far {}", faults_in_words(mistake_counts))
        }),
    })?;
    drop(progress);
    report(&settings, &summary);
    if summary.stopped {
        return Err("stopped; what was done is kept".into());
    }
    Ok(())
}

/// The output file of games, next to their file.
fn output_for(games: &Path) -> PathBuf {
    let name = games.file_name().unwrap_or_default().to_string_lossy();
    let name = without_packing(&name);
    let stem = name.strip_suffix(".pgn").or_else(|| name.strip_suffix(".PGN")).unwrap_or(name);
    games.with_file_name(format!("{stem}.annotated.pgn"))
}

fn report(settings: &AnnotateSettings, summary: &AnnotateSummary) {
    let AnnotateSummary { games, moves, mistake_counts, broken, .. } = summary;
    let left_out = if *broken > 0 { format!(", {broken} left out") } else { String::new() };
    println!(
        "{}: {}{left_out}, {}, {}",
        settings.out.display(),
        counted(*games as u64, "game", "games"),
        counted(*moves as u64, "half-move", "half-moves"),
        faults_in_words(*mistake_counts)
    );
    for path in [&settings.html, &settings.json].into_iter().flatten() {
        println!("{}", path.display());
    }
}

fn faults_in_words([inaccuracies, mistakes, blunders]: [usize; 3]) -> String {
    [
        counted(inaccuracies as u64, "inaccuracy", "inaccuracies"),
        counted(mistakes as u64, "mistake", "mistakes"),
        counted(blunders as u64, "blunder", "blunders"),
    ]
    .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_is_next_to_the_games() {
        for (games, out) in [
            ("a/game.pgn", "a/game.annotated.pgn"),
            ("game.pgn.zst", "game.annotated.pgn"),
            ("game.pgn.gz", "game.annotated.pgn"),
            ("games", "games.annotated.pgn"),
        ] {
            assert_eq!(output_for(Path::new(games)), Path::new(out));
        }
    }
}
