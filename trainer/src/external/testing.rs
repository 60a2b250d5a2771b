//! UCI engines for tests.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A UCI engine as a shell script: `options` are the lines it prints before `uciok`, `go` is its reaction to a search,
/// with the last position command in `$position`. Its input is logged to a file next to it, with the extension `.log`.
pub fn fake_engine(name: &str, options: &str, go: &str) -> PathBuf {
    let folder = engines();
    fs::create_dir_all(&folder).expect("the temporary folder can be written");
    let path = folder.join(name);
    fs::remove_file(log_of(&path)).ok();
    let script = format!(
        "#!/bin/sh\nwhile read -r line; do\necho \"$line\" >>\"$0.log\"\ncase $line in\n\
         uci) echo '{options}'; echo uciok ;;\nisready) echo readyok ;;\nposition*) position=$line ;;\n\
         go*) {go} ;;\nquit) exit ;;\nesac\ndone\n"
    );
    // A file open for writing cannot be executed, and child processes inherit open files.
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat >\"$0\" && chmod +x \"$0\""]).arg(&path).stdin(Stdio::piped());
    let mut shell = shell.spawn().expect("there is a shell");
    shell.stdin.take().expect("it was asked for").write_all(script.as_bytes()).expect("the shell reads");
    assert!(shell.wait().expect("it ends").success());
    path
}

/// Where the engines of this process are.
pub fn engines() -> PathBuf {
    std::env::temp_dir().join(format!("dyad-engines-{}", std::process::id()))
}

/// Path of the input log of a [`fake_engine`].
pub fn log_of(engine: &Path) -> PathBuf {
    engine.with_added_extension("log")
}
