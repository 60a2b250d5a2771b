//! The values of a position's moves and the leaves they come from.
//!
//! d-ply training compares the leaves of the principal variations after d - 1 plies and quiescence. The search is
//! nearly all the cost of a training, and an objective needs little of what a full search of every child returns:
//! siblings below the desired move by more than the window of the objective do not enter the loss, and most siblings
//! are. So the desired child is searched first, with a full window, and its value minus the window is the floor below
//! which a sibling's value does not matter.
//!
//! A null window at the floor is the cheapest proof that a sibling stays below: the first refutation is enough. But a
//! sibling above the floor then needs a second search, from the bound upward, for its value and leaf. A window from the
//! floor to infinity gives both at once. Which is better depends on the depth: a quiescence search or a search of one
//! ply costs hardly more in the open window, and positions of master games have four or five siblings above, so there
//! the open window saves a fifth of the nodes. From two plies on, siblings are searched with the null window first,
//! except those whose quiescence value is above the floor.
//!
//! Within a position the searches share killers and the transposition table; these are reset between positions, so that
//! leaves depend on position and weights alone. A test holds the values against those of a full window for every move.

use crate::learn::examples::Example;
use dyad_engine::board::{Board, Move};
use dyad_engine::eval::Weights;
use dyad_engine::search::{LeafBudget, LeafEnd, LeafSearcher, Unfinished};
use dyad_engine::value::{INFINITE, Value};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A move, its value for the side to move, and its leaf.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The move.
    pub mv: Move,
    /// Its value.
    pub value: Value,
    /// The leaf of its principal variation.
    pub leaf: Board,
}

/// The moves of a position that an objective needs.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// The desired move.
    pub desired: Candidate,
    /// The siblings valued above the desired move minus the window of the objective, without those whose principal
    /// variation ends in mate or draw: these have no evaluation to learn from.
    pub siblings: Vec<Candidate>,
    /// Number of siblings, including those below the window.
    pub count: usize,
}

/// Node limit of one position, all its moves together: the few positions that need more are skipped.
pub const NODE_LIMIT: u64 = 20_000_000;

/// Searches the leaves of positions and counts the nodes.
pub struct Leaves<'a> {
    searcher: LeafSearcher,
    /// d of d-ply training.
    depth: u32,
    node_limit: u64,
    stop: &'a AtomicBool,
    /// Nodes of the searches that ended since the last [`Leaves::take_nodes`].
    nodes: u64,
    /// Nodes left for the current position.
    nodes_left: u64,
}

