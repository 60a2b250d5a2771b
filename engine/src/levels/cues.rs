//! What people react to in a move, beside what it is worth.
//!
//! A player who weighs moves looks at few of them, and which these are depends less on their value than on how they catch
//! the eye: captures of the piece that has just moved, checks, the neighborhood of the opponent's last move; backward and
//! long moves are overlooked. Each cue is a number that a move has; the model learns how much it draws or repels players of
//! each rating. To them belong the squares that a piece leaves and reaches, by piece and square: a small change of the
//! linear evaluation that belongs to the player, and most of what is known about openings. And where these squares lie from
//! where the last two moves went and from the kings: the eye stays where something has just happened.

use super::analysis::DEPTHS;
use crate::board::squares::{Squares, distance, each, square_set};
use crate::board::{BitBoard, Board, ChessMove, Color, PIECE_VALUES, Piece, Square, attacks};
use crate::value::{MATE, Value, WINS_HALF};

macro_rules! cues {
    ($($variant:ident $name:literal $meaning:literal)*) => {
        /// A cue, but for those of squares.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Cue { $(#[doc = $meaning] $variant,)* }

        /// Names of the cues, in their order.
        pub const NAMES: &[&str] = &[$($name,)*];
        /// What the cues mean, in their order.
        pub const MEANINGS: &[&str] = &[$($meaning,)*];
    };
}

cues! {
    Mate "mate" "The move mates."
    Check "check" "It gives check."
    Recapture "recapture" "It takes the piece that has just captured."
    TakesMover "takes-mover" "It takes the piece that has just moved, which had captured nothing."
    TakesPawn "takes-pawn" "It takes a pawn."
    TakesMinor "takes-minor" "It takes a knight or a bishop."
    TakesRook "takes-rook" "It takes a rook."
    TakesQueen "takes-queen" "It takes a queen."
    PawnTakes "pawn-takes" "A pawn takes."
    Trade "trade" "It takes a piece of the same worth."
    WinsExchange "wins-exchange" "It takes and gains by static exchange."
    LosesExchange "loses-exchange" "It loses material by static exchange on its square."
    Knight "knight" "A knight moves, while there are pieces."
    Bishop "bishop" "A bishop moves, while there are pieces."
    Rook "rook" "A rook moves, while there are pieces."
    Queen "queen" "The queen moves, while there are pieces."
    King "king" "The king moves, while there are pieces."
    LateKnight "late-knight" "A knight moves, as pieces become few."
    LateBishop "late-bishop" "A bishop moves, as pieces become few."
    LateRook "late-rook" "A rook moves, as pieces become few."
    LateQueen "late-queen" "The queen moves, as pieces become few."
    LateKing "late-king" "The king moves, as pieces become few."
    Castles "castles" "It castles."
    LosesCastling "loses-castling" "The king gives up castling by moving."
    SamePiece "same-piece" "The piece has moved the move before."
    GoesBack "goes-back" "The piece returns to where it came from the move before."
    Flees "flees" "The piece was attacked by one of less worth, or attacked and not defended."
    ToPawnAttack "to-pawn-attack" "It goes where a pawn attacks it."
    ToAttack "to-attack" "It goes where it is attacked."
    ToDefended "to-defended" "It goes where it is defended."
    Threatens "threatens" "It attacks pieces of more worth or undefended ones: their number."
    NearLast "near-last" "It goes near the square of the opponent's last move."
    Forward "forward" "A piece goes toward the opponent's side: ranks."
    Backward "backward" "A piece goes back: ranks."
    ToCenter "to-center" "A piece goes toward the center: steps."
    ToKing "to-king" "A piece goes toward the enemy king: steps."
    KingZone "king-zone" "A piece comes to attack squares about the enemy king: their number."
    Length "length" "How far the piece goes: squares."
    Develops "develops" "A knight or bishop leaves the first rank."
    Double "double" "A pawn makes a double step."
    CenterPawn "center-pawn" "A pawn of the d or e file moves straight."
    EdgePawn "edge-pawn" "A pawn of the a or h file moves straight."
    Loosens "loosens" "A pawn before the own king, which stands on the first ranks, moves straight."
    Passer "passer" "A pawn with no pawn before it moves straight."
    Promotes "promotes" "A pawn becomes a queen."
    Underpromotes "underpromotes" "A pawn becomes something else."
    Repeats "repeats" "A position of the game stands again."
    RepeatsAhead "repeats-ahead" "So it does, while the player is ahead."
    TradeAhead "trade-ahead" "It takes a piece of the same worth while the player is ahead."
    PawnLate "pawn-late" "A pawn moves straight, as pieces become few."
    BestGlance "best-glance" "No move has a better static evaluation after it."
    BestOne "best-one" "No move is better after one ply."
    BestFour "best-four" "No move is better after four plies."
    BestDeep "best-deep" "No move is better after all plies."
    LosesOne "loses-one" "It loses a pawn or more by the deepest values."
    LosesTwo "loses-two" "It loses two pawns or more."
    LosesFive "loses-five" "It loses five pawns or more."
}

