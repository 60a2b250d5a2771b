use super::*;
use rand::Rng;
use rand_pcg::Pcg64Mcg;

#[test]
fn perft_of_known_positions() {
    // The classic positions of the Chess Programming Wiki, with well-known counts.
    let cases: [(&str, u32, u64); 12] = [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 5, 4_865_609),
        ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 4, 4_085_603),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 5, 674_624),
        ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 4, 422_333),
        ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 4, 2_103_487),
        ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 4, 3_894_594),
        ("3k4/3p4/8/K1P4r/8/8/8/8 b - - 0 1", 6, 1_134_888),
        ("8/8/4k3/8/2p5/8/B2P1K2/8 w - - 0 1", 6, 1_038_514),
        ("8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1", 6, 1_440_467),
        ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", 6, 661_072),
        ("r3k2r/1b4bq/8/8/8/8/7B/R3K2R w KQkq - 0 1", 4, 1_274_206),
        ("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", 5, 3_605_103),
    ];
    for (fen, depth, nodes) in cases {
        assert_eq!(Board::from_fen(fen).unwrap().perft(depth, &|| false), nodes, "{fen}");
    }
}

/// Calls `visit` with `count` positions of random games and with every starting position; except for these with the
/// position before, the move and its changes.
pub(crate) fn random_boards(count: usize, seed: u128, visit: impl FnMut(&Board, Option<(&Board, Move, Delta)>)) {
    random_boards_from(|_| Board::startpos(), count, seed, visit);
}

/// The same for random games of double Chess960.
fn random_dfrc_boards(count: usize, seed: u128, visit: impl FnMut(&Board, Option<(&Board, Move, Delta)>)) {
    let start = |random: &mut Pcg64Mcg| {
        let mut number = || (random.next_u64() % u64::from(CHESS960_POSITIONS)) as u32;
        Board::chess960([number(), number()])
    };
    random_boards_from(start, count, seed, visit);
}

pub(crate) fn random_boards_from(
    start: impl Fn(&mut Pcg64Mcg) -> Board,
    count: usize,
    seed: u128,
    mut visit: impl FnMut(&Board, Option<(&Board, Move, Delta)>),
) {
    let mut random = Pcg64Mcg::new(seed);
    let mut seen = 0;
    while seen < count {
        let mut game = Game::new(start(&mut random));
        visit(game.board(), None);
        while game.ending().is_none() && seen < count && game.moves().len() < 300 {
            let moves = game.board().moves();
            let mv = moves[(random.next_u64() % moves.len() as u64) as usize];
            let before = *game.board();
            let mut after = before;
            let delta = before.make_move(mv, &mut after);
            visit(&after, Some((&before, mv, delta)));
            game.push(mv);
            seen += 1;
        }
    }
}

/// Rare in random games: pins on pawns, en passant that exposes the king or resolves a check, promotions, and checks by
/// these and by castling.
const TRICKY: [&str; 13] = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "r3k2r/1b4bq/8/8/8/8/7B/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3 0 1",
    "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
    "rnb1k1nr/pppp1ppp/8/4p3/1b1P3q/P4P2/1PP1P1PP/RNBQKBNR w KQkq - 1 4",
    "8/8/8/1k1pP2R/8/8/8/4K3 w - d6 0 2",
    "5k2/8/8/8/8/8/8/4K2R w K - 0 1",
    "3k4/8/8/8/8/8/8/R3K3 w Q - 0 1",
    "6k1/4P3/8/8/8/8/8/4K3 w - - 0 1",
    "8/RP5k/8/8/8/8/8/4K3 w - - 0 1",
];

/// Random openings draw moves by index, so a seed depends on this order.
#[test]
fn moves_come_in_the_order_of_the_chess_crate() {
    let check = |board: &Board| {
        let other: chess::Board = board.fen().parse().expect("the crate reads our FEN");
        let expected: Vec<chess::ChessMove> = chess::MoveGen::new_legal(&other).collect();
        let theirs = |mv: &Move| chess::ChessMove::new(mv.from(), mv.to(), mv.promotion());
        assert_eq!(board.moves().iter().map(theirs).collect::<Vec<_>>(), expected, "{board}");
    };
    random_boards(50_000, 21, |board, _| check(board));
    for fen in TRICKY {
        check(&Board::from_fen(fen).unwrap());
    }
}

