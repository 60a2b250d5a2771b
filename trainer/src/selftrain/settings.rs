//! What a self-training does.
//!
//! The defaults are those of comparison training on small numbers of positions, as for games of a file. What gains most
//! from material alone is [something else](Settings::from_pieces), and so it is where a training starts from weights which know
//! [more](Settings::from_good_weights) than that: large steps from there only lose. What was tried is in
//! `docs/experiments.md`. Weights depend on these settings and the seed, and not on the number of threads.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyad_engine::eval::Weights;
use dyad_engine::eval::layout::{GROUPS, MATERIAL, PIECE_SQUARE};
use serde::{Deserialize, Serialize};

use super::self_play::HASH;
use crate::arena::matches::MOST_GAMES;
use crate::arena::openings::{PolicySampler, Variant};
use crate::arena::statistics::{EloModel, Sprt};
use crate::base::parallel::check_threads;
use crate::data::label;
use crate::data::score::ScoreSide;
use crate::learn::settings::{GroupSettings, L2Target, ObjectiveSettings, OptimizerSettings};

/// Where games come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Played by the best weights against themselves; the desired moves are those of a deeper search.
    #[default]
    SelfPlay,
    /// This file of games (PGN, plain or packed); the desired moves are those that were played.
    Games(PathBuf),
}

/// Learning by a [fit](crate::fit::regression) to what the searches of the games said of their positions, and to how the games
/// ended: every position is a lesson, and no search is made but those of the games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FitSettings {
    /// The result's share in what the evaluation of a position is to predict.
    pub result_share: f64,
    /// Passes over the positions.
    pub passes: u32,
    /// The first generation plays with the nodes of the settings, the second with twice as many, and so on up to so many times
    /// as many. Where it is more than 1 the first games are poor, and only the later half of all is learned from.
    pub growth: u32,
    /// How many positions' evidence holds a 2-tuple to zero.
    pub pairs: f64,
    /// The number of positions whose fit has as much of the mean with the oldest weights as these: one to fewer positions, which is
    /// less certain, has less of it. 0 for the [step](Settings::step) alone.
    pub equal_at: u64,
    /// Whether all positions are learned from, [at the leaves](crate::data::leaves) of the best weights' quiescence; otherwise
    /// the still ones are, as they stand.
    pub leaves: bool,
}

impl Default for FitSettings {
    fn default() -> FitSettings {
        FitSettings { result_share: 0.1, passes: 8, growth: 4, pairs: 1_000.0, equal_at: 0, leaves: false }
    }
}

impl FitSettings {
    /// The share of a fit to so many positions in the mean with the oldest weights.
    #[must_use]
    pub fn share(&self, positions: u64) -> f64 {
        match self.equal_at {
            0 => 1.0,
            equal => positions as f64 / (positions as f64 + equal as f64),
        }
    }
}

