//! The threads of a training.
//!
//! All positions of a batch are searched with the same weights, formula (10), so they can be searched
//! at the same time: each thread takes the next position when it is idle. The threads stay for the
//! whole run, since a batch may take no more than some milliseconds, and the calling thread is one of
//! them. Lessons are put back in the order of the positions before anyone sums them: floating-point
//! sums depend on their order, and a training must not depend on the number of threads. The calling thread sums
//! between its own positions those that are answered, so that the others need not wait for it at the end.
//!
//! When a batch is answered, every thread holds that batch's weights and none before. So whoever
//! alternates between two sets of weights may change the one that is not in use.

use crate::learn::comparison::{Comparer, Lesson};
use crate::learn::examples::Examples;
use crate::learn::leaves::{LeafSearch, Leaves};
use crossbeam::channel::{Receiver, Sender, bounded, unbounded};
use dyad_engine::eval::Weights;
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
    pub comparer: Comparer,
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

struct Job {
    task: Task,
    weights: Arc<Weights>,
    positions: Vec<u32>,
    next: AtomicUsize,
}

/// What a thread tells the one that asked.
enum Message {
    /// What came of a position, by its place in the batch.
    Answer(usize, io::Result<Answer>),
    /// It has no part of the job any more, nor holds its weights but to search with.
    Done,
    /// It ended in a panic.
    Panic(Box<dyn Any + Send>),
}

/// All threads of a run.
pub struct Team<'a, L: LeafSearch> {
    own: Worker<'a, L>,
    others: Vec<Sender<Arc<Job>>>,
    messages: Receiver<Message>,
}

/// The answers of a batch, which come in any order and are heard in that of the positions.
struct Answers<'h> {
    found: Vec<Option<io::Result<Answer>>>,
    /// So many have been heard.
    heard: usize,
    hear: &'h mut dyn FnMut(&Answer),
    /// Threads that are not done.
    busy: usize,
}

impl Answers<'_> {
    fn receive(&mut self, message: Message) {
        match message {
            Message::Answer(place, answer) => self.put(place, answer),
            Message::Done => self.busy -= 1,
            Message::Panic(panic) => resume_unwind(panic),
        }
    }

    fn put(&mut self, place: usize, answer: io::Result<Answer>) {
        self.found[place] = Some(answer);
        // Nothing is heard beyond an error, with which the training ends.
        while let Some(Some(Ok(answer))) = self.found.get(self.heard) {
            (self.hear)(answer);
            self.heard += 1;
        }
    }

    /// All of them; those that a stop left out are empty.
    fn all(self) -> io::Result<Vec<Answer>> {
        self.found.into_iter().map(|answer| answer.unwrap_or_else(|| Ok(Answer::default()))).collect()
    }
}

impl<L: LeafSearch> Team<'_, L> {
    /// Does `task` for these positions, all with the same weights. The answers are in their order, in which `hear` hears
    /// of each as soon as it and all before are there; when the stop is set they are not to be used.
    ///
    /// # Errors
    /// That of the first position that cannot be read.
    pub fn work(
        &mut self,
        task: Task,
        weights: &Arc<Weights>,
        positions: &[u32],
        hear: &mut dyn FnMut(&Answer),
    ) -> io::Result<Vec<Answer>> {
        let found = positions.iter().map(|_| None).collect();
        let mut answers = Answers { found, heard: 0, hear, busy: self.others.len() };
        let (weights, positions) = (Arc::clone(weights), positions.to_vec());
        let job = Arc::new(Job { task, weights, positions, next: AtomicUsize::new(0) });
        for other in &self.others {
            other.send(Arc::clone(&job)).expect("threads wait for jobs until the team is dropped");
        }
        self.own.work(&job, |place, answer| {
            answers.put(place, answer);
            self.messages.try_iter().for_each(|message| answers.receive(message));
        });
        while answers.busy > 0 {
            answers.receive(self.messages.recv().expect("each thread says when it is done"));
        }
        answers.all()
    }
}

impl<L: LeafSearch> Worker<'_, L> {
    /// Takes positions of the job until there are none, and gives each answer with its place.
    fn work(&mut self, job: &Job, mut give: impl FnMut(usize, io::Result<Answer>)) {
        self.leaves.set_weights(&job.weights);
        while !self.stop.load(Ordering::Relaxed) {
            let place = job.next.fetch_add(1, Ordering::Relaxed);
            let Some(&position) = job.positions.get(place) else { return };
            give(place, self.answer(job, position));
        }
    }

    fn answer(&mut self, job: &Job, position: u32) -> io::Result<Answer> {
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
        let (send_message, messages) = unbounded();
        let start = |_| {
            let (send, jobs) = bounded::<Arc<Job>>(1);
            let send_message = send_message.clone();
            scope.spawn(move || {
                let mut worker = make();
                // Nobody is left to hear it where the team has panicked.
                let tell = |message| send_message.send(message).is_ok();
                for job in jobs {
                    let give = |place, answer| {
                        tell(Message::Answer(place, answer));
                    };
                    let done = catch_unwind(AssertUnwindSafe(|| worker.work(&job, give)));
                    // The job's weights must be let go before it is said to be done.
                    drop(job);
                    if !tell(done.map_or_else(Message::Panic, |()| Message::Done)) {
                        break;
                    }
                }
            });
            send
        };
        let others = (1..threads).map(start).collect();
        body(&mut Team { own: make(), others, messages })
    })
}
