//! Files of weights.

use std::path::Path;
use std::sync::Arc;

use dyad_engine::eval::{Weights, WeightsError};

use crate::files;

/// Bytes of the largest file that is read, many times those of any complete set.
const LARGEST_FILE: u64 = 16 << 20;

/// Reads a weights file.
///
/// # Errors
/// If the file cannot be read or does not fit the layout.
pub fn load(path: &Path) -> Result<Weights, WeightsError> {
    let text = files::read(path, LARGEST_FILE).map_err(|error| WeightsError::in_file(path, error))?;
    Weights::from_json(&text).map_err(|error| WeightsError::in_file(path, error))
}

/// Weights by the name a user types: `default` for those built in, `material` for the values of the pieces alone, or
/// the path of a file.
///
/// # Errors
/// As [`load`].
pub fn named(name: &Path) -> Result<Arc<Weights>, WeightsError> {
    match name.to_str() {
        Some("default") => Ok(Weights::embedded()),
        Some("material") => Ok(Arc::new(Weights::material())),
        _ => load(name).map(Arc::new),
    }
}

/// Writes a weights file. On an error the old file stays as it is.
///
/// # Errors
/// If the file cannot be written.
pub fn save(weights: &Weights, path: &Path) -> Result<(), WeightsError> {
    files::write_atomic(path, &weights.to_json())
        .map_err(|error| WeightsError::in_file(path, format_args!("cannot be written: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Temporary, names};

    #[test]
    fn files_are_replaced_atomically() {
        let folder = Temporary::folder();
        let path = folder.join("w.json");
        save(&Weights::material(), &path).unwrap();
        let weights = Weights::embedded();
        save(&weights, &path).unwrap();
        assert_eq!(load(&path).unwrap().id(), weights.id());
        assert_eq!(names(&folder), ["w.json"]);
        let error = save(&weights, Path::new("/no/such/folder/w.json")).unwrap_err().to_string();
        assert!(error.starts_with("/no/such/folder/w.json: "), "{error}");
        let error = load(Path::new("/no/such/w.json")).unwrap_err().to_string();
        assert!(error.starts_with("/no/such/w.json: "), "{error}");
    }
}