/// The settings of a self-training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Where games come from.
    pub source: Source,
    /// From whose side the scores in the comments of a file of games are; without it they are not read. Own games have
    /// theirs, whatever is said here.
    pub scores: Option<ScoreSide>,
    /// The starting positions of own games and of matches.
    #[serde(skip_serializing_if = "Variant::is_standard")]
    pub variant: Variant,
    /// The share of [natural openings](crate::arena::openings::PolicySampler) among those of matches, and among those of games that are
    /// [fitted](Settings::fit) to; the others are random.
    pub natural: f64,
    /// Seed of all draws.
    pub seed: u64,
    /// d of d-ply training: 1 is the quiescence leaf of each child, and so on.
    pub depth: u32,
    /// Nodes of a move in self-play.
    pub nodes: u64,
    /// Nodes of the search that finds a desired move.
    pub label_nodes: u64,
    /// Positions drawn from the games of a generation; with a [fit](Settings::fit) as many as there are, at most these.
    pub positions: u64,
    /// Generations in all; 0 for no end but a stop.
    pub generations: u32,
    /// Threads.
    pub threads: usize,
    /// Positions for one update of the weights.
    pub batch: usize,
    /// Games of a match at most.
    pub match_games: u64,
    /// Nodes of a move in a match.
    pub match_nodes: u64,
    /// Elo difference of the match's two hypotheses, then the chances of accepting each of them wrongly.
    pub sprt: [f64; 4],
    /// A match against the oldest weights every so many generations; 0 for none.
    pub anchor_every: u32,
    /// Positions drawn from one game at most.
    pub positions_per_game: usize,
    /// Generations whose positions are learned from, the present one among them; with a [fit](Settings::fit) of growing
    /// nodes only the later half of all generations so far.
    pub window: u32,
    /// Passes over them.
    pub iterations: u32,
    /// Centipawns by which the best move must be ahead of the second for the two to be compared.
    pub decided: u32,
    /// A fit in place of labels and comparison training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<FitSettings>,
    /// What is to be reached. The value of a logistic objective's expected score of 73 % is fitted to the games,
    /// whatever is said here.
    pub objective: ObjectiveSettings,
    /// How gradients change the weights.
    pub optimizer: OptimizerSettings,
    /// Learning by group of features.
    pub groups: BTreeMap<String, GroupSettings>,
    /// From so many positions on, the training is followed by a refinement: one pass of the papers' averaged perceptron
    /// over the same positions, in batches of 50 and with all groups alike. 0 for never.
    pub refine_from: u64,
    /// What L2 holds the weights of a group to that has some.
    pub hold: L2Target,
    /// Whether the rate falls to a hundredth in the course of a training.
    pub anneal: bool,
    /// Whether scale and WDL model of the start are kept; if not, the scale is fitted to the results of the games.
    pub keep_scale: bool,
    /// How much of the way from the weights at its start to the trained ones the new weights of a generation go: 1 for
    /// always all of it; less is halved after each generation that was rejected, three times at most. With a
    /// [fit](Settings::fit), which learns from more positions each time, it is the way from the oldest weights, and not halved.
    pub step: f64,
    /// Pairs of games, of the nodes of a match, that say how far the new weights go along the directions of the training and
    /// of their own groups ([`directions`](crate::tune::directions)), or with a [fit](Settings::fit) along the way from the oldest
    /// weights; 0 for none, and `step` of the way. After each generation that was rejected twice as many, two times at most; not
    /// with a fit, of which a single number is asked.
    pub tuning_pairs: u64,
    /// Whether settings that nobody has changed follow the start, see [`Settings::for_start`].
    pub follow_start: bool,
}

/// Settings that have not their defaults were changed by somebody, all others take the values of another set.
macro_rules! take_unchanged {
    ($settings:ident from $other:ident: $($field:ident),* $(,)?) => {{
        let defaults = Settings::default();
        $(if $settings.$field == defaults.$field {
            $settings.$field.clone_from(&$other.$field);
        })*
    }};
}

/// A step is halved so often at most.
const MOST_HALVINGS: u32 = 3;
/// The pairs of a tuning are doubled so often at most.
const MOST_DOUBLINGS: u32 = 2;

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            source: Source::SelfPlay,
            scores: None,
            variant: Variant::Standard,
            natural: 0.0,
            seed: 1,
            depth: 1,
            nodes: 300,
            label_nodes: 2_000,
            positions: 20_000,
            generations: 0,
            threads: 1,
            batch: 256,
            match_games: 120,
            match_nodes: 1_000,
            sprt: [-10.0, 30.0, 0.05, 0.05],
            anchor_every: 5,
            positions_per_game: 16,
            window: 16,
            iterations: 2,
            decided: 15,
            fit: None,
            objective: ObjectiveSettings::Logistic {
                temperature: 100.0,
                result_weight: 1.0,
                score_weight: 0.5,
                outcome_scale: 400.0,
            },
            optimizer: OptimizerSettings::adam(),
            groups: BTreeMap::from([("pairs".to_string(), GroupSettings { rate: 0.05, ..GroupSettings::default() })]),
            refine_from: 50_000,
            hold: L2Target::Zero,
            anneal: false,
            keep_scale: false,
            step: 1.0,
            tuning_pairs: 0,
            follow_start: true,
        }
    }
}

impl Settings {
    /// What a training does that goes on from good weights.
    ///
    /// There is little to win and much to lose. A fit from the pieces alone to what the searches of millions of positions said is
    /// nearly as strong as the weights that played, and wrong elsewhere: the mean of both is stronger than either, and a test for
    /// small gains over many games decides (`docs/training.md`).
    #[must_use]
    pub fn from_good_weights() -> Settings {
        Settings {
            natural: 0.5,
            nodes: 1_000,
            positions: 1_500_000,
            positions_per_game: 128,
            match_games: 2_000,
            match_nodes: 4_000,
            sprt: [0.0, 10.0, 0.05, 0.05],
            window: 12,
            fit: Some(FitSettings {
                result_share: 0.0,
                growth: 1,
                pairs: 100.0,
                equal_at: 15_000_000,
                leaves: true,
                ..FitSettings::default()
            }),
            refine_from: 0,
            keep_scale: true,
            step: 0.67,
            tuning_pairs: 500,
            ..Settings::default()
        }
    }

