//! Every term in words.
//!
//! A group of terms is a table over one or more properties; the list below names each group's
//! properties in the order of its index, outermost first. From it any feature can be told in words,
//! and a test holds that the properties span exactly the group.

use super::material;
use crate::eval::layout::*;

/// A property, which is one dimension of a group.
enum Axis {
    /// Ranks from 2, as many as given, in the owner's count.
    Ranks(usize),
    /// Ranks from 4, for outposts.
    OutpostRanks,
    /// Rank of a pawn in front of a king, 0 for none.
    ShelterRanks,
    /// Files by distance from the edge.
    Files,
    /// A number counted from the first, with the noun that follows it; the highest may mean "or more".
    Count(usize, i32, &'static str),
    /// One of these.
    One(&'static [&'static str]),
}

use Axis::{Count, Files, One, OutpostRanks, Ranks, ShelterRanks};

const OPPOSED: Axis = One(&["on an open file", "opposed"]);
const SUPPORT: Axis = One(&["unsupported", "supported by a pawn"]);
const MINORS: Axis = One(&["knight", "bishop"]);
const ENEMY_QUEEN: Axis = One(&["without queen", "with queen"]);
const LEAD: Axis = One(&["a small lead", "a large lead"]);
const PLACE: Axis = One(&["beside the king", "before the king"]);
const PACKED_PIECES: [&str; 6] = ["pawn", "knight", "bishop", "rook", "queen", "king"];
const ATTACKED_MEN: Axis = One(&["pawn", "knight", "bishop", "rook", "queen"]);
const PIECES: Axis = One(&["knight", "bishop", "rook", "queen"]);
const MOVE: Axis = One(&["with the enemy to move", "with the move"]);
const CHECKS: [&str; 8] = [
    "by a knight, one",
    "by knights, several",
    "by a bishop, one",
    "by bishops, several",
    "by a rook, one",
    "by rooks, several",
    "by a queen, one",
    "by queens, several",
];

