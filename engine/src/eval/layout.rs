//! The features of the evaluation: each group of them is one entry of `groups!` below.
//!
//! A feature is an index below [`LEN`], with a middlegame and an endgame weight. A group is a range of features,
//! indexed by properties: isolated pawns by opposed, doubled and file. Search, trainer, weights files and `explain`
//! share this table. An entry determines the offset and length of the group, its description, its part of the checksum
//! of weights files, and the constant by which the evaluation terms name its features:
//! `PAWN_ISOLATED.at(Opposed(true), Doubled(false), EdgeFile::of(square))`.
//!
//! A new group takes two edits: an entry here, and the code in [`terms`](super::terms) that counts its features. Three
//! [kinds](Kind) of groups have an attribute:
//!
//! - `#[Attack]`: attacks on the enemy king, which `explain` counts toward the safety of that king;
//! - `#[Pair]`: features of two pieces and their squares alone, see [`pair_terms`](super::terms::pair_terms); search
//!   adds their weights to the 2-tuples of the two pieces;
//! - `#[Batched]`: features that differ only in the second property are added at once, see
//!   [`Visitor::add_batch`](super::Visitor::add_batch).
//!
//! Tests compare the attributes with what the terms do. A 2-tuple is a pair of pieces on their squares, see
//! [`pairs`](super::pairs). The 2-tuples come last, so that all other features are one range.

mod group;
mod property;

pub use group::{Any, Batch, Group, Kind, batches, checksum, describe, group, group_of, select};
pub(crate) use group::{BATCH_LANES, checksum_of};
pub(crate) use property::COUNT_LEVELS;
pub use property::{Counts, HalfSquare, Properties, Property, PropertyInfo};

use super::pairs::Pair;
use crate::board::squares::{edge_distance, file};
use crate::board::{PIECE_NAMES, Piece, Square};
use group::{group_name, lower_case, with_offsets};
use property::{counted, either, number, on_rank, one_of, piece_type, property};

// Properties, by kind. Piece types and ranks hold indices from 0.

either! {
    /// Whether an enemy pawn is ahead on the same file.
    Opposed "opposed" ["unopposed", "opposed"];
    /// Whether another own pawn is on the same file.
    Doubled "doubled" ["", "doubled"];
    /// Whether one doubled pawn is directly behind the other.
    Close "close" ["apart", "one directly behind the other"];
    /// Whether an own pawn defends the pawn, or the outpost.
    Supported "supported" ["unsupported", "supported by a pawn"];
    /// Whether the stop square of a passed pawn is defended.
    NextDefended "stop square" ["stop square undefended", "stop square defended"];
    /// Whether the bishop attacks a center square along a long diagonal.
    SeesCenter "open" ["blocked by a piece", "open"];
    /// Whether the enemy king is on the file of the rook or an adjacent one.
    NearKing "enemy king" ["away from the enemy king", "near the enemy king"];
    /// Whether the enemy king is on its back rank.
    ConfinesKing "enemy king on the 8th rank" ["", "confining the king"];
    /// Whether there are enemy pawns on the seventh rank.
    AgainstPawns "enemy pawns on the 7th rank" ["without targets", "against pawns"];
    /// Whether the side has castling rights.
    CanCastle "castling rights" ["no castling rights", "castling rights"];
    /// Whether the piece between slider and queen is on the queen's side.
    OwnBetween "color of the piece between" ["an enemy piece", "an own piece"];
    /// Whether the attacking side is to move.
    OnMove "side to move" ["with the enemy to move", "with the move"];
    /// Whether the attacked piece is not a pawn.
    NotPawn "pawn or piece" ["pawn", "piece"];
    /// Whether the side that attacks a queen has none.
    WithoutQueen "own queen" ["having a queen", "having none"];
    /// Whether a piece of either side is on the square.
    Occupied "occupied" ["empty square", "square with a piece"];
    /// Whether we, attacking the enemy king, have a queen.
    WithQueen "queen" ["without a queen", "with a queen"];
    /// Whether the enemy, attacking our king, has a queen.
    AgainstQueen "enemy queen" ["against no queen", "against a queen"];
    /// Whether the check is possible from more than one square.
    Several "one or more squares" ["from one square", "from several squares"];
    /// Whether a rook or queen defends the back rank.
    Guarded "guarded" ["unguarded", "guarded"];
    /// Whether the file is the king's, not an adjacent one.
    BeforeKing "king's file or adjacent" ["next to the king", "in front of the king"];
    /// Whether the file is adjacent to the king's, not the king's.
    BesideKing "king's file or adjacent" ["of the king", "next to the king"];
    /// Whether the enemy has rooks or a queen.
    AgainstHeavy "enemy's heavy pieces" ["against minor pieces", "against rooks or queen"];
    /// Whether either side has a queen.
    QueensLeft "queens" ["without queens", "with queens"];
    /// Whether the material advantage is more than two pawns.
    LargeLead "material advantage" ["small material advantage", "large material advantage"];
    /// Whether there are pawns on both wings.
    BothWings "wings" ["pawns on one wing", "pawns on both wings"];
}

