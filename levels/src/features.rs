//! Features of a move that attract or repel human players, in addition to its value.
//!
//! Which moves a player considers depends less on their value than on what catches the eye: captures of the piece that
//! has just moved, checks, squares near the opponent's last move. Backward and long moves are overlooked. Each feature
//! is a number; the model learns its weight for players of each rating.
//!
//! Square features say which squares a piece leaves and reaches, by piece and square (a piece-square table of the
//! player, which holds most of their opening knowledge), and where these squares lie relative to the last two moves and
//! the kings.

use super::analysis::DEPTHS;
use dyad_engine::board::squares::{Squares, distance, each, rank, relative_square, square_set};
use dyad_engine::board::{BitBoard, Board, Color, Game, Move, Piece, Square, attacks, piece_value};
use dyad_engine::value::{MATE, Value, WINS_HALF};

macro_rules! move_features {
    ($($variant:ident $name:literal $meaning:literal)*) => {
        /// The features with names; square features have none.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum MoveFeature { $(#[doc = $meaning] $variant,)* }

        /// Names of the features in model files, in the order of the enum.
        pub const NAMES: &[&str] = &[$($name,)*];
    };
}

move_features! {
    Mate "mate" "Checkmate."
    Check "check" "Check."
    Recapture "recapture" "Captures the piece that has just captured."
    TakesMover "takes-mover" "Captures the piece that has just moved without capturing."
    TakesPawn "takes-pawn" "Captures a pawn."
    TakesMinor "takes-minor" "Captures a knight or a bishop."
    TakesRook "takes-rook" "Captures a rook."
    TakesQueen "takes-queen" "Captures a queen."
    PawnTakes "pawn-takes" "A pawn captures."
    Trade "trade" "Captures a piece of the same value."
    WinsExchange "wins-exchange" "A capture that gains material by static exchange evaluation."
    LosesExchange "loses-exchange" "Loses material by static exchange evaluation."
    Knight "knight" "A knight moves; times the phase."
    Bishop "bishop" "A bishop moves; times the phase."
    Rook "rook" "A rook moves; times the phase."
    Queen "queen" "The queen moves; times the phase."
    King "king" "The king moves; times the phase."
    LateKnight "late-knight" "A knight moves; times 1 minus the phase."
    LateBishop "late-bishop" "A bishop moves; times 1 minus the phase."
    LateRook "late-rook" "A rook moves; times 1 minus the phase."
    LateQueen "late-queen" "The queen moves; times 1 minus the phase."
    LateKing "late-king" "The king moves; times 1 minus the phase."
    Castles "castles" "Castling."
    LosesCastling "loses-castling" "A king move that gives up castling rights."
    SamePiece "same-piece" "Moves the same piece as the previous move."
    GoesBack "goes-back" "Takes back the previous move."
    Flees "flees" "The piece was attacked by a less valuable one, or attacked and undefended."
    ToPawnAttack "to-pawn-attack" "Moves to a square attacked by a pawn."
    ToAttack "to-attack" "Moves to an attacked square."
    ToDefended "to-defended" "Moves to a defended square."
    Threatens "threatens" "Number of attacked pieces that are more valuable or undefended."
    NearLast "near-last" "1 / (1 + distance to the target of the opponent's last move)."
    Forward "forward" "Ranks a piece moves forward, / 7."
    Backward "backward" "Ranks a piece moves backward, / 7."
    ToCenter "to-center" "Steps a piece moves toward the center, / 3."
    ToKing "to-king" "Steps a piece moves toward the enemy king, / 7."
    KingZone "king-zone" "Squares next to the enemy king that the piece attacks, / 4."
    Length "length" "Length of a piece's move in squares, / 7."
    Develops "develops" "A knight or bishop leaves the first rank; times the phase."
    Double "double" "A double pawn push."
    CenterPawn "center-pawn" "A pawn push on the d or e file."
    EdgePawn "edge-pawn" "A pawn push on the a or h file."
    Loosens "loosens" "A pawn push in front of the own king on its first two ranks."
    Passer "passer" "A passed pawn push."
    Promotes "promotes" "Promotion to a queen."
    Underpromotes "underpromotes" "Underpromotion."
    Repeats "repeats" "Repeats a position of the game."
    RepeatsAhead "repeats-ahead" "Repeats a position; times the advantage."
    TradeAhead "trade-ahead" "Captures a piece of the same value; times the advantage."
    PawnLate "pawn-late" "A pawn push; times 1 minus the phase."
    BestStatic "best-glance" "Best by the static evaluation after the move."
    BestOne "best-one" "Best after one ply."
    BestFour "best-four" "Best after four plies."
    BestDeep "best-deep" "Best at full depth."
    LosesOne "loses-one" "Loses a pawn or more at full depth."
    LosesTwo "loses-two" "Loses two pawns or more."
    LosesFive "loses-five" "Loses five pawns or more."
}

