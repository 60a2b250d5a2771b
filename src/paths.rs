//! Paths as users type them, and the folder of their data.

use std::env::{home_dir, var_os};
use std::path::PathBuf;

/// The path that a text means: `~/` is the user's home, as in a shell.
pub fn expand_home(text: &str) -> PathBuf {
    let below = text.strip_prefix("~/").zip(home_dir());
    below.map_or_else(|| PathBuf::from(text), |(below, home)| home.join(below))
}

/// Where the system keeps the data of programs: `%APPDATA%`, `~/Library/Application Support`, or `$XDG_DATA_HOME`,
/// which is `~/.local/share` where it is not set or not absolute.
pub fn data_folder() -> Option<PathBuf> {
    let below = |folder: &str| home_dir().map(|home| home.join(folder));
    let named = |variable: &str| var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    match () {
        () if cfg!(windows) => named("APPDATA"),
        () if cfg!(target_os = "macos") => below("Library/Application Support"),
        () => named("XDG_DATA_HOME").or_else(|| below(".local/share")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_home_at_the_beginning_is_expanded() {
        let home = home_dir().expect("a home");
        assert_eq!(expand_home("~/a/b"), home.join("a/b"));
        for text in ["", "a/~/b", "~", "~user/a", "/a", "a b"] {
            assert_eq!(expand_home(text), PathBuf::from(text));
        }
    }
}
