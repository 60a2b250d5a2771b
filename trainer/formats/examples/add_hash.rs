//! Adds the content hash to weights files without one: reads each file and writes it again. Weights, name and history
//! are kept; missing groups become zero.
//!
//! `cargo run --release -p dyad-formats --example add_hash FILE...`

use dyad_formats::weights_file;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    for file in std::env::args().skip(1) {
        let path = Path::new(&file);
        let weights = weights_file::load(path)?;
        weights_file::save(&weights, path)?;
        println!("{file}: {}", weights.id());
    }
    Ok(())
}
