//! Where each weight lives: the one table of feature groups.
//!
//! A feature is a number below [`LEN`]; every group owns a run of them, a table over a few properties: isolated pawns by
//! whether they are opposed, whether they are doubled, and their file. Search, trainer, weights file and `explain` all
//! have to agree about these tables, so each is declared once, as a line below, and everything else is derived from it
//! when the crate is compiled: lengths, offsets, the typed constant through which a term names a feature
//! (`PAWN_ISOLATED.at(Opposed(true), Doubled(false), EdgeFile::of(square))`), the words for each feature, the family,
//! the checksum that weights files carry, the table in `docs/evaluation.md`. A new group is one line here (and one for
//! a property that there is not yet) and the lines among the terms that find its features. The 2-tuples stay last: what
//! is before them is small enough to be walked whole.

mod dimension;
mod group;

pub use dimension::{Axis, COUNT_LEVELS, Counts, Dimension, Dimensions, HalfSquare, PIECE_NAMES};
pub use group::{Any, Group, checksum, checksum_of, describe, group, group_of, markdown, select};

use super::pairs::Pair;
use crate::board::{Piece, Square};
use dimension::{either, number, on_rank, one_of, piece_type, rank};
use group::{lay_end_to_end, lower_case};

// Properties. Piece types and ranks hold indices, files are told by their distance from the edge.

either! {
    /// Whether an enemy pawn stands ahead on the file.
    Opposed "opposed" ["unopposed", "opposed"];
    /// Whether another own pawn stands on the file.
    Doubled "doubled" ["", "doubled"];
    /// Whether the pawn behind on the file is on the next square.
    Close "close" ["apart", "one right behind the other"];
    /// Whether an own pawn defends it.
    Supported "supported" ["unsupported", "supported by a pawn"];
    /// Whether the square ahead is defended.
    NextDefended "next square" ["next square undefended", "next square defended"];
    /// Whether the diagonal is free to the center.
    SeesCenter "open" ["blocked by a piece", "open"];
    /// Whether the enemy king is on the file or beside it.
    NearKing "enemy king" ["away from the enemy king", "near the enemy king"];
    /// Whether the enemy king is on its back rank.
    ConfinesKing "enemy king on the 8th rank" ["", "confining the king"];
    /// Whether there are enemy pawns on the seventh rank.
    AgainstPawns "enemy pawns on the 7th rank" ["without targets", "against pawns"];
    /// Whether a right to castle is kept.
    CanCastle "right to castle" ["no right to castle", "right to castle"];
    /// Whether the piece between is own.
    OwnBetween "whose piece between" ["an enemy piece", "an own piece"];
    /// Whether it is the move of the player who attacks.
    OnMove "whose move" ["with the enemy to move", "with the move"];
    /// Whether it is not a pawn.
    NotPawn "pawn or piece" ["pawn", "piece"];
    /// Whether the player has no queen.
    WithoutQueen "own queen" ["having a queen", "having none"];
    /// Whether the square has an enemy piece.
    Occupied "occupied" ["empty square", "square with a piece"];
    /// Whether the attacker has a queen.
    WithQueen "queen" ["without a queen", "with a queen"];
    /// Whether the attacker of the king has a queen.
    AgainstQueen "enemy queen" ["against no queen", "against a queen"];
    /// Whether it can be done from more than one square.
    Several "one or more squares" ["from one square", "from several squares"];
    /// Whether a rook or queen guards the back rank.
    Guarded "guarded" ["unguarded", "guarded"];
    /// Whether the file is the king's own.
    BeforeKing "beside or before the king" ["beside the king", "before the king"];
    /// Whether the file is not the king's own.
    BesideKing "king's file or beside" ["of the king", "beside the king"];
    /// Whether the enemy has rooks or a queen.
    AgainstHeavy "enemy's heavy pieces" ["against minor pieces", "against rooks or queen"];
    /// Whether any queen is left.
    QueensLeft "queens" ["without queens", "with queens"];
    /// Whether the lead in material is more than two pawns.
    LargeLead "lead" ["small lead", "large lead"];
    /// Whether there are pawns on both wings.
    BothWings "wings" ["pawns on one wing", "pawns on both wings"];
}