/// The FEN with the files of the castling rooks.
fn shredder_fen(board: &Board) -> String {
    let fen = board.fen();
    let mut fields: Vec<&str> = fen.split(' ').collect();
    let letter = |rook: Square| {
        let file = (b'a' + rook.get_file().to_index() as u8) as char;
        if rook.get_rank() == Rank::First { file.to_ascii_uppercase() } else { file }
    };
    let rights: String = board.castling_rooks().map(letter).collect();
    fields[2] = if rights.is_empty() { "-" } else { &rights };
    fields.join(" ")
}

/// Compares moves with those of cozy-chess; returns the number of castling moves.
fn compare_moves(board: &Board) -> usize {
    let fen = shredder_fen(board);
    let other = cozy_chess::Board::from_fen(&fen, true).expect("cozy-chess reads our FEN");
    let mut expected = Vec::new();
    other.generate_moves(|moves| {
        expected.extend(moves.into_iter().map(|mv| mv.to_string()));
        false
    });
    let board = board.with_chess960(true);
    let mut ours: Vec<String> = board.moves().iter().map(|&mv| board.uci(mv)).collect();
    ours.sort();
    expected.sort();
    assert_eq!(ours, expected, "{fen}");
    assert_eq!(board.in_check(), !other.checkers().is_empty(), "{fen}");
    board.moves().iter().filter(|mv| mv.is_castling()).count()
}

#[test]
fn generated_moves_equal_those_of_cozy_chess() {
    let mut castlings = 0;
    random_boards(50_000, 1, |board, _| castlings += compare_moves(board));
    random_dfrc_boards(30_000, 10, |board, _| castlings += compare_moves(board));
    assert!(castlings > 1_000);
}

