//! The modules of a crate and which of them use which, read from the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module's name from the root of its crate: `["eval", "layout"]`. The root has no names.
pub type Name = Vec<String>;

/// The modules of a crate, except tests.
pub struct Crate {
    modules: BTreeMap<Name, Module>,
}

struct Module {
    head: String,
    /// Names of its items.
    items: BTreeSet<String>,
    /// All paths in the code, as they are written.
    paths: Vec<Name>,
    /// What `use` declarations bring into the module: name and path; `*` for all names of a path.
    imports: Vec<(String, Name)>,
}

impl Crate {
    /// Reads the modules in a `src` folder.
    pub fn read(src: &Path) -> Crate {
        let mut modules = BTreeMap::new();
        read_folder(src, &[], &mut modules);
        assert!(modules.contains_key(&Vec::new()), "{}: neither lib.rs nor main.rs", src.display());
        Crate { modules }
    }

    /// Modules whose file does not begin with a comment on the module.
    pub fn without_comment(&self) -> Vec<String> {
        let bare = self.modules.iter().filter(|(_, module)| !module.head.starts_with("//!"));
        bare.map(|(name, _)| name.join("::")).collect()
    }

    /// For each folder: which of its modules use which others of them, with all that lies within them.
    pub fn uses(&self) -> BTreeMap<Name, BTreeMap<String, BTreeSet<String>>> {
        let mut uses: BTreeMap<Name, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for name in self.modules.keys().filter(|name| !name.is_empty()) {
            let (own, folder) = name.split_last().expect("the name is not empty");
            uses.entry(folder.to_vec()).or_default().entry(own.clone()).or_default();
        }
        for (user, module) in &self.modules {
            for used in module.paths.iter().filter_map(|path| self.resolve(user, path, 0)) {
                let common = user.iter().zip(&used).take_while(|(a, b)| a == b).count();
                // Else one of them lies within the other.
                if let (Some(from), Some(to)) = (user.get(common), used.get(common)) {
                    let folder = uses.get_mut(&user[..common]).expect("each folder is a module");
                    folder.get_mut(from).expect("each module is there").insert(to.clone());
                }
            }
        }
        uses
    }

    /// The module that defines what `path` names in the module `from`; none if another crate does.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<Name> {
        let mut at = from.to_vec();
        match path.first()?.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => at.truncate(at.len().checked_sub(1)?),
            // A child module, or an import; else another crate.
            first => {
                let imported = depth > 0 && self.modules[&at].imports.iter().any(|(name, _)| name == first);
                return if imported || self.child(&at, first).is_some() { self.descend(at, path, depth) } else { None };
            }
        }
        let mut rest = &path[1..];
        while rest.first().is_some_and(|name| name == "super") {
            at.pop()?;
            rest = &rest[1..];
        }
        self.descend(at, rest, depth)
    }

    /// The module that defines what `rest` names, from the module `at` on.
    fn descend(&self, mut at: Name, mut rest: &[String], depth: usize) -> Option<Name> {
        while let Some((name, after)) = rest.split_first() {
            if let Some(child) = self.child(&at, name) {
                at = child;
                rest = after;
                continue;
            }
            // Imports may be circular through globs.
            if depth < 8 {
                let module = &self.modules[&at];
                if let Some((_, target)) = module.imports.iter().find(|(imported, _)| imported == name) {
                    return self.resolve(&at, target, depth + 1);
                }
                for (_, target) in module.imports.iter().filter(|(imported, _)| imported == "*") {
                    match self.resolve(&at, target, depth + 1) {
                        Some(from) if from != at && self.defines(&from, name) => return Some(from),
                        _ => {}
                    }
                }
            }
            return Some(at);
        }
        Some(at)
    }

    fn child(&self, at: &[String], name: &str) -> Option<Name> {
        let child: Name = at.iter().cloned().chain([name.to_string()]).collect();
        self.modules.contains_key(&child).then_some(child)
    }

    fn defines(&self, module: &[String], name: &str) -> bool {
        let Module { items, imports, .. } = &self.modules[module];
        items.contains(name) || imports.iter().any(|(import, _)| import == name)
    }
}

/// Sets of modules in a folder that use each other, directly or through others.
pub fn cycles(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<String>> {
    let reached = |from: &String| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            next.extend(uses[module].iter().filter(|&used| reached.insert(used.clone())));
        }
        reached
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = uses.keys().map(|module| (module, reached(module))).collect();
    let cycle = |module: &String| -> Vec<String> {
        reached[module].iter().filter(|&other| reached[other].contains(module)).cloned().collect()
    };
    uses.keys().map(cycle).filter(|cycle| !cycle.is_empty()).collect()
}

fn read_folder(folder: &Path, name: &[String], modules: &mut BTreeMap<Name, Module>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("the folder can be read").path()) {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("names of modules are text").to_string();
        if ["tests", "testing"].contains(&stem.as_str()) {
            continue;
        }
        let child = || name.iter().cloned().chain([stem.clone()]).collect::<Name>();
        if path.is_dir() {
            read_folder(&path, &child(), modules);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let module = if ["mod", "lib", "main"].contains(&stem.as_str()) { name.to_vec() } else { child() };
            modules.insert(module, Module::parse(&fs::read_to_string(&path).expect("sources are text")));
        }
    }
}

