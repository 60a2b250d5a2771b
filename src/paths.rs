//! Paths as users type them.

use std::path::PathBuf;

use directories::BaseDirs;

/// The path that a text means: `~/` is the user's home, as in a shell.
pub fn expand_home(text: &str) -> PathBuf {
    let below = text.strip_prefix("~/").zip(BaseDirs::new());
    below.map_or_else(|| PathBuf::from(text), |(below, folders)| folders.home_dir().join(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_home_at_the_beginning_is_expanded() {
        let home = BaseDirs::new().expect("a home").home_dir().to_path_buf();
        assert_eq!(expand_home("~/a/b"), home.join("a/b"));
        for text in ["", "a/~/b", "~", "~user/a", "/a", "a b"] {
            assert_eq!(expand_home(text), PathBuf::from(text));
        }
    }
}
