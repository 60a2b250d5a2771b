//! What people react to in a move, beside what it is worth.
//!
//! A player who weighs moves looks at few of them, and which these are depends less on their value than on how they catch
//! the eye: captures of the piece that has just moved, checks, the neighborhood of the opponent's last move; backward and
//! long moves are overlooked. Each cue is a number that a move has; the model learns how much it draws or repels players of
//! each rating. To them belong the squares that a piece leaves and reaches, by piece and square: a small change of the
//! linear evaluation that belongs to the player, and most of what is known about openings. And where these squares lie from
//! where the last two moves went and from the kings: the eye stays where something has just happened.

use super::analysis::DEPTHS;
use crate::board::{BitBoard, Board, ChessMove, Color, EMPTY, PIECE_VALUES, Piece, Square, attacks};
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
        let board = self.board;
        let (us, from, to) = (board.side_to_move(), mv.get_source(), mv.get_dest());
        let them = !us;
        let phase = phase(board);
        let ahead = f64::from(best[DEPTHS - 1].clamp(-1080, 1080)).max(0.0) / 360.0;
        let piece = board.piece_on(from).unwrap_or(Piece::Pawn);
        let worth = |piece: Piece| PIECE_VALUES[piece.to_index()];
        let mut cues = Vec::with_capacity(16);
        let mut push = |cue: usize, strength: f64| {
            if strength != 0.0 {
                cues.push((cue as u16, strength as f32));
            }
        };
        let mut see = |cue: Cue, strength: f64| push(cue as usize, strength);
        let mut when = |cue: Cue, holds: bool| see(cue, f64::from(u8::from(holds)));
        when(Cue::Mate, values[1] >= MATE - 1);
        for (cue, depth) in [(Cue::BestGlance, 0), (Cue::BestOne, 1), (Cue::BestFour, 4), (Cue::BestDeep, DEPTHS - 1)] {
            when(cue, values[depth] == best[depth]);
        }
        let loss = loss(values, best);
        for (cue, pawns) in [(Cue::LosesOne, 1.0), (Cue::LosesTwo, 2.0), (Cue::LosesFive, 5.0)] {
            when(cue, loss >= pawns);
        }
        when(Cue::Check, board.gives_check(mv));
        when(Cue::Repeats, repeats);
        see(Cue::RepeatsAhead, if repeats { ahead } else { 0.0 });
        let mut when = |cue: Cue, holds: bool| see(cue, f64::from(u8::from(holds)));

        let captured = board.captured(mv);
        if let Some(victim) = captured {
            let takes_last = self.last.is_some_and(|last| last.get_dest() == to);
            when(Cue::Recapture, takes_last && self.last_captured);
            when(Cue::TakesMover, takes_last && !self.last_captured);
            when(Cue::TakesPawn, victim == Piece::Pawn);
            when(Cue::TakesMinor, matches!(victim, Piece::Knight | Piece::Bishop));
            when(Cue::TakesRook, victim == Piece::Rook);
            when(Cue::TakesQueen, victim == Piece::Queen);
            when(Cue::PawnTakes, piece == Piece::Pawn);
            when(Cue::WinsExchange, board.see_ge(mv, 1));
            let trade = piece != Piece::Pawn && worth(piece).abs_diff(worth(victim)) < 100;
            when(Cue::Trade, trade);
            see(Cue::TradeAhead, if trade { ahead } else { 0.0 });
        }
        let mut when = |cue: Cue, holds: bool| see(cue, f64::from(u8::from(holds)));
        when(Cue::LosesExchange, !board.see_ge(mv, 0));

        let castles = board.is_castling(mv);
        when(Cue::Castles, castles);
        when(Cue::LosesCastling, piece == Piece::King && !castles && board.can_castle(us));
        when(Cue::SamePiece, self.own.is_some_and(|own| own.get_dest() == from));
        when(Cue::GoesBack, self.own.is_some_and(|own| own.get_dest() == from && own.get_source() == to));

        let occupied = board.occupied();
        let (ours, theirs) = (board.colors(us), board.colors(them));
        let attackers = board.attackers_to(from, occupied);
        let by_less = |attackers: BitBoard| {
            (attackers & theirs)
                .into_iter()
                .any(|square| board.piece_on(square).is_some_and(|by| worth(by) < worth(piece)))
        };
        let undefended = attackers & ours == EMPTY;
        when(Cue::Flees, attackers & theirs != EMPTY && piece != Piece::Pawn && (undefended || by_less(attackers)));
        let after = (occupied & !BitBoard::from_square(from)) | BitBoard::from_square(to);
        let not_itself = !(BitBoard::from_square(from) | BitBoard::from_square(to));
        let attackers = board.attackers_to(to, after) & not_itself;
        when(Cue::ToPawnAttack, attackers & theirs & board.pieces(Piece::Pawn) != EMPTY && piece != Piece::Pawn);
        when(Cue::ToAttack, attackers & theirs != EMPTY);
        when(Cue::ToDefended, attackers & ours != EMPTY);

        let lands_as = mv.get_promotion().unwrap_or(piece);
        let reach = reach(lands_as, us, to, after);
        let threatened = (reach & theirs).into_iter().filter(|&square| {
            board.piece_on(square).is_some_and(|target| {
                let defended = board.attackers_to(square, after) & theirs != EMPTY;
                target != Piece::King && (worth(target) > worth(lands_as) || !defended)
            })
        });
        see(Cue::Threatens, threatened.count() as f64);
        if let Some(last) = self.last {
            see(Cue::NearLast, 1.0 / f64::from(1 + steps(to, last.get_dest())));
        }

        let pieces = [Cue::Knight, Cue::Bishop, Cue::Rook, Cue::Queen, Cue::King];
        let late = [Cue::LateKnight, Cue::LateBishop, Cue::LateRook, Cue::LateQueen, Cue::LateKing];
        let (rank_from, rank_to) = (rank_for(us, from), rank_for(us, to));
        if piece == Piece::Pawn {
            let straight = captured.is_none();
            let file = from.get_file().to_index();
            let mut when = |cue: Cue, holds: bool| see(cue, f64::from(u8::from(holds && straight)));
            when(Cue::Double, rank_to - rank_from == 2);
            when(Cue::CenterPawn, matches!(file, 3 | 4));
            when(Cue::EdgePawn, matches!(file, 0 | 7));
            let king = board.king(us);
            when(Cue::Loosens, file.abs_diff(king.get_file().to_index()) <= 1 && rank_for(us, king) <= 1);
            when(Cue::Passer, is_passer(board, us, from));
            see(Cue::PawnLate, if straight { 1.0 - phase } else { 0.0 });
            see(Cue::Promotes, f64::from(u8::from(lands_as == Piece::Queen)));
            see(Cue::Underpromotes, f64::from(u8::from(lands_as != Piece::Queen && lands_as != Piece::Pawn)));
        } else if !castles {
            see(pieces[piece.to_index() - 1], phase);
            see(late[piece.to_index() - 1], 1.0 - phase);
            let ranks = f64::from(rank_to - rank_from) / 7.0;
            see(Cue::Forward, ranks.max(0.0));
            see(Cue::Backward, (-ranks).max(0.0));
            see(Cue::ToCenter, f64::from(off_center(from) - off_center(to)) / 3.0);
            let king = board.king(them);
            see(Cue::ToKing, f64::from(steps(from, king) - steps(to, king)) / 7.0);
            see(Cue::Length, f64::from(steps(from, to)) / 7.0);
            let zone = attacks::king(king);
            see(Cue::KingZone, if piece == Piece::King { 0.0 } else { f64::from((reach & zone).popcnt()) / 4.0 });
            let minor = matches!(piece, Piece::Knight | Piece::Bishop);
            see(Cue::Develops, if minor && rank_from == 0 && rank_to > 0 { phase } else { 0.0 });
        }

        if !castles {
            let mut see = |cue: usize, strength: f64| push(PLAIN + cue, strength);
            let [reached, left] =
                [(lands_as, to), (piece, from)].map(|(piece, square)| piece.to_index() * 64 + seen_by(us, square));
            see(reached, phase);
            see(PLACES + left, phase);
            see(2 * PLACES + reached, 1.0 - phase);
            see(2 * PLACES + left, phase - 1.0);
            let mut see_about = |table: usize, square: Square, center: Square| {
                see(
                    3 * PLACES + table * ABOUT + piece.to_index() * WIDTH * WIDTH + place_about(us, square, center),
                    1.0,
                );
            };
            if let Some(last) = self.last {
                see_about(0, to, last.get_dest());
                see_about(1, from, last.get_dest());
            }
            if let Some(own) = self.own {
                see_about(2, to, own.get_dest());
            }
            see_about(3, to, board.king(them));
            see_about(4, to, board.king(us));
        }
        cues
    }
}

/// Squares that a piece attacks from here.
fn reach(piece: Piece, color: Color, from: Square, occupied: BitBoard) -> BitBoard {
    match piece {
        Piece::Pawn => attacks::pawn(color, from),
        Piece::Knight => attacks::knight(from),
        Piece::Bishop => attacks::bishop(from, occupied),
        Piece::Rook => attacks::rook(from, occupied),
        Piece::Queen => attacks::queen(from, occupied),
        Piece::King => attacks::king(from),
    }
}

/// A king's steps between two squares.
fn steps(a: Square, b: Square) -> i32 {
    let files = a.get_file().to_index().abs_diff(b.get_file().to_index());
    let ranks = a.get_rank().to_index().abs_diff(b.get_rank().to_index());
    files.max(ranks) as i32
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
    !board.colored(!color, Piece::Pawn).into_iter().any(|pawn| {
        rank_for(color, pawn) > rank && pawn.get_file().to_index().abs_diff(from.get_file().to_index()) <= 1
    })
}