/// Cues that are no squares.
pub const PLAIN: usize = NAMES.len();
/// Squares of the board, as its player sees it, for each piece.
const PLACES: usize = 6 * 64;
/// How far from a center, in files and in ranks, one place is told from another; all beyond are as the last.
const NEAR: i32 = 4;
/// Files, or ranks, about a center.
const WIDTH: usize = 2 * NEAR as usize + 1;
/// Places about a center, for each piece.
const ABOUT: usize = 6 * WIDTH * WIDTH;
/// Cues of squares. A piece reaches a square of the board, or leaves it, while there are pieces; it does either as pieces
/// become few (3 tables). Where it goes, and where it comes from, as seen from where the opponent's last move went; where it
/// goes as seen from where the player's own last move went, from the enemy king and from the own king (5 tables).
pub const SQUARES: usize = 3 * PLACES + 5 * ABOUT;
/// All cues.
pub const CUES: usize = PLAIN + SQUARES;

/// A position and what came right before it.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The position.
    pub board: &'a Board,
    /// The opponent's last move.
    pub last: Option<ChessMove>,
    /// Whether that captured.
    pub last_captured: bool,
    /// The player's own last move.
    pub own: Option<ChessMove>,
}

/// Pieces on the board beside pawns and kings, 1 as in the beginning to 0.
#[must_use]
pub fn phase(board: &Board) -> f64 {
    const WEIGHTS: [u32; 6] = [0, 1, 1, 2, 4, 0];
    let pieces = [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];
    let sum: u32 = pieces.iter().map(|&piece| WEIGHTS[piece.to_index()] * board.pieces(piece).popcnt()).sum();
    f64::from(sum.min(24)) / 24.0
}

/// What a move loses against the best of all by the deepest values, in pawns. Where all is won or lost nobody counts
/// pawns: values end at ten.
#[must_use]
pub fn loss(values: &[Value; DEPTHS], best: &[Value; DEPTHS]) -> f64 {
    pawns(best[DEPTHS - 1]) - pawns(values[DEPTHS - 1])
}

/// A value in pawns, up to ten.
#[must_use]
pub fn pawns(value: Value) -> f64 {
    (f64::from(value) / f64::from(WINS_HALF)).clamp(-10.0, 10.0)
}

impl Scene<'_> {
    /// The cues of a legal move: number and strength. `values` is what it is worth, `best` the highest value of any move
    /// at each depth, and `repeats` whether it brings back a position of the game.
    #[must_use]
    pub fn cues(
        &self,
        mv: ChessMove,
        values: &[Value; DEPTHS],
        best: &[Value; DEPTHS],
        repeats: bool,
    ) -> Vec<(u16, f32)> {
        let mut look = Look::new(self, mv, best);
        look.worth(values, best);
        look.check_and_repetition(repeats);
        look.exchange();
        look.habits();
        look.dangers();
        look.aims();
        if look.piece == Piece::Pawn {
            look.pawn_move();
        } else if !look.castles {
            look.piece_move();
        }
        if !look.castles {
            look.squares();
        }
        look.cues
    }
}