/// What the features of a group are about, and the properties that tell them apart.
fn words(group: &Group) -> Option<(&'static str, &'static [Axis])> {
    const ALL_CHECKS: [&str; 16] = {
        let counted = [
            "none in all",
            "one in all",
            "two in all",
            "three in all",
            "four in all",
            "five in all",
            "six in all",
            "seven or more in all",
        ];
        let mut all = [""; 16];
        let mut i = 0;
        while i < 8 {
            all[i] = CHECKS[i];
            all[8 + i] = counted[i];
            i += 1;
        }
        all
    };
    Some(match group.name {
        "mobility_knight" => ("knight", &[Count(9, 0, "safe squares")]),
        "mobility_bishop" => ("bishop", &[Count(14, 0, "safe squares")]),
        "mobility_rook" => ("rook", &[Count(15, 0, "safe squares")]),
        "mobility_queen" => ("queen", &[Count(28, 0, "safe squares")]),
        "pawn_isolated" => ("isolated pawn", &[OPPOSED, One(&["single", "doubled"]), Files]),
        "pawn_doubled" => ("doubled pawn", &[One(&["apart", "close"]), Files]),
        "pawn_backward" => ("backward pawn", &[OPPOSED, Files]),
        "pawn_phalanx" => ("pawn beside a pawn", &[OPPOSED, Ranks(6)]),
        "pawn_supported" => ("supported pawn", &[Count(2, 1, "supporters"), OPPOSED, Ranks(6)]),
        "pawn_lever" => {
            ("pawn attacking", &[One(&["a pawn, unsupported", "a pawn, supported", "two pawns"]), Ranks(6)])
        }
        "pawn_rammed" => ("pawn held by a pawn", &[SUPPORT, Ranks(6)]),
        "pawn_candidate" => (
            "candidate passed pawn",
            &[One(&["by exchange", "with equal helpers", "on a half-open file", "by a breakthrough"]), Ranks(6)],
        ),
        "pawn_islands" => ("pawns in", &[Count(5, 0, "islands")]),
        "passed_rank" => ("passed pawn", &[Ranks(6)]),
        "passed_file" => ("passed pawn", &[Files]),
        "passed_connected" => ("passed pawn", &[One(&["supported by a pawn", "beside a pawn"]), Ranks(6)]),
        "passed_against" => {
            ("passed pawn against", &[One(&["king and pawns", "minor pieces", "rooks", "a queen"]), Ranks(6)])
        }
        "passed_own_king" => ("passed pawn", &[Ranks(6), Count(8, 0, "moves from its king")]),
        "passed_enemy_king" => ("passed pawn", &[Ranks(6), Count(8, 0, "moves from the enemy king")]),
        "passed_blocked" => (
            "passed pawn blocked",
            &[One(&["by an own piece", "by a minor piece", "by an enemy man", "by the enemy king"]), Ranks(6)],
        ),
        "passed_path" => (
            "passed pawn",
            &[
                One(&["with the next square attacked", "with its way attacked", "with a safe way"]),
                One(&["undefended there", "defended there"]),
                Ranks(6),
            ],
        ),
        "passed_rook_behind" => (
            "passed pawn",
            &[One(&["with an own rook or queen behind", "with an enemy rook or queen behind"]), Ranks(6)],
        ),
        "passed_unstoppable" => ("unstoppable passed pawn", &[Ranks(6)]),
        "passed_count" => ("player with", &[Count(5, 1, "passed pawns")]),
        "bishop_pair" => ("bishop pair", &[Count(17, 0, "pawns on the board")]),
        "outpost" => ("on an outpost:", &[MINORS, SUPPORT, OutpostRanks]),
        "outpost_reachable" => ("near an outpost:", &[MINORS, SUPPORT]),
        "minor_behind_pawn" => ("behind a pawn:", &[MINORS, One(&["its own", "the enemy's"])]),
        "minor_king_distance" => ("piece beside its king:", &[MINORS, Count(8, 0, "moves apart")]),
        "bishop_pawns" => ("bishop", &[Count(9, 0, "own pawns on its color")]),
        "bishop_blocked_center" => ("bishop", &[Count(5, 0, "blocked own center pawns")]),
        "bishop_rammed_pawns" => ("bishop", &[Count(5, 0, "own pawns on its color held by pawns")]),
        "bishop_enemy_pawns" => ("bishop", &[Count(9, 0, "enemy pawns on its color")]),
        "bishop_xray_pawns" => ("bishop", &[Count(6, 0, "enemy pawns on its diagonals")]),
        "bishop_long_diagonal" => ("bishop on a long diagonal", &[One(&["blocked by a piece", "open"])]),
        "rook_file" => (
            "rook",
            &[
                One(&[
                    "on an open file",
                    "on a half-open file",
                    "on a half-open file against a defended pawn",
                    "behind a blocked pawn",
                    "behind an own pawn",
                ]),
                One(&["away from the enemy king", "near the enemy king"]),
            ],
        ),
        "rook_queen_file" => ("rook on the file of", &[One(&["its queen", "the enemy queen"])]),
        "rook_seventh" => {
            ("rook on the seventh", &[One(&["", "confining the king"]), One(&["without targets", "against pawns"])])
        }
        "rook_trapped" => {
            ("rook shut in by its king", &[One(&["with castling lost", "able to castle"]), Count(4, 0, "safe squares")])
        }
        "queen_infiltration" => ("queen safe from pawns in the enemy camp", &[]),
        "queen_xrayed" => {
            ("queen in line with", &[One(&["a bishop", "a rook"]), One(&["behind an enemy man", "behind an own man"])])
        }
        "battery" => (
            "battery:",
            &[One(&["two rooks on the seventh", "rooks on a rank", "rooks on a file", "queen and bishop"])],
        ),
        "pinned" => ("pinned man:", &[ATTACKED_MEN, One(&["by a bishop", "by a rook", "by a queen"])]),
        "discovery" => {
            ("man ready to open a line at the king:", &[ATTACKED_MEN, One(&["of a bishop", "of a rook", "of a queen"])])
        }
        "attacked" => (
            "attack on a man",
            &[
                One(&["undefended", "defended by a piece", "defended by a pawn"]),
                One(&[
                    "by a pawn on a",
                    "by a knight on a",
                    "by a bishop on a",
                    "by a rook on a",
                    "by a queen on a",
                    "by a king on a",
                ]),
                ATTACKED_MEN,
            ],
        ),
        "hanging" => ("enemy man hanging", &[MOVE, ATTACKED_MEN]),
        "targets" => ("player", &[MOVE, Count(4, 0, "pieces to take")]),
        "queen_defends" => ("enemy man that only the queen defends", &[]),
        "overloaded" => ("enemy man defended only once:", &[One(&["pawn", "piece"])]),
        "pawn_threat" => ("safe pawn attacking a", &[PIECES]),
        "push_threat" => ("pawn ready to attack a", &[PIECES]),
        "queen_threat" => (
            "square to attack the queen",
            &[One(&["with a knight", "with a bishop", "with a rook"]), One(&["having a queen", "having none"])],
        ),
        "restricted" => ("contested", &[One(&["empty square", "square with a man"])]),
        "king_attackers" => ("attack on the king", &[ENEMY_QUEEN, Count(6, 0, "pieces")]),
        "king_attack" => ("attack on the king's ring", &[ENEMY_QUEEN, Count(16, 0, "attacks")]),
        "king_attack_by" => (
            "attack on a square by the king",
            &[One(&["by a knight", "by a bishop", "by a rook", "by a queen", "by a pawn"])],
        ),
        "king_weak_squares" => ("attack on the king", &[ENEMY_QUEEN, Count(10, 0, "weak squares")]),
        "king_danger" => ("enemy king in danger of", &[Count(64, 0, "units")]),
        "safe_checks" => ("safe checks", &[One(&ALL_CHECKS)]),
        "unsafe_checks" => ("checks that cost the piece", &[One(&CHECKS)]),
        "king_defenders" => ("king against an enemy", &[ENEMY_QUEEN, Count(9, 0, "own men around it")]),
        "king_refuge" => ("king against an enemy", &[ENEMY_QUEEN, Count(9, 0, "squares to go to")]),
        "back_rank" => ("enemy king shut in on its back rank", &[One(&["bare", "guarded"])]),
        "shelter" => ("sheltering pawn", &[PLACE, Files, ShelterRanks]),
        "storm_open" => ("enemy pawn", &[PLACE, Files, ShelterRanks]),
        "storm_blocked" => ("enemy pawn near the king held by a pawn", &[ShelterRanks]),
        "king_file" => (
            "king against",
            &[
                One(&["minor pieces", "heavy pieces"]),
                One(&["on a file", "beside a file"]),
                One(&["without pawns", "without own pawns", "without enemy pawns"]),
            ],
        ),
        "king_pawns" => {
            ("king", &[One(&["from its nearest pawn", "from the nearest enemy pawn"]), Count(8, 0, "moves")])
        }
        "castling" => ("castling", &[One(&["lost or done", "still possible"])]),
        "flank_attack" => ("attack on the king's flank", &[Count(24, 0, "squares")]),
        "flank_defense" => ("defense of the king's flank", &[Count(21, 0, "squares")]),
        "flank_pawnless" => ("enemy king on a flank without pawns", &[]),
        "space" => ("square behind the pawns", &[Count(16, 1, "men to use it")]),
        "center_control" => ("center", &[Count(9, 0, "attacks")]),
        "tempo" => ("the move", &[One(&["without queens", "with queens"])]),
        "ahead_pawns_left" => ("player ahead", &[LEAD, Count(17, 0, "pawns on the board")]),
        "ahead_wings" => ("player ahead", &[LEAD, One(&["pawns on one wing", "pawns on both wings"])]),
        "ahead_outflanking" => ("player ahead", &[LEAD, Count(15, -7, "files of outflanking")]),
        "ahead_passed" => ("player ahead", &[LEAD, Count(5, 0, "passed pawns on the board")]),
        "ahead_own_pawns" => (
            "player ahead",
            &[
                One(&[
                    "but behind in pieces",
                    "in pawns only",
                    "by little in pieces",
                    "by a piece",
                    "by more than a piece",
                ]),
                Count(9, 0, "own pawns"),
            ],
        ),
        "ending" => (
            "player ahead",
            &[
                One(&[
                    "in a pawn ending",
                    "in a knight ending",
                    "with opposite bishops",
                    "with bishops of one color",
                    "with knight and bishop",
                    "in a rook ending",
                    "with two rooks each",
                    "in a queen ending",
                    "with rooks and opposite bishops",
                    "with opposite bishops and more",
                ]),
                Count(4, 1, "pawns up"),
                One(&["on one wing", "on both wings"]),
            ],
        ),
        _ => return None,
    })
}