one_of! {
    /// What a lever attacks.
    Lever "how" {
        Unsupported "an enemy pawn, unsupported",
        Supported "an enemy pawn, supported by a pawn",
        Two "two enemy pawns",
    }
    /// How a pawn may become passed.
    Candidate "how" {
        Exchange "by exchanges",
        Helpers "with as many helpers as guards",
        HalfOpen "on a half-open file",
        Breakthrough "by a breakthrough",
    }
    /// How a passed pawn is connected.
    Connected "how" {
        Supported "supported by a pawn",
        Phalanx "in a phalanx",
    }
    /// The enemy's strongest piece type.
    Strongest "enemy's strongest piece" {
        Bare "king and pawns",
        Minor "minor pieces",
        Rook "rooks",
        Queen "a queen",
    }
    /// What blocks a passed pawn.
    Blocker "blocker" {
        Own "an own piece",
        Minor "a minor piece",
        Heavy "a rook or queen",
        King "the enemy king",
    }
    /// Which squares ahead of a passed pawn the enemy controls.
    PathSafety "safety of the path" {
        NextAttacked "stop square attacked",
        LaterAttacked "path attacked beyond the stop square",
        Safe "path safe",
    }
    /// The owner of a piece.
    Owner "owner" {
        Own "own",
        Enemy "enemy",
    }
    /// A rook's file.
    RookFile "file" {
        Open "an open file",
        HalfOpen "a half-open file",
        HalfOpenDefended "a half-open file against a defended pawn",
        BehindBlocked "the file of a blocked own pawn",
        BehindOwn "the file of an own pawn",
    }
    /// A battery: pieces of one side on a line.
    Battery "pieces" {
        RooksOnSeventh "two rooks on the 7th rank",
        RooksOnRank "rooks on a rank",
        RooksOnFile "rooks on a file",
        QueenBishop "queen and bishop on a diagonal",
    }
    /// How an attacked piece is defended.
    Defense "defense" {
        Undefended "undefended",
        ByPiece "defended by a piece",
        ByPawn "defended by a pawn",
    }
    /// What attacks the king ring.
    RingAttacker "piece type" {
        Knight "knight",
        Bishop "bishop",
        Rook "rook",
        Queen "queen",
        Pawn "pawn",
    }
    /// An open file, or one that is half-open for either side.
    OpenFile "missing pawns" {
        Open "open file",
        NoOwn "file without own pawns",
        NoEnemy "file without enemy pawns",
    }
    /// How much of a material advantage is in pieces, not pawns.
    PieceLead "advantage in pieces" {
        Behind "ahead but behind in pieces",
        Pawns "ahead in pawns only",
        Little "ahead by less than a piece",
        Piece "ahead by a piece",
        More "ahead by more than a piece",
    }
    /// Drawish endings.
    DrawishEnding "ending" {
        Pawns "pawn ending",
        Knights "knight ending",
        OppositeBishops "opposite bishops",
        SameBishops "bishops of one color",
        KnightBishop "knight against bishop",
        Rooks "rook ending",
        TwoRooks "two rooks each",
        Queens "queen ending",
        RooksOppositeBishops "rooks and opposite bishops",
        MoreOppositeBishops "opposite bishops and more",
    }
}