/// Number of features with names.
pub const NAMED_FEATURES: usize = NAMES.len();
/// Entries of a piece-square table, from the player's point of view.
const PIECE_SQUARES: usize = 6 * 64;
/// Largest offset of a square from a center, in files and in ranks; larger ones are clamped.
const MAX_OFFSET: i32 = 4;
/// Different offsets in files, or in ranks.
const OFFSETS: usize = 2 * MAX_OFFSET as usize + 1;
/// Entries of a table by piece and offset from a center.
const PIECE_OFFSETS: usize = 6 * OFFSETS * OFFSETS;
/// Number of square features: 3 piece-square tables (target in the middlegame, source, target in the endgame) and 5
/// tables relative to a center (target and source to the opponent's last target; target to the own last target, to the
/// enemy king and to the own king).
pub(crate) const SQUARE_FEATURES: usize = 3 * PIECE_SQUARES + 5 * PIECE_OFFSETS;
pub(crate) const MOVE_FEATURES: usize = NAMED_FEATURES + SQUARE_FEATURES;

/// A position and the two moves before it.
#[derive(Clone, Copy, Debug)]
pub struct PositionContext<'a> {
    /// The position.
    pub board: &'a Board,
    /// The opponent's last move.
    pub last: Option<Move>,
    /// Whether the opponent's last move was a capture.
    pub last_captured: bool,
    /// The player's own last move.
    pub own: Option<Move>,
}

/// Game phase by pieces other than pawns and kings: 1 in the initial position, 0 without any.
pub fn phase(board: &Board) -> f64 {
    const WEIGHTS: [u32; 6] = [0, 1, 1, 2, 4, 0];
    let pieces = [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];
    let sum: u32 = pieces.iter().map(|&piece| WEIGHTS[piece.to_index()] * board.pieces(piece).popcnt()).sum();
    f64::from(sum.min(24)) / 24.0
}

/// How many pawns a move loses against the best one at full depth. Values are clamped to ten pawns, since pawns do not
/// matter in decided games.
fn loss(values: &[Value; DEPTHS], best: &[Value; DEPTHS]) -> f64 {
    pawns(best[DEPTHS - 1]) - pawns(values[DEPTHS - 1])
}

/// A value in pawns, clamped to ten.
pub fn pawns(value: Value) -> f64 {
    (f64::from(value) / f64::from(WINS_HALF)).clamp(-10.0, 10.0)
}

impl PositionContext<'_> {
    /// The current position of a game.
    pub fn of(game: &Game) -> PositionContext<'_> {
        let mut before = game.moves().iter().rev().copied();
        let (last, own) = (before.next(), before.next());
        PositionContext { board: game.board(), last, last_captured: game.last_capture().is_some(), own }
    }

    /// The features of a legal move, as pairs of index and value. `values` are the move's values at each depth, `best`
    /// the highest of any move; `repeats` if the move repeats a position of the game.
    pub fn features(
        &self,
        mv: Move,
        values: &[Value; DEPTHS],
        best: &[Value; DEPTHS],
        repeats: bool,
    ) -> Vec<(u16, f32)> {
        let mut move_features = MoveFeatures::new(self, mv, best);
        move_features.add_values(values, best);
        move_features.add_check_and_repetition(repeats);
        move_features.add_capture();
        move_features.add_castling_and_same_piece();
        move_features.add_attackers();
        move_features.add_threats();
        if move_features.piece == Piece::Pawn {
            move_features.add_pawn_move();
        } else if !move_features.castles {
            move_features.add_piece_move();
        }
        if !move_features.castles {
            move_features.add_squares();
        }
        move_features.features
    }
}

