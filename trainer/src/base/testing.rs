//! Folders for tests.

use std::fs;
use std::path::PathBuf;

/// A folder of its own for each test.
pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("dyad-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the temporary folder can be written");
    folder
}