number! {
    /// Mobility of a knight.
    KnightSquares "number" 0 to 8 ["safe square", "safe squares"];
    /// Mobility of a bishop.
    BishopSquares "number" 0 to 13 ["safe square", "safe squares"];
    /// Mobility of a rook.
    RookSquares "number" 0 to 14 ["safe square", "safe squares"];
    /// Mobility of a queen.
    QueenSquares "number" 0 to 27 or more ["safe square", "safe squares"];
    /// Pawns that defend a pawn.
    Supporters "number" 1 to 2 ["pawn", "pawns"];
    /// Pawn islands: groups of pawns on adjacent files.
    Islands "number" 0 to 4 ["pawn island", "pawn islands"];
    /// Passed pawns of one side.
    PassedPawns "number" 1 to 5 or more ["passed pawn", "passed pawns"];
    /// Pawns of both sides.
    AllPawns "number" 0 to 16 ["pawn on the board", "pawns on the board"];
    /// Own pawns: all, or those on the color of a bishop.
    OwnPawns "number" 0 to 8 ["own pawn", "own pawns"];
    /// Blocked own pawns.
    FewOwnPawns "number" 0 to 4 or more ["own pawn", "own pawns"];
    /// Enemy pawns on the color of a bishop.
    EnemyPawns "number" 0 to 8 ["enemy pawn", "enemy pawns"];
    /// Enemy pawns on the diagonals of a bishop.
    DiagonalPawns "number" 0 to 5 or more ["enemy pawn", "enemy pawns"];
    /// Mobility of a trapped rook.
    TrappedSquares "number" 0 to 3 ["safe square", "safe squares"];
    /// Attacked enemy pieces that are not sufficiently defended.
    Targets "number" 0 to 3 or more ["weak enemy piece attacked", "weak enemy pieces attacked"];
    /// Pieces that attack a king ring.
    Attackers "number" 0 to 5 or more ["piece", "pieces"];
    /// Attacks on squares of a king ring.
    RingAttacks "number" 0 to 15 or more ["attack", "attacks"];
    /// Weak squares of a king ring.
    WeakSquares "number" 0 to 9 ["weak square", "weak squares"];
    /// The index of the king danger table.
    Danger "number" 0 to 63 or more ["unit", "units"];
    /// Own pieces and pawns in the king ring.
    RingDefenders "number" 0 to 8 or more ["defender", "defenders"];
    /// Safe squares next to a king.
    EscapeSquares "number" 0 to 8 ["escape square", "escape squares"];
    /// Attacks on squares of the king's flank.
    FlankAttacks "number" 0 to 23 or more ["attack", "attacks"];
    /// Defended squares of the king's flank.
    FlankDefenses "number" 0 to 20 or more ["defended square", "defended squares"];
    /// Pieces of one side, king and pawns included.
    OwnPieces "own pieces" 1 to 16 ["piece to use it", "pieces to use it"];
    /// Attacks on the four center squares, at most two per square.
    CenterAttacks "number" 0 to 8 ["attack", "attacks"];
    /// Passed pawns of both sides.
    AllPassed "number" 0 to 4 or more ["passed pawn on the board", "passed pawns on the board"];
    /// A material advantage in pawns.
    LeadSize "material advantage" 1 to 4 or more ["pawn ahead", "pawns ahead"];
}

piece_type! {
    /// Knight or bishop.
    Minor "piece type" Knight to Bishop;
    /// All but pawn and king.
    NotPawnNorKing "piece type" Knight to Queen;
    /// The attacking piece.
    Attacker "attacker" Pawn to King;
    /// The attacked, pinned or blocking piece.
    Target "piece type" Pawn to Queen;
    /// The slider behind a pin or a discovered check.
    Slider "slider" Bishop to Queen;
    /// A slider that attacks a queen by x-ray.
    XraySlider "slider" Bishop to Rook;
    /// A piece that could attack a queen.
    QueenAttacker "attacker" Knight to Rook;
    /// A piece that can give check.
    Checker "piece type" Knight to Queen;
}

/// A pawn's rank from its own side, by its index: 1 for the second to 6 for the seventh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PawnRank(pub usize);

property!(PawnRank, "rank", 6, |rank| rank.0 - 1, |index| on_rank(index + 1));

/// The rank of an outpost: 3 for the fourth to 5 for the sixth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutpostRank(pub usize);

property!(OutpostRank, "rank", 3, |rank| rank.0 - 3, |index| on_rank(index + 3));

