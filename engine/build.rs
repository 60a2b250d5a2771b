//! Finds the weights that are built into the program: `weights/default.json`, or the file that the
//! environment variable `EVALFILE` names, absolute or from the repository's root.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-env-changed=EVALFILE");
    let engine = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the package is"));
    let root = engine.parent().unwrap_or(Path::new(""));
    let named = env::var_os("EVALFILE").filter(|name| !name.is_empty());
    let path = root.join(named.as_ref().map_or(Path::new("weights/default.json"), Path::new));
    println!("cargo:rerun-if-changed={}", path.display());
    if !path.is_file() {
        let from = if named.is_some() { "which EVALFILE names" } else { "which belongs to the repository" };
        eprintln!("The weights to build in, {}, {from}, are not a file.", path.display());
        std::process::exit(1);
    }
    println!("cargo:rustc-env=DYAD_EVALFILE_PATH={}", path.display());
}