#[test]
fn chess960_positions_have_the_standard_numbers() {
    for number in 0..CHESS960_POSITIONS {
        for numbers in [[number; 2], [number, (number * 7 + 3) % CHESS960_POSITIONS]] {
            let expected = cozy_chess::Board::double_chess960_startpos(numbers[0], numbers[1]);
            let ours = cozy_chess::Board::from_fen(&shredder_fen(&Board::chess960(numbers)), true);
            assert_eq!(ours.ok(), Some(expected), "{numbers:?}");
        }
    }
    assert_eq!(Board::startpos().fen(), "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
}

#[test]
fn castling_rights_are_read_in_all_notations() {
    let cases = [
        // X-FEN: the outermost rook.
        ("4k3/8/8/8/8/8/8/1R1RK2R w KQ - 0 1", "KQ"),
        ("1r1k2r1/8/8/8/8/8/8/4K3 b kq - 0 1", "kq"),
        // Shredder-FEN, and an inner rook, which X-FEN also names by its file.
        ("4k3/8/8/8/8/8/8/1R1RK2R w HB - 0 1", "KQ"),
        ("4k3/8/8/8/8/8/8/1R1RK2R w HD - 0 1", "KD"),
        ("4k3/8/8/8/8/8/8/1R1RK2R w KD - 0 1", "KD"),
        ("r1k2rr1/8/8/8/8/8/8/R3K2R w HAfa - 0 1", "KQfq"),
        // No rook there, on another rank, or of the other color.
        ("4k3/8/8/8/8/8/8/1R1RK2R w AFahkq - 0 1", "-"),
        ("4k3/8/8/8/8/8/4K3/R6R w KQAH - 0 1", "-"),
        ("4k3/8/8/8/8/8/8/r3K2r w KQ - 0 1", "-"),
        // Only one rook on each side can castle.
        ("4k3/8/8/8/8/8/8/1R1RK2R w HDB - 0 1", "KQ"),
    ];
    for (fen, rights) in cases {
        let board = Board::from_fen(fen).unwrap();
        assert_eq!(board.fen().split(' ').nth(2), Some(rights), "{fen}");
        assert_eq!(Board::from_fen(&board.fen()), Ok(board), "{fen}");
        assert_eq!(Board::from_fen(&board.fen()).unwrap().key(), board.key(), "{fen}");
    }
    let key = |fen: &str| Board::from_fen(fen).unwrap().key();
    assert_ne!(key("4k3/8/8/8/8/8/8/1R1RK2R w KD - 0 1"), key("4k3/8/8/8/8/8/8/1R1RK2R w KQ - 0 1"));
}

#[test]
fn castling_in_chess960() {
    // Position, castling moves as king takes rook, and the position after the first one.
    let cases = [
        // The king does not move, the rook does not move, both swap squares.
        ("4k3/8/8/8/8/8/8/1R4KR w KQ - 0 1", "g1b1 g1h1", "4k3/8/8/8/8/8/8/2KR3R b - - 1 1"),
        ("4k3/8/8/8/8/8/8/6KR w K - 0 1", "g1h1", "4k3/8/8/8/8/8/8/5RK1 b - - 1 1"),
        ("4k3/8/8/8/8/8/8/2KR4 w K - 0 1", "c1d1", "4k3/8/8/8/8/8/8/5RK1 b - - 1 1"),
        ("4k3/8/8/8/8/8/8/5KR1 w K - 0 1", "f1g1", "4k3/8/8/8/8/8/8/5RK1 b - - 1 1"),
        ("2rk4/8/8/8/8/8/8/4K3 b q - 0 1", "d8c8", "2kr4/8/8/8/8/8/8/4K3 w - - 1 2"),
        // The rook shields the king's destination from an attack.
        ("4k3/8/8/8/8/8/8/qRK5 w Q - 0 1", "", ""),
        ("4k3/8/8/8/8/8/8/4KR1r w K - 0 1", "", ""),
        // Only squares of the rook's path are attacked.
        ("1r2k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1a1", "1r2k3/8/8/8/8/8/8/2KR4 b - - 1 1"),
        ("3rk3/8/8/8/8/8/8/R4K2 w Q - 0 1", "", ""),
        // A piece on the path of the king or of the rook.
        ("4k3/8/8/8/8/8/8/RN2K3 w Q - 0 1", "", ""),
        ("4k3/8/8/8/8/8/8/R1NK3R w KQ - 0 1", "d1h1", "4k3/8/8/8/8/8/8/R1N2RK1 b - - 1 1"),
        ("4k3/8/8/8/8/8/8/RK3N1R w KQ - 0 1", "b1a1", "4k3/8/8/8/8/8/8/2KR1N1R b - - 1 1"),
    ];
    for (fen, castlings, after) in cases {
        let board = Board::from_fen(fen).unwrap().with_chess960(true);
        let moves = board.moves();
        let found: Vec<Move> = moves.iter().copied().filter(|&mv| mv.is_castling()).collect();
        let texts: Vec<String> = found.iter().map(|&mv| board.uci(mv)).collect();
        assert_eq!(texts.join(" "), castlings, "{fen}");
        if let Some(&mv) = found.first() {
            assert_eq!(board.after(mv).fen(), after, "{fen}");
            assert_eq!(board.after(mv).key(), Board::from_fen(after).unwrap().key(), "{fen}");
        }
    }
    // Castling without a king move is the only legal move.
    let board = Board::from_fen("3k4/8/b7/8/8/4p2p/7P/6KR w K - 0 1").unwrap();
    assert!(board.has_legal_move());
    assert_eq!((board.count_moves(), board.moves().len()), (1, 1));
}

#[test]
fn castling_is_written_and_read_in_both_notations() {
    let board = Board::from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1").unwrap();
    for (standard, takes_rook) in [("e1g1", "e1h1"), ("e1c1", "e1a1")] {
        let mv = board.parse_uci(standard).unwrap();
        assert_eq!(board.parse_uci(takes_rook), Ok(mv));
        assert_eq!((board.uci(mv), board.with_chess960(true).uci(mv)), (standard.into(), takes_rook.into()));
        assert_eq!(board.with_chess960(true).parse_uci(standard), Ok(mv));
    }
    // A king move and castling with the same destination.
    let board = Board::from_fen("4k3/8/8/8/8/8/8/R4KR1 w KQ - 0 1").unwrap();
    assert!(board.parse_uci("f1g1").unwrap().is_castling());
    assert_eq!(board.uci(board.parse_san("O-O").unwrap()), "f1g1");
    assert_eq!(board.parse_uci("f1c1"), board.parse_uci("f1a1"));
    let board = Board::from_fen("4k3/8/8/8/8/8/8/R4K1R w KQ - 0 1").unwrap();
    assert!(!board.parse_uci("f1g1").unwrap().is_castling());
    assert_ne!(board.parse_uci("f1g1"), board.parse_uci("f1h1"));
}

/// The board and its keys equal those of a board read from its FEN, and what the last move changed is what it returned.
fn check_state(board: &Board, step: Option<(&Board, Move, Delta)>) {
    for fen in [board.fen(), shredder_fen(board)] {
        let fresh = Board::from_fen(&fen).unwrap();
        assert_eq!(fresh, *board, "{board}");
        assert_eq!(fresh.keys(), board.keys(), "{board}");
    }
    let Some((before, mv, delta)) = step else { return };
    let kept = before.placed_pieces().filter(|placed| !delta.removed().contains(placed));
    let [mut pieces, mut expected] =
        [kept.chain(delta.added().iter().copied()).collect(), board.placed_pieces().collect::<Vec<_>>()];
    for list in [&mut pieces, &mut expected] {
        list.sort_by_key(|placed| placed.square.to_index());
    }
    assert_eq!(pieces, expected, "{before} {mv}");
}

type Visit<'a> = &'a mut dyn FnMut(Piece, Move);

/// The stages of generation visit each legal move once, with its piece, and all tests for check agree.
fn check_stages(board: &Board) {
    let sorted = |generate: &dyn Fn(Visit)| {
        let mut moves = Vec::new();
        generate(&mut |piece, mv| moves.push((mv.bits(), piece.to_index())));
        moves.sort_unstable();
        moves
    };
    let expected = |belongs: &dyn Fn(Move) -> bool| {
        sorted(&|visit| {
            board.moves().iter().filter(|&&mv| belongs(mv)).for_each(|&mv| visit(board.moved_piece(mv), mv))
        })
    };
    let gives_check = |mv| board.after(mv).in_check();
    assert_eq!(sorted(&|visit| board.for_each_noisy(visit)), expected(&|mv| board.is_noisy(mv)), "{board}");
    assert_eq!(sorted(&|visit| board.for_each_quiet(visit)), expected(&|mv| !board.is_noisy(mv)), "{board}");
    let quiet_checks = expected(&|mv| !board.is_noisy(mv) && gives_check(mv));
    assert_eq!(sorted(&|visit| board.for_each_quiet_check(visit)), quiet_checks, "{board}");
    let checks = board.checks();
    for &mv in board.moves().iter() {
        assert_eq!([board.gives_check(mv), checks.given_by(board, mv)], [gives_check(mv); 2], "{board} {mv}");
    }
}

#[test]
fn state_and_stages_are_right_in_all_positions() {
    let check = |board: &Board, step: Option<(&Board, Move, Delta)>| {
        check_state(board, step);
        check_stages(board);
    };
    random_boards(50_000, 2, check);
    random_dfrc_boards(10_000, 13, check);
    for fen in TRICKY {
        let board = Board::from_fen(fen).unwrap();
        check_stages(&board);
        for next in board.moves().iter().map(|&mv| board.after(mv)) {
            check_stages(&next);
            next.moves().iter().for_each(|&mv| check_stages(&next.after(mv)));
        }
    }
}

/// Moves survive all notations, and exactly they are legal among all squares, with all promotions, valid or not, and
/// the mark of castling.
#[test]
fn moves_are_written_read_and_tested() {
    let mut random = Pcg64Mcg::new(3);
    let mut check = |board: &Board| {
        let moves = board.moves();
        for &mv in moves.iter() {
            let unpacked = Move::unpacked(Move::packed(Some(mv))).map(|mv| board.mark_castling(mv));
            assert_eq!(unpacked, Some(mv), "{board} {mv}");
            assert_eq!(board.parse_san(&board.san(mv)), Ok(mv), "{board} {mv}");
            for board in [*board, board.with_chess960(true)] {
                assert_eq!(board.parse_uci(&board.uci(mv)), Ok(mv), "{board} {mv}");
            }
        }
        for squares in 0..4096 {
            for bits in [squares, squares | (random.next_u64() as u16 & 0xF000)] {
                let Some(mv) = Move::from_bits(bits) else { continue };
                assert_eq!(board.is_legal(mv), moves.contains(&mv), "{board} {mv:?}");
            }
        }
    };
    random_boards(3_000, 4, |board, _| check(board));
    random_dfrc_boards(2_000, 12, |board, _| check(board));
}

#[test]
fn fens_survive_the_round_trip() {
    let board = Board::from_fen("4k3/8/8/8/8/8/8/4K2R w K -").unwrap();
    assert_eq!(board.fen(), "4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    let board = Board::from_fen("  4k2r/8/8/8/8/8/8/R3K3 \t b  Ahk - 12   34 ").unwrap();
    assert_eq!(board.fen(), "4k2r/8/8/8/8/8/8/R3K3 b Qk - 12 34");
}

#[test]
fn en_passant_is_kept_only_when_a_capture_is_legal() {
    let cases = [
        // No pawn next to it.
        ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", None),
        ("4k3/8/8/8/4Pp2/8/8/4K3 b - e3 0 1", Some(Square::E3)),
        // The capture exposes the king on the rank.
        ("8/8/8/8/k3Pp1R/8/8/4K3 b - e3 0 1", None),
        // A knight gives check, which the capture does not resolve.
        ("4k3/8/3N4/8/4Pp2/8/8/4K3 b - e3 0 1", None),
        // The pawn has not just moved: its origin is occupied.
        ("4k3/8/8/8/4Pp2/8/4B3/4K3 b - e3 0 1", None),
        // Occupied target, and a rank of the wrong side.
        ("rnbqkbnr/pppp1ppp/4N3/3Pp3/8/8/PPP1PPPP/RNBQKB1R w KQkq e6 0 1", None),
        ("4k3/8/8/8/4Pp2/8/8/4K3 b - e6 0 1", None),
    ];
    for (fen, expected) in cases {
        assert_eq!(Board::from_fen(fen).unwrap().en_passant(), expected, "{fen}");
    }
    // The same without the field has the same key.
    let without = Board::from_fen("8/8/8/8/k3Pp1R/8/8/4K3 b - - 0 1").unwrap();
    assert_eq!(Board::from_fen("8/8/8/8/k3Pp1R/8/8/4K3 b - e3 0 1").unwrap().key(), without.key());
    // Also after a double step.
    let played = Board::from_fen("8/8/8/8/k4p1R/8/4P3/4K3 w - - 0 1").unwrap();
    let after = played.after(played.parse_uci("e2e4").unwrap());
    assert_eq!(after.en_passant(), None);
}

#[test]
fn invalid_fens_are_rejected_with_a_reason() {
    let cases = [
        ("", "fields"),
        ("8/8/8/8/8/8/8/8 w - -", "kings"),
        ("4k3/8/8/8/8/8/8/8 w - - 0 1", "White has 0 kings"),
        ("4k3/8/8/8/8/8/8/3KK3 w - - 0 1", "White has 2 kings"),
        ("4k3/8/8/NNNN4/NNNNNNNN/NNNNNNNN/8/4K3 w - - 0 1", "promoted"),
        ("4k3/8/8/8/8/8/4K3 w - - 0 1", "7 ranks"),
        ("4k3/8/8/8/8/8/8/8/4K3 w - - 0 1", "9 ranks"),
        ("4k3/8/9/8/8/8/8/4K3 w - - 0 1", "rank 6"),
        ("4k3/8/7/8/8/8/8/4K3 w - - 0 1", "rank 6"),
        ("4k3/8/ppppppppp/8/8/8/8/4K3 w - - 0 1", "rank 6"),
        ("4k3/8/44p/8/8/8/8/4K3 w - - 0 1", "rank 6"),
        ("4k3/8/8/8/8/8/8/4K2x w - - 0 1", "'x'"),
        ("4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "pawn on h8"),
        ("4k3/8/8/8/8/8/8/4K2p w - - 0 1", "pawn on h1"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "side to move"),
        ("4k3/8/8/8/8/8/8/4K3 w XYZ - 0 1", "castling"),
        ("4k3/8/8/8/8/8/8/4K3 w - z9 0 1", "en passant"),
        ("4k3/8/8/8/8/8/8/4K3 w - \u{e9}3 0 1", "en passant"),
        ("4k3/8/8/8/8/8/8/4K3 w - - x 1", "halfmove"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 -3", "fullmove"),
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "black king can be captured"),
        ("8/8/8/8/8/8/4k3/4K3 w - - 0 1", "king can be captured"),
        ("4k3/pppppppp/p7/8/8/8/8/4K3 w - - 0 1", "9 pawns"),
    ];
    for (fen, reason) in cases {
        let error = Board::from_fen(fen).expect_err(fen).to_string();
        assert!(error.contains(reason), "{fen}: {error}");
    }
    // Castling rights without the rook are dropped.
    assert_eq!(Board::from_fen("4k3/8/8/8/8/8/8/4K3 w KQkq - 0 1").unwrap().fen(), "4k3/8/8/8/8/8/8/4K3 w - - 0 1");
}

#[test]
fn san_is_written_and_read() {
    let cases = [
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", "exd6"),
        ("4k3/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7c8q", "c8=Q+"),
        ("4k3/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7c8n", "c8=N"),
        ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "O-O+"),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "a1a8", "Ra8#"),
        ("4k3/8/8/8/8/8/R6R/4K3 w - - 0 1", "a2d2", "Rad2"),
        ("4k3/8/8/R7/8/8/8/R3K3 w - - 0 1", "a1a3", "R1a3"),
        ("8/k7/8/8/4Q2Q/8/K7/7Q w - - 0 1", "h4e1", "Qh4e1"),
        ("8/7k/8/8/Q7/8/8/Q2QK3 w - - 0 1", "a1d4", "Qa1d4"),
    ];
    for (fen, uci, san) in cases {
        let board = Board::from_fen(fen).unwrap();
        let mv = board.parse_uci(uci).unwrap();
        assert_eq!(board.san(mv), san, "{fen}");
        assert_eq!(board.parse_san(san).unwrap(), mv, "{fen}");
    }
    assert!(Board::from_fen("4k3/8/8/8/8/8/R6R/4K3 w - - 0 1").unwrap().parse_san("Rd2").is_err(), "ambiguous");
    let board = Board::from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1").unwrap();
    for text in ["O-O", "0-0", "O-O+", "o-o"] {
        assert_eq!(board.parse_san(text).is_ok(), text != "o-o", "{text}");
    }
    let board = Board::from_fen("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1").unwrap();
    for text in ["exd6", "exd6 e.p.", "exd6e.p.", "ed6", "e5d6", "e5xd6!?"] {
        assert!(board.parse_san(text).is_ok(), "{text}");
    }
    for text in ["", "x", "exd6foo", "Ke9", "Qd1", "e2e4e5", "=Q", "e8=K"] {
        assert!(board.parse_san(text).is_err(), "{text}");
    }
}

#[test]
fn invalid_move_texts_are_rejected() {
    let board = Board::startpos();
    for text in ["", "e2", "e2e5", "e2e4q", "e2e4xyz", "0000", "e7e5", "i1i2", "\u{e9}2e4", "e2e4 "] {
        assert!(board.parse_uci(text).is_err(), "{text}");
    }
    assert!(board.parse_uci("E2E4").is_ok());
}

#[test]
fn exchanges_have_known_values() {
    // P 200, N 800, B 850, R 1300, Q 2600.
    let cases = [
        ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", 200),
        ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5", -600),
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", 200),
        ("4k3/8/2p5/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", 0),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 200),
        ("4k3/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7c8q", 2400),
        ("2r1k3/1P6/8/8/8/8/8/4K3 w - - 0 1", "b7c8q", 1300 + 2400),
        ("4k3/8/8/8/8/8/3p4/4K3 w - - 0 1", "e1d2", 200),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", 0),
        ("3rk3/8/8/3p4/8/8/8/3QK3 w - - 0 1", "d1d5", 200 - 2600),
        ("3rk3/8/8/3p4/8/8/3Q4/3RK3 w - - 0 1", "d2d5", 200 - 2600 + 1300),
        // The rook on e2 is pinned by the captured piece, but not by the recapturing one.
        ("3qr2k/8/8/8/B7/8/4R3/4K3 w - - 0 1", "a4e8", 1300),
    ];
    for (fen, mv, value) in cases {
        let board = Board::from_fen(fen).unwrap();
        let mv = board.parse_uci(mv).unwrap();
        assert!(board.see_ge(mv, value), "{fen} {mv} >= {value}");
        assert!(!board.see_ge(mv, value + 1), "{fen} {mv} < {}", value + 1);
    }
}

