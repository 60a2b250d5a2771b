//! Where each weight lives: the one table of feature groups.
//!
//! A feature is a number below [`LEN`]; every group owns a run of them. Search, trainer, weights file
//! and `eval` all have to agree about these runs, so they are written down once, as a line in the
//! table below, and everything else (offsets, constants, the checksum that weights files carry) is
//! derived from it when the crate is compiled. A new group is one line here and the lines among the
//! terms that find its features. The 2-tuples stay last: what is before them is small enough to be
//! walked whole.

/// A named run of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name in weights files and reports; unique.
    pub name: &'static str,
    /// How many features it has.
    pub len: usize,
    /// What its features say, in words.
    pub about: &'static str,
    /// Its first feature.
    pub start: usize,
}

impl Group {
    /// The feature at `index` of this group.
    #[inline(always)]
    pub const fn at(&self, index: usize) -> usize {
        debug_assert!(index < self.len);
        self.start + index
    }

    /// All features of this group.
    pub const fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.len
    }
}

/// Turns lines of `CONSTANT "name" [length] "about";` into [`GROUPS`], with the offsets filled in, and
/// one constant for each group.
macro_rules! groups {
    ($($constant:ident $name:literal [$len:expr] $about:literal;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Order { $($constant),* }

        /// All groups, in the order of their features.
        pub const GROUPS: [Group; [$($name),*].len()] = lay_end_to_end([
            $(Group { name: $name, len: $len, about: $about, start: 0 }),*
        ]);

        $(
            #[doc = $about]
            pub const $constant: Group = GROUPS[Order::$constant as usize];
        )*
    };
}

// Lengths by piece type are in the order pawn, knight, bishop, rook, queen, king.
groups! {
    MATERIAL "material" [6] "what a piece is worth anywhere, by piece type";
    LOCATION "location" [6 * 32] "what a piece type gains from its square, boards mirrored to files a to d";
    MATERIAL_PAIRS_OWN "material_pairs_own" [super::terms::MATERIAL_OWN_LEN] "how many men of one type a player has with how many of another";
    MATERIAL_PAIRS_ENEMY "material_pairs_enemy" [super::terms::MATERIAL_ENEMY_LEN] "how many men of one type a player has against how many of the enemy's";
    MOBILITY_KNIGHT "mobility_knight" [9] "safe squares a knight attacks, by their number";
    MOBILITY_BISHOP "mobility_bishop" [14] "safe squares a bishop attacks, by their number";
    MOBILITY_ROOK "mobility_rook" [15] "safe squares a rook attacks, by their number";
    MOBILITY_QUEEN "mobility_queen" [28] "safe squares a queen attacks, by their number";
    PAWN_ISOLATED "pawn_isolated" [2 * 2 * 4] "pawns without neighbors, by opposed, doubled and file";
    PAWN_DOUBLED "pawn_doubled" [2 * 4] "pawns with another behind on the file, by near and file";
    PAWN_BACKWARD "pawn_backward" [2 * 4] "pawns left behind by their neighbors and held, by opposed and file";
    PAWN_PHALANX "pawn_phalanx" [2 * 6] "pawns beside another, by opposed and rank";
    PAWN_SUPPORTED "pawn_supported" [2 * 2 * 6] "pawns defended by pawns, by their number, opposed and rank";
    PAWN_LEVER "pawn_lever" [3 * 6] "pawns that attack pawns, by support and rank";
    PAWN_RAMMED "pawn_rammed" [2 * 6] "pawns held by a pawn right ahead, by support and rank";
    PAWN_CANDIDATE "pawn_candidate" [4 * 6] "pawns that may become passed, by how and rank";
    PAWN_ISLANDS "pawn_islands" [5] "groups of pawns, by their number";
    PASSED_RANK "passed_rank" [6] "passed pawns by rank";
    PASSED_FILE "passed_file" [4] "passed pawns by file";
    PASSED_CONNECTED "passed_connected" [2 * 6] "passed pawns with a pawn that supports them or stands beside, by rank";
    PASSED_AGAINST "passed_against" [4 * 6] "passed pawns by the enemy's strongest piece and rank";
    PASSED_OWN_KING "passed_own_king" [6 * 8] "passed pawns by rank and distance of the own king from the square ahead";
    PASSED_ENEMY_KING "passed_enemy_king" [6 * 8] "passed pawns by rank and distance of the enemy king from the square ahead";
    PASSED_BLOCKED "passed_blocked" [4 * 6] "passed pawns with a piece right ahead, by whose and rank";
    PASSED_PATH "passed_path" [3 * 2 * 6] "passed pawns free to advance, by safety of the way, defense of the next square and rank";
    PASSED_ROOK_BEHIND "passed_rook_behind" [2 * 6] "passed pawns with a rook or queen behind, by whose and rank";
    PASSED_UNSTOPPABLE "passed_unstoppable" [6] "passed pawns that a bare king cannot stop, by rank";
    PASSED_COUNT "passed_count" [5] "passed pawns of a player, by their number";
    BISHOP_PAIR "bishop_pair" [17] "bishops on both colors, by all pawns left";
    OUTPOST "outpost" [2 * 2 * 3] "minor pieces where no pawn can attack them, by type, support and rank";
    OUTPOST_REACHABLE "outpost_reachable" [2 * 2] "minor pieces that can go to such a square, by type and support";
    MINOR_BEHIND_PAWN "minor_behind_pawn" [2 * 2] "minor pieces right behind a pawn, by type and whose pawn";
    MINOR_KING_DISTANCE "minor_king_distance" [2 * 8] "minor pieces by type and distance from their king";
    BISHOP_PAWNS "bishop_pawns" [9] "own pawns on the color of a bishop, by their number";
    BISHOP_BLOCKED_CENTER "bishop_blocked_center" [5] "bishops by blocked own pawns on the middle files";
    BISHOP_RAMMED_PAWNS "bishop_rammed_pawns" [5] "own pawns on the color of a bishop and held by an enemy pawn, by their number";
    BISHOP_ENEMY_PAWNS "bishop_enemy_pawns" [9] "enemy pawns on the color of a bishop, by their number";
    BISHOP_XRAY_PAWNS "bishop_xray_pawns" [6] "enemy pawns on the diagonals of a bishop, by their number";
    BISHOP_LONG_DIAGONAL "bishop_long_diagonal" [2] "bishops on a long diagonal that no pawn closes";
    ROOK_FILE "rook_file" [5 * 2] "rooks by how open their file is and whether the enemy king is near it";
    ROOK_QUEEN_FILE "rook_queen_file" [2] "rooks on the file of a queen, own or enemy";
    ROOK_SEVENTH "rook_seventh" [2 * 2] "rooks on the seventh rank, by enemy king on the eighth and enemy pawns on the seventh";
    ROOK_TRAPPED "rook_trapped" [2 * 4] "rooks shut in by their king, by right to castle and mobility";
    QUEEN_INFILTRATION "queen_infiltration" [1] "queens in the enemy's half where no pawn can attack them";
    QUEEN_XRAYED "queen_xrayed" [2 * 2] "queens in line with an enemy bishop or rook behind one man, by which and whose man";
    BATTERY "battery" [4] "pieces in line: rooks on the seventh, rooks on a rank, rooks on a file, queen and bishop";
    PINNED "pinned" [5 * 3] "men pinned to their king, by type and the pinning piece";
    DISCOVERY "discovery" [5 * 3] "men that would open a line to the enemy king, by type and the piece behind";
    ATTACKED "attacked" [3 * 6 * 5] "attacks of men on men, by how the attacked one is defended and both types";
    HANGING "hanging" [2 * 5] "attacked men that are not held, by whose move it is and type";
    TARGETS "targets" [2 * 4] "pieces attacked and not held, by whose move it is and their number";
    QUEEN_DEFENDS "queen_defends" [1] "attacked men that only their queen defends";
    OVERLOADED "overloaded" [2] "men attacked once and defended once, pawns and pieces";
    PAWN_THREAT "pawn_threat" [4] "pieces attacked by a safe pawn, by type";
    PUSH_THREAT "push_threat" [4] "pieces that a safe push of a pawn would attack, by type";
    QUEEN_THREAT "queen_threat" [3 * 2] "safe squares from which the queen could be attacked, by attacker and whether there is an own queen";
    RESTRICTED "restricted" [2] "squares the enemy attacks but does not hold: empty ones and men";
    KING_ATTACKERS "king_attackers" [2 * 6] "pieces that attack the king's ring, by queen and their number";
    KING_ATTACK "king_attack" [2 * 16] "attacks on squares of the king's ring, by queen and their number";
    KING_ATTACK_BY "king_attack_by" [5] "attacks on squares of the king's ring: by knight, bishop, rook, queen, pawn";
    KING_WEAK_SQUARES "king_weak_squares" [2 * 10] "attacked squares of the king's ring without good defense, by queen and their number";
    KING_DANGER "king_danger" [64] "all dangers of a king summed in fixed units";
    SAFE_CHECKS "safe_checks" [4 * 2 + 8] "safe checks, by piece and one or more, and all together by their number";
    UNSAFE_CHECKS "unsafe_checks" [4 * 2] "checks that cost the piece, by piece and one or more";
    KING_DEFENDERS "king_defenders" [2 * 9] "own men in the king's ring, by enemy queen and their number";
    KING_REFUGE "king_refuge" [2 * 9] "safe squares the king can go to, by enemy queen and their number";
    BACK_RANK "back_rank" [2] "kings shut in on the back rank against heavy pieces, bare or guarded";
    SHELTER "shelter" [2 * 4 * 7] "own pawns before the king, by king's file or beside, file and rank";
    STORM_OPEN "storm_open" [2 * 4 * 7] "enemy pawns that come at the king, by king's file or beside, file and rank";
    STORM_BLOCKED "storm_blocked" [7] "enemy pawns before the king held by a pawn, by rank";
    KING_FILE "king_file" [2 * 2 * 3] "files at the king without pawns, by heavy enemy pieces, king's file or beside and whose pawns lack";
    KING_PAWNS "king_pawns" [2 * 8] "the king's distance from the nearest own pawn and the nearest enemy pawn";
    CASTLING "castling" [2] "the right to castle, lost or kept";
    FLANK_ATTACK "flank_attack" [24] "attacked squares on the king's flank, by their number";
    FLANK_DEFENSE "flank_defense" [21] "defended squares on the king's flank, by their number";
    FLANK_PAWNLESS "flank_pawnless" [1] "kings on a flank without pawns";
    SPACE "space" [16] "room behind the pawns, by the men who share it";
    CENTER_CONTROL "center_control" [9] "attacks on the four squares in the middle, by their number";
    TEMPO "tempo" [2] "having the move, without queens and with";
    AHEAD_PAWNS_LEFT "ahead_pawns_left" [2 * 17] "all pawns left, for the player who is ahead, by lead and their number";
    AHEAD_WINGS "ahead_wings" [2 * 2] "pawns on one wing or both, for the player who is ahead, by lead";
    AHEAD_OUTFLANKING "ahead_outflanking" [2 * 15] "kings apart on files more than on ranks, for the player who is ahead, by lead and how much";
    AHEAD_PASSED "ahead_passed" [2 * 5] "all passed pawns, for the player who is ahead, by lead and their number";
    AHEAD_OWN_PAWNS "ahead_own_pawns" [5 * 9] "own pawns of the player who is ahead, by the lead in pieces and their number";
    ENDING "ending" [super::terms::ENDINGS * 4 * 2] "endings known for draws, for the player who is ahead, by kind, lead and wings";
    PAIRS "pairs" [72 * 32 * 63] "2-tuples: a piece type on its square with any other piece on any other square";
}

/// How many features there are.
pub const LEN: usize = PAIRS.start + PAIRS.len;

/// Features before the 2-tuples.
pub const TERMS_LEN: usize = PAIRS.start;

/// The group called `name`.
pub fn group(name: &str) -> Option<&'static Group> {
    const ALL: &[Group] = &GROUPS;
    ALL.iter().find(|group| group.name == name)
}