/// A file by its distance from the edge: 0 for a and h, 3 for d and e.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeFile(pub usize);

impl EdgeFile {
    /// The file of a square.
    pub fn of(square: Square) -> EdgeFile {
        EdgeFile(edge_distance(file(square)))
    }
}

property!(EdgeFile, "file", 4, |file| file.0, |index| {
    ["on an edge file", "on the b- or g-file", "on the c- or f-file", "on the d- or e-file"][index]
});

/// The [distance](https://www.chessprogramming.org/Distance) between two squares, in king moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance(pub usize);

property!(Distance, "distance", 8, |moves| moves.0, |index| {
    format!("{index} move{}", if index == 1 { "" } else { "s" })
});

/// The rank index, from the king's side, of the nearest pawn not behind the king on a file; 0 without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearestPawn(pub usize);

property!(NearestPawn, "rank or none", 7, |pawn| pawn.0, |index| {
    if index == 0 { "no pawn".into() } else { format!("pawn {}", on_rank(index)) }
});

/// File distance of the kings minus their rank distance, -7 to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outflanking(pub i32);

property!(Outflanking, "difference", 15, |difference| (difference.0 + 7) as usize, |index| {
    format!("outflanking {:+}", index as i32 - 7)
});

/// Safe checks by one piece type, or by all types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SafeChecks {
    /// The piece type has a safe check.
    By(Checker, Several),
    /// The number of safe checks by all types; more than seven count as seven.
    All(usize),
}

impl SafeChecks {
    /// The number of values of [`SafeChecks::By`].
    const BY: usize = Checker::LEN * Several::LEN;
}

property!(
    SafeChecks,
    "piece type and one or more squares; total number",
    Self::BY + 8,
    |checks| match checks {
        SafeChecks::By(checker, several) => checker.index() * Several::LEN + several.index(),
        SafeChecks::All(count) => Self::BY + count.min(7),
    },
    |index| match index.checked_sub(Self::BY) {
        None => {
            let (checker, several) = (index / Several::LEN, index % Several::LEN);
            format!("safe check by a {}, {}", Checker::words(checker), Several::words(several))
        }
        Some(0) => "no safe checks".into(),
        Some(count) => counted(count, count == 7, ["safe check in total", "safe checks in total"]),
    }
);

/// Defines [`Family`], [`GROUPS`] and one typed constant for each group.
///
/// An entry is `#[kind] GROUP as "name" [Property, ...] "what its features count" => "one feature in words";` where
/// `{0}` stands for the value of the first property. The [`Kind`] is optional. The name of a group is that of the
/// constant in lower case, and so is the name in weights files unless given.
macro_rules! groups {
    ($($(#[$family_doc:meta])* $family:ident $family_name:literal {
        $(
            $(#[$kind:ident])? $constant:ident $(as $name:literal)? [$($property:ty),*]
            $about:literal => $words:literal;
        )*
    })*) => {
        /// A part of the evaluation that is trained, frozen or scaled together.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Family {
            $($(#[$family_doc])* $family,)*
        }

        impl Family {
            /// All families, in the order of their features.
            pub const ALL: [Family; [$($family_name),*].len()] = [$(Family::$family),*];

            /// The name in selections and reports; unique.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Family::$family => $family_name,)*
                }
            }
        }

        /// The indices of the groups.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum GroupIndex { $($($constant,)*)* }

        /// All groups, in the order of their features.
        pub const GROUPS: &[Group] = &with_offsets([
            $($(Group::new::<($($property,)*)>(
                // The name in weights files and the kind are optional: the first of each list counts.
                [group_name!($constant), [$($name,)? group_name!($constant)][0]],
                Family::$family,
                [$(Kind::$kind,)? Kind::Plain][0],
                $about,
                $words,
            ),)*)*
        ]);

        $($(
            #[doc = concat!("`", $family_name, "`: ", $about)]
            pub const $constant: Group<($($property,)*)> = GROUPS[GroupIndex::$constant as usize].typed();
        )*)*
    };
}

