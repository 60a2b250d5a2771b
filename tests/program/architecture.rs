//! ARCHITECTURE.md names every module of the engine and of the trainer.

use std::fs;
use std::path::Path;

#[test]
fn the_guide_names_every_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the guide is there");
    for folder in ["engine/src", "trainer/src"] {
        let section =
            guide.split("\n### ").find(|section| section.starts_with(folder)).expect("the guide has its table");
        for entry in fs::read_dir(root.join(folder)).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_stem().and_then(|name| name.to_str()).expect("names of modules are text").to_string();
            let is_named = section.lines().any(|line| line.starts_with("| `") && line.contains(&format!("`{name}`")));
            assert!(name == "lib" || is_named, "{folder}: {name} has no row");
        }
    }
}
