//! The two best moves of a search with MultiPV 2.

use super::{Bound, Info, Report};
use crate::board::Move;

/// The two best lines of the last iteration that completed both, so that their values can be compared. After a stop
/// within an iteration, lines of two iterations or bounds may be reported.
#[derive(Clone, Debug, Default)]
pub struct BestTwo {
    first: Option<Info>,
    both: Option<[Info; 2]>,
}

impl BestTwo {
    /// Records a line; ignores other reports.
    pub fn note(&mut self, report: &Report) {
        let Report::Info(info) = report else { return };
        match info.multipv {
            1 => self.first = Some(info.clone()),
            2 => {
                let comparable = |first: &Info| {
                    let is_exact = [first, info].iter().all(|info| info.bound == Bound::Exact);
                    is_exact && first.depth == info.depth && first.pv.first() != info.pv.first()
                };
                if let Some(first) = self.first.take().filter(comparable) {
                    self.both = Some([first, info.clone()]);
                }
            }
            _ => {}
        }
    }

    /// The lines, the best first.
    pub fn lines(&self) -> Option<&[Info; 2]> {
        self.both.as_ref()
    }

    /// The lines, if the best one is of this move.
    pub fn lines_of(&self, best: Option<Move>) -> Option<&[Info; 2]> {
        self.lines().filter(|[first, _]| first.pv.first().copied() == best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::search::Score;
    use std::time::Duration;

    #[test]
    fn lines_of_two_iterations_and_bounds_are_not_compared() {
        let moves = Board::startpos().moves().to_vec();
        let line = |multipv: usize, depth, value, bound| Info {
            depth,
            seldepth: depth,
            multipv,
            value,
            score: Score::Cp(value),
            bound,
            wdl: [0; 3],
            nodes: 0,
            time: Duration::ZERO,
            hashfull: 0,
            tbhits: 0,
            pv: vec![moves[multipv]],
        };
        let mut best_two = BestTwo::default();
        let mut values_after = |first: Info, second: Info| {
            [first, second].into_iter().for_each(|info| best_two.note(&Report::Info(info)));
            best_two.lines().map(|lines| lines.each_ref().map(|info| (info.depth, info.value)))
        };
        let exact = Bound::Exact;
        assert_eq!(values_after(line(1, 1, 5, Bound::Lower), line(2, 1, 3, exact)), None);
        let both = Some([(12, 45), (12, 40)]);
        assert_eq!(values_after(line(1, 12, 45, exact), line(2, 12, 40, exact)), both);
        assert_eq!(values_after(line(1, 13, 120, exact), line(2, 12, 40, exact)), both);
        assert_eq!(values_after(line(1, 13, 20, exact), line(2, 13, 20, Bound::Upper)), both);
        assert!(best_two.lines_of(Some(moves[1])).is_some());
        assert!(best_two.lines_of(Some(moves[2])).is_none() && best_two.lines_of(None).is_none());
    }
}
