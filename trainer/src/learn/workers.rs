//! The worker threads of a training.
//!
//! All positions of a batch are searched with the same weights, formula (10), so they can be searched in parallel: an
//! idle thread takes the next position. The threads live for the whole run, since a batch may take only a few
//! milliseconds; the calling thread is one of them. Results are processed in the order of the positions, because
//! floating-point sums depend on their order and a training must not depend on the number of threads. The calling
//! thread processes finished results between its own positions, so that little is left to do when the batch ends.
//!
//! When a batch is finished, all threads hold that batch's weights and none an earlier set. So a caller that alternates
//! between two sets of weights may change the set that is not in use.

use crate::base::priority::Priority;
use crate::learn::comparison::{Comparer, Contribution};
use crate::learn::examples::Examples;
use crate::learn::leaves::{LeafSearch, Leaves};
use crossbeam::channel::{Receiver, Sender, bounded, unbounded};
use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_engine::search::Unfinished;
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The state of one thread.
pub struct Worker<'a, L: LeafSearch> {
    /// The training and test examples.
    pub examples: &'a dyn Examples,
    /// Ends a batch early; positions not processed have an empty result.
    pub stop: &'a Control,
    /// Searches the leaves.
    pub leaves: Leaves<'a, L>,
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

struct Job {
    task: Task,
    weights: Arc<Weights>,
    positions: Vec<u32>,
    next: AtomicUsize,
}

/// A message from a worker to the calling thread.
enum Message {
    /// The result of a position, with its index in the batch.
    Result(usize, io::Result<PositionResult>),
    /// The worker has dropped the job; it holds the weights only in its searcher.
    Done,
    /// The worker panicked.
    Panic(Box<dyn Any + Send>),
}

/// All worker threads of a run.
pub struct WorkerPool<'a, L: LeafSearch> {
    own: Worker<'a, L>,
    others: Vec<Sender<Arc<Job>>>,
    messages: Receiver<Message>,
}

/// The results of a batch: they arrive in any order and are processed in the order of the positions.
struct BatchResults<'h> {
    results: Vec<Option<io::Result<PositionResult>>>,
    /// Number of results processed.
    processed: usize,
    on_result: &'h mut dyn FnMut(&PositionResult),
    /// Threads still working.
    busy: usize,
}

impl BatchResults<'_> {
    fn receive(&mut self, message: Message) {
        match message {
            Message::Result(place, result) => self.put(place, result),
            Message::Done => self.busy -= 1,
            Message::Panic(panic) => resume_unwind(panic),
        }
    }

    fn put(&mut self, place: usize, result: io::Result<PositionResult>) {
        self.results[place] = Some(result);
        // Results after an error are not processed: the training ends with it.
        while let Some(Some(Ok(result))) = self.results.get(self.processed) {
            (self.on_result)(result);
            self.processed += 1;
        }
    }

    /// All results; positions left out by a stop have an empty one.
    fn all(self) -> io::Result<Vec<PositionResult>> {
        self.results.into_iter().map(|result| result.unwrap_or_else(|| Ok(PositionResult::default()))).collect()
    }
}

impl<L: LeafSearch> WorkerPool<'_, L> {
    /// Runs `task` for these positions, all with the same weights. Returns the results in the order of the positions;
    /// `on_result` is called in this order, for each result as soon as it and all before it are available. The results
    /// are invalid when the stop is set.
    ///
    /// # Errors
    /// The error of the first position that cannot be read.
    pub fn work(
        &mut self,
        task: Task,
        weights: &Arc<Weights>,
        positions: &[u32],
        on_result: &mut dyn FnMut(&PositionResult),
    ) -> io::Result<Vec<PositionResult>> {
        let results = positions.iter().map(|_| None).collect();
        let mut results = BatchResults { results, processed: 0, on_result, busy: self.others.len() };
        let (weights, positions) = (Arc::clone(weights), positions.to_vec());
        let job = Arc::new(Job { task, weights, positions, next: AtomicUsize::new(0) });
        for other in &self.others {
            other.send(Arc::clone(&job)).expect("threads wait for jobs until the pool is dropped");
        }
        self.own.work(&job, |place, result| {
            results.put(place, result);
            self.messages.try_iter().for_each(|message| results.receive(message));
        });
        while results.busy > 0 {
            results.receive(self.messages.recv().expect("each thread reports when it is done"));
        }
        results.all()
    }
}

impl<L: LeafSearch> Worker<'_, L> {
    /// Processes positions of the job until none is left; passes each result with its index to `give`.
    fn work(&mut self, job: &Job, mut give: impl FnMut(usize, io::Result<PositionResult>)) {
        self.leaves.set_weights(&job.weights);
        while !self.stop.stopped() {
            let place = job.next.fetch_add(1, Ordering::Relaxed);
            let Some(&position) = job.positions.get(place) else { return };
            give(place, self.process(job, position));
        }
    }

    fn process(&mut self, job: &Job, position: u32) -> io::Result<PositionResult> {
        let Worker { examples, leaves, comparer, .. } = self;
        let example = &examples.get(position as usize)?;
        let mut result = PositionResult::default();
        let searched = match job.task {
            Task::Measure => leaves.accuracy(example).map(|accuracy| result.accuracy = Some(accuracy)),
            Task::Compare => leaves.candidates(example, comparer.window()).map(|candidates| {
                let compare = |candidates| comparer.compare(example, &candidates, &job.weights);
                result.contribution = candidates.map(compare);
            }),
        };
        // After a stop the result is empty and not used.
        result.over_limit = searched == Err(Unfinished::OutOfNodes);
        result.nodes = leaves.take_nodes();
        Ok(result)
    }
}

/// Runs `body` with `threads` workers made by `make`, one of them on the calling thread.
pub fn with_workers<'a, L: LeafSearch, R>(
    threads: usize,
    make: &(dyn Fn() -> Worker<'a, L> + Sync),
    body: impl FnOnce(&mut WorkerPool<'a, L>) -> R,
) -> R {
    let priority = Priority::of_this_thread();
    std::thread::scope(|scope| {
        let (send_message, messages) = unbounded();
        let start = |_| {
            let (send, jobs) = bounded::<Arc<Job>>(1);
            let send_message = send_message.clone();
            scope.spawn(move || {
                priority.take();
                let mut worker = make();
                // The receiver is gone if the calling thread panicked.
                let send_if_open = |message| send_message.send(message).is_ok();
                for job in jobs {
                    let give = |place, result| {
                        send_if_open(Message::Result(place, result));
                    };
                    let done = catch_unwind(AssertUnwindSafe(|| worker.work(&job, give)));
                    // Drop the job's weights before reporting it as done.
                    drop(job);
                    if !send_if_open(done.map_or_else(Message::Panic, |()| Message::Done)) {
                        break;
                    }
                }
            });
            send
        };
        let others = (1..threads).map(start).collect();
        body(&mut WorkerPool { own: make(), others, messages })
    })
}