impl Module {
    fn parse(text: &str) -> Module {
        let head = text.lines().next().unwrap_or_default().to_string();
        let code = without_comments(text);
        // Tests within a file stand at its end.
        let code = code.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let mut module = Module { head, items: items(code), paths: Vec::new(), imports: Vec::new() };
        for start in ["crate::", "super::", "self::"] {
            for (at, _) in code.match_indices(start) {
                let before = code[..at].chars().next_back();
                if before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_' && c != ':') {
                    tree(&code[at..], &mut Vec::new(), &mut |_, path| module.paths.push(path.to_vec()));
                }
            }
        }
        for (at, _) in code.match_indices("use ") {
            if code[..at].chars().next_back().is_none_or(|c| c.is_ascii_whitespace()) {
                let mut add = |name: &str, path: &[String]| module.imports.push((name.to_string(), path.to_vec()));
                tree(&code[at + 4..], &mut Vec::new(), &mut add);
            }
        }
        // `use child::Item` names a module too.
        module.paths.extend(module.imports.iter().map(|(_, path)| path.clone()));
        module
    }
}

/// The names after the keywords of items.
fn items(code: &str) -> BTreeSet<String> {
    let words: Vec<&str> = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let keywords = ["fn", "struct", "enum", "trait", "const", "static", "type", "mod"];
    words.windows(2).filter(|pair| keywords.contains(&pair[0])).map(|pair| pair[1].to_string()).collect()
}

/// The paths of a `use` tree or an expression that begins here, each with the name that it gets. Returns what follows.
fn tree<'a>(text: &'a str, prefix: &mut Name, found: &mut impl FnMut(&str, &[String])) -> &'a str {
    let mut text = text.trim_start();
    if let Some(inside) = text.strip_prefix('{') {
        text = inside.trim_start();
        while !text.starts_with('}') && !text.is_empty() {
            let before = text.len();
            text = tree(text, prefix, found).trim_start();
            text = text.strip_prefix(',').unwrap_or(text).trim_start();
            if text.len() == before {
                break;
            }
        }
        return text.strip_prefix('}').unwrap_or(text);
    }
    if let Some(rest) = text.strip_prefix('*') {
        found("*", prefix);
        return rest;
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, mut rest) = text.split_at(end);
    if word.is_empty() {
        found("", prefix);
        return rest;
    }
    prefix.push(word.to_string());
    if let Some(after) = rest.strip_prefix("::") {
        rest = tree(after, prefix, found);
        prefix.pop();
        return rest;
    }
    let mut name = word;
    if let Some(after) = rest.strip_prefix(" as ") {
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        (name, rest) = after.split_at(end);
    }
    if word == "self" && prefix.len() > 1 {
        prefix.pop();
        found(if name == "self" { prefix.last().expect("it has a first name") } else { name }, prefix);
    } else {
        found(name, prefix);
        prefix.pop();
    }
    rest
}

/// Source text without comments.
fn without_comments(text: &str) -> String {
    let line = |line: &str| line.find("//").map_or(line.len(), |at| at);
    text.lines().map(|whole| format!("{}\n", &whole[..line(whole)])).collect()
}

#[test]
fn imports_are_followed_to_where_a_name_is_defined() {
    let module = |text: &str| Module::parse(text);
    let name = |path: &str| path.split("::").filter(|part| !part.is_empty()).map(str::to_string).collect::<Name>();
    let sources = [
        ("", "//! Root.\npub mod a; mod b;\npub use a::first::Thing;\n"),
        ("a", "//! A.\nmod first; mod second;\nuse first::{Thing as Renamed, self};\n"),
        (
            "a::first",
            "pub struct Thing;\nfn f() { super::second::g(); } // super::third\n#[cfg(test)]\nmod tests { use crate::b; }\n",
        ),
        ("a::second", "//! Second.\nuse super::Renamed;\npub fn g() { let _ = crate::b::X { }; }\n"),
        ("b", "//! B.\nuse crate::{Thing, a::{second::{g}, first}};\nuse std::fs::*;\nuse c::*;\nmod c; mod d;\n"),
        ("b::c", "//! C.\npub(crate) struct Own;\nconst D: u32 = super::d::D;\n"),
        ("b::d", "//! D.\nuse super::Own;\npub const D: u32 = 0;\n"),
    ];
    let modules = sources.into_iter().map(|(path, text)| (name(path), module(text))).collect();
    let graph = Crate { modules };
    assert_eq!(graph.without_comment(), ["a::first"]);
    let uses = graph.uses();
    let set = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<BTreeSet<_>>();
    assert_eq!(uses[&name("")], [("a".into(), set(&["b"])), ("b".into(), set(&["a"]))].into());
    assert_eq!(uses[&name("a")], [("first".into(), set(&["second"])), ("second".into(), set(&["first"]))].into());
    assert_eq!(uses[&name("b")], [("c".into(), set(&["d"])), ("d".into(), set(&["c"]))].into());
    assert_eq!(cycles(&uses[&name("a")]), [vec!["first".to_string(), "second".to_string()]].into());
}