    /// The same for a training by comparison, as for games of a file, or where somebody asks for one.
    ///
    /// What the weights are worth to search stays as it is, and games say how far to go along what the training proposes. Moves and
    /// values of deeper searches are learned, all compared within their siblings; the material and the worth of the move
    /// stay, since comparisons and scores are known to drive both one way (`docs/training.md`).
    #[must_use]
    pub fn comparing_from_good_weights() -> Settings {
        let frozen = |name: &str| (name.to_string(), GroupSettings { learn: false, ..GroupSettings::default() });
        let pairs = GroupSettings { rate: 0.05, ..GroupSettings::default() };
        Settings {
            nodes: 1_000,
            label_nodes: 5_000,
            positions: 50_000,
            match_games: 2_000,
            match_nodes: 2_000,
            sprt: [0.0, 10.0, 0.05, 0.05],
            decided: 0,
            objective: ObjectiveSettings::Listwise {
                temperature: 130.0,
                move_weight: 1.0,
                result_weight: 0.5,
                score_weight: 1.0,
                bound_weight: 1.0,
                outcome_scale: 400.0,
            },
            optimizer: OptimizerSettings::Adam { rate: 0.3, beta1: 0.9, beta2: 0.999 },
            groups: BTreeMap::from([frozen("material"), frozen("tempo"), ("pairs".to_string(), pairs)]),
            refine_from: 0,
            hold: L2Target::Start,
            anneal: true,
            keep_scale: true,
            step: 0.5,
            tuning_pairs: 3_000,
            ..Settings::default()
        }
    }

    /// What a training does that knows what pieces are worth and nothing else.
    ///
    /// Everything is to be learned, so what counts is the number of lessons: each still position of the games is one, with the
    /// score of the search that chose its move. The weights follow those scores and keep the scale they begin with; one that is
    /// fitted to the results of quick games, which are seldom drawn, would make values too large for the search.
    #[must_use]
    pub fn from_pieces() -> Settings {
        Settings {
            nodes: 250,
            positions: 200_000,
            positions_per_game: 64,
            window: 32,
            fit: Some(FitSettings::default()),
            refine_from: 0,
            keep_scale: true,
            ..Settings::default()
        }
    }

    /// These settings for a training from `start`: all that have their defaults become those of its case. A start that knows
    /// more than what pieces are worth is one, pieces alone another; and whoever has no own games, or wants another comparison
    /// training than usual, gets a training by comparison.
    #[must_use]
    pub fn for_start(mut self, start: &Weights) -> Settings {
        if !self.follow_start {
            return self;
        }
        let fitted = self.source == Source::SelfPlay && self.compares_as_usual();
        let case = match (knows_more_than_pieces(start), fitted) {
            (true, true) => Settings::from_good_weights(),
            (true, false) => Settings::comparing_from_good_weights(),
            (false, true) => Settings::from_pieces(),
            (false, false) => Settings::default(),
        };
        take_unchanged!(self from case: natural, nodes, label_nodes, positions, match_games, match_nodes, sprt, positions_per_game,
            window, decided, fit, objective, optimizer, groups, refine_from, hold, anneal, keep_scale, step, tuning_pairs);
        self
    }

    /// Whether nobody changed what a comparison training does.
    fn compares_as_usual(&self) -> bool {
        let usual = Settings::default();
        self.depth == usual.depth
            && self.label_nodes == usual.label_nodes
            && self.decided == usual.decided
            && self.refine_from == usual.refine_from
            && self.training() == usual.training()
    }

    /// Nodes of a self-play move in the generation with this number, from 1.
    #[must_use]
    pub fn nodes_of(&self, generation: u32) -> u64 {
        let most = self.fit.map_or(1, |fit| fit.growth.max(1));
        self.nodes.saturating_mul(u64::from(generation.clamp(1, most)))
    }

    /// The first of the generations that the one with this number learns from.
    #[must_use]
    pub fn first_of(&self, generation: u32) -> u32 {
        let first = generation.saturating_sub(self.window - 1).max(1);
        if self.fit.is_some_and(|fit| fit.growth > 1) { first.max(generation.div_ceil(2)) } else { first }
    }

    /// How much of its way a generation goes when so many before it were rejected since the last that was adopted.
    #[must_use]
    pub fn step_after(&self, rejected: u32) -> f64 {
        match self.step < 1.0 && self.fit.is_none() {
            true => self.step / f64::from(1 << rejected.min(MOST_HALVINGS)),
            false => self.step,
        }
    }

