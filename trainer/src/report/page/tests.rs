//! Tests of the page.

use super::*;
use crate::arena::matches::MatchEnd;
use crate::arena::statistics::{Decision, MatchResults, Sprt};
use dyad_engine::eval::Weights;
use dyad_formats::testing::Temporary;
use dyad_formats::weights_file;
use serde_json::Value as Json;
use std::fs;
use std::path::Path;

fn record(wins: u64) -> MatchRecord {
    let tally = MatchResults { wins, draws: 10, losses: 190 - wins, pentanomial: [5, 20, 40, 25, 10] };
    MatchRecord {
        names: ["new <1>".into(), "old".into()],
        ids: ["00000001".into(), "00000002".into()],
        limits: "5000 nodes a move".into(),
        score: tally.score(),
        elo: tally.elo(),
        normalized_elo: tally.normalized_elo(),
        los: tally.los(),
        tally,
        sprt: Sprt::new(0.0, 10.0, 0.05, 0.05).ok(),
        llr: Some(1.5),
        decision: Some(Decision::Continue),
        end: MatchEnd::Complete,
        seconds: 12.0,
    }
}

fn line(kind: LineKind, iteration: u32, positions: u64) -> LogLine {
    LogLine {
        kind,
        iteration,
        positions,
        accuracy: Some(0.25 + 0.01 * f64::from(iteration)),
        accuracy_positions: 2000,
        mean_s: 3.5,
        loss: 0.7,
        material: vec![[100 + 20 * iteration as i32, 200]; 6],
        positions_per_second: 1500.0,
        seconds: positions as f64 / 1500.0,
        best: true,
        ..LogLine::default()
    }
}

fn whole_run() -> RunData {
    let temporary = Temporary::folder();
    let folder = temporary.join("whole & <run>");
    fs::create_dir(&folder).unwrap();
    let json = |value: &dyn Fn() -> Json| value().to_string();
    let mut log = String::new();
    for iteration in 0..3 {
        for part in [LineKind::Report, LineKind::Iteration] {
            let positions = u64::from(iteration) * 50_000 + u64::from(part == LineKind::Iteration) * 20_000;
            log.push_str(&json(&|| serde_json::to_value(line(part, iteration, positions)).unwrap()));
            log.push('\n');
        }
    }
    for generation in 1..4 {
        let line = serde_json::json!({
            "generation": generation, "seconds": 900 * generation, "adopted": generation != 2, "match": record(110),
        });
        log.push_str(&format!("{line}\n"));
    }
    let proof = serde_json::json!({ "proof": 3, "seconds": 2700, "promoted": false, "match": record(100) });
    log.push_str(&format!("{proof}\n"));
    log.push_str("{\"something\":1}\n{\"kind\":\"it");
    fs::write(folder.join("log.jsonl"), log).unwrap();
    fs::write(folder.join("settings.json"), "{\"depth\": 2, \"note\": \"<&>\"}").unwrap();
    weights_file::save(&Weights::material(), &folder.join("iteration-00.json")).unwrap();
    weights_file::save(&Weights::material(), &folder.join("best.json")).unwrap();
    RunData::load(&folder).unwrap()
}

/// No requests to anywhere, not even the folder.
fn check_self_contained(html: &str) {
    // The icon is data in the page itself.
    let outside = html.replace("http://www.w3.org/2000/svg", "").replace("href=\"data:", "");
    for forbidden in ["http:", "https:", "src=", "href=", "url(", "@import", "fetch(", ">NaN", "\"NaN"] {
        assert!(!outside.contains(forbidden), "{forbidden}");
    }
    let policy = "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '";
    let sources = html.split(policy).nth(1).unwrap().split('"').next().unwrap();
    let scripts = html.matches("<script>").count();
    assert_eq!(sources.matches("sha256-").count(), scripts, "{sources}");
    assert!(scripts > 0 || sources == "none'", "{sources}");
    assert!(html.contains("name=\"viewport\""));
}

#[test]
fn the_current_activity_comes_first() {
    let now = Now {
        headline: "Generation 2: <match>".to_string(),
        detail: "3 of 12 games".to_string(),
        share: Some(0.25),
        seconds_left: Some(130.0),
        steps: vec!["self-play".to_string(), "match".to_string()],
        step: 1,
    };
    let html = page(&RunData { now: Some(now), ..whole_run() });
    check_self_contained(&html);
    assert!(html.contains("<strong>Generation 2: &lt;match&gt;, about 2 min left</strong>"), "{html}");
    assert!(html.contains("<li aria-current=\"step\">match</li>") && html.contains("<progress value=\"0.2500\""));
    assert!(html.find("Generation 2: ").unwrap() < html.find("<h2>").unwrap());
    assert!(html.contains("location.reload()"));
}