impl Axis {
    fn len(&self) -> usize {
        match self {
            Ranks(len) | Count(len, ..) => *len,
            OutpostRanks => 3,
            ShelterRanks => 7,
            Files => 4,
            One(names) => names.len(),
        }
    }

    fn name(&self, index: usize) -> String {
        match self {
            Ranks(_) => format!("on rank {}", index + 2),
            OutpostRanks => format!("on rank {}", index + 4),
            ShelterRanks if index == 0 => "none".into(),
            ShelterRanks => format!("on rank {}", index + 1),
            Files => ["on an edge file", "on file b or g", "on file c or f", "on file d or e"][index].into(),
            Count(_, first, noun) => format!("{} {}", first + index as i32, singular(noun, first + index as i32)),
            One(names) => names[index].into(),
        }
    }
}

/// The noun for this number of things.
fn singular(noun: &str, count: i32) -> String {
    if count != 1 {
        return noun.into();
    }
    let (first, rest) = noun.split_once(' ').unwrap_or((noun, ""));
    let plural = ["squares", "moves", "pieces", "pawns", "islands", "units", "attacks", "supporters", "files"];
    let one =
        |word: &str| if plural.contains(&word) { word.trim_end_matches('s').to_string() } else { word.to_string() };
    let words = std::iter::once(first).chain(rest.split(' ').filter(|word| !word.is_empty()));
    words.map(one).collect::<Vec<_>>().join(" ")
}

