//! Writes `material.json`, the initial weights of a training (Table I of Tseng, Chen and Wu 2018).
//!
//! `cargo run --release -p dyad-formats --example starting_weights FOLDER`

use dyad_engine::eval::Weights;
use dyad_formats::weights_file;
use serde_json::json;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("expected a folder for the weights")?);
    let mut material = Weights::material();
    material.meta.provenance = json!({"method": "Table I of Tseng, Chen and Wu (2018), scaled as in section 3.3"});
    weights_file::save(&material, &folder.join("material.json"))?;
    Ok(())
}