/// A move that is looked at: what its cues ask for, and those found so far.
struct Look<'a> {
    scene: &'a Scene<'a>,
    board: &'a Board,
    mv: ChessMove,
    us: Color,
    from: Square,
    to: Square,
    piece: Piece,
    /// The piece on the square it goes to: another one where it promotes.
    lands_as: Piece,
    captured: Option<Piece>,
    castles: bool,
    phase: f64,
    /// How many pawns the player is ahead, 3 at most.
    ahead: f64,
    /// Squares that are occupied after the move.
    after: BitBoard,
    /// What the piece attacks from where it goes.
    reach: BitBoard,
    cues: Vec<(u16, f32)>,
}

impl<'a> Look<'a> {
    fn new(scene: &'a Scene, mv: ChessMove, best: &[Value; DEPTHS]) -> Look<'a> {
        let board = scene.board;
        let (us, from, to) = (board.side_to_move(), mv.get_source(), mv.get_dest());
        let piece = board.piece_on(from).unwrap_or(Piece::Pawn);
        let lands_as = mv.get_promotion().unwrap_or(piece);
        let after = (board.occupied() & !square_set(from)) | square_set(to);
        Look {
            scene,
            board,
            mv,
            us,
            from,
            to,
            piece,
            lands_as,
            captured: board.captured(mv),
            castles: board.is_castling(mv),
            phase: phase(board),
            ahead: pawns(best[DEPTHS - 1]).clamp(0.0, 3.0),
            after,
            reach: attacks::of(lands_as, us, to, after),
            cues: Vec::with_capacity(16),
        }
    }

    fn push(&mut self, cue: usize, strength: f64) {
        if strength != 0.0 {
            self.cues.push((cue as u16, strength as f32));
        }
    }

    fn see(&mut self, cue: Cue, strength: f64) {
        self.push(cue as usize, strength);
    }

    fn when(&mut self, cue: Cue, holds: bool) {
        self.see(cue, f64::from(u8::from(holds)));
    }

    /// The pieces of the opponent.
    fn theirs(&self) -> BitBoard {
        self.board.colors(!self.us)
    }

    /// What it is worth, as far as the player looks.
    fn worth(&mut self, values: &[Value; DEPTHS], best: &[Value; DEPTHS]) {
        self.when(Cue::Mate, values[1] >= MATE - 1);
        for (cue, depth) in [(Cue::BestGlance, 0), (Cue::BestOne, 1), (Cue::BestFour, 4), (Cue::BestDeep, DEPTHS - 1)] {
            self.when(cue, values[depth] == best[depth]);
        }
        let loss = loss(values, best);
        for (cue, pawns) in [(Cue::LosesOne, 1.0), (Cue::LosesTwo, 2.0), (Cue::LosesFive, 5.0)] {
            self.when(cue, loss >= pawns);
        }
    }

    fn check_and_repetition(&mut self, repeats: bool) {
        self.when(Cue::Check, self.board.gives_check(self.mv));
        self.when(Cue::Repeats, repeats);
        self.see(Cue::RepeatsAhead, if repeats { self.ahead } else { 0.0 });
    }

    /// What it takes, and what that costs.
    fn exchange(&mut self) {
        if let Some(victim) = self.captured {
            let takes_last = self.scene.last.is_some_and(|last| last.get_dest() == self.to);
            self.when(Cue::Recapture, takes_last && self.scene.last_captured);
            self.when(Cue::TakesMover, takes_last && !self.scene.last_captured);
            self.when(Cue::TakesPawn, victim == Piece::Pawn);
            self.when(Cue::TakesMinor, matches!(victim, Piece::Knight | Piece::Bishop));
            self.when(Cue::TakesRook, victim == Piece::Rook);
            self.when(Cue::TakesQueen, victim == Piece::Queen);
            self.when(Cue::PawnTakes, self.piece == Piece::Pawn);
            self.when(Cue::WinsExchange, self.board.see_ge(self.mv, 1));
            let trade = self.piece != Piece::Pawn && value_of(self.piece).abs_diff(value_of(victim)) < 100;
            self.when(Cue::Trade, trade);
            self.see(Cue::TradeAhead, if trade { self.ahead } else { 0.0 });
        }
        self.when(Cue::LosesExchange, !self.board.see_ge(self.mv, 0));
    }

    /// Castling, and the piece that moved before.
    fn habits(&mut self) {
        let (from, to) = (self.from, self.to);
        self.when(Cue::Castles, self.castles);
        let may_castle = self.board.can_castle(self.us);
        self.when(Cue::LosesCastling, self.piece == Piece::King && !self.castles && may_castle);
        self.when(Cue::SamePiece, self.scene.own.is_some_and(|own| own.get_dest() == from));
        let returns = |own: ChessMove| own.get_dest() == from && own.get_source() == to;
        self.when(Cue::GoesBack, self.scene.own.is_some_and(returns));
    }

    /// Attacks on the piece where it stands and where it goes.
    fn dangers(&mut self) {
        let (board, piece, theirs) = (self.board, self.piece, self.theirs());
        let ours = board.colors(self.us);
        let attackers = board.attackers_to(self.from, board.occupied());
        let less = |by: Piece| value_of(by) < value_of(piece);
        let by_less = each(attackers & theirs).any(|square| board.piece_on(square).is_some_and(less));
        let undefended = (attackers & ours).is_empty();
        self.when(Cue::Flees, (attackers & theirs).any() && piece != Piece::Pawn && (undefended || by_less));
        let not_itself = !(square_set(self.from) | square_set(self.to));
        let attackers = board.attackers_to(self.to, self.after) & not_itself;
        self.when(Cue::ToPawnAttack, (attackers & theirs & board.pieces(Piece::Pawn)).any() && piece != Piece::Pawn);
        self.when(Cue::ToAttack, (attackers & theirs).any());
        self.when(Cue::ToDefended, (attackers & ours).any());
    }

    /// What it attacks, and how near it is to where something has just happened.
    fn aims(&mut self) {
        let (board, theirs, lands_as) = (self.board, self.theirs(), self.lands_as);
        let threatened = each(self.reach & theirs).filter(|&square| {
            board.piece_on(square).is_some_and(|target| {
                let defended = (board.attackers_to(square, self.after) & theirs).any();
                target != Piece::King && (value_of(target) > value_of(lands_as) || !defended)
            })
        });
        let threatened = threatened.count();
        self.see(Cue::Threatens, threatened as f64);
        if let Some(last) = self.scene.last {
            self.see(Cue::NearLast, 1.0 / (1 + distance(self.to, last.get_dest())) as f64);
        }
    }

    fn pawn_move(&mut self) {
        let (us, from) = (self.us, self.from);
        let straight = self.captured.is_none();
        let file = from.get_file().to_index();
        self.when(Cue::Double, straight && rank_for(us, self.to) - rank_for(us, from) == 2);
        self.when(Cue::CenterPawn, straight && matches!(file, 3 | 4));
        self.when(Cue::EdgePawn, straight && matches!(file, 0 | 7));
        let king = self.board.king(us);
        let shelters = file.abs_diff(king.get_file().to_index()) <= 1 && rank_for(us, king) <= 1;
        self.when(Cue::Loosens, straight && shelters);
        self.when(Cue::Passer, straight && is_passer(self.board, us, from));
        self.see(Cue::PawnLate, if straight { 1.0 - self.phase } else { 0.0 });
        self.when(Cue::Promotes, self.lands_as == Piece::Queen);
        self.when(Cue::Underpromotes, self.lands_as != Piece::Queen && self.lands_as != Piece::Pawn);
    }

    /// Where a piece other than a pawn goes.
    fn piece_move(&mut self) {
        const MOVES: [Cue; 5] = [Cue::Knight, Cue::Bishop, Cue::Rook, Cue::Queen, Cue::King];
        const LATE: [Cue; 5] = [Cue::LateKnight, Cue::LateBishop, Cue::LateRook, Cue::LateQueen, Cue::LateKing];
        let (piece, from, to) = (self.piece, self.from, self.to);
        let (rank_from, rank_to) = (rank_for(self.us, from), rank_for(self.us, to));
        self.see(MOVES[piece.to_index() - 1], self.phase);
        self.see(LATE[piece.to_index() - 1], 1.0 - self.phase);
        let ranks = f64::from(rank_to - rank_from) / 7.0;
        self.see(Cue::Forward, ranks.max(0.0));
        self.see(Cue::Backward, (-ranks).max(0.0));
        self.see(Cue::ToCenter, f64::from(off_center(from) - off_center(to)) / 3.0);
        let king = self.board.king(!self.us);
        self.see(Cue::ToKing, (distance(from, king) as f64 - distance(to, king) as f64) / 7.0);
        self.see(Cue::Length, distance(from, to) as f64 / 7.0);
        let attacked = (self.reach & attacks::king(king)).len();
        self.see(Cue::KingZone, if piece == Piece::King { 0.0 } else { attacked as f64 / 4.0 });
        let minor = matches!(piece, Piece::Knight | Piece::Bishop);
        self.see(Cue::Develops, if minor && rank_from == 0 && rank_to > 0 { self.phase } else { 0.0 });
    }

    /// The squares that it reaches and leaves: on the board, and about where something has just happened and the kings.
    fn squares(&mut self) {
        let (us, from, to) = (self.us, self.from, self.to);
        let place = |piece: Piece, square: Square| PLAIN + piece.to_index() * 64 + seen_by(us, square);
        let (reached, left) = (place(self.lands_as, to), place(self.piece, from));
        self.push(reached, self.phase);
        self.push(PLACES + left, self.phase);
        self.push(2 * PLACES + reached, 1.0 - self.phase);
        self.push(2 * PLACES + left, self.phase - 1.0);
        if let Some(last) = self.scene.last {
            self.about(0, to, last.get_dest());
            self.about(1, from, last.get_dest());
        }
        if let Some(own) = self.scene.own {
            self.about(2, to, own.get_dest());
        }
        self.about(3, to, self.board.king(!us));
        self.about(4, to, self.board.king(us));
    }

    /// A square as seen from a center, in this table.
    fn about(&mut self, table: usize, square: Square, center: Square) {
        let place = self.piece.to_index() * WIDTH * WIDTH + place_about(self.us, square, center);
        self.push(PLAIN + 3 * PLACES + table * ABOUT + place, 1.0);
    }
}

fn value_of(piece: Piece) -> Value {
    PIECE_VALUES[piece.to_index()]
}

/// Rank from 0, the player's own first.
fn rank_for(color: Color, square: Square) -> i32 {
    (seen_by(color, square) / 8) as i32
}

/// Index of a square as this player sees the board.
fn seen_by(color: Color, square: Square) -> usize {
    if color == Color::White { square.to_index() } else { square.to_index() ^ 56 }
}

/// Index of a square among the places about a center, as this player sees the board.
fn place_about(color: Color, square: Square, center: Square) -> usize {
    let files = square.get_file().to_index() as i32 - center.get_file().to_index() as i32;
    let ranks = rank_for(color, square) - rank_for(color, center);
    let [file, rank] = [files, ranks].map(|steps| (steps.clamp(-NEAR, NEAR) + NEAR) as usize);
    rank * WIDTH + file
}

/// Steps to the middle of the board, 0 to 3.
fn off_center(square: Square) -> i32 {
    let off = |index: usize| if index < 4 { 3 - index } else { index - 4 };
    off(square.get_file().to_index()).max(off(square.get_rank().to_index())) as i32
}

/// Whether no enemy pawn stands before the pawn, on its file or beside it.
fn is_passer(board: &Board, color: Color, from: Square) -> bool {
    let rank = rank_for(color, from);
    !each(board.colored(!color, Piece::Pawn)).any(|pawn| {
        rank_for(color, pawn) > rank && pawn.get_file().to_index().abs_diff(from.get_file().to_index()) <= 1
    })
}
