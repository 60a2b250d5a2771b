//! Runs each target on randomly damaged seeds for some seconds.

use dyad_fuzz::TARGETS;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// A mutation. Positions are fractions of the length, so that they are valid for every input.
#[derive(Clone, Debug)]
enum Damage {
    FlipBit(f64, u8),
    Insert(f64, u8),
    Cut(f64, f64),
    Truncate(f64),
    /// Insert a part of a seed.
    Splice(f64, usize, f64, f64),
    /// Insert a word of the target's dictionary.
    Word(f64, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = || 0.0..1.0;
    prop_oneof![
        (place(), 0u8..8).prop_map(|(at, bit)| Damage::FlipBit(at, bit)),
        (place(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        (place(), place()).prop_map(|(from, to)| Damage::Cut(from, to)),
        place().prop_map(Damage::Truncate),
        (place(), any::<usize>(), place(), place()).prop_map(|(at, seed, from, to)| Damage::Splice(at, seed, from, to)),
        (place(), any::<usize>()).prop_map(|(at, word)| Damage::Word(at, word)),
    ]
}

fn apply(damage: &Damage, input: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[String]) {
    let place = |at: f64, bytes: &[u8]| (at * bytes.len() as f64) as usize;
    let range = |from: f64, to: f64, bytes: &[u8]| {
        let (from, to) = (place(from, bytes), place(to, bytes));
        from.min(to)..from.max(to)
    };
    match *damage {
        Damage::FlipBit(at, bit) => {
            let at = place(at, input);
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
        Damage::Insert(at, byte) => input.insert(place(at, input), byte),
        Damage::Cut(from, to) => drop(input.drain(range(from, to, input))),
        Damage::Truncate(at) => input.truncate(place(at, input)),
        Damage::Splice(at, seed, from, to) => {
            let seed = &seeds[seed % seeds.len()];
            let at = place(at, input);
            input.splice(at..at, seed[range(from, to, seed)].iter().copied());
        }
        Damage::Word(at, word) => {
            let at = place(at, input);
            let word = words.get(word.checked_rem(words.len()).unwrap_or(0)).map_or("", String::as_str);
            input.splice(at..at, word.bytes());
        }
    }
}

/// Checks the seeds, then `cases` damaged ones.
fn twin(name: &str, cases: u32) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of this name");
    let (seeds, words) = ((target.seeds)(), target.words());
    seeds.iter().for_each(|seed| (target.check)(seed));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let inputs = (0..seeds.len(), vec(damage(), 1..6));
    let result = TestRunner::new(config).run(&inputs, |(seed, damages)| {
        let mut input = seeds[seed].clone();
        damages.iter().for_each(|damage| apply(damage, &mut input, &seeds, &words));
        let shown = String::from_utf8_lossy(&input).into_owned();
        std::panic::catch_unwind(|| (target.check)(&input)).map_err(|panic| {
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default();
            TestCaseError::fail(format!("{message}\ninput: {shown:?}"))
        })
    });
    if let Err(error) = result {
        panic!("{name}: {error}");
    }
}

macro_rules! twins {
    ($($name:ident: $cases:literal)*) => {
        $(#[test]
        fn $name() {
            twin(stringify!($name), $cases);
        })*

        #[test]
        fn every_target_has_a_twin() {
            let mut names = [$(stringify!($name)),*];
            let mut targets = TARGETS.map(|target| target.name);
            names.sort_unstable();
            targets.sort_unstable();
            assert_eq!(names, targets);
        }
    };
}

twins! {
    fen: 20_000
    uci: 20_000
    pgn: 4_000
    epd: 20_000
    weights: 1_000
    samples: 2_000
    checkpoint: 200
    state: 150
}
