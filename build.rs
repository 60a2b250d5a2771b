//! Tells the program which revision it is built from, for what people are to repeat: the short hash of the last commit, with
//! `+` where files differ from it, or `unknown` away from the repository or without Git.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    // Asked for when it runs: a folder that was moved keeps its build script, which would look where it was compiled.
    let root = &PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the package is"));
    // Everything that a program is made of, and the log that each commit and checkout writes to.
    for path in ["build.rs", "Cargo.toml", "Cargo.lock", "src", "engine", "trainer", "weights"] {
        println!("cargo:rerun-if-changed={path}");
    }
    if let Some(log) = git(root, &["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    println!("cargo:rustc-env=DYAD_REVISION={}", revision(root).unwrap_or_else(|| "unknown".into()));
}

fn revision(root: &Path) -> Option<String> {
    // Sources unpacked inside of another repository have no revision of it.
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    let commit = git(root, &["rev-parse", "--short=10", "HEAD"])?;
    let changed = !git(root, &["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if changed { commit + "+" } else { commit })
}

/// What Git says, without the line's end; none where it fails or says nothing of use.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end().to_string())
}
