//! Finds the weights to embed: the file in the environment variable `EVALFILE` (absolute or relative to the
//! repository's root), or `weights/default.json`.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-env-changed=EVALFILE");
    let engine = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let root = engine.parent().unwrap_or(Path::new(""));
    let named = env::var_os("EVALFILE").filter(|name| !name.is_empty());
    let path = root.join(named.as_ref().map_or(Path::new("weights/default.json"), Path::new));
    println!("cargo:rerun-if-changed={}", path.display());
    if !path.is_file() {
        let from = if named.is_some() { "EVALFILE" } else { "part of the repository" };
        eprintln!("weights to embed: {} ({from}) is not a file", path.display());
        std::process::exit(1);
    }
    println!("cargo:rustc-env=DYAD_EVALFILE_PATH={}", path.display());
}
