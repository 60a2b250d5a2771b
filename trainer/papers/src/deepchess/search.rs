//! Alpha-beta on positions: a network compares two positions, and none has a value.
//!
//! As in the paper, alpha and beta are positions: the best that either player is sure of. A position better than alpha
//! replaces it; one better than beta ends the node. Mates and draws are known without the network: a mate is better or
//! worse than any position, a draw equals the initial position. The network is asked in both orders, so that at most
//! one of two positions is better. Around it is the usual search: iterative deepening, quiescence search, the best move
//! of the last iteration first.
//!
//! The probability that a position is better than the initial one is reported as centipawns, for display only.

use std::collections::HashMap;
use std::sync::Arc;

use dyad_engine::board::{Board, Color, Game, Move, PIECES, sign};
use dyad_engine::control::Control;
use dyad_engine::search::{Limits, Outcome, Score};
use dyad_engine::value::MAX_PLY;
use dyad_trainer::arena::matches::MatchPlayer;
use dyad_trainer::arena::play::Player;
use ndarray::Array2;

use crate::deepchess::network::{Bits, Network};

/// The outcome of a line.
#[derive(Clone, Debug, PartialEq)]
enum Worth {
    /// This color mates at this ply.
    Mate(Color, usize),
    Position(Arc<[f32]>),
}

struct Ended;

/// The outcome of a search with its move, if one was made.
type Found = Result<(Worth, Option<Move>), Ended>;

/// Vectors and moves that are kept: beyond these memory is for other things.
const MOST_VECTORS: usize = 100_000;
const MOST_MOVES: usize = 1_000_000;
/// Plies of captures at most.
const QUIESCENCE: i32 = 12;
/// The ply from which there are captures alone.
const DEEPEST: usize = MAX_PLY - QUIESCENCE as usize;

/// Plays by comparing positions.
pub struct ComparisonEngine {
    network: Arc<Network>,
    vectors: HashMap<u64, Arc<[f32]>>,
    best: HashMap<u64, Move>,
    draw: Arc<[f32]>,
    /// Keys of the positions before.
    keys: Vec<u64>,
    nodes: u64,
    /// After this many nodes the search ends; the first iteration is always completed, unless stopped.
    node_limit: u64,
}

impl ComparisonEngine {
    /// An engine with this network.
    pub fn new(network: Arc<Network>) -> ComparisonEngine {
        let draw = vector(&network, &Board::startpos());
        ComparisonEngine {
            network,
            vectors: HashMap::new(),
            best: HashMap::new(),
            draw,
            keys: Vec::new(),
            nodes: 0,
            node_limit: u64::MAX,
        }
    }

    fn vector(&mut self, board: &Board) -> Arc<[f32]> {
        if self.vectors.len() >= MOST_VECTORS {
            self.vectors.clear();
        }
        let network = &self.network;
        self.vectors.entry(board.key()).or_insert_with(|| vector(network, board)).clone()
    }

    /// How clearly the network prefers one position to another for White: above zero if it does.
    fn preference(&self, one: &[f32], other: &[f32]) -> f32 {
        let rows = [one, other, other, one].concat();
        let pairs = Array2::from_shape_vec((2, 2 * one.len()), rows).expect("two pairs of two vectors");
        let answers = self.network.compare(pairs);
        (answers[(0, 0)] - answers[(0, 1)] - answers[(1, 0)] + answers[(1, 1)]) / 2.0
    }

    /// Whether one is better than the other for this player.
    fn is_better(&self, one: &Worth, other: &Worth, us: Color) -> bool {
        match (one, other) {
            (Worth::Position(one), Worth::Position(other)) => {
                let preference = if Arc::ptr_eq(one, other) { 0.0 } else { self.preference(one, other) };
                if us == Color::White { preference > 0.0 } else { preference < 0.0 }
            }
            (Worth::Mate(winner, ply), Worth::Mate(other, other_ply)) if winner == other => {
                if *winner == us {
                    ply < other_ply
                } else {
                    ply > other_ply
                }
            }
            (Worth::Mate(winner, _), _) => *winner == us,
            (Worth::Position(_), Worth::Mate(winner, _)) => *winner != us,
        }
    }

    fn draw(&self) -> Worth {
        Worth::Position(Arc::clone(&self.draw))
    }

    /// The mate, or the draw, that a node below the root is without a search.
    fn known(&self, board: &Board, ply: usize) -> Option<Worth> {
        if !board.has_legal_move() {
            return Some(if board.in_check() { Worth::Mate(!board.side_to_move(), ply) } else { self.draw() });
        }
        let reversible = board.halfmove_clock() as usize;
        let seen = self.keys.iter().rev().take(reversible).any(|&key| key == board.key());
        (seen || reversible >= 100 || board.insufficient_material()).then(|| self.draw())
    }

