//! Weights by the names that people give them: `default`, `material`, or a file.

use std::path::Path;
use std::sync::Arc;

use dyad_engine::eval::Weights;

/// The weights of this name: those built in (`default`), the value of the pieces alone (`material`), or those in a
/// file.
pub fn load(name: &Path) -> Result<Arc<Weights>, String> {
    match name.to_str() {
        Some("default") => Ok(Weights::embedded()),
        Some("material") => Ok(Arc::new(Weights::material())),
        _ => Weights::load(name).map(Arc::new).map_err(|error| error.to_string()),
    }
}
