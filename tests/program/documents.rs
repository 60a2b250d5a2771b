//! The documents name files, sections, tools and options that exist.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The documents: their paths in the repository.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/tutorial", "weights", "tools/openbench"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 10, "{found:?}");
    found
}

/// The text between code blocks, and the code blocks without the name of their language.
fn split(text: &str) -> (String, Vec<String>) {
    let mut parts = text.split("```");
    let mut prose = parts.next().unwrap_or_default().to_owned();
    let mut blocks = Vec::new();
    while let Some(block) = parts.next() {
        blocks.push(block.split_once('\n').map_or("", |(_, code)| code).to_owned());
        prose += parts.next().unwrap_or_default();
    }
    (prose, blocks)
}

/// The anchors of the headings, as GitHub makes them.
fn anchors(prose: &str) -> HashSet<String> {
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|heading| {
            let letters = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = letters.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
            kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
        })
        .collect()
}

/// The targets of links and pictures.
fn links(prose: &str) -> Vec<&str> {
    let markdown = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let html = prose.split("src=\"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(target, _)| target);
    markdown.chain(html).filter(|target| !target.starts_with("http") && !target.starts_with("../../")).collect()
}

#[test]
fn links_lead_to_files_and_sections() {
    for path in documents() {
        let (prose, _) = split(&fs::read_to_string(&path).unwrap());
        for link in links(&prose) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link}", path.display());
            if !anchor.is_empty() {
                let known = anchors(&split(&fs::read_to_string(&target).unwrap()).0);
                assert!(known.contains(anchor), "{}: {link} is none of {known:?}", path.display());
            }
        }
    }
}

/// The lines of code blocks, those that a backslash continues as one.
fn command_lines(blocks: &[String]) -> Vec<String> {
    let lines = |block: &String| block.replace("\\\n", " ").lines().map(str::to_owned).collect::<Vec<_>>();
    blocks.iter().flat_map(lines).collect()
}

/// The words of each command `dyad TOOL ...` of a document.
fn commands(text: &str) -> Vec<Vec<String>> {
    let (prose, blocks) = split(text);
    let inline = prose.split('`').skip(1).step_by(2).map(str::to_owned);
    inline
        .chain(command_lines(&blocks))
        .flat_map(|line| line.split([';', '|', '#']).map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|line| {
            let mut words = line.split_whitespace().skip_while(|&word| word == "do").map(str::to_owned);
            (words.next()? == "dyad").then(|| words.collect())
        })
        .collect()
}

#[test]
fn commands_have_tools_and_options_that_exist() {
    let mut helps = HashMap::new();
    let mut seen = 0;
    for path in documents().into_iter().filter(|path| !path.ends_with("CHANGELOG.md")) {
        for command in commands(&fs::read_to_string(&path).unwrap()) {
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            let Some(tool) = words.first().filter(|tool| tool.starts_with(|letter: char| letter.is_ascii_lowercase()))
            else {
                continue;
            };
            if ["bench", "eval", "genfens"].contains(tool) {
                continue;
            }
            let nested = *tool == "level" && words.len() > 1;
            let arguments: Vec<String> = command[..1 + usize::from(nested)].to_vec();
            let help = helps.entry(arguments.clone()).or_insert_with(|| {
                let ran = Command::new(env!("CARGO_BIN_EXE_dyad")).args(&arguments).arg("--help").output().unwrap();
                ran.status.success().then(|| String::from_utf8(ran.stdout).unwrap())
            });
            let help = help.as_ref().unwrap_or_else(|| panic!("{}: no tool {arguments:?}", path.display()));
            let options: HashSet<&str> = help.split([' ', ',', '\n', '=', '[', '`']).collect();
            for option in words.iter().filter(|word| word.starts_with('-') && word.len() > 1) {
                let is_number = option[1..].starts_with(|letter: char| letter.is_ascii_digit());
                assert!(is_number || options.contains(option), "{}: {command:?}: no {option}", path.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} commands");
}