/// The feature at `index` of a group of terms in words; `None` for groups that are not terms.
pub fn describe(group: &Group, index: usize) -> Option<String> {
    if group.name == MATERIAL_PAIRS_OWN.name || group.name == MATERIAL_PAIRS_ENEMY.name {
        return Some(describe_material(group, index));
    }
    let (subject, axes) = words(group)?;
    let mut place = index;
    let mut names = Vec::new();
    for axis in axes.iter().rev() {
        names.push(axis.name(place % axis.len()));
        place /= axis.len();
    }
    let names = names.into_iter().rev().filter(|name| !name.is_empty());
    Some(std::iter::once(subject.to_string()).chain(names).collect::<Vec<_>>().join(", ").replace(":,", ":"))
}

fn describe_material(group: &Group, index: usize) -> String {
    let enemy = group.name == MATERIAL_PAIRS_ENEMY.name;
    let [one, other] = material::decode(index, enemy).map(|(piece, count)| {
        let most = if piece != 0 && count + 1 == material::LEVELS[piece] { " or more" } else { "" };
        let plural = if count == 1 { "" } else { "s" };
        format!("{count}{most} {}{plural}", PACKED_PIECES[piece])
    });
    let relation = if enemy { "against" } else { "with" };
    format!("{one} {relation} {other}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_properties_of_each_group_span_it() {
        for group in GROUPS {
            if let Some((_, axes)) = words(&group) {
                let len: usize = axes.iter().map(Axis::len).product();
                assert_eq!(len, group.len, "{}", group.name);
            }
        }
    }

    #[test]
    fn every_term_has_words() {
        for group in &GROUPS {
            if ["material", "location", "pairs"].contains(&group.name) {
                continue;
            }
            for index in 0..group.len {
                let words = describe(group, index).unwrap_or_else(|| panic!("{} has no words", group.name));
                assert!(words.len() > 4, "{} {index}: {words}", group.name);
            }
        }
    }

    #[test]
    fn words_say_what_a_feature_is() {
        let cases = [
            (PAWN_ISOLATED, 4 + 3, "isolated pawn, on an open file, doubled, on file d or e"),
            (MOBILITY_KNIGHT, 1, "knight, 1 safe square"),
            (PASSED_ENEMY_KING, 8 * 4 + 2, "passed pawn, on rank 6, 2 moves from the enemy king"),
            (MATERIAL_PAIRS_OWN, 0, "0 pawns with 0 knights"),
            (MATERIAL_PAIRS_ENEMY, 80, "8 pawns against 8 pawns"),
        ];
        for (group, index, expected) in cases {
            assert_eq!(describe(&group, index).as_deref(), Some(expected));
        }
    }
}