one_of! {
    /// What a pawn attacks.
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
        Phalanx "with a pawn beside it",
    }
    /// The strongest piece of the enemy.
    Strongest "enemy's strongest piece" {
        Bare "king and pawns",
        Minor "minor pieces",
        Rook "rooks",
        Queen "a queen",
    }
    /// What blocks a passed pawn.
    Blocker "by what" {
        Own "an own piece",
        Minor "a minor piece",
        Heavy "a rook or queen",
        King "the enemy king",
    }
    /// How safe a passed pawn's way is.
    Way "safety of the way" {
        NextAttacked "next square attacked",
        LaterAttacked "way attacked further on",
        Safe "way safe",
    }
    /// Whose a piece is.
    Owner "whose" {
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
    /// Pieces in line.
    Battery "which" {
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
    /// What attacks the king's ring.
    RingAttacker "piece type" {
        Knight "knight",
        Bishop "bishop",
        Rook "rook",
        Queen "queen",
        Pawn "pawn",
    }
    /// A file without pawns.
    OpenFile "whose pawns lack" {
        Open "open file",
        NoOwn "file without own pawns",
        NoEnemy "file without enemy pawns",
    }
    /// How much of a lead in material is in pieces.
    PieceLead "lead in pieces" {
        Behind "ahead but behind in pieces",
        Pawns "ahead in pawns only",
        Little "ahead by less than a piece",
        Piece "ahead by a piece",
        More "ahead by more than a piece",
    }
    /// Endings with well-known drawing chances.
    EndingKind "ending" {
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
    /// Safe squares of a knight.
    KnightSquares "number" 0 to 8 ["safe square", "safe squares"];
    /// Safe squares of a bishop.
    BishopSquares "number" 0 to 13 ["safe square", "safe squares"];
    /// Safe squares of a rook.
    RookSquares "number" 0 to 14 ["safe square", "safe squares"];
    /// Safe squares of a queen.
    QueenSquares "number" 0 to 27 or more ["safe square", "safe squares"];
    /// Pawns that defend another.
    Supporters "number" 1 to 2 ["pawn", "pawns"];
    /// Groups of pawns on neighboring files.
    Islands "number" 0 to 4 ["pawn island", "pawn islands"];
    /// Passed pawns of a player.
    PassedPawns "number" 1 to 5 or more ["passed pawn", "passed pawns"];
    /// Pawns of both players.
    AllPawns "number" 0 to 16 ["pawn on the board", "pawns on the board"];
    /// Own pawns.
    OwnPawns "number" 0 to 8 ["own pawn", "own pawns"];
    /// Own pawns, few of which are told apart.
    FewOwnPawns "number" 0 to 4 or more ["own pawn", "own pawns"];
    /// Enemy pawns.
    EnemyPawns "number" 0 to 8 ["enemy pawn", "enemy pawns"];
    /// Enemy pawns on diagonals.
    DiagonalPawns "number" 0 to 5 or more ["enemy pawn", "enemy pawns"];
    /// Safe squares of a rook that is shut in.
    TrappedSquares "number" 0 to 3 ["safe square", "safe squares"];
    /// Enemy pieces to take.
    Targets "number" 0 to 3 or more ["enemy piece to take", "enemy pieces to take"];
    /// Pieces that attack a king's ring.
    Attackers "number" 0 to 5 or more ["piece", "pieces"];
    /// Attacks on squares of a king's ring.
    RingAttacks "number" 0 to 15 or more ["attack", "attacks"];
    /// Attacked squares of a king's ring.
    WeakSquares "number" 0 to 9 ["weak square", "weak squares"];
    /// Steps of danger to a king.
    Danger "number" 0 to 63 or more ["unit", "units"];
    /// Pieces in the own king's ring.
    RingDefenders "number" 0 to 8 or more ["defender", "defenders"];
    /// Squares a king can go to.
    FlightSquares "number" 0 to 8 ["flight square", "flight squares"];
    /// Attacks on squares of a flank.
    FlankAttacks "number" 0 to 23 or more ["attack", "attacks"];
    /// Defended squares of a flank.
    FlankDefenses "number" 0 to 20 or more ["defended square", "defended squares"];
    /// Pieces of a player.
    OwnPieces "own pieces" 1 to 16 ["piece to use it", "pieces to use it"];
    /// Attacks on the four squares in the middle, two at most counted for each.
    CenterAttacks "number" 0 to 8 ["attack", "attacks"];
    /// Passed pawns of both players.
    AllPassed "number" 0 to 4 or more ["passed pawn on the board", "passed pawns on the board"];
    /// A lead in material in pawns.
    LeadSize "lead" 1 to 4 or more ["pawn ahead", "pawns ahead"];
}

piece_type! {
    /// Knight or bishop.
    Minor "piece type" Knight to Bishop;
    /// All but pawn and king.
    NotPawnNorKing "piece type" Knight to Queen;
    /// What attacks.
    Attacker "attacker" Pawn to King;
    /// What is attacked, pinned, or in the way.
    Target "piece type" Pawn to Queen;
    /// What pins or gives a check from afar.
    Slider "slider" Bishop to Queen;
    /// What looks at a queen through another piece.
    XraySlider "slider" Bishop to Rook;
    /// What could attack a queen.
    QueenAttacker "attacker" Knight to Rook;
    /// What can give check.
    Checker "piece type" Knight to Queen;
}

rank! {
    /// A pawn's rank.
    PawnRank 2 to 7;
    /// The rank of an outpost.
    OutpostRank 4 to 6;
}

/// A file by its distance from the edge of the board: 0 for a and h, 3 for d and e.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeFile(pub usize);

impl EdgeFile {
    /// The file of a square.
    #[inline(always)]
    pub fn of(square: Square) -> EdgeFile {
        let file = square.to_index() & 7;
        EdgeFile(file.min(7 - file))
    }
}

impl Dimension for EdgeFile {
    const NAME: &'static str = "file";
    const LEN: usize = 4;

    #[inline(always)]
    fn index(self) -> usize {
        self.0
    }

    fn words(index: usize) -> String {
        ["on an edge file", "on the b- or g-file", "on the c- or f-file", "on the d- or e-file"][index].to_string()
    }
}

/// How many moves a king needs from one square to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance(pub usize);

impl Dimension for Distance {
    const NAME: &'static str = "distance";
    const LEN: usize = 8;

    #[inline(always)]
    fn index(self) -> usize {
        self.0
    }

    fn words(index: usize) -> String {
        format!("{index} move{}", if index == 1 { "" } else { "s" })
    }
}

/// The rank index of the pawn nearest to a king on a file, as the king's player counts; 0 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearestPawn(pub usize);

impl Dimension for NearestPawn {
    const NAME: &'static str = "rank or none";
    const LEN: usize = 7;

    #[inline(always)]
    fn index(self) -> usize {
        self.0
    }

    fn words(index: usize) -> String {
        if index == 0 { "no pawn".into() } else { format!("pawn {}", on_rank(index)) }
    }
}

/// By how much kings stand further apart on files than on ranks, -7 to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outflanking(pub i32);

impl Dimension for Outflanking {
    const NAME: &'static str = "how much";
    const LEN: usize = 15;

    #[inline(always)]
    fn index(self) -> usize {
        (self.0 + 7) as usize
    }

    fn words(index: usize) -> String {
        format!("outflanking {:+}", index as i32 - 7)
    }
}

/// Safe checks by one piece type, or of all types together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SafeChecks {
    /// There is such a check.
    By(Checker, Several),
    /// The number of squares, those of each type counted, at most seven.
    All(usize),
}

impl Dimension for SafeChecks {
    const NAME: &'static str = "piece type and one or more squares; all together by their number";
    const LEN: usize = Checker::LEN * Several::LEN + 8;

    #[inline(always)]
    fn index(self) -> usize {
        match self {
            SafeChecks::By(checker, several) => checker.index() * Several::LEN + several.index(),
            SafeChecks::All(count) => Checker::LEN * Several::LEN + count.min(7),
        }
    }

    fn words(index: usize) -> String {
        match index.checked_sub(Checker::LEN * Several::LEN) {
            None => {
                let (checker, several) = (index / Several::LEN, index % Several::LEN);
                format!("safe check by a {}, {}", Checker::words(checker), Several::words(several))
            }
            Some(0) => "no safe checks".into(),
            Some(1) => "1 safe check in all".into(),
            Some(7) => "7 or more safe checks in all".into(),
            Some(count) => format!("{count} safe checks in all"),
        }
    }
}

/// Turns the table below into [`Family`], [`GROUPS`] with the offsets filled in, and one constant for each group.
///
/// A line is `GROUP [Property, ...] "what its features count" => "one feature in words";` where `{0}` stands for the
/// value of the first property.
macro_rules! groups {
    ($($(#[$family_doc:meta])* $family:ident $family_name:literal {
        $($constant:ident [$($dimension:ty),*] $about:literal => $words:literal;)*
    })*) => {
        /// A part of the evaluation that is trained, frozen or scaled together.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Family {
            $($(#[$family_doc])* $family,)*
        }

        impl Family {
            /// All families, in the order of their features.
            pub const ALL: [Family; [$($family_name),*].len()] = [$(Family::$family),*];

            /// What selections and reports call it; unique.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Family::$family => $family_name,)*
                }
            }
        }

        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Order { $($($constant,)*)* }

        /// All groups, in the order of their features.
        pub const GROUPS: [Group; [$($(stringify!($constant),)*)*].len()] = lay_end_to_end([
            $($({
                const NAME: &[u8] = &lower_case::<{ stringify!($constant).len() }>(stringify!($constant));
                let name = match std::str::from_utf8(NAME) {
                    Ok(name) => name,
                    Err(_) => panic!("a constant's name is UTF-8"),
                };
                Group::new::<($($dimension,)*)>(name, Family::$family, $about, $words, 0)
            },)*)*
        ]);

        $($(
            #[doc = concat!("`", $family_name, "`: ", $about)]
            pub const $constant: Group<($($dimension,)*)> = GROUPS[Order::$constant as usize].typed();
        )*)*
    };
}

