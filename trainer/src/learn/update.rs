//! A sparse change of the weights.
//!
//! A leaf has a few hundred of the 145,000 features, and most of them cancel between the leaves of one position, which
//! differ by a few moves. So a change is a list of the features it touches. It is summed in a dense scratch array that
//! remembers the touched features and is cleared by walking that list: adding costs one memory access per feature, and
//! no operation walks all features.

/// The change of one feature's middlegame and endgame weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpdateEntry {
    /// The feature.
    pub feature: u32,
    /// Change of the middlegame weight.
    pub mg: f64,
    /// Change of the endgame weight.
    pub eg: f64,
}

/// A sparse change, which is added to the weights; each feature occurs at most once. It begins as the negative gradient
/// of the loss, and the optimizer gives each number its size.
pub type Update = Vec<UpdateEntry>;

/// Rounding residues of sums that cancel in exact arithmetic are below this; true changes are far above.
const CANCELED: f64 = 1e-9;

/// Sums sparse changes.
pub struct UpdateSum {
    sums: Vec<[f64; 2]>,
    seen: Vec<bool>,
    touched: Vec<u32>,
}

impl UpdateSum {
    /// An empty sum over `features` features.
    pub fn new(features: usize) -> UpdateSum {
        UpdateSum { sums: vec![[0.0; 2]; features], seen: vec![false; features], touched: Vec::new() }
    }

    /// Adds to one feature.
    #[inline]
    pub fn add(&mut self, feature: u32, mg: f64, eg: f64) {
        let i = feature as usize;
        if !self.seen[i] {
            self.seen[i] = true;
            self.touched.push(feature);
        }
        self.sums[i][0] += mg;
        self.sums[i][1] += eg;
    }

    /// Adds a whole change.
    pub fn add_all(&mut self, update: &[UpdateEntry]) {
        for entry in update {
            self.add(entry.feature, entry.mg, entry.eg);
        }
    }

    /// Returns the sum without canceled entries and resets it. Entries are in the order in which features were first
    /// touched, so the order depends only on what was added. NaN stays, so that a training that diverged ends with an
    /// error.
    pub fn take(&mut self) -> Update {
        let is_canceled = |change: f64| change.abs() <= CANCELED;
        let mut update = Vec::with_capacity(self.touched.len());
        for &feature in &self.touched {
            let i = feature as usize;
            let [mg, eg] = std::mem::take(&mut self.sums[i]);
            self.seen[i] = false;
            if !(is_canceled(mg) && is_canceled(eg)) {
                update.push(UpdateEntry { feature, mg, eg });
            }
        }
        self.touched.clear();
        update
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_drops_what_cancels() {
        let mut sum = UpdateSum::new(10);
        for _ in 0..3 {
            sum.add(7, -1.0 / 3.0, 0.5);
            sum.add(2, -1.0 / 3.0, 0.1 - 0.1);
        }
        sum.add(2, 1.0, 0.0);
        let entry = UpdateEntry { feature: 7, mg: -1.0, eg: 1.5 };
        assert_eq!(sum.take(), vec![entry]);
        assert_eq!(sum.take(), vec![], "taking empties the sum");
        sum.add_all(&[entry, entry]);
        assert_eq!(sum.take()[0].mg, -2.0);
        sum.add(3, f64::NAN, f64::NAN);
        assert!(sum.take()[0].mg.is_nan());
    }
}
