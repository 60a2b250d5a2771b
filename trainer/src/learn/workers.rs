//! The worker threads of a training.
//!
//! All positions of a batch are searched with the same weights, formula (10), so they can be searched in parallel: an
//! idle thread takes the next position, and the calling thread is one of them. Results are in the order of the
//! positions, because floating-point sums depend on their order and a training must not depend on the number of threads.
//!
//! When a batch is finished, all workers hold that batch's weights and none an earlier set. So a caller that alternates
//! between two sets of weights may change the set that is not in use.

use crate::learn::comparison::{Comparer, Contribution};
use crate::learn::examples::Examples;
use crate::learn::leaves::Leaves;
use dyad_engine::control::{Control, Priority};
use dyad_engine::eval::Weights;
use dyad_engine::search::Unfinished;
use dyad_formats::error::Error;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The state of one thread.
pub struct Worker<'a> {
    /// Searches the leaves.
    pub leaves: Leaves<'a>,
    /// Compares the leaves.
    pub comparer: Comparer,
}

/// What to compute for a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Its gradient contribution.
    Compare,
    /// Whether the desired move would be played.
    Measure,
}

/// The result for a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PositionResult {
    /// [`Task::Compare`]: the gradient contribution; `None` if the position is skipped.
    pub contribution: Option<Contribution>,
    /// [`Task::Measure`]: the move-match accuracy; `None` if the position is skipped.
    pub accuracy: Option<f64>,
    /// Whether the position is skipped because it needs too many nodes.
    pub over_limit: bool,
    /// Nodes of the searches that ended.
    pub nodes: u64,
}

/// All workers of a run.
pub struct Workers<'a> {
    /// The training and test examples.
    pub examples: &'a dyn Examples,
    /// Ends a batch early; positions not processed have an empty result.
    pub stop: &'a Control,
    /// One for each thread.
    pub workers: Vec<Worker<'a>>,
}

impl Workers<'_> {
    /// The results of `task` for these positions, all with the same weights. They are invalid when the stop is set.
    ///
    /// # Errors
    /// When a position cannot be read.
    pub fn work(
        &mut self,
        task: Task,
        weights: &Arc<Weights>,
        positions: &[u32],
    ) -> Result<Vec<PositionResult>, Error> {
        let (next, priority) = (AtomicUsize::new(0), Priority::of_this_thread());
        let (examples, stop) = (self.examples, self.stop);
        let run = |worker: &mut Worker| {
            worker.leaves.set_weights(weights);
            let mut found = Vec::new();
            while !stop.stopped() {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(&position) = positions.get(place) else { break };
                found.push((place, worker.process(task, examples, position, weights)?));
            }
            Ok(found)
        };
        let run = &run;
        let Some((own, others)) = self.workers.split_first_mut() else { return Ok(Vec::new()) };
        let parts: Vec<Result<Vec<(usize, PositionResult)>, Error>> = std::thread::scope(|scope| {
            let start = |worker| {
                scope.spawn(move || {
                    priority.take();
                    run(worker)
                })
            };
            let others: Vec<_> = others.iter_mut().map(start).collect();
            let own = run(own);
            let others = others.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            std::iter::once(own).chain(others).collect()
        });
        let mut results = vec![PositionResult::default(); positions.len()];
        for part in parts {
            for (place, result) in part? {
                results[place] = result;
            }
        }
        Ok(results)
    }
}

impl Worker<'_> {
    fn process(
        &mut self,
        task: Task,
        examples: &dyn Examples,
        position: u32,
        weights: &Weights,
    ) -> Result<PositionResult, Error> {
        let Worker { leaves, comparer } = self;
        let example = &examples.get(position as usize)?;
        let mut result = PositionResult::default();
        let searched = match task {
            Task::Measure => leaves.accuracy(example).map(|accuracy| result.accuracy = Some(accuracy)),
            Task::Compare => leaves.candidates(example, comparer.window()).map(|candidates| {
                result.contribution = candidates.map(|candidates| comparer.compare(example, &candidates, weights));
            }),
        };
        // After a stop the result is empty and not used.
        result.over_limit = searched == Err(Unfinished::OutOfNodes);
        result.nodes = leaves.take_nodes();
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::objective::Objective;
    use crate::learn::settings::TrainingSettings;
    use crate::learn::testing::{InMemory, Watched, example, random_examples};

    /// The quiescence search of this position does not end in reasonable time.
    const EXPLOSIVE: &str = "8/PPPPPPPP/8/k7/8/K7/pppppppp/8 w - - 0 1";

    fn work(
        examples: &dyn Examples,
        stop: &Control,
        threads: usize,
        node_limit: u64,
        task: Task,
    ) -> Vec<PositionResult> {
        let weights = Arc::new(Weights::material());
        let worker = |_| Worker {
            leaves: Leaves::new(Arc::clone(&weights), 1, node_limit, stop.flag()),
            comparer: Comparer::new(Objective::Perceptron, &TrainingSettings::default()),
        };
        let mut workers = Workers { examples, stop, workers: (0..threads).map(worker).collect() };
        let mut positions = [examples.indices(false), examples.indices(true)].concat();
        positions.sort_unstable();
        workers.work(task, &weights, &positions).unwrap()
    }

    #[test]
    fn a_position_over_the_node_limit_is_skipped() {
        let mut examples = random_examples(20, 5, 100);
        examples[5] = example(EXPLOSIVE, "a7a8q");
        let examples = InMemory { examples, test_every: 5 };
        for task in [Task::Compare, Task::Measure] {
            let results = work(&examples, &Control::new(false), 1, 300_000, task);
            assert!(results.iter().enumerate().all(|(i, result)| result.over_limit == (i == 5)));
            assert!(results[5].contribution.is_none() && results[5].accuracy.is_none());
            assert!(
                results.iter().filter(|result| result.contribution.is_some() || result.accuracy.is_some()).count() > 15
            );
            assert!(work(&examples, &Control::new(false), 3, 300_000, task) == results);
        }
    }

    #[test]
    fn a_stop_ends_the_search_of_a_position() {
        for task in [Task::Compare, Task::Measure] {
            let stop = Control::new(false);
            let examples = InMemory { examples: vec![example(EXPLOSIVE, "a7a8q")], test_every: 5 };
            // Like Ctrl-C during the search.
            let watched = Watched { examples, on_get: || stop.stop() };
            let results = work(&watched, &stop, 1, u64::MAX, task);
            assert_eq!(results, [PositionResult::default()]);
        }
    }
}