/// The group that owns `feature`.
///
/// # Panics
/// If `feature` is not below [`LEN`].
pub fn group_of(feature: usize) -> &'static Group {
    const ALL: &[Group] = &GROUPS;
    assert!(feature < LEN, "feature {feature} is outside the layout");
    &ALL[ALL.partition_point(|group| group.start + group.len <= feature)]
}

/// CRC-32 of this layout's names and lengths: equal exactly when weights can be taken over as they are.
pub fn checksum() -> u32 {
    checksum_of(GROUPS.iter().map(|group| (group.name, group.len)))
}

/// CRC-32 of any layout's names and lengths.
pub fn checksum_of<'a>(groups: impl Iterator<Item = (&'a str, usize)>) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    for (name, len) in groups {
        crc.update(name.as_bytes());
        crc.update(format!(" {len}\n").as_bytes());
    }
    crc.finalize()
}

const fn lay_end_to_end<const N: usize>(mut groups: [Group; N]) -> [Group; N] {
    let mut next = 0;
    let mut i = 0;
    while i < N {
        groups[i].start = next;
        next += groups[i].len;
        i += 1;
    }
    groups
}

const _: () = assert!(LEN == PAIRS.range().end, "the 2-tuples are the last group");
const _: () = {
    let last = &GROUPS[GROUPS.len() - 1];
    assert!(last.start == PAIRS.start, "the 2-tuples are the last group");
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_lie_end_to_end() {
        let names: HashSet<_> = GROUPS.iter().map(|group| group.name).collect();
        assert_eq!(names.len(), GROUPS.len());
        for pair in GROUPS.windows(2) {
            assert_eq!(pair[0].start + pair[0].len, pair[1].start, "{}", pair[1].name);
        }
        assert_eq!(GROUPS[0].start, 0);
        assert_eq!(PAIRS.len, 145_152);
    }

    #[test]
    fn a_feature_knows_its_group() {
        for known in &GROUPS {
            assert_eq!(group(known.name), Some(known));
            for feature in [known.start, known.start + known.len - 1] {
                assert_eq!(group_of(feature), known);
            }
        }
        assert_eq!(group("nonsense"), None);
    }

    #[test]
    fn checksum_sees_names_lengths_and_order() {
        let sum = |groups: &[(&str, usize)]| checksum_of(groups.iter().copied());
        let all = [
            sum(&[("a", 1), ("b", 2)]),
            sum(&[("b", 2), ("a", 1)]),
            sum(&[("a", 12), ("b", 2)]),
            sum(&[("a1", 1), ("b", 2)]),
            sum(&[("a", 1)]),
        ];
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }
}