impl<'a> Leaves<'a> {
    /// Leaves of d-ply training with these weights, for d = `depth`. A position may take `node_limit` nodes; `stop` ends
    /// the searches.
    pub fn new(weights: Arc<Weights>, depth: u32, node_limit: u64, stop: &'a AtomicBool) -> Leaves<'a> {
        Leaves { searcher: LeafSearcher::new(weights), depth, node_limit, stop, nodes: 0, nodes_left: node_limit }
    }

    /// Sets the weights of the next searches.
    pub fn set_weights(&mut self, weights: &Arc<Weights>) {
        self.searcher.set_weights(Arc::clone(weights));
    }

    /// Nodes of the searches that ended since the last call: one that the limit or the stop ends does not count.
    pub fn take_nodes(&mut self) -> u64 {
        std::mem::take(&mut self.nodes)
    }

    /// The moves that an objective with this window needs. `None` where there is nothing to learn: no sibling, or a
    /// desired move that leads to mate or draw.
    ///
    /// # Errors
    /// When the position needs more nodes than the settings allow, or the stop was set.
    pub fn candidates(&mut self, example: &Example, window: Value) -> Result<Option<Candidates>, Unfinished> {
        let Example { board, desired, .. } = example;
        let moves = board.moves();
        if moves.len() < 2 {
            return Ok(None);
        }
        self.begin_position();
        let Some(desired) = self.exact(board, *desired, -INFINITE)? else { return Ok(None) };
        let floor = desired.value - window;
        let siblings = moves.iter().filter(|&&mv| example.has_margin && mv != desired.mv);
        let siblings = siblings.filter_map(|&mv| self.above(board, mv, floor).transpose()).collect::<Result<_, _>>()?;
        Ok(Some(Candidates { desired, siblings, count: moves.len() - 1 }))
    }

    fn begin_position(&mut self) {
        self.searcher.begin_position();
        self.nodes_left = self.node_limit;
    }

    /// Whether the desired move would be played: 1 if it is above all others, 1/k if k moves tie at the top, 0 if
    /// another is above it. Table I values many moves alike, so a count without ties would start too high and fall at
    /// once.
    ///
    /// # Errors
    /// When the position needs more nodes than the settings allow, or the stop was set.
    pub fn accuracy(&mut self, example: &Example) -> Result<f64, Unfinished> {
        let Example { board, desired, .. } = example;
        self.begin_position();
        let (value, _) = self.search(board, *desired, self.plies(), -INFINITE, INFINITE)?;
        let mut ties = 1;
        for &mv in board.moves().iter().filter(|&mv| mv != desired) {
            match self.search(board, mv, self.plies(), value - 1, value + 1)?.0 {
                other if other > value => return Ok(0.0),
                other if other == value => ties += 1,
                _ => {}
            }
        }
        Ok(1.0 / f64::from(ties))
    }

    /// Numbers of siblings below, level with and above the desired move.
    ///
    /// # Errors
    /// When the position needs more nodes than the settings allow, or the stop was set.
    pub fn ranking(&mut self, board: &Board, desired: Move) -> Result<[u64; 3], Unfinished> {
        self.begin_position();
        let (value, _) = self.search(board, desired, self.plies(), -INFINITE, INFINITE)?;
        let mut counts = [0; 3];
        for &mv in board.moves().iter().filter(|&&mv| mv != desired) {
            let other = self.search(board, mv, self.plies(), value - 1, value + 1)?.0;
            counts[1 + usize::from(other > value) - usize::from(other < value)] += 1;
        }
        Ok(counts)
    }

    /// The sibling `mv`, if it is valued above `floor` and has a leaf.
    fn above(&mut self, board: &Board, mv: Move, floor: Value) -> Result<Option<Candidate>, Unfinished> {
        let alpha = if self.is_likely_above(board, mv, floor)? {
            floor
        } else {
            match self.search(board, mv, self.plies(), floor, floor + 1)?.0 {
                bound if bound > floor => bound - 1,
                _ => return Ok(None),
            }
        };
        Ok(self.exact(board, mv, alpha)?.filter(|candidate| candidate.value > floor))
    }

    /// Whether to search with the open window at once.
    fn is_likely_above(&mut self, board: &Board, mv: Move, floor: Value) -> Result<bool, Unfinished> {
        Ok(self.plies() < 2 || self.search(board, mv, 0, floor, floor + 1)?.0 > floor)
    }

    /// The move with its exact value and leaf, if the value is above `alpha` and there is a leaf.
    fn exact(&mut self, board: &Board, mv: Move, alpha: Value) -> Result<Option<Candidate>, Unfinished> {
        let (value, leaf) = self.search(board, mv, self.plies(), alpha, INFINITE)?;
        Ok(leaf.map(|leaf| Candidate { mv, value, leaf }))
    }

    /// Depth of the children before quiescence.
    fn plies(&self) -> u32 {
        self.depth - 1
    }

    /// The value of a move for the side to move, within its window, and the leaf if the value is exact.
    fn search(
        &mut self,
        board: &Board,
        mv: Move,
        plies: u32,
        alpha: Value,
        beta: Value,
    ) -> Result<(Value, Option<Board>), Unfinished> {
        let budget = LeafBudget { nodes: self.nodes_left, stop: self.stop };
        let found = self.searcher.search(&board.after(mv), plies, (-beta, -alpha), &budget)?;
        self.nodes += found.nodes;
        self.nodes_left -= found.nodes;
        let leaf = match found.end {
            LeafEnd::Quiet(leaf) => Some(leaf),
            LeafEnd::Terminal | LeafEnd::Bound => None,
        };
        Ok((-found.value, leaf))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::testing::random_examples;
    use dyad_engine::eval::FloatWeights;

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn leaves(depth: u32) -> Leaves<'static> {
        Leaves::new(uneven_weights(), depth, u64::MAX, &NEVER)
    }

    /// All weights are nonzero, so that few values are equal.
    fn uneven_weights() -> Arc<Weights> {
        let mut floats = FloatWeights::material();
        for (i, weight) in floats.mg.iter_mut().chain(&mut floats.eg).enumerate() {
            *weight += (i as f64 * 0.7).sin() * 9.0;
        }
        Arc::new(Weights::from_floats(&floats, serde_json::Value::Null).unwrap())
    }

    /// The windows leave out nothing: a full window for every move finds the same siblings with the same values.
    #[test]
    fn siblings_are_those_of_a_full_window() {
        for (depth, n) in [(1, 200), (2, 40), (3, 3)] {
            let (mut windows, mut full) = (leaves(depth), leaves(depth));
            let (mut learned, mut siblings) = (0, 0);
            for example in random_examples(n, 17, 150) {
                for window in [0, 150] {
                    let Some(found) = windows.candidates(&example, window).unwrap() else { continue };
                    full.begin_position();
                    let mut value = |mv| full.exact(&example.board, mv, -INFINITE).unwrap().map(|found| found.value);
                    assert_eq!(value(example.desired), Some(found.desired.value));
                    let floor = found.desired.value - window;
                    let moves = example.board.moves();
                    let others = moves.iter().copied().filter(|&mv| mv != example.desired);
                    let expected: Vec<_> = others.filter_map(|mv| Some((mv, value(mv)?))).collect();
                    let above: Vec<_> = expected.iter().copied().filter(|&(_, value)| value > floor).collect();
                    let values: Vec<_> = found.siblings.iter().map(|sibling| (sibling.mv, sibling.value)).collect();
                    assert_eq!(values, above, "{}", example.board);
                    learned += 1;
                    siblings += found.siblings.len();
                }
            }
            assert!(learned > n && siblings > learned, "depth {depth}: {learned} {siblings}");
            assert!(windows.take_nodes() < full.take_nodes());
        }
    }

    /// Earlier searches must not matter: threads search different positions in between.
    #[test]
    fn leaves_depend_on_position_and_weights_alone() {
        let mut used = leaves(2);
        let found = |leaves: &mut Leaves, example: &Example| {
            leaves.take_nodes();
            let found = leaves.candidates(example, 100).unwrap()?;
            let candidates = std::iter::once(found.desired).chain(found.siblings);
            Some((candidates.map(|c| (c.mv, c.value, c.leaf.fen())).collect::<Vec<_>>(), leaves.take_nodes()))
        };
        let examples = random_examples(60, 23, 120);
        for example in &examples {
            found(&mut used, example);
            used.accuracy(example).unwrap();
        }
        for example in examples.iter().rev() {
            let mut fresh = leaves(2);
            assert_eq!(found(&mut used, example), found(&mut fresh, example), "{}", example.board);
        }
    }

    /// Positions without the margin are not compared and cost one leaf.
    #[test]
    fn positions_without_the_margin_have_no_siblings() {
        let mut leaves = leaves(1);
        for example in random_examples(20, 5, 100) {
            let Some(compared) = leaves.candidates(&example, 300).unwrap() else { continue };
            let all = leaves.take_nodes();
            let alone = leaves.candidates(&Example { has_margin: false, ..example }, 300).unwrap().unwrap();
            assert_eq!((alone.siblings.len(), alone.count), (0, compared.count));
            assert_eq!(alone.desired.value, compared.desired.value);
            assert!(leaves.take_nodes() < all);
        }
    }

    #[test]
    fn accuracy_agrees_with_the_values() {
        let mut leaves = leaves(1);
        let mut seen = [0; 2];
        for example in random_examples(150, 29, 120) {
            let moves = example.board.moves();
            let mut value = |&mv| leaves.search(&example.board, mv, 0, -INFINITE, INFINITE).unwrap().0;
            let values: Vec<Value> = moves.iter().map(&mut value).collect();
            let top = *values.iter().max().unwrap();
            let ties = values.iter().filter(|&&value| value == top).count();
            for (&mv, &value) in moves.iter().zip(&values) {
                let expected = if value == top { 1.0 / ties as f64 } else { 0.0 };
                assert_eq!(leaves.accuracy(&Example { desired: mv, ..example }), Ok(expected));
                seen[usize::from(value == top)] += 1;
            }
        }
        assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
    }

    /// With Table I quiet moves tie; a desired move among k at the top counts 1/k.
    #[test]
    fn ties_share_the_accuracy() {
        let mut leaves = Leaves::new(Arc::new(Weights::material()), 1, u64::MAX, &NEVER);
        let example = crate::learn::testing::example(&Board::startpos().fen(), "e2e4");
        assert_eq!(leaves.accuracy(&example), Ok(1.0 / 20.0));
    }

    #[test]
    fn mates_and_draws_have_no_leaf() {
        let mut leaves = leaves(1);
        // The desired move mates: nothing to learn. Desired elsewhere: the mate is not in S.
        let mate = crate::learn::testing::example("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "a1a8");
        assert!(leaves.candidates(&mate, 0).unwrap().is_none());
        let other = crate::learn::testing::example("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "a1a7");
        let found = leaves.candidates(&other, 5000).unwrap().unwrap();
        assert!(found.siblings.iter().all(|sibling| sibling.mv != mate.desired));
        assert_eq!(leaves.accuracy(&other), Ok(0.0));
    }

    /// The limit covers all searches of a position; the next position starts with the full limit.
    #[test]
    fn a_position_keeps_its_node_limit() {
        let mut free = leaves(2);
        for example in random_examples(20, 31, 100) {
            free.take_nodes();
            let Some(found) = free.candidates(&example, 100).unwrap() else { continue };
            let needed = free.take_nodes();
            for (node_limit, enough) in [(needed, true), (needed - 1, false)] {
                let mut limited = Leaves::new(uneven_weights(), 2, node_limit, &NEVER);
                for _ in 0..2 {
                    match limited.candidates(&example, 100) {
                        Ok(again) => assert_eq!((again.unwrap().desired.value, enough), (found.desired.value, true)),
                        Err(why) => assert_eq!((why, enough), (Unfinished::OutOfNodes, false)),
                    }
                }
            }
        }
    }
}
