//! Writes the seeds of a target, a file each, into a folder: `corpus TARGET FOLDER`.

use std::path::PathBuf;
use std::{env, fs};

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [name, folder] = &arguments[..] else { panic!("expected a target and a folder, not {arguments:?}") };
    let target = dyad_fuzz::TARGETS.iter().find(|target| target.name == name).expect("a target of this name");
    let folder = PathBuf::from(folder);
    fs::create_dir_all(&folder)?;
    for (number, seed) in (target.seeds)().iter().enumerate() {
        fs::write(folder.join(format!("seed-{number:03}")), seed)?;
    }
    let quoted =
        |word: &String| format!("\"{}\"\n", word.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>());
    fs::write(folder.with_extension("dict"), target.words().iter().map(quoted).collect::<String>())
}