groups! {
    /// What pieces are worth.
    Material "material" {
        MATERIAL [Piece] "what a piece is worth anywhere" => "extra {0}";
    }
    /// The piece-square tables. They keep the name that the first weights files gave them.
    Location "location" {
        LOCATION [Piece, HalfSquare] "piece-square tables: what a piece gains from its square, boards mirrored to files a to d" => "{0} on {1}";
    }
    /// Numbers of pieces against each other.
    MaterialPairs "material_pairs" {
        MATERIAL_PAIRS_OWN [Counts<false>] "how many pieces of one type a player has with how many of another" => "{0}";
        MATERIAL_PAIRS_ENEMY [Counts<true>] "how many pieces of one type a player has against how many of the enemy's" => "{0}";
    }
    /// How many squares pieces can go to.
    Mobility "mobility" {
        MOBILITY_KNIGHT [KnightSquares] "safe squares a knight attacks" => "knight with {0}";
        MOBILITY_BISHOP [BishopSquares] "safe squares a bishop attacks" => "bishop with {0}";
        MOBILITY_ROOK [RookSquares] "safe squares a rook attacks" => "rook with {0}";
        MOBILITY_QUEEN [QueenSquares] "safe squares a queen attacks" => "queen with {0}";
    }
    /// The pawn structure.
    Pawns "pawns" {
        PAWN_ISOLATED [Opposed, Doubled, EdgeFile] "pawns without neighbors" => "{1} isolated pawn {2}, {0}";
        PAWN_DOUBLED [Close, EdgeFile] "pawns with another behind on the file" => "doubled pawns {1}, {0}";
        PAWN_BACKWARD [Opposed, EdgeFile] "pawns left behind by their neighbors that cannot advance safely" => "backward pawn {1}, {0}";
        PAWN_PHALANX [Opposed, PawnRank] "pawns beside another" => "pawn beside a pawn {1}, {0}";
        PAWN_SUPPORTED [Supporters, Opposed, PawnRank] "pawns defended by pawns" => "pawn {2} supported by {0}, {1}";
        PAWN_LEVER [Lever, PawnRank] "pawns that attack pawns" => "pawn {1} attacking {0}";
        PAWN_RAMMED [Supported, PawnRank] "pawns blocked by an enemy pawn right ahead" => "pawn {1} blocked by a pawn, {0}";
        PAWN_CANDIDATE [Candidate, PawnRank] "pawns that may become passed" => "candidate passed pawn {1}, {0}";
        PAWN_ISLANDS [Islands] "groups of pawns" => "{0}";
    }
    /// Passed pawns.
    Passed "passed" {
        PASSED_RANK [PawnRank] "passed pawns" => "passed pawn {0}";
        PASSED_FILE [EdgeFile] "passed pawns" => "passed pawn {0}";
        PASSED_CONNECTED [Connected, PawnRank] "passed pawns with a pawn that supports them or stands beside" => "passed pawn {1}, {0}";
        PASSED_AGAINST [Strongest, PawnRank] "passed pawns" => "passed pawn {1} against {0}";
        PASSED_OWN_KING [PawnRank, Distance] "passed pawns and their king's distance from the square ahead" => "passed pawn {0}, its king {1} from the square ahead";
        PASSED_ENEMY_KING [PawnRank, Distance] "passed pawns and the enemy king's distance from the square ahead" => "passed pawn {0}, enemy king {1} from the square ahead";
        PASSED_BLOCKED [Blocker, PawnRank] "passed pawns with a piece right ahead" => "passed pawn {1} blocked by {0}";
        PASSED_PATH [Way, NextDefended, PawnRank] "passed pawns free to advance" => "passed pawn {2}, {0}, {1}";
        PASSED_ROOK_BEHIND [Owner, PawnRank] "passed pawns with a rook or queen behind" => "passed pawn {1}, {0} rook or queen behind";
        PASSED_UNSTOPPABLE [PawnRank] "passed pawns that a bare king cannot stop" => "unstoppable passed pawn {0}";
        PASSED_COUNT [PassedPawns] "passed pawns of a player" => "{0}";
    }
    /// Pieces by where they stand among pawns, kings and each other.
    Pieces "pieces" {
        BISHOP_PAIR [AllPawns] "bishops on both colors" => "bishop pair, {0}";
        OUTPOST [Minor, Supported, OutpostRank] "minor pieces where no pawn can attack them" => "{0} on an outpost {2}, {1}";
        OUTPOST_REACHABLE [Minor, Supported] "minor pieces that can go to such a square" => "{0} able to reach an outpost, {1}";
        MINOR_BEHIND_PAWN [Minor, Owner] "minor pieces right behind a pawn" => "{0} behind an {1} pawn";
        MINOR_KING_DISTANCE [Minor, Distance] "minor pieces and their king" => "{0} {1} from its king";
        BISHOP_PAWNS [OwnPawns] "own pawns on the color of a bishop" => "bishop with {0} on its color";
        BISHOP_BLOCKED_CENTER [FewOwnPawns] "bishops and blocked own pawns on the middle files" => "bishop with {0} blocked on the center files";
        BISHOP_RAMMED_PAWNS [FewOwnPawns] "own pawns on the color of a bishop that an enemy pawn blocks" => "bishop with {0} on its color blocked by pawns";
        BISHOP_ENEMY_PAWNS [EnemyPawns] "enemy pawns on the color of a bishop" => "bishop with {0} on its color";
        BISHOP_XRAY_PAWNS [DiagonalPawns] "enemy pawns on the diagonals of a bishop" => "bishop with {0} on its diagonals";
        BISHOP_LONG_DIAGONAL [SeesCenter] "bishops on a long diagonal that no pawn closes" => "bishop on a long diagonal, {0}";
        ROOK_FILE [RookFile, NearKing] "rooks and the pawns on their file" => "rook on {0}, {1}";
        ROOK_QUEEN_FILE [Owner] "rooks on the file of a queen" => "rook on the file of an {0} queen";
        ROOK_SEVENTH [ConfinesKing, AgainstPawns] "rooks on the seventh rank" => "rook on the 7th rank, {0}, {1}";
        ROOK_TRAPPED [CanCastle, TrappedSquares] "rooks shut in by their king" => "rook trapped by its king, {1}, {0}";
        QUEEN_INFILTRATION [] "queens in the enemy's half where no pawn can attack them" => "queen in the enemy camp, safe from pawns";
        QUEEN_XRAYED [XraySlider, OwnBetween] "queens in line with an enemy bishop or rook behind one piece" => "queen in line with a {0} behind {1}";
        BATTERY [Battery] "pieces in line" => "battery: {0}";
        PINNED [Target, Slider] "pieces pinned to their king" => "{0} pinned to its king by a {1}";
        DISCOVERY [Target, Slider] "discovered-check blockers: pieces that open a line to the enemy king by moving" => "{0} ready for a discovered check by a {1}";
    }
    /// Attacks on pieces.
    Threats "threats" {
        ATTACKED [Defense, Attacker, Target] "attacks of pieces on pieces" => "{1} attacking a {2}, {0}";
        HANGING [OnMove, Target] "attacked pieces that are lost if nothing is done" => "enemy {1} hanging, {0}";
        TARGETS [OnMove, Targets] "attacked pieces, no pawns, that are not defended well" => "{1}, {0}";
        QUEEN_DEFENDS [] "attacked pieces that only their queen defends" => "enemy piece that only the queen defends";
        OVERLOADED [NotPawn] "pieces attacked once and defended once" => "enemy {0} attacked and defended once";
        PAWN_THREAT [NotPawnNorKing] "pieces attacked by a safe pawn" => "safe pawn attacking a {0}";
        PUSH_THREAT [NotPawnNorKing] "pieces that a safe push of a pawn would attack" => "pawn push that attacks a {0}";
        QUEEN_THREAT [QueenAttacker, WithoutQueen] "safe squares from which the queen could be attacked" => "square to attack the queen with a {0}, {1}";
        RESTRICTED [Occupied] "squares the enemy attacks but does not hold" => "contested {0}";
    }
    /// Safety of the kings.
    King "king" {
        KING_ATTACKERS [WithQueen, Attackers] "pieces that attack the king's ring" => "{1} attacking the king's ring, {0}";
        KING_ATTACK [WithQueen, RingAttacks] "attacks on squares of the king's ring" => "{1} on the king's ring, {0}";
        KING_ATTACK_BY [RingAttacker] "attacks on squares of the king's ring" => "{0} attacking a square of the king's ring";
        KING_WEAK_SQUARES [WithQueen, WeakSquares] "attacked squares of the king's ring without good defense" => "{1} in the king's ring, {0}";
        KING_DANGER [Danger] "all dangers of a king summed in fixed units" => "enemy king in danger of {0}";
        SAFE_CHECKS [SafeChecks] "safe checks" => "{0}";
        UNSAFE_CHECKS [Checker, Several] "checks that cost the piece" => "unsafe check by a {0}, {1}";
        KING_DEFENDERS [AgainstQueen, RingDefenders] "own pieces in the king's ring" => "king with {1}, {0}";
        KING_REFUGE [AgainstQueen, FlightSquares] "safe squares the king can go to" => "king with {1}, {0}";
        BACK_RANK [Guarded] "kings shut in on the back rank against heavy pieces" => "enemy king shut in on its {0} back rank";
        SHELTER [BeforeKing, EdgeFile, NearestPawn] "own pawns before the king" => "shelter {0} {1}: {2}";
        STORM_OPEN [BeforeKing, EdgeFile, NearestPawn] "enemy pawns that come at the king" => "pawn storm {0} {1}: {2}";
        STORM_BLOCKED [NearestPawn] "enemy pawns before the king blocked by a pawn" => "blocked pawn storm: {0}";
        KING_FILE [AgainstHeavy, BesideKing, OpenFile] "files at the king without pawns" => "{2} {1}, {0}";
        KING_PAWNS [Owner, Distance] "the king's distance from the nearest pawn" => "king {1} from the nearest {0} pawn";
        CASTLING [CanCastle] "the right to castle" => "{0}";
        FLANK_ATTACK [FlankAttacks] "attacked squares on the king's flank" => "{0} on the king's flank";
        FLANK_DEFENSE [FlankDefenses] "defended squares on the king's flank" => "{0} on the king's flank";
        FLANK_PAWNLESS [] "kings on a flank without pawns" => "enemy king on a flank without pawns";
    }
    /// Room, the center and the move.
    Space "space" {
        SPACE [OwnPieces] "room behind the pawns" => "square of space, {0}";
        CENTER_CONTROL [CenterAttacks] "attacks on the four squares in the middle" => "{0} on the center";
        TEMPO [QueensLeft] "having the move" => "the move, {0}";
    }
    /// What the player who is ahead can make of it.
    Lead "lead" {
        AHEAD_PAWNS_LEFT [LargeLead, AllPawns] "all pawns left" => "{0}, {1}";
        AHEAD_WINGS [LargeLead, BothWings] "pawns on one wing or both" => "{0}, {1}";
        AHEAD_OUTFLANKING [LargeLead, Outflanking] "kings further apart on files than on ranks" => "{0}, kings {1}";
        AHEAD_PASSED [LargeLead, AllPassed] "all passed pawns" => "{0}, {1}";
        AHEAD_OWN_PAWNS [PieceLead, OwnPawns] "own pawns" => "{0}, {1}";
        ENDING [EndingKind, LeadSize, BothWings] "endings known for draws" => "{0}, {1}, {2}";
    }
    /// The 2-tuples.
    Pairs "pairs" {
        PAIRS [Pair] "2-tuples: a piece type on its square with any other piece on any other square" => "{0}";
    }
}

/// How many features there are.
pub const LEN: usize = PAIRS.start + PAIRS.len;

/// Features before the 2-tuples.
pub const TERMS_LEN: usize = PAIRS.start;

const _: () = {
    let last = &GROUPS[GROUPS.len() - 1];
    assert!(last.start == PAIRS.start, "the 2-tuples are the last group");
};

#[cfg(test)]
mod tests;