#[test]
fn repetition_and_clocks() {
    let mut game = Game::default();
    for (count, text) in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"].iter().enumerate() {
        assert_eq!(game.ending(), None, "before ply {count}");
        let mv = game.board().parse_uci(text).unwrap();
        game.push(mv);
    }
    assert_eq!(game.ending(), Some(Ending::Repetition));
    assert_eq!(game.board().halfmove_clock(), 8);
    assert_eq!(game.board().fullmove_number(), 5);
    // A position in which both stand at their largest value is read as it was written.
    let last = Board::from_fen("4k3/8/8/8/8/8/4P3/4K3 b - - 99999 9999").unwrap();
    let largest = Setup { halfmove_clock: u16::MAX, fullmove_number: u16::MAX, ..last.setup() };
    for last in [last, Board::from_setup(&largest).unwrap()] {
        let after = last.after(last.parse_uci("e8d8").unwrap()).fen();
        assert_eq!(Board::from_fen(&after).unwrap().fen(), after);
    }
    let ending = |fen: &str| Game::new(Board::from_fen(fen).unwrap()).ending();
    assert_eq!(ending("4k3/8/8/8/8/8/8/4KB2 w - - 0 1"), Some(Ending::InsufficientMaterial));
    assert_eq!(ending("4kb2/8/8/8/8/8/8/2B1K3 w - - 0 1"), Some(Ending::InsufficientMaterial));
    assert_eq!(ending("4kb2/8/8/8/8/8/8/4KB2 w - - 0 1"), None);
    assert_eq!(ending("4k3/8/8/8/8/8/8/3NKN2 w - - 0 1"), None);
    assert_eq!(ending("4k3/8/8/8/8/8/8/4K2R w - - 100 80"), Some(Ending::FiftyMoves));
    assert_eq!(ending("R5k1/5ppp/8/8/8/8/8/4K3 b - - 100 80"), Some(Ending::Checkmate));
    assert_eq!(ending("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), Some(Ending::Stalemate));
}

#[test]
fn upcoming_repetition_finds_exactly_the_moves_back() {
    let mut random = Pcg64Mcg::new(8);
    let mut found = 0;
    for _ in 0..200 {
        let mut game = Game::default();
        while game.ending().is_none() && game.moves().len() < 200 {
            let board = *game.board();
            let moves = board.moves();
            let reversible = board.halfmove_clock() as usize;
            let returns = moves.iter().any(|&mv| {
                let after = board.after(mv);
                after.halfmove_clock() > 0
                    && game.keys().iter().rev().skip(1).take(reversible).any(|&key| key == after.key())
            });
            // With a large ply every earlier position belongs to the search line.
            assert_eq!(upcoming_repetition(&board, game.keys(), 1_000), returns, "{board}");
            found += usize::from(returns);
            // Prefer quiet moves, so that repetitions occur.
            let quiet: Vec<Move> = moves.iter().copied().filter(|&mv| board.after(mv).halfmove_clock() > 0).collect();
            let pool = if quiet.is_empty() || random.next_u64().is_multiple_of(8) { moves.to_vec() } else { quiet };
            game.push(pool[(random.next_u64() % pool.len() as u64) as usize]);
        }
    }
    assert!(found > 100, "only {found} positions could repeat");
}

#[test]
fn quotes_are_cut_and_escaped() {
    assert_eq!(quote("abc"), "'abc'");
    assert_eq!(quote(&"é".repeat(100)), format!("'{}...'", "é".repeat(60)));
    assert_eq!(quote("a\u{7}b"), "'a\\u{7}b'");
}
