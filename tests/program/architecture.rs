//! The module tables of ARCHITECTURE.md name exactly what exists, and modules use each other as it says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::module_graph::{Crate, cycles};

/// Folders that must have a table: where a reader looks first.
const REQUIRED: [&str; 9] = [
    "engine/src",
    "engine/src/eval",
    "engine/src/search",
    "explain/src",
    "levels/src",
    "trainer/formats/src",
    "trainer/src",
    "trainer/papers/src",
    "src",
];
/// The crates whose modules are read.
const CRATES: [&str; 7] =
    ["engine/src", "explain/src", "levels/src", "trainer/formats/src", "trainer/src", "trainer/papers/src", "src"];

/// The names in backticks of the first column of all tables that follow a heading, by the folder that the heading
/// names.
fn tables(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let (mut tables, mut folder) = (BTreeMap::new(), None);
    for line in text.lines() {
        if line.starts_with('#') {
            let name = line.trim_start_matches('#').trim();
            let is_folder = line.starts_with("###") && name.split('/').any(|part| part == "src");
            folder = is_folder.then(|| name.to_string());
        }
        let (Some(folder), Some(row)) = (&folder, line.strip_prefix("| `")) else { continue };
        let names: &mut BTreeSet<String> = tables.entry(folder.clone()).or_default();
        for name in first_column(row) {
            assert!(names.insert(name.to_string()), "{folder}: {name} is there twice");
        }
    }
    tables
}

/// The names in the first column of a row, which begins behind its first backtick.
fn first_column(row: &str) -> impl Iterator<Item = &str> {
    row.split(" |").next().unwrap_or_default().split(['`', ',', ' ']).filter(|name| !name.is_empty())
}

/// The modules in a folder: a file and a folder of one name are one. Those of Rust itself and of tests have no row.
fn modules(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let name = |entry: fs::DirEntry| {
        let (path, name) = (entry.path(), entry.file_name().into_string().expect("names of modules are text"));
        let is_module = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
        let holds_modules =
            || fs::read_dir(&path).is_ok_and(|files| files.flatten().any(|file| is_module(&file.path())));
        match path.is_dir() {
            true => Some(name).filter(|_| holds_modules()),
            false => name.strip_suffix(".rs").map(str::to_string),
        }
    };
    let all = entries.filter_map(|entry| name(entry.expect("the folder can be read")));
    all.filter(|name| !["lib", "main", "mod", "tests", "testing"].contains(&name.as_str())).collect()
}

/// The text of ARCHITECTURE.md.
fn guide() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    fs::read_to_string(path).expect("the guide is there")
}

#[test]
fn the_modules_of_the_engine_use_only_those_before_them() {
    let (root, guide) = (Path::new(env!("CARGO_MANIFEST_DIR")), guide());
    let (_, table) = guide.split_once("\n### engine/src\n").expect("a table of the engine");
    let rows = table.lines().take_while(|line| !line.starts_with('#')).filter_map(|line| line.strip_prefix("| `"));
    let order: Vec<&str> = rows.flat_map(first_column).collect();
    assert!(order.contains(&"board") && order.contains(&"search"), "{order:?}");
    let uses = &Crate::read(&root.join("engine/src")).uses()[&Vec::new()];
    for (place, &module) in order.iter().enumerate() {
        let later: Vec<_> = uses[module].iter().filter(|name| order[place..].contains(&name.as_str())).collect();
        assert!(later.is_empty(), "engine: {module} uses {later:?}, which ARCHITECTURE.md lists behind it");
    }
}

#[test]
fn the_modules_of_the_trainer_use_only_what_the_arrows_lead_to() {
    let (root, guide) = (Path::new(env!("CARGO_MANIFEST_DIR")), guide());
    let (_, chart) = guide.split_once("\nModules, and arrows in one direction:\n").expect("a chart of the trainer");
    let mut arrows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in chart.lines().skip_while(|line| !line.contains("-->")).take_while(|line| line.contains("-->")) {
        let modules: Vec<&str> = line.split("-->").map(str::trim).collect();
        for pair in modules.windows(2) {
            arrows.entry(pair[0]).or_default().insert(pair[1]);
            arrows.entry(pair[1]).or_default();
        }
    }
    let modules: BTreeSet<String> = arrows.keys().map(|module| module.to_string()).collect();
    assert_eq!(modules, tables(&guide)["trainer/src"]);
    let uses = &Crate::read(&root.join("trainer/src")).uses()[&Vec::new()];
    for &module in arrows.keys() {
        // All that lies along the arrows.
        let (mut reached, mut next) = (BTreeSet::from(["base"]), vec![module]);
        while let Some(from) = next.pop() {
            next.extend(arrows[from].iter().copied().filter(|&to| reached.insert(to)));
        }
        assert!(module == "base" || !reached.contains(module), "the arrows lead from {module} back to it");
        let hidden: Vec<_> = uses[module].iter().filter(|name| !reached.contains(name.as_str())).collect();
        assert!(hidden.is_empty(), "trainer: {module} uses {hidden:?}, to which no arrow of ARCHITECTURE.md leads");
    }
}

#[test]
fn no_modules_of_a_folder_use_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    for src in CRATES {
        for (folder, uses) in Crate::read(&root.join(src)).uses() {
            let folder = [vec![src.to_string()], folder].concat().join("/");
            found.extend(cycles(&uses).into_iter().map(|cycle| (folder.clone(), cycle)));
        }
    }
    assert!(found.is_empty(), "cycles of modules: {found:?}");
}

#[test]
fn each_module_begins_with_a_comment_on_its_purpose() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for src in CRATES {
        let bare = Crate::read(&root.join(src)).without_comment();
        assert!(bare.is_empty(), "{src}: no comment at the head of {bare:?}");
    }
}

#[test]
fn the_module_tables_name_what_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tables = tables(&guide());
    for folder in REQUIRED {
        assert!(tables.contains_key(folder), "ARCHITECTURE.md has no table of {folder}");
    }
    let faults: Vec<String> = tables
        .iter()
        .filter_map(|(folder, named)| {
            let found = modules(&root.join(folder));
            let missing: Vec<_> = found.difference(named).collect();
            let gone: Vec<_> = named.difference(&found).collect();
            let fault = format!("{folder}: without a row {missing:?}, not there {gone:?}");
            (found != *named).then_some(fault)
        })
        .collect();
    assert!(faults.is_empty(), "ARCHITECTURE.md and the folders differ:\n{}", faults.join("\n"));
}