    fn count(&mut self, control: &Control) -> Result<(), Ended> {
        self.nodes += 1;
        if control.stopped() || self.nodes >= self.node_limit { Err(Ended) } else { Ok(()) }
    }

    /// The best that the player to move can reach, not worse than `alpha` and not better than `beta`, which is the
    /// opponent's; none is the worst for whom it belongs to. A node that reaches `beta` is cut off: the opponent has a
    /// move that is as good for them. Below depth 1 it is a quiescence search: captures, and all replies to a check.
    fn alpha_beta(
        &mut self,
        board: &Board,
        depth: i32,
        ply: usize,
        [alpha, beta]: [Option<&Worth>; 2],
        control: &Control,
    ) -> Found {
        self.count(control)?;
        if ply > 0
            && let Some(known) = self.known(board, ply)
        {
            return Ok((known, None));
        }
        let depth = if ply >= DEEPEST { depth.min(0) } else { depth };
        let us = board.side_to_move();
        let mut best: Option<(Worth, Option<Move>)> = None;
        let quiescent = depth <= 0;
        let check = board.in_check() && depth > -QUIESCENCE;
        if quiescent && !check {
            let standing = Worth::Position(self.vector(board));
            if depth <= -QUIESCENCE || beta.is_some_and(|beta| !self.is_better(beta, &standing, us)) {
                return Ok((standing, None));
            }
            if alpha.is_none_or(|alpha| self.is_better(&standing, alpha, us)) {
                best = Some((standing, None));
            }
        }
        let moves = match quiescent {
            true => ordered(board, None, |mv| check || board.is_noisy(mv) && board.see_ge(mv, 0)),
            false => ordered(board, self.best.get(&board.key()).copied(), |_| true),
        };
        self.keys.push(board.key());
        for mv in moves {
            let floor = best.as_ref().map(|best| &best.0).or(alpha);
            let (worth, _) = self.alpha_beta(&board.after(mv), depth - 1, ply + 1, [beta, floor], control)?;
            if floor.is_some_and(|floor| !self.is_better(&worth, floor, us)) {
                continue;
            }
            if !quiescent {
                self.remember(board, mv);
            }
            let cut = beta.is_some_and(|beta| !self.is_better(beta, &worth, us));
            best = Some((worth, Some(mv)));
            if cut {
                break;
            }
        }
        self.keys.pop();
        Ok(best.unwrap_or_else(|| (alpha.expect("without one the first is the best").clone(), None)))
    }

    fn remember(&mut self, board: &Board, mv: Move) {
        if self.best.len() >= MOST_MOVES {
            self.best.clear();
        }
        self.best.insert(board.key(), mv);
    }

    /// The displayed score of an outcome, for the side to move.
    fn score(&self, worth: &Worth, us: Color) -> Score {
        match worth {
            Worth::Mate(winner, ply) => {
                let moves = ply.div_ceil(2) as i32;
                Score::Mate(if *winner == us { moves } else { -moves })
            }
            Worth::Position(position) => {
                // Odds as the logistic Elo scale has them: 400 for ten to one.
                let odds = f64::from(self.preference(position, &self.draw)) * 400.0 / std::f64::consts::LN_10;
                let centipawns = odds.clamp(-3000.0, 3000.0).round() as i32;
                Score::Cp(sign(us) * centipawns)
            }
        }
    }
}

fn vector(network: &Network, board: &Board) -> Arc<[f32]> {
    network.encode(&[&Bits::new(board)]).into_iter().collect()
}

/// The moves that are wanted: the one found before, captures and promotions by MVV-LVA, all others.
fn ordered(board: &Board, first: Option<Move>, wanted: impl Fn(Move) -> bool) -> Vec<Move> {
    let mut moves: Vec<Move> = board.moves().iter().copied().filter(|&mv| wanted(mv)).collect();
    let rank = |&mv: &Move| {
        let victim = board.captured(mv).map_or(0, |piece| 1 + piece.to_index());
        let promotion = mv.promotion().map_or(0, |piece| piece.to_index());
        let attacker = board.piece_on(mv.from()).map_or(0, |piece| piece.to_index());
        let order =
            if victim + promotion > 0 { PIECES.len() * (victim + promotion) + PIECES.len() - attacker } else { 0 };
        std::cmp::Reverse(if Some(mv) == first { usize::MAX } else { order })
    };
    moves.sort_by_key(rank);
    moves
}

impl Player for ComparisonEngine {
    fn new_game(&mut self, _number: u64) {
        self.best.clear();
    }