    /// The pairs of games of a tuning when so many generations before it were rejected: what is left to gain is smaller.
    #[must_use]
    pub fn tuning_pairs_after(&self, rejected: u32) -> u64 {
        match self.fit {
            Some(_) => self.tuning_pairs,
            None => self.tuning_pairs << rejected.min(MOST_DOUBLINGS),
        }
    }
}

/// Whether weights are more than material and piece-square tables.
pub(super) fn knows_more_than_pieces(weights: &Weights) -> bool {
    let others = GROUPS.iter().filter(|group| ![MATERIAL.start, PIECE_SQUARE.start].contains(&group.start));
    others.flat_map(|group| &weights.ints()[group.range()]).any(|weight| *weight != [0; 2])
}

impl Settings {
    /// Says what is wrong with settings that cannot be trained with.
    pub fn check(&self) -> Result<(), String> {
        let counts = [
            ("nodes", self.nodes),
            ("label-nodes", self.label_nodes),
            ("positions", self.positions),
            ("match-nodes", self.match_nodes),
            ("positions-per-game", self.positions_per_game as u64),
            ("window", u64::from(self.window)),
            ("iterations", u64::from(self.iterations)),
        ];
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(format!("{name} must be at least 1"));
        }
        if !(1..=MOST_GAMES).contains(&self.match_games) {
            return Err(format!("match-games must be 1 to {MOST_GAMES}, not {}", self.match_games));
        }
        if !(self.step > 0.0 && self.step <= 1.0) {
            return Err(format!("step must be above 0 and at most 1, not {}", self.step));
        }
        PolicySampler::check(self.natural)?;
        if self.tuning_pairs > MOST_GAMES {
            return Err(format!("tuning-pairs must be 0 to {MOST_GAMES}, not {}", self.tuning_pairs));
        }
        if let Some(FitSettings { result_share, passes, pairs, .. }) = self.fit {
            if !(0.0..=1.0).contains(&result_share) || passes == 0 || !(pairs >= 0.0 && pairs.is_finite()) {
                return Err(format!(
                    "fit: result-share {result_share} (0 to 1), passes {passes} (1 and more), pairs {pairs} (0 and more)"
                ));
            }
            if self.source != Source::SelfPlay {
                return Err("fit: it takes own games, and these come from a file".to_string());
            }
        }
        check_threads("threads", self.threads)?;
        self.labels().check()?;
        self.sprt().map_err(|problem| format!("sprt: {problem}"))?;
        self.training().check()
    }

    /// The test of a match.
    pub fn sprt(&self) -> Result<Sprt, String> {
        let [elo0, elo1, alpha, beta] = self.sprt;
        Sprt::new(elo0, elo1, alpha, beta, EloModel::Logistic)
    }

    /// How labels are found.
    #[must_use]
    pub fn labels(&self) -> label::Settings {
        label::Settings { nodes: self.label_nodes, hash: HASH, decided: self.decided, ..label::Settings::default() }
    }

    /// The settings of a generation's training, as far as they do not depend on the generation.
    #[must_use]
    pub fn training(&self) -> crate::learn::settings::Settings {
        crate::learn::settings::Settings {
            batch: self.batch,
            iterations: self.iterations,
            objective: self.objective.clone(),
            optimizer: self.optimizer.clone(),
            groups: self.groups.clone(),
            l2_target: self.hold,
            anneal: self.anneal,
            keep_scale: self.keep_scale,
            ..self.refinement()
        }
    }

    /// The settings of a generation's refinement: those of the papers.
    #[must_use]
    pub fn refinement(&self) -> crate::learn::settings::Settings {
        crate::learn::settings::Settings {
            depth: self.depth,
            iterations: 1,
            keep_going: true,
            ..crate::learn::settings::Settings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_weights_are_trained_with_care_unless_somebody_says_otherwise() {
        let good = Weights::clone(&Weights::embedded());
        let plain = Settings { seed: 7, threads: 2, ..Settings::default() };
        let careful = plain.clone().for_start(&good);
        assert_eq!(careful, Settings { seed: 7, threads: 2, ..Settings::from_good_weights() });
        assert!(careful.check().is_ok());
        let own = Settings { sprt: [-5.0, 5.0, 0.1, 0.1], match_games: 60, ..plain.clone() }.for_start(&good);
        assert_eq!(own, Settings { sprt: [-5.0, 5.0, 0.1, 0.1], match_games: 60, ..careful.clone() });
        // Games of a file, and who changes how moves are compared.
        let source = Source::Games("games.pgn".into());
        let compared = Settings { source: source.clone(), ..plain.clone() }.for_start(&good);
        let expected = Settings { seed: 7, threads: 2, ..Settings::comparing_from_good_weights() };
        assert_eq!(compared, Settings { source, ..expected.clone() });
        assert!(compared.check().is_ok() && compared.fit.is_none());
        let deeper = Settings { depth: 2, ..plain.clone() }.for_start(&good);
        assert_eq!(deeper, Settings { depth: 2, ..expected });
        let fixed = Settings { follow_start: false, ..plain };
        assert_eq!(fixed.clone().for_start(&good), fixed);
    }

    #[test]
    fn pieces_alone_are_trained_by_a_fit_unless_somebody_says_otherwise() {
        let material = Weights::material();
        let plain = Settings { seed: 7, threads: 2, ..Settings::default() };
        let fitted = plain.clone().for_start(&material);
        assert_eq!(fitted, Settings { seed: 7, threads: 2, ..Settings::from_pieces() });
        assert!(fitted.fit.is_some() && fitted.check().is_ok());
        let own = Settings { nodes: 77, match_games: 60, ..plain.clone() }.for_start(&material);
        assert_eq!(own, Settings { nodes: 77, match_games: 60, ..fitted.clone() });
        // Games of a file have no searches of ours, and who changes how moves are compared wants them compared.
        let compared = [
            Settings { source: Source::Games("games.pgn".into()), ..plain.clone() },
            Settings { depth: 2, ..plain.clone() },
            Settings { label_nodes: 5_000, ..plain.clone() },
            Settings { batch: 50, ..plain.clone() },
            Settings { follow_start: false, ..plain },
        ];
        for settings in compared {
            assert_eq!(settings.clone().for_start(&material), settings);
        }
        let source = Source::Games("games.pgn".into());
        assert!(Settings { source, ..fitted.clone() }.check().unwrap_err().contains("own games"));
        for (fit, word) in [
            (FitSettings { result_share: 1.5, ..FitSettings::default() }, "result-share 1.5"),
            (FitSettings { pairs: -1.0, ..FitSettings::default() }, "pairs -1"),
        ] {
            assert!(Settings { fit: Some(fit), ..fitted.clone() }.check().unwrap_err().contains(word));
        }
    }

    #[test]
    fn a_fit_plays_deeper_with_the_generations_and_learns_from_the_later_half() {
        let fitted = Settings { nodes: 100, window: 4, ..Settings::from_pieces() };
        assert_eq!([1, 2, 4, 5, 90].map(|generation| fitted.nodes_of(generation)), [100, 200, 400, 400, 400]);
        assert_eq!([1, 2, 3, 4, 7, 8, 20].map(|generation| fitted.first_of(generation)), [1, 1, 2, 2, 4, 5, 17]);
        let even = Settings { window: 4, ..Settings::from_good_weights() };
        assert_eq!([1, 9].map(|generation| even.nodes_of(generation)), [1_000, 1_000]);
        assert_eq!([1, 4, 5, 20].map(|generation| even.first_of(generation)), [1, 1, 2, 17]);
        let compared = Settings { fit: None, ..fitted };
        assert_eq!([1, 9].map(|generation| compared.nodes_of(generation)), [100, 100]);
        assert_eq!([1, 4, 5, 20].map(|generation| compared.first_of(generation)), [1, 1, 2, 17]);
    }

    #[test]
    fn tunings_double_twice() {
        let pairs = |rejected| Settings { tuning_pairs: 300, ..Settings::default() }.tuning_pairs_after(rejected);
        assert_eq!([0, 1, 2, 3, 9].map(pairs), [300, 600, 1_200, 1_200, 1_200]);
        let error = Settings { tuning_pairs: u64::MAX, ..Settings::default() }.check().unwrap_err();
        assert!(error.starts_with("tuning-pairs must be"), "{error}");
    }

    #[test]
    fn steps_halve_three_times() {
        let settings = Settings { step: 0.5, ..Settings::default() };
        let steps: Vec<f64> = (0..6).map(|rejected| settings.step_after(rejected)).collect();
        assert_eq!(steps, [0.5, 0.25, 0.125, 0.0625, 0.0625, 0.0625]);
        assert_eq!(Settings::default().step_after(2), 1.0);
        let good = Settings::from_good_weights();
        assert_eq!(good.step_after(2), 0.67);
        let shares = [1, 3, 20].map(|count| (100.0 * good.fit.unwrap().share(5_000_000 * count)).round());
        assert_eq!(shares, [25.0, 50.0, 87.0]);
        assert_eq!(FitSettings::default().share(1), 1.0);
        for step in [0.0, 1.5, f64::NAN] {
            let error = Settings { step, ..Settings::default() }.check().unwrap_err();
            assert!(error.starts_with("step must be"), "{error}");
        }
    }
}
