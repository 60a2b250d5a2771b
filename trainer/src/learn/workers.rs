//! The threads of a training.
//!
//! All positions of a batch are searched with the same weights, formula (10), so they can be searched
//! at the same time: each thread takes the next position when it is idle. The threads stay for the
//! whole run, since a batch may take no more than some milliseconds, and the calling thread is one of
//! them. Lessons are put back in the order of the positions before anyone sums them: floating-point
//! sums depend on their order, and a training must not depend on the number of threads.
//!
//! When a batch is answered, every thread holds that batch's weights and none before. So whoever
//! alternates between two sets of weights may change the one that is not in use.

use crate::learn::comparison::{Comparer, Lesson};
use crate::learn::examples::Examples;
use crate::learn::leaves::{LeafSearch, Leaves};
use crossbeam::channel::{Receiver, Sender, bounded, unbounded};
use dyad_engine::search::Unfinished;
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What a thread works with.
pub struct Worker<'a, L: LeafSearch> {
    /// Knows the positions.
    pub examples: &'a dyn Examples,
    /// Ends a batch early: what is not done has an empty answer.
    pub stop: &'a AtomicBool,
    /// Searches.
    pub leaves: Leaves<'a, L>,
    /// Compares.
    pub comparer: Comparer<L::Model>,
}

/// What to do with a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Learn from it.
    Compare,
    /// See whether the desired move would be played.
    Measure,
}

/// What came of a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// [`Task::Compare`]: what is learned, nothing if the position is skipped.
    pub lesson: Option<Lesson>,
    /// [`Task::Measure`]: the move-match accuracy, nothing if the position is skipped.
    pub accuracy: Option<f64>,
    /// Whether the position is skipped because it needs too many nodes.
    pub over_limit: bool,
    /// Nodes searched.
    pub nodes: u64,
}

struct Job<M> {
    task: Task,
    weights: Arc<M>,
    positions: Vec<u32>,
    next: AtomicUsize,
}

type Answers = Vec<(usize, io::Result<Answer>)>;
type Panic = Box<dyn Any + Send>;

/// All threads of a run.
pub struct Team<'a, L: LeafSearch> {
    own: Worker<'a, L>,
    others: Vec<Sender<Arc<Job<L::Model>>>>,
    answers: Receiver<Result<Answers, Panic>>,
}

impl<L: LeafSearch> Team<'_, L> {
    /// Does `task` for these positions, all with the same weights. The answers are in their order; when the stop is set
    /// they are not to be used.
    ///
    /// # Errors
    /// That of the first position that cannot be read.
    pub fn work(&mut self, task: Task, weights: &Arc<L::Model>, positions: &[u32]) -> io::Result<Vec<Answer>> {
        let mut ordered: Vec<_> = positions.iter().map(|_| Ok(Answer::default())).collect();
        let (weights, positions) = (Arc::clone(weights), positions.to_vec());
        let job = Arc::new(Job { task, weights, positions, next: AtomicUsize::new(0) });
        for other in &self.others {
            other.send(Arc::clone(&job)).expect("threads wait for jobs until the team is dropped");
        }
        let mut place = |answers: Answers| {
            for (i, answer) in answers {
                ordered[i] = answer;
            }
        };
        place(self.own.work(&job));
        for _ in &self.others {
            match self.answers.recv().expect("each thread answers each job") {
                Ok(answers) => place(answers),
                Err(panic) => resume_unwind(panic),
            }
        }
        ordered.into_iter().collect()
    }
}

impl<L: LeafSearch> Worker<'_, L> {
    fn work(&mut self, job: &Job<L::Model>) -> Answers {
        self.leaves.set_weights(&job.weights);
        let mut answers = Answers::new();
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return answers;
            }
            let i = job.next.fetch_add(1, Ordering::Relaxed);
            let Some(&position) = job.positions.get(i) else { return answers };
            answers.push((i, self.answer(job, position)));
        }
    }

    fn answer(&mut self, job: &Job<L::Model>, position: u32) -> io::Result<Answer> {
        let Worker { examples, leaves, comparer, .. } = self;
        let example = &examples.get(position as usize)?;
        let mut answer = Answer::default();
        let searched = match job.task {
            Task::Measure => leaves.accuracy(example).map(|accuracy| answer.accuracy = Some(accuracy)),
            Task::Compare => leaves.candidates(example, comparer.window()).map(|candidates| {
                let compare = |candidates| comparer.compare(example, &candidates, &job.weights);
                answer.lesson = candidates.map(compare);
            }),
        };
        // One that was stopped has an empty answer, which nobody looks at.
        answer.over_limit = searched == Err(Unfinished::OutOfNodes);
        answer.nodes = leaves.take_nodes();
        Ok(answer)
    }
}

/// Runs `body` with a team of `threads` threads, this one among them, each with a worker from `make`.
pub fn with_team<'a, L: LeafSearch, R>(
    threads: usize,
    make: &(dyn Fn() -> Worker<'a, L> + Sync),
    body: impl FnOnce(&mut Team<'a, L>) -> R,
) -> R {
    std::thread::scope(|scope| {
        let (send_answers, answers) = unbounded();
        let start = |_| {
            let (send, jobs) = bounded::<Arc<Job<L::Model>>>(1);
            let send_answers = send_answers.clone();
            scope.spawn(move || {
                let mut worker = make();
                for job in jobs {
                    let answers = catch_unwind(AssertUnwindSafe(|| worker.work(&job)));
                    // The job's weights must be let go before the answer says so.
                    drop(job);
                    if send_answers.send(answers).is_err() {
                        break;
                    }
                }
            });
            send
        };
        let others = (1..threads).map(start).collect();
        body(&mut Team { own: make(), others, answers })
    })
}