    fn search(&mut self, game: &Game, limits: &Limits, control: &Control) -> Outcome {
        let board = game.board();
        self.node_limit = u64::MAX;
        self.keys = game.keys()[..game.keys().len().saturating_sub(1)].to_vec();
        self.nodes = 0;
        let best = board.moves().first().copied();
        let mut outcome =
            Outcome { best, ponder: None, value: 0, score: Score::Cp(0), depth: 0, nodes: 0, pv: Vec::new() };
        for depth in 1..=limits.depth.unwrap_or(MAX_PLY as u32 / 2) {
            let Ok((worth, best)) = self.alpha_beta(board, depth as i32, 0, [None, None], control) else { break };
            let score = self.score(&worth, board.side_to_move());
            outcome = Outcome { best, score, depth, ..outcome };
            let decided = matches!(worth, Worth::Mate(_, ply) if ply <= depth as usize);
            self.node_limit = limits.nodes.unwrap_or(u64::MAX);
            if decided || self.count(control).is_err() {
                break;
            }
        }
        Outcome { nodes: self.nodes, ..outcome }
    }
}

impl Network {
    /// The network as a player of matches.
    pub fn player(self, name: &str) -> MatchPlayer {
        let network = Arc::new(self);
        MatchPlayer::other(name, network.id(), move || ComparisonEngine::new(Arc::clone(&network)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deepchess::network::{INPUTS, Sizes};
    use dyad_engine::board::COLORS;
    use ndarray::Array1;

    /// A network that compares material: vectors have White's and Black's material, and the larger lead is better.
    fn counting() -> Arc<Network> {
        let mut network = Network::zeros(&Sizes { encoder: vec![2], comparator: vec![2, 2] });
        for (kind, worth) in [1.0, 3.0, 3.0, 5.0, 9.0, 0.0].into_iter().enumerate() {
            for (color, _) in COLORS.iter().enumerate() {
                for square in 0..64 {
                    network.encoder[0].weights[(64 * (6 * color + kind) + square, color)] = worth;
                }
            }
        }
        assert_eq!(network.encoder[0].weights.nrows(), INPUTS);
        // Both sums of differences, each far enough above zero that the ReLU changes nothing.
        for (row, by) in [1.0, -1.0, -1.0, 1.0].into_iter().enumerate() {
            network.comparator[0].weights[(row, 0)] = by;
            network.comparator[0].weights[(row, 1)] = -by;
        }
        network.comparator[0].bias = Array1::from(vec![200.0, 200.0]);
        network.comparator[1].weights[(0, 0)] = 1.0;
        network.comparator[1].weights[(1, 1)] = 1.0;
        Arc::new(network)
    }

    fn best(fen: &str, limits: &Limits) -> (String, Outcome) {
        let game = Game::new(Board::from_fen(fen).unwrap());
        let mut engine = ComparisonEngine::new(counting());
        let outcome = engine.search(&game, limits, &Control::new(false));
        (game.board().san(outcome.best.unwrap()), outcome)
    }

    #[test]
    fn it_wins_material_and_mates_for_either_side() {
        let depth = Limits::depth(3);
        assert_eq!(best("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", &depth).0, "Ra8#");
        assert_eq!(best("r5k1/8/8/8/8/8/5PPP/6K1 b - - 0 1", &depth).0, "Ra1#");
        // A knight fork of king and queen.
        assert_eq!(best("3q3k/8/8/4N3/8/8/8/K7 w - - 0 1", &depth).0, "Nf7+");
        assert_eq!(best("k7/8/8/8/4n3/8/8/3Q3K b - - 0 1", &depth).0, "Nf2+");
        // The defended pawn is left alone.
        assert_ne!(best("6k1/4p3/3p4/8/8/8/3R4/3R2K1 w - - 0 1", &depth).0, "Rxd6");
        let (_, mate) = best("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", &depth);
        assert!(matches!(mate.score, Score::Mate(1)), "{mate:?}");
    }

    /// Full width would be 206,603 positions and the captures after them.
    #[test]
    fn bounds_cut_off_most_of_the_tree() {
        let (_, outcome) = best(&Board::startpos().fen(), &Limits::depth(4));
        assert!(outcome.nodes < 20_000, "{}", outcome.nodes);
    }

    #[test]
    fn nodes_end_it_and_the_same_nodes_give_the_same_move() {
        let fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
        let (one, first) = best(fen, &Limits::nodes(3000));
        let (other, second) = best(fen, &Limits::nodes(3000));
        assert_eq!((one, first.nodes, first.depth), (other, second.nodes, second.depth));
        assert!(first.nodes <= 3001 && first.depth >= 1, "{first:?}");
    }

    #[test]
    fn a_search_that_is_stopped_has_a_move() {
        let (mut engine, control) = (ComparisonEngine::new(counting()), Control::new(false));
        control.stop();
        assert!(engine.search(&Game::default(), &Limits::depth(9), &control).best.is_some());
    }
}
