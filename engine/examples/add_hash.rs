//! Adds the content hash to weights files of older versions: reads each file and writes it again. Weights, name and
//! history are kept; missing groups become zero.
//!
//! `cargo run --release -p dyad-engine --example add_hash FILE...`

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