/// The features found so far of one move, with what finding them needs.
struct MoveFeatures<'a> {
    context: &'a PositionContext<'a>,
    board: &'a Board,
    mv: Move,
    us: Color,
    from: Square,
    to: Square,
    piece: Piece,
    /// The piece on the target square, after a promotion.
    lands_as: Piece,
    captured: Option<Piece>,
    castles: bool,
    phase: f64,
    /// The player's advantage in pawns, 0 to 3.
    advantage: f64,
    occupied_after: BitBoard,
    /// Squares that the piece attacks from its target.
    attacks: BitBoard,
    features: Vec<(u16, f32)>,
}

impl<'a> MoveFeatures<'a> {
    fn new(context: &'a PositionContext, mv: Move, best: &[Value; DEPTHS]) -> MoveFeatures<'a> {
        let board = context.board;
        let (us, from, to) = (board.side_to_move(), mv.from(), mv.to());
        let piece = board.piece_on(from).unwrap_or(Piece::Pawn);
        let lands_as = mv.promotion().unwrap_or(piece);
        let occupied_after = (board.occupied() & !square_set(from)) | square_set(to);
        MoveFeatures {
            context,
            board,
            mv,
            us,
            from,
            to,
            piece,
            lands_as,
            captured: board.captured(mv),
            castles: mv.is_castling(),
            phase: phase(board),
            advantage: pawns(best[DEPTHS - 1]).clamp(0.0, 3.0),
            occupied_after,
            attacks: attacks::of(lands_as, us, to, occupied_after),
            features: Vec::with_capacity(16),
        }
    }

    fn push(&mut self, index: usize, value: f64) {
        if value != 0.0 {
            self.features.push((index as u16, value as f32));
        }
    }

    fn add(&mut self, feature: MoveFeature, value: f64) {
        self.push(feature as usize, value);
    }

    fn add_if(&mut self, feature: MoveFeature, condition: bool) {
        self.add(feature, f64::from(u8::from(condition)));
    }

    fn theirs(&self) -> BitBoard {
        self.board.colors(!self.us)
    }

    fn add_values(&mut self, values: &[Value; DEPTHS], best: &[Value; DEPTHS]) {
        self.add_if(MoveFeature::Mate, values[1] >= MATE - 1);
        for (feature, depth) in [
            (MoveFeature::BestStatic, 0),
            (MoveFeature::BestOne, 1),
            (MoveFeature::BestFour, 4),
            (MoveFeature::BestDeep, DEPTHS - 1),
        ] {
            self.add_if(feature, values[depth] == best[depth]);
        }
        let loss = loss(values, best);
        for (feature, pawns) in
            [(MoveFeature::LosesOne, 1.0), (MoveFeature::LosesTwo, 2.0), (MoveFeature::LosesFive, 5.0)]
        {
            self.add_if(feature, loss >= pawns);
        }
    }

    fn add_check_and_repetition(&mut self, repeats: bool) {
        self.add_if(MoveFeature::Check, self.board.gives_check(self.mv));
        self.add_if(MoveFeature::Repeats, repeats);
        self.add(MoveFeature::RepeatsAhead, if repeats { self.advantage } else { 0.0 });
    }

    fn add_capture(&mut self) {
        if let Some(victim) = self.captured {
            let takes_last = self.context.last.is_some_and(|last| last.to() == self.to);
            self.add_if(MoveFeature::Recapture, takes_last && self.context.last_captured);
            self.add_if(MoveFeature::TakesMover, takes_last && !self.context.last_captured);
            self.add_if(MoveFeature::TakesPawn, victim == Piece::Pawn);
            self.add_if(MoveFeature::TakesMinor, matches!(victim, Piece::Knight | Piece::Bishop));
            self.add_if(MoveFeature::TakesRook, victim == Piece::Rook);
            self.add_if(MoveFeature::TakesQueen, victim == Piece::Queen);
            self.add_if(MoveFeature::PawnTakes, self.piece == Piece::Pawn);
            self.add_if(MoveFeature::WinsExchange, self.board.see_ge(self.mv, 1));
            let trade = self.piece != Piece::Pawn && piece_value(self.piece).abs_diff(piece_value(victim)) < 100;
            self.add_if(MoveFeature::Trade, trade);
            self.add(MoveFeature::TradeAhead, if trade { self.advantage } else { 0.0 });
        }
        self.add_if(MoveFeature::LosesExchange, !self.board.see_ge(self.mv, 0));
    }

    fn add_castling_and_same_piece(&mut self) {
        let (from, to) = (self.from, self.to);
        self.add_if(MoveFeature::Castles, self.castles);
        let may_castle = self.board.can_castle(self.us);
        self.add_if(MoveFeature::LosesCastling, self.piece == Piece::King && !self.castles && may_castle);
        self.add_if(MoveFeature::SamePiece, self.context.own.is_some_and(|own| own.to() == from));
        let returns = |own: Move| own.to() == from && own.from() == to;
        self.add_if(MoveFeature::GoesBack, self.context.own.is_some_and(returns));
    }

    /// Attackers and defenders of the piece on its source and target squares.
    fn add_attackers(&mut self) {
        let (board, piece, theirs) = (self.board, self.piece, self.theirs());
        let ours = board.colors(self.us);
        let attackers = board.attackers_to(self.from, board.occupied());
        let less = |by: Piece| piece_value(by) < piece_value(piece);
        let by_less = each(attackers & theirs).any(|square| board.piece_on(square).is_some_and(less));
        let undefended = (attackers & ours).is_empty();
        self.add_if(MoveFeature::Flees, (attackers & theirs).any() && piece != Piece::Pawn && (undefended || by_less));
        let not_itself = !(square_set(self.from) | square_set(self.to));
        let attackers = board.attackers_to(self.to, self.occupied_after) & not_itself;
        self.add_if(
            MoveFeature::ToPawnAttack,
            (attackers & theirs & board.pieces(Piece::Pawn)).any() && piece != Piece::Pawn,
        );
        self.add_if(MoveFeature::ToAttack, (attackers & theirs).any());
        self.add_if(MoveFeature::ToDefended, (attackers & ours).any());
    }

    fn add_threats(&mut self) {
        let (board, theirs, lands_as) = (self.board, self.theirs(), self.lands_as);
        let threatened = each(self.attacks & theirs).filter(|&square| {
            board.piece_on(square).is_some_and(|target| {
                let defended = (board.attackers_to(square, self.occupied_after) & theirs).any();
                target != Piece::King && (piece_value(target) > piece_value(lands_as) || !defended)
            })
        });
        let threatened = threatened.count();
        self.add(MoveFeature::Threatens, threatened as f64);
        if let Some(last) = self.context.last {
            self.add(MoveFeature::NearLast, 1.0 / (1 + distance(self.to, last.to())) as f64);
        }
    }

    fn add_pawn_move(&mut self) {
        let (us, from) = (self.us, self.from);
        let straight = self.captured.is_none();
        let file = from.get_file().to_index();
        self.add_if(MoveFeature::Double, straight && relative_rank(us, self.to) - relative_rank(us, from) == 2);
        self.add_if(MoveFeature::CenterPawn, straight && matches!(file, 3 | 4));
        self.add_if(MoveFeature::EdgePawn, straight && matches!(file, 0 | 7));
        let king = self.board.king(us);
        let shelters = file.abs_diff(king.get_file().to_index()) <= 1 && relative_rank(us, king) <= 1;
        self.add_if(MoveFeature::Loosens, straight && shelters);
        self.add_if(MoveFeature::Passer, straight && is_passer(self.board, us, from));
        self.add(MoveFeature::PawnLate, if straight { 1.0 - self.phase } else { 0.0 });
        self.add_if(MoveFeature::Promotes, self.lands_as == Piece::Queen);
        self.add_if(MoveFeature::Underpromotes, self.lands_as != Piece::Queen && self.lands_as != Piece::Pawn);
    }

    /// A move of a piece other than a pawn.
    fn add_piece_move(&mut self) {
        const MOVES: [MoveFeature; 5] =
            [MoveFeature::Knight, MoveFeature::Bishop, MoveFeature::Rook, MoveFeature::Queen, MoveFeature::King];
        const LATE: [MoveFeature; 5] = [
            MoveFeature::LateKnight,
            MoveFeature::LateBishop,
            MoveFeature::LateRook,
            MoveFeature::LateQueen,
            MoveFeature::LateKing,
        ];
        let (piece, from, to) = (self.piece, self.from, self.to);
        let (rank_from, rank_to) = (relative_rank(self.us, from), relative_rank(self.us, to));
        self.add(MOVES[piece.to_index() - 1], self.phase);
        self.add(LATE[piece.to_index() - 1], 1.0 - self.phase);
        let ranks = f64::from(rank_to - rank_from) / 7.0;
        self.add(MoveFeature::Forward, ranks.max(0.0));
        self.add(MoveFeature::Backward, (-ranks).max(0.0));
        self.add(MoveFeature::ToCenter, f64::from(center_distance(from) - center_distance(to)) / 3.0);
        let king = self.board.king(!self.us);
        self.add(MoveFeature::ToKing, (distance(from, king) as f64 - distance(to, king) as f64) / 7.0);
        self.add(MoveFeature::Length, distance(from, to) as f64 / 7.0);
        let attacked = (self.attacks & attacks::king(king)).len();
        self.add(MoveFeature::KingZone, if piece == Piece::King { 0.0 } else { attacked as f64 / 4.0 });
        let minor = matches!(piece, Piece::Knight | Piece::Bishop);
        self.add(MoveFeature::Develops, if minor && rank_from == 0 && rank_to > 0 { self.phase } else { 0.0 });
    }

    fn add_squares(&mut self) {
        let (us, from, to) = (self.us, self.from, self.to);
        let index = |piece: Piece, square: Square| {
            NAMED_FEATURES + piece.to_index() * 64 + relative_square(us, square).to_index()
        };
        let (target, source) = (index(self.lands_as, to), index(self.piece, from));
        self.push(target, self.phase);
        self.push(PIECE_SQUARES + source, self.phase);
        self.push(2 * PIECE_SQUARES + target, 1.0 - self.phase);
        self.push(2 * PIECE_SQUARES + source, self.phase - 1.0);
        if let Some(last) = self.context.last {
            self.add_relative(0, to, last.to());
            self.add_relative(1, from, last.to());
        }
        if let Some(own) = self.context.own {
            self.add_relative(2, to, own.to());
        }
        self.add_relative(3, to, self.board.king(!us));
        self.add_relative(4, to, self.board.king(us));
    }

    fn add_relative(&mut self, table: usize, square: Square, center: Square) {
        let offset = self.piece.to_index() * OFFSETS * OFFSETS + offset_index(self.us, square, center);
        self.push(NAMED_FEATURES + 3 * PIECE_SQUARES + table * PIECE_OFFSETS + offset, 1.0);
    }
}

/// Rank from the player's point of view, from 0.
fn relative_rank(color: Color, square: Square) -> i32 {
    rank(relative_square(color, square)) as i32
}

/// Index of a square's offset from a center, from the player's point of view.
fn offset_index(color: Color, square: Square, center: Square) -> usize {
    let files = square.get_file().to_index() as i32 - center.get_file().to_index() as i32;
    let ranks = relative_rank(color, square) - relative_rank(color, center);
    let [file, rank] = [files, ranks].map(|offset| (offset.clamp(-MAX_OFFSET, MAX_OFFSET) + MAX_OFFSET) as usize);
    rank * OFFSETS + file
}

/// Distance to the four center squares, 0 to 3.
fn center_distance(square: Square) -> i32 {
    let off = |index: usize| if index < 4 { 3 - index } else { index - 4 };
    off(square.get_file().to_index()).max(off(square.get_rank().to_index())) as i32
}

/// Whether no enemy pawn is in front of the pawn on its file or an adjacent one.
fn is_passer(board: &Board, color: Color, from: Square) -> bool {
    let rank = relative_rank(color, from);
    !each(board.colored(!color, Piece::Pawn)).any(|pawn| {
        relative_rank(color, pawn) > rank && pawn.get_file().to_index().abs_diff(from.get_file().to_index()) <= 1
    })
}
