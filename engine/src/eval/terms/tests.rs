//! The terms on random positions and on constructed ones.

use super::*;
use crate::board::tests::random_boards;
use crate::board::{Color, Piece, PieceSquare};
use crate::eval::layout::*;
use crate::eval::tests::{board, counts, flipped, summed};
use std::collections::{BTreeMap, HashSet};

fn random_positions(games: usize, mut check: impl FnMut(&Board)) {
    random_boards(150 * games, games as u128, |board, _| check(board));
}

#[test]
fn every_group_is_reached() {
    let mut reached = HashSet::new();
    let mut note = |position: &Board| {
        let mut list: Vec<(u32, i32)> = Vec::new();
        terms(position, &mut list);
        reached.extend(list.into_iter().map(|(feature, _)| group_of(feature as usize).name));
    };
    random_positions(60, &mut note);
    note(&board("8/8/8/4P3/8/8/8/k6K w - - 0 1"));
    let missing: Vec<_> = GROUPS
        .iter()
        .filter(|group| {
            ![Family::Material, Family::PieceSquare, Family::Pairs].contains(&group.family)
                && !reached.contains(group.name)
        })
        .map(|group| group.name)
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn pawn_terms_depend_on_pawns_alone() {
    random_positions(5, |position| {
        let mut setup = position.setup();
        let stays = |&(piece, _): &(Piece, Color)| matches!(piece, Piece::Pawn | Piece::King);
        setup.pieces.iter_mut().for_each(|placed| *placed = placed.filter(stays));
        let bare = Board::from_setup(&setup).expect("no pawn attacks the king of the side that has moved");
        let mut all: Vec<(u32, i32)> = Vec::new();
        let mut alone: Vec<(u32, i32)> = Vec::new();
        let info: PawnInfo = pawn_terms(position, &mut all);
        assert_eq!(info, pawn_terms(&bare, &mut alone));
        assert_eq!(all, alone);
    });
}

/// Positions in which White has exactly one of a feature and Black none.
#[test]
fn constructed_positions() {
    let cases = [
        // Pawns: isolated, doubled, backward, phalanx, supported, levers, rams, candidates.
        ("4k3/8/8/8/3P4/8/8/4K3 w - - 0 1", PAWN_ISOLATED.at(Opposed(false), Doubled(false), EdgeFile(3))),
        ("4k3/5pp1/8/8/8/5P2/8/4K3 w - - 0 1", PAWN_ISOLATED.at(Opposed(true), Doubled(false), EdgeFile(2))),
        ("4k3/8/8/8/P7/P7/8/4K3 w - - 0 1", PAWN_DOUBLED.at(Close(true), EdgeFile(0))),
        ("4k3/8/8/P7/8/P7/8/4K3 w - - 0 1", PAWN_DOUBLED.at(Close(false), EdgeFile(0))),
        ("4k3/8/8/2p5/2P5/3P4/8/4K3 w - - 0 1", PAWN_SUPPORTED.at(Supporters(1), Opposed(true), PawnRank(3))),
        ("4k3/3p4/8/8/2PP4/8/8/4K3 w - - 0 1", PAWN_PHALANX.at(Opposed(false), PawnRank(3))),
        ("4k3/8/1p6/8/2P5/3P4/8/4K3 w - - 0 1", PAWN_CANDIDATE.at(Candidate::HalfOpen, PawnRank(3))),
        ("4k3/8/8/2p1p3/3P4/8/8/4K3 w - - 0 1", PAWN_LEVER.at(Lever::Two, PawnRank(3))),
        ("4k3/8/8/3P4/8/8/8/4K3 w - - 0 1", PAWN_ISLANDS.at(Islands(1))),
        ("4k3/8/8/4P3/8/8/8/4K3 w - - 0 1", PASSED_RANK.at(PawnRank(4))),
        ("4k3/8/8/4P3/8/8/8/4K3 w - - 0 1", PASSED_FILE.at(EdgeFile(3))),
        ("4k3/8/8/3PP3/2P5/8/8/4K3 w - - 0 1", PASSED_CONNECTED.at(Connected::Supported, PawnRank(4))),
        // Passed pawns among pieces.
        ("4k3/8/8/4P3/8/8/8/4K3 w - - 0 1", PASSED_OWN_KING.at(PawnRank(4), Distance(5))),
        ("4k3/8/8/4P3/8/8/8/4K3 w - - 0 1", PASSED_ENEMY_KING.at(PawnRank(4), Distance(2))),
        ("8/8/4k3/4P3/8/8/8/4K3 w - - 0 1", PASSED_BLOCKED.at(Blocker::King, PawnRank(4))),
        ("8/8/4n1k1/4P3/8/8/8/4K3 w - - 0 1", PASSED_BLOCKED.at(Blocker::Minor, PawnRank(4))),
        ("8/8/8/4P1k1/8/8/8/4RK2 w - - 0 1", PASSED_ROOK_BEHIND.at(Owner::Own, PawnRank(4))),
        (
            "4rk2/8/8/4P3/8/8/8/4R1K1 w - - 0 1",
            PASSED_PATH.at(PathSafety::NextAttacked, NextDefended(true), PawnRank(4)),
        ),
        ("8/8/8/P4k2/8/8/8/4K3 w - - 0 1", PASSED_UNSTOPPABLE.at(PawnRank(4))),
        ("6k1/8/1K6/P7/8/8/8/8 w - - 0 1", PASSED_UNSTOPPABLE.at(PawnRank(4))),
        // Pieces.
        ("4k3/8/8/3N4/4P3/8/8/4K3 w - - 0 1", OUTPOST.at(Minor(1), Supported(true), OutpostRank(4))),
        ("4k3/p7/8/1N6/8/8/8/4K3 w - - 0 1", OUTPOST_REACHABLE.at(Minor(1), Supported(false))),
        ("4k3/8/8/8/4P3/4B3/8/4K3 w - - 0 1", MINOR_BEHIND_PAWN.at(Minor(2), Owner::Own)),
        ("4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1", BISHOP_PAIR.at(AllPawns(0))),
        ("4k3/8/8/8/8/8/1B6/4K3 w - - 0 1", BISHOP_LONG_DIAGONAL.at(SeesCenter(true))),
        ("k7/8/8/8/8/8/8/4K2R w - - 0 1", ROOK_FILE.at(RookFile::Open, NearKing(false))),
        ("k7/7p/8/8/8/8/8/4K2R w - - 0 1", ROOK_FILE.at(RookFile::HalfOpen, NearKing(false))),
        ("4k3/3R4/8/8/8/8/8/4K3 w - - 0 1", ROOK_SEVENTH.at(ConfinesKing(true), AgainstPawns(false))),
        ("4k3/8/8/8/8/8/5PPP/6KR w - - 0 1", ROOK_TRAPPED.at(CanCastle(false), TrappedSquares(0))),
        ("4k3/8/3Q4/8/8/8/8/4K3 w - - 0 1", QUEEN_INFILTRATION.at()),
        ("4k3/8/8/4r3/8/8/4N3/4K3 w - - 0 1", PINNED.at(Target(1), Slider(3))),
        ("4k3/8/8/8/4N3/8/8/K3R3 w - - 0 1", DISCOVERY.at(Target(1), Slider(3))),
        // Mobility: squares attacked by pawns are not safe, and pinned pieces have none off the pin.
        ("4k3/8/8/8/3N4/8/8/4K3 w - - 0 1", MOBILITY_KNIGHT.at(KnightSquares(8))),
        ("4k3/8/4p3/8/3N4/8/8/4K3 w - - 0 1", MOBILITY_KNIGHT.at(KnightSquares(7))),
        ("4r1k1/8/8/8/4N3/8/8/4K3 w - - 0 1", MOBILITY_KNIGHT.at(KnightSquares(0))),
        ("4k3/8/8/8/3B4/8/8/4K3 w - - 0 1", MOBILITY_BISHOP.at(BishopSquares(13))),
        ("4k3/8/8/8/3R4/8/8/6K1 w - - 0 1", MOBILITY_ROOK.at(RookSquares(14))),
        ("4k3/8/8/8/3Q4/8/8/7K w - - 0 1", MOBILITY_QUEEN.at(QueenSquares(27))),
        // Threats.
        ("4k3/8/8/3n4/8/8/8/3RK3 w - - 0 1", ATTACKED.at(Defense::Undefended, Attacker(3), Target(1))),
        ("4k3/8/4p3/3n4/8/8/8/3RK3 w - - 0 1", ATTACKED.at(Defense::ByPawn, Attacker(3), Target(1))),
        ("4k3/8/8/3n4/8/8/8/3RK3 w - - 0 1", HANGING.at(OnMove(true), Target(1))),
        ("4k3/8/8/3n4/4P3/8/8/4K3 w - - 0 1", PAWN_THREAT.at(NotPawnNorKing(1))),
        ("4k3/8/8/3n4/8/4P3/8/4K3 w - - 0 1", PUSH_THREAT.at(NotPawnNorKing(1))),
        // Kings.
        ("4k3/8/8/4p3/8/8/8/R3K3 w - - 0 1", SAFE_CHECKS.at(SafeChecks::By(Checker(3), Several(false)))),
        ("6k1/8/8/8/8/8/5PPP/6K1 w - - 0 1", SHELTER.at(BeforeKing(true), EdgeFile(1), NearestPawn(1))),
        ("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", BACK_RANK.at(Guarded(false))),
        // Space, tempo, winnability.
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", TEMPO.at(QueensLeft(false))),
        ("4k3/p7/8/8/8/8/PPP5/4K3 w - - 0 1", DRAWISH_ENDING.at(DrawishEnding::Pawns, LeadSize(2), BothWings(false))),
        (
            "4kb2/p7/8/8/8/8/PPP5/4KB2 w - - 0 1",
            DRAWISH_ENDING.at(DrawishEnding::OppositeBishops, LeadSize(2), BothWings(false)),
        ),
        ("4k3/p7/8/8/8/8/P6P/4K3 w - - 0 1", WINNABILITY_WINGS.at(LargeLead(false), BothWings(true))),
    ];
    let mut wrong = Vec::new();
    for (fen, feature) in cases {
        let group = group_of(feature);
        let words = group.words(feature - group.start);
        let [found, exchanged] = [board(fen), flipped(&board(fen), true, false)]
            .map(|board| counts(&board).get(&(feature as u32)).copied().unwrap_or(0));
        if (found, exchanged) != (1, -1) {
            wrong.push(format!("{fen}: {found} and {exchanged} of {} ({words})", group.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn danger_grows_with_the_attack() {
    let step = |fen: &str| {
        let found = counts(&board(fen));
        KING_DANGER
            .range()
            .find(|&feature| found.get(&(feature as u32)) == Some(&1))
            .map(|feature| feature - KING_DANGER.start)
    };
    let quiet = step("6k1/5ppp/8/8/8/8/5PPP/3Q2K1 w - - 0 1").expect("one table entry for White");
    let attack = step("6k1/5p1p/5Qp1/6N1/7R/8/5PPP/6K1 b - - 0 1").expect("one table entry for White");
    assert!(quiet + 5 < attack, "{quiet} {attack}");
}

/// The pair terms of all pairs of pieces are the features of the groups marked `#[Pair]`, and no others.
#[test]
fn pair_terms_are_the_features_of_pair_groups() {
    let mut reached = HashSet::new();
    random_positions(20, |board| {
        let pieces: Vec<PieceSquare> = board.placed_pieces().collect();
        let mut found: Vec<(u32, i32)> = Vec::new();
        for (index, &one) in pieces.iter().enumerate() {
            pieces[..index].iter().for_each(|&other| pair_terms(one, other, &mut found));
        }
        let mut expected = counts(board);
        expected.retain(|feature, _| group_of(*feature as usize).kind == Kind::Pair);
        assert_eq!(summed(&found), expected, "{board}");
        reached.extend(expected.into_keys().map(|feature| group_of(feature as usize).name));
    });
    assert_eq!(reached, names(Kind::Pair));
}

fn names(kind: Kind) -> HashSet<&'static str> {
    GROUPS.iter().filter(|group| group.kind == kind).map(|group| group.name).collect()
}

/// The groups whose features come one by one, and those whose features come as batches, without pair terms.
#[derive(Default)]
struct Calls {
    single: HashSet<&'static str>,
    batched: HashSet<&'static str>,
}

impl Visitor for Calls {
    const SKIPS_PAIR_TERMS: bool = true;

    fn add(&mut self, feature: usize, _: i32) {
        self.single.insert(group_of(feature).name);
    }

    fn add_batch<const N: usize>(&mut self, batch: Batch, _: [bool; N]) {
        assert_eq!(batch.len, N);
        self.batched.insert(group_of(batch.feature(0)).name);
    }
}

impl SideRelative for Calls {
    fn flip_side(&mut self) {}
}

/// Exactly the groups marked `#[Batched]` are added as batches, and no pair group by a visitor that skips pair terms.
#[test]
fn batched_groups_are_added_as_batches() {
    let mut calls = Calls::default();
    random_positions(20, |board| {
        let balance = material_terms(board, &mut calls);
        let pawns = pawn_terms(board, &mut calls);
        let shelters = king_terms(board, &pawns, &mut calls);
        piece_terms(board, &balance, &pawns, &shelters, &mut calls);
    });
    assert_eq!(calls.batched, names(Kind::Batched));
    assert!(calls.single.is_disjoint(&calls.batched) && calls.single.is_disjoint(&names(Kind::Pair)));
}

/// The groups of king safety marked `#[Attack]` count what is done to the enemy king: when a king moves, the enemy's
/// features of these groups change more often than its own. The features of the other groups are the king's own.
#[test]
fn attack_groups_are_about_the_enemy_king() {
    // By group: changes of the features of the king's player, and of the enemy.
    let mut changes: BTreeMap<&str, [u32; 2]> = BTreeMap::new();
    let counts_by_side = |board: &Board| {
        let mut list: Vec<(u32, i32)> = Vec::new();
        terms(board, &mut list);
        let mut counts: BTreeMap<(u32, bool), i32> = BTreeMap::new();
        for (feature, count) in list {
            *counts.entry((feature, count > 0)).or_default() += count;
        }
        counts
    };
    random_positions(60, |board| {
        let king = board.king(board.side_to_move());
        let Some(mv) = board.moves().iter().copied().find(|&mv| mv.from() == king && !board.is_capture(mv)) else {
            return;
        };
        let (before, after) = (counts_by_side(board), counts_by_side(&board.after(mv)));
        for &(feature, white) in before.keys().chain(after.keys()) {
            let group = group_of(feature as usize);
            if group.family == Family::King && before.get(&(feature, white)) != after.get(&(feature, white)) {
                let enemy = white != (board.side_to_move() == Color::White);
                changes.entry(group.name).or_default()[usize::from(enemy)] += 1;
            }
        }
    });
    for group in GROUPS.iter().filter(|group| group.family == Family::King) {
        let [own, enemy] = *changes.get(group.name).unwrap_or_else(|| panic!("{} does not change", group.name));
        assert_eq!(enemy > own, group.kind == Kind::Attack, "{}: {own} own, {enemy} enemy", group.name);
    }
    let outside = GROUPS.iter().find(|group| group.kind == Kind::Attack && group.family != Family::King);
    assert!(outside.is_none(), "{outside:?}");
}
