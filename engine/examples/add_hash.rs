//! Gives weights files of older versions a content hash:
//! `cargo run --release -p dyad-engine --example add_hash FILE...` reads each file and writes it again. Numbers, name and
//! history stay; groups that the file does not have yet come in as zero.

use dyad_engine::eval::Weights;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    for file in std::env::args().skip(1) {
        let path = Path::new(&file);
        let weights = Weights::load(path)?;
        weights.save(path)?;
        println!("{file}: {}", weights.id());
    }
    Ok(())
}
