//! The training positions of a generation: its own and those of generations before it.

use std::path::PathBuf;
use std::sync::Arc;

use dyad_engine::eval::Weights;
use dyad_formats::error::Error;
use dyad_formats::hash;
use dyad_formats::packed::Packed;
use dyad_formats::samples::SampleFile;

use crate::learn::examples::{Example, Examples};

/// Samples of several files.
pub(super) struct Window {
    samples: Vec<Packed>,
    identity: u64,
    /// The initial weights of the training.
    start: Arc<Weights>,
}

impl Window {
    /// Reads sample files, for a training from `start`.
    pub fn load(files: &[PathBuf], start: Arc<Weights>) -> Result<Window, Error> {
        let mut window = Window { samples: Vec::new(), identity: 0, start };
        for path in files {
            let file = SampleFile::open(path)?;
            window.identity = hash::fold(window.identity, file.summary.identity);
            window.samples.extend(file.samples);
        }
        Ok(window)
    }

    /// All samples.
    pub fn samples(&self) -> &[Packed] {
        &self.samples
    }

    /// Number of training samples, without test samples.
    pub fn learned(&self) -> u64 {
        self.samples.iter().filter(|sample| !sample.is_test()).count() as u64
    }
}

impl Examples for Window {
    fn identity(&self) -> String {
        format!("{:016x}", self.identity)
    }

    fn indices(&self, test: bool) -> Vec<u32> {
        (0..).zip(&self.samples).filter(|(_, sample)| sample.is_test() == test).map(|(index, _)| index).collect()
    }

    fn get(&self, index: usize) -> Result<Example, Error> {
        let sample = self.samples[index].unpack().map_err(Error::Settings)?;
        let no_move = || Error::Settings(format!("sample {index} of the window has no desired move"));
        Example::new(&sample, &self.start).ok_or_else(no_move)
    }
}