groups! {
    /// Piece values.
    Material "material" {
        MATERIAL [Piece] "piece values" => "extra {0}";
    }
    /// Piece-square tables.
    PieceSquare "piece_square" {
        PIECE_SQUARE as "location" [Piece, HalfSquare] "piece-square tables, mirrored to files a to d" => "{0} on {1}";
    }
    /// Material imbalance: the numbers of two piece types combined.
    MaterialPairs "material_pairs" {
        MATERIAL_PAIRS_OWN [Counts<false>] "numbers of two own piece types" => "{0}";
        MATERIAL_PAIRS_ENEMY [Counts<true>] "numbers of an own and an enemy piece type" => "{0}";
    }
    /// Mobility: safe squares that pieces attack.
    Mobility "mobility" {
        MOBILITY_KNIGHT [KnightSquares] "mobility of knights: safe squares they attack" => "knight with {0}";
        MOBILITY_BISHOP [BishopSquares] "mobility of bishops" => "bishop with {0}";
        MOBILITY_ROOK [RookSquares] "mobility of rooks" => "rook with {0}";
        MOBILITY_QUEEN [QueenSquares] "mobility of queens" => "queen with {0}";
    }
    /// Pawn structure.
    Pawns "pawns" {
        PAWN_ISOLATED [Opposed, Doubled, EdgeFile] "isolated pawns" => "{1} isolated pawn {2}, {0}";
        PAWN_DOUBLED [Close, EdgeFile] "doubled pawns" => "doubled pawns {1}, {0}";
        PAWN_BACKWARD [Opposed, EdgeFile] "backward pawns" => "backward pawn {1}, {0}";
        PAWN_PHALANX [Opposed, PawnRank] "pawns in a phalanx" => "pawn in a phalanx {1}, {0}";
        PAWN_SUPPORTED [Supporters, Opposed, PawnRank] "pawns defended by pawns" => "pawn {2} supported by {0}, {1}";
        PAWN_LEVER [Lever, PawnRank] "levers: pawns that attack pawns" => "pawn {1} attacking {0}";
        PAWN_RAMMED [Supported, PawnRank] "rams: pawns blocked by an enemy pawn" => "pawn {1} blocked by a pawn, {0}";
        PAWN_CANDIDATE [Candidate, PawnRank] "candidate passed pawns" => "candidate passed pawn {1}, {0}";
        PAWN_ISLANDS [Islands] "pawn islands" => "{0}";
    }
    /// Passed pawns.
    Passed "passed" {
        PASSED_RANK [PawnRank] "passed pawns by rank" => "passed pawn {0}";
        PASSED_FILE [EdgeFile] "passed pawns by file" => "passed pawn {0}";
        PASSED_CONNECTED [Connected, PawnRank] "connected passed pawns" => "passed pawn {1}, {0}";
        PASSED_AGAINST [Strongest, PawnRank] "passed pawns by the enemy's pieces" => "passed pawn {1} against {0}";
        PASSED_OWN_KING [PawnRank, Distance]
            "passed pawns by the own king's distance from the stop square"
            => "passed pawn {0}, its king {1} from the stop square";
        PASSED_ENEMY_KING [PawnRank, Distance]
            "passed pawns by the enemy king's distance from the stop square"
            => "passed pawn {0}, enemy king {1} from the stop square";
        PASSED_BLOCKED [Blocker, PawnRank] "blocked passed pawns" => "passed pawn {1} blocked by {0}";
        PASSED_PATH [PathSafety, NextDefended, PawnRank] "passed pawns free to advance" => "passed pawn {2}, {0}, {1}";
        PASSED_ROOK_BEHIND [Owner, PawnRank]
            "passed pawns with a rook or queen behind (Tarrasch)" => "passed pawn {1}, {0} rook or queen behind";
        PASSED_UNSTOPPABLE [PawnRank]
            "passed pawns that a king without pieces cannot stop" => "unstoppable passed pawn {0}";
        PASSED_COUNT [PassedPawns] "number of passed pawns" => "{0}";
    }
    /// Pieces in relation to pawns, kings and each other.
    Pieces "pieces" {
        BISHOP_PAIR [AllPawns] "bishop pair" => "bishop pair, {0}";
        OUTPOST [Minor, Supported, OutpostRank] "knights and bishops on outposts" => "{0} on an outpost {2}, {1}";
        OUTPOST_REACHABLE [Minor, Supported]
            "knights and bishops that can reach an outpost" => "{0} able to reach an outpost, {1}";
        #[Pair] MINOR_BEHIND_PAWN [Minor, Owner]
            "knights and bishops directly behind a pawn" => "{0} behind an {1} pawn";
        #[Pair] MINOR_KING_DISTANCE [Minor, Distance]
            "distance of knights and bishops from their king" => "{0} {1} from its king";
        BISHOP_PAWNS [OwnPawns] "bad bishops: own pawns on the color of a bishop" => "bishop with {0} on its color";
        BISHOP_BLOCKED_CENTER [FewOwnPawns]
            "bishops and blocked own pawns on the center files" => "bishop with {0} blocked on the center files";
        BISHOP_RAMMED_PAWNS [FewOwnPawns]
            "own pawns on the color of a bishop that an enemy pawn blocks"
            => "bishop with {0} on its color blocked by pawns";
        BISHOP_ENEMY_PAWNS [EnemyPawns] "enemy pawns on the color of a bishop" => "bishop with {0} on its color";
        BISHOP_XRAY_PAWNS [DiagonalPawns]
            "enemy pawns on the diagonals of a bishop" => "bishop with {0} on its diagonals";
        BISHOP_LONG_DIAGONAL [SeesCenter]
            "bishops on a long diagonal free of pawns" => "bishop on a long diagonal, {0}";
        ROOK_FILE [RookFile, NearKing] "rooks on open, half-open and closed files" => "rook on {0}, {1}";
        ROOK_QUEEN_FILE [Owner] "rooks on the file of a queen" => "rook on the file of an {0} queen";
        ROOK_SEVENTH [ConfinesKing, AgainstPawns] "rooks on the 7th rank" => "rook on the 7th rank, {0}, {1}";
        ROOK_TRAPPED [CanCastle, TrappedSquares] "rooks trapped by their king" => "rook trapped by its king, {1}, {0}";
        QUEEN_INFILTRATION []
            "queens in the enemy's half, safe from pawns" => "queen in the enemy camp, safe from pawns";
        QUEEN_XRAYED [XraySlider, OwnBetween]
            "queens attacked by a bishop or rook through one piece (x-ray)" => "queen x-rayed by a {0} through {1}";
        BATTERY [Battery] "batteries" => "battery: {0}";
        PINNED [Target, Slider] "pieces pinned to their king" => "{0} pinned to its king by a {1}";
        DISCOVERY [Target, Slider]
            "discovered-check blockers: pieces that give a discovered check by moving"
            => "{0} ready for a discovered check by a {1}";
    }
    /// Threats: attacks on pieces.
    Threats "threats" {
        #[Batched] ATTACKED [Defense, Attacker, Target] "attacked pieces by attacker" => "{1} attacking a {2}, {0}";
        HANGING [OnMove, Target] "hanging pieces" => "enemy {1} hanging, {0}";
        TARGETS [OnMove, Targets] "attacked pieces, not pawns, without sufficient defense" => "{1}, {0}";
        QUEEN_DEFENDS [] "attacked pieces that only their queen defends" => "enemy piece that only the queen defends";
        OVERLOADED [NotPawn] "pieces attacked once and defended once" => "enemy {0} attacked and defended once";
        PAWN_THREAT [NotPawnNorKing] "pieces attacked by a safe pawn" => "safe pawn attacking a {0}";
        PUSH_THREAT [NotPawnNorKing] "pieces that a safe pawn push would attack" => "pawn push that attacks a {0}";
        QUEEN_THREAT [QueenAttacker, WithoutQueen]
            "safe squares from which the queen could be attacked" => "square to attack the queen with a {0}, {1}";
        RESTRICTED [Occupied] "squares the enemy attacks but does not control" => "contested {0}";
    }
    /// King safety.
    King "king" {
        #[Attack] KING_ATTACKERS [WithQueen, Attackers]
            "pieces that attack the king ring" => "{1} attacking the king ring, {0}";
        #[Attack] KING_ATTACK [WithQueen, RingAttacks]
            "attacks on squares of the king ring" => "{1} on the king ring, {0}";
        #[Attack] KING_ATTACK_BY [RingAttacker]
            "attacks on squares of the king ring by piece type" => "{0} attacking a square of the king ring";
        #[Attack] KING_WEAK_SQUARES [WithQueen, WeakSquares]
            "weak squares in the king ring: attacked, not defended well" => "{1} in the king ring, {0}";
        #[Attack] KING_DANGER [Danger] "king danger: a sum of attacks in fixed units" => "enemy king in danger of {0}";
        #[Attack] SAFE_CHECKS [SafeChecks] "safe checks" => "{0}";
        #[Attack] UNSAFE_CHECKS [Checker, Several] "checks that lose the piece" => "unsafe check by a {0}, {1}";
        KING_DEFENDERS [AgainstQueen, RingDefenders] "own pieces in the king ring" => "king with {1}, {0}";
        KING_ESCAPES as "king_refuge" [AgainstQueen, EscapeSquares] "king escape squares" => "king with {1}, {0}";
        #[Attack] BACK_RANK [Guarded]
            "kings without escape squares on the back rank, against heavy pieces"
            => "enemy king confined to its {0} back rank";
        SHELTER [BeforeKing, EdgeFile, NearestPawn]
            "pawn shelter: own pawns in front of the king" => "shelter {0} {1}: {2}";
        STORM_OPEN [BeforeKing, EdgeFile, NearestPawn]
            "pawn storm: enemy pawns that advance against the king" => "pawn storm {0} {1}: {2}";
        STORM_BLOCKED [NearestPawn] "pawn storm blocked by a pawn" => "blocked pawn storm: {0}";
        KING_FILE [AgainstHeavy, BesideKing, OpenFile] "open and half-open files near the king" => "{2} {1}, {0}";
        KING_PAWNS [Owner, Distance]
            "distance of the king from the nearest pawn" => "king {1} from the nearest {0} pawn";
        CASTLING [CanCastle] "castling rights" => "{0}";
        #[Attack] FLANK_ATTACK [FlankAttacks] "attacks on the king's flank" => "{0} on the king's flank";
        FLANK_DEFENSE [FlankDefenses] "defended squares on the king's flank" => "{0} on the king's flank";
        #[Attack] FLANK_PAWNLESS [] "kings on a flank without pawns" => "enemy king on a flank without pawns";
    }
    /// Space, center control and tempo.
    Space "space" {
        SPACE [OwnPieces] "space: safe squares behind the pawns" => "square of space, {0}";
        CENTER_CONTROL [CenterAttacks] "attacks on the four center squares" => "{0} on the center";
        TEMPO [QueensLeft] "tempo: the side to move" => "the move, {0}";
    }
    /// Winnability: how likely a material advantage is to win.
    Winnability "winnability" {
        WINNABILITY_PAWNS as "ahead_pawns_left" [LargeLead, AllPawns] "winnability by pawns left" => "{0}, {1}";
        WINNABILITY_WINGS as "ahead_wings" [LargeLead, BothWings]
            "winnability by pawns on one or both wings" => "{0}, {1}";
        WINNABILITY_OUTFLANKING as "ahead_outflanking" [LargeLead, Outflanking]
            "winnability by the kings' distance in files and ranks" => "{0}, kings {1}";
        WINNABILITY_PASSED as "ahead_passed" [LargeLead, AllPassed]
            "winnability by passed pawns of both players" => "{0}, {1}";
        WINNABILITY_OWN_PAWNS as "ahead_own_pawns" [PieceLead, OwnPawns] "winnability by own pawns" => "{0}, {1}";
        DRAWISH_ENDING as "ending" [DrawishEnding, LeadSize, BothWings] "drawish endings" => "{0}, {1}, {2}";
    }
    /// 2-tuples: pairs of pieces on their squares.
    Pairs "pairs" {
        PAIRS [Pair] "2-tuples: a piece on its square with another piece on another square" => "{0}";
    }
}

/// Number of features.
pub const LEN: usize = PAIRS.start + PAIRS.len;

/// Number of features before the 2-tuples.
pub const TERMS_LEN: usize = PAIRS.start;

/// Number of [`Batch`]es in all batched groups: those before the last group, which is not batched.
pub const BATCHES: usize = {
    let last = &GROUPS[GROUPS.len() - 1];
    assert!(last.start == PAIRS.start, "the 2-tuples are the last group");
    last.first_batch
};

#[cfg(test)]
mod tests;