#[test]
fn a_training_stopped_in_its_first_generation_says_what_it_is_and_how_to_continue() {
    let settings = serde_json::json!({ "method": "regression" });
    let run = RunData { title: "night".into(), settings, before: Some(Weights::material()), ..RunData::default() };
    let html = page(&run);
    assert!(html.contains("<p>Dyad learns chess from the values of the pieces alone."), "{html}");
    assert!(html.contains("or run dyad selftrain --out FOLDER --resume with the folder of this page.</p>"), "{html}");
}

#[test]
fn a_whole_run_has_all_sections() {
    let run = whole_run();
    assert_eq!((run.lines.len(), run.proofs.len(), run.generations.len()), (6, 1, 3));
    let html = page(&run);
    for section in ["Generations", "Learning curves", "Matches", "How it was made"] {
        assert!(html.contains(&format!("<h2>{section}</h2>")), "{section}");
    }
    assert!(html.contains("new &lt;1&gt; - old"));
    for drawing in html.split("<svg").skip(1).filter(|drawing| !drawing.contains("<symbol")) {
        let drawing = drawing.split("</svg>").next().unwrap();
        assert!(drawing.contains("role=\"img\" aria-label=\""), "{drawing}");
    }
    assert_eq!(html.matches("class=\"plot\"").count(), 6);
    check_self_contained(&html);
    // Without a current activity the page does not reload.
    assert!(!html.contains("location.reload()"));
    // Settings are a table, not JSON.
    assert!(html.contains("<th scope=\"row\">note</th><td>&lt;&amp;&gt;</td>"), "the settings");
}

/// The line of the reference, how far the best weights are from it, and the moment when they cross it.
#[test]
fn the_distance_to_the_line_is_shown() {
    let distance = |generation, value: f64, games| Distance {
        generation,
        reference: "the built-in weights".to_string(),
        elo: Estimate { value, low: value - 40.0, high: value + 40.0 },
        games,
    };
    let start =
        RunData { title: "begun".into(), distances: vec![(0.01, distance(0, -490.0, 8))], ..RunData::default() };
    let html = page(&start);
    assert!(html.contains("<dd>still 490 \u{b1} 40 Elo below the built-in weights</dd>"), "{html}");
    assert!(html.contains("minutes of training") && html.contains("no generation: the engine plays with the built-in"));
    let mut run = whole_run();
    run.distances = vec![(0.01, distance(0, -490.0, 8)), (0.75, distance(3, 60.0, 40))];
    let proof = Generation { adopted: true, record: record(150), ..run.generations[2].clone() };
    run.proofs = vec![proof];
    // With another reference the proof is one of the past.
    assert!(!page(&run).contains("\u{2605}"));
    run.proven = 3;
    let html = page(&run);
    check_self_contained(&html);
    assert!(html.contains("\u{2605} Generation 3 beats old: "), "{html}");
    assert!(html.contains("<dd>generation 3</dd>") && html.contains("60 \u{b1} 40 Elo above the built-in weights"));
    assert!(html.contains("<td class=\"text\">best, proven stronger</td>"));
    // Where all games against the line are lost, those between the generations show the progress.
    let lost = |generation| Distance {
        elo: Estimate { value: -600.0, low: -1040.0, high: -160.0 },
        ..distance(generation, 0.0, 16)
    };
    let far =
        RunData { distances: (0..=3).map(|number| (0.2 * f64::from(number), lost(number))).collect(), ..whole_run() };
    let rated = rated(&far);
    assert_eq!(rated.iter().map(|rated| rated.generation).collect::<Vec<_>>(), [0, 1, 3]);
    assert!(rated.is_sorted_by(|one, other| one.elo.value < other.elo.value && one.hours < other.hours));
    assert!(page(&far).contains(" Elo below the built-in weights</dd>"));
    // The columns of the papers are behind a fold.
    let fold = html.find("For researchers").unwrap();
    assert!(html.find("LLR: log-likelihood").unwrap() > fold);
}

#[test]
fn missing_data_are_skipped() {
    let whole = whole_run();
    for run in [
        RunData { lines: Vec::new(), ..whole.clone() },
        RunData { after: None, before: None, ..whole.clone() },
        RunData { proofs: Vec::new(), generations: Vec::new(), settings: Json::Null, ..whole.clone() },
        RunData { lines: whole.lines[5..].to_vec(), ..RunData::default() },
        RunData { after: Some(Weights::material()), ..RunData::default() },
    ] {
        let html = page(&run);
        check_self_contained(&html);
    }
    let html = page(&whole);
    assert!(html.contains("on 2000 test positions."));
    assert!(html.contains("<li><b>25.00 %</b>accuracy at the start</li><li><b>27.00 %</b>accuracy at best</li>"));
    assert!(RunData::load(&Temporary::folder()).is_err());
    assert!(RunData::load(Path::new("/nowhere/at/all")).is_err());
}
