//! The module tables of ARCHITECTURE.md name exactly what exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Folders that must have a table: where a reader looks first.
const REQUIRED: [&str; 5] = ["engine/src", "engine/src/eval", "engine/src/search", "explain/src", "trainer/src"];

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
