//! Runs each target on randomly damaged seeds for some seconds.

use std::hash::{BuildHasher, RandomState};

use dyad_formats::hash;
use dyad_fuzz::{TARGETS, Target};

/// Damages an input in up to five places. `below` draws a number below another one.
fn damage(input: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[String], mut below: impl FnMut(usize) -> usize) {
    for _ in 0..=below(5) {
        let at = below(input.len() + 1);
        match below(6) {
            0 if at < input.len() => input[at] ^= 1 << below(8),
            1 => input.insert(at, below(256) as u8),
            2 => drop(input.drain(at..at + below(input.len() + 1 - at))),
            3 => input.truncate(at),
            4 if !words.is_empty() => drop(input.splice(at..at, words[below(words.len())].bytes())),
            _ => {
                let seed = &seeds[below(seeds.len())];
                let from = below(seed.len() + 1);
                input.splice(at..at, seed[from..from + below(seed.len() + 1 - from)].iter().copied());
            }
        }
    }
}

/// Checks the seeds, then damaged ones.
fn run(target: &Target) {
    let (seeds, words) = ((target.seeds)(), target.words());
    seeds.iter().for_each(|seed| (target.check)(seed));
    let mut state = RandomState::new().hash_one(target.name);
    for number in 0..target.cases {
        let mut input = seeds[number % seeds.len()].clone();
        damage(&mut input, &seeds, &words, |limit| {
            state = hash::mix(state);
            state as usize % limit
        });
        if let Err(panic) = std::panic::catch_unwind(|| (target.check)(&input)) {
            eprintln!("input of {}: {:?}", target.name, String::from_utf8_lossy(&input));
            std::panic::resume_unwind(panic);
        }
    }
}

#[test]
fn damaged_input_does_no_harm() {
    std::thread::scope(|scope| {
        for target in &TARGETS {
            scope.spawn(|| run(target));
        }
    });
}
