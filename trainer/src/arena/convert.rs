//! Conversion of games: PGN to viriformat and back, binpacks to both, all of them to positions in bulletformat.
//!
//! Viriformat has no names, dates or clocks, and no games without a result; PGN can hold everything that viriformat
//! does. From PGN to PGN the moves with scores and margins are kept, and the tags that filters look at. Bulletformat has
//! positions only: those of each game that have a score. A broken game is skipped and reported with its place.

use std::io::{BufWriter, Write};
use std::path::Path;

use dyad_engine::board::Board;
use dyad_formats::choice::BEGINNING;
use dyad_formats::error::Error;
use dyad_formats::files::{AtomicFile, check_output};
use dyad_formats::game::BrokenGame;
use dyad_formats::game::{GameRecord, PlayedMove, Tags};
use dyad_formats::input::Kind;
use dyad_formats::pgn::{check_side, side_of_scores};
use dyad_formats::score::ScoreSide;
use dyad_formats::source::{FileChunk, chunks};
use dyad_formats::{bulletformat, viriformat};

use crate::arena::pgn_writer::PgnGame;
use crate::base::context::Context;
use crate::base::parallel::ordered_for_each;

/// Counts of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConvertCounts {
    /// Games written.
    pub games: u64,
    /// Moves of these games, or positions if positions are written.
    pub moves: u64,
    /// Games that could not be read.
    pub broken: u64,
    /// Games that the format cannot hold: those without a result.
    pub unfinished: u64,
    /// Scores of their moves.
    pub scores: u64,
}

/// An encoded game with its number of moves or positions, or the reason why the format cannot hold it.
type Written = Result<(u64, Vec<u8>), String>;

fn written(game: &GameRecord, kind: Kind) -> Written {
    let moves = game.moves.len() as u64;
    match kind {
        Kind::Viriformat => Ok((moves, viriformat::encode(game)?)),
        Kind::Bulletformat => {
            let bytes = boards(game)?;
            Ok(((bytes.len() / bulletformat::BYTES) as u64, bytes))
        }
        _ => Ok((moves, as_pgn(game).to_string().into_bytes())),
    }
}

/// A game in another form.
struct Converted {
    written: Written,
    /// Scores that it has.
    scores: u64,
    left_out: Option<BrokenGame>,
}

impl Converted {
    fn new(game: GameRecord, kind: Kind) -> Converted {
        let scores = game.moves.iter().filter(|played| played.score.is_some()).count() as u64;
        Converted { written: written(&game, kind), scores, left_out: game.left_out }
    }
}

fn boards(game: &GameRecord) -> Result<Vec<u8>, String> {
    let result = game.result.ok_or("a game without a result")?;
    let scored = game.positions().filter_map(|(board, played)| Some((board, played.score?)));
    Ok(scored.flat_map(|(board, score)| bulletformat::encode(&board, score, result)).collect())
}

fn as_pgn(game: &GameRecord) -> PgnGame {
    let comment = |board: &Board, played: &PlayedMove| {
        let score = match played.score {
            // The depth is not known.
            Some(score) => Some(format!("{score}/0")),
            None => played.book.then(|| "book".to_string()),
        };
        let choice = played.choice.map(|choice| format!("line={BEGINNING} {}", choice.text(board)));
        score.into_iter().chain(choice).collect::<Vec<_>>().join(", ")
    };
    let moves = game.positions().map(|(board, played)| (played.mv, comment(&board, played))).collect();
    let Tags { event, site, ratings, players: [white, black], .. } = &game.tags;
    let [white_elo, black_elo] = ratings.map(|rating| rating.map_or_else(String::new, |elo| elo.to_string()));
    let tags = [
        ("Event", event.trim()),
        ("Site", site),
        ("White", white),
        ("Black", black),
        ("WhiteElo", &white_elo),
        ("BlackElo", &black_elo),
    ];
    let known = tags.into_iter().filter(|(_, value)| !value.is_empty());
    let tags = known.map(|(name, value)| (name, value.to_string())).collect();
    PgnGame { tags, start: game.start, moves, result: game.result }
}

/// The format of the output file, by its extension. Unknown and compressed extensions are refused, although a file with
/// such a name would be read as PGN.
fn kind_to_write(out: &Path) -> Result<Kind, Error> {
    let ending = out.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match ending.as_str() {
        "pgn" | "vf" | "viriformat" | "bullet" | "bulletformat" => Ok(Kind::of(out)),
        _ => Err(Error::content(out, "its name", "games can be written as .pgn, .vf or .bullet")),
    }
}

/// What happens during a conversion.
#[derive(Clone, Debug)]
pub enum ConvertEvent {
    /// A game, or a part of it, cannot be read and is skipped.
    Broken(BrokenGame),
    /// A game was written; the counts so far.
    Written(ConvertCounts),
}

/// Writes the games of all inputs to `out`; formats are determined by [name](Kind::of). Scores in the comments of PGN
/// are read from the point of view `scores`; without it, from the one that the file shows, and otherwise from the
/// mover's. The same inputs give the same bytes on any number of threads.
///
/// # Errors
/// When a file cannot be opened, read or written, when `out` has no extension of games, and when no game is found.
pub fn convert(
    inputs: &[&Path],
    out: &Path,
    scores: Option<ScoreSide>,
    context: &mut Context<ConvertEvent>,
) -> Result<ConvertCounts, Error> {
    let kind = kind_to_write(out)?;
    check_output(out, inputs.iter().copied())?;
    if let Some(side) = scores {
        check_side(inputs.iter().copied(), side)?;
    }
    let mut file = BufWriter::new(AtomicFile::create(out).map_err(Error::file("write", out))?);
    let mut counts = ConvertCounts::default();
    for input in inputs {
        let side = match scores {
            Some(side) => side,
            None if Kind::of(input) == Kind::Games => side_of_scores(input)?.unwrap_or(ScoreSide::Mover),
            None => ScoreSide::Mover,
        };
        let work = |(): &mut (), piece: Result<FileChunk, Error>| {
            let games = piece?.games(Some(side)).into_iter();
            Ok(games.map(|game| game.map(|game| Converted::new(game, kind))).collect())
        };
        let take = |made: Vec<Result<Converted, BrokenGame>>| {
            for game in made {
                let game = match game {
                    Ok(game) => game,
                    Err(broken) => {
                        counts.broken += 1;
                        (context.on_event)(ConvertEvent::Broken(broken));
                        continue;
                    }
                };
                if let Some(left_out) = game.left_out {
                    (context.on_event)(ConvertEvent::Broken(left_out));
                }
                let Ok((moves, bytes)) = game.written else {
                    counts.unfinished += 1;
                    continue;
                };
                file.write_all(&bytes).map_err(Error::file("write", out))?;
                counts.games += 1;
                counts.moves += moves;
                counts.scores += game.scores;
                (context.on_event)(ConvertEvent::Written(counts));
            }
            if context.stop.stopped() { Err(Error::Stopped) } else { Ok(()) }
        };
        ordered_for_each(context.threads, chunks(input)?, || Ok(()), work, take)?;
    }
    if kind == Kind::Bulletformat && counts.games > 0 && counts.moves == 0 {
        return Err(Error::Nothing(format!("no move of {} games has a score in a form that is known", counts.games)));
    }
    if counts.games == 0 {
        return Err(Error::Nothing(format!(
            "no game was found that could be written ({} broken, {} without a result)",
            counts.broken, counts.unfinished
        )));
    }
    let file = file.into_inner().map_err(|error| Error::file("write", out)(error.into_error()))?;
    file.commit().map_err(Error::file("write", out))?;
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyad_engine::control::Control;
    use dyad_formats::testing::Temporary;
    use std::fs;

    const GAMES: &str = "[White \"A\"]\n[Result \"1-0\"]\n\n1. e4 {+0.30/12 0.1s} e5 {-0.25/11} 2. Bc4 Nc6 3. Qh5 {+M2/30} \
        Nf6 {-M1/9} 4. Qxf7# 1-0\n\n[Result \"*\"]\n\n1. d4 *\n\n[Result \"0-1\"]\n\n1. e5 0-1\n\n\
        [SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n[Result \"1/2-1/2\"]\n\n1. O-O 1/2-1/2\n";

    fn converted(from: &Path, to: &Path, scores: Option<ScoreSide>) -> Result<ConvertCounts, Error> {
        let mut context = Context { threads: 2, stop: &Control::new(false), on_event: &mut |_| () };
        convert(&[from], to, scores, &mut context)
    }

    #[test]
    fn conversion_round_trip() {
        let folder = Temporary::folder();
        let [pgn, vf, back, again] = ["a.pgn", "a.vf", "back.pgn", "again.vf"].map(|name| folder.join(name));
        fs::write(&pgn, GAMES).unwrap();
        let stop = Control::new(false);
        let mut broken = Vec::new();
        let mut on_event = |event| {
            if let ConvertEvent::Broken(game) = event {
                broken.push(game.to_string());
            }
        };
        let side = Some(ScoreSide::Mover);
        let mut convert = |from: &Path, to: &Path, threads| {
            convert(&[from], to, side, &mut Context { threads, stop: &stop, on_event: &mut on_event }).unwrap()
        };
        let counts = convert(&pgn, &vf, 2);
        assert_eq!(counts, ConvertCounts { games: 2, moves: 8, broken: 1, unfinished: 1, scores: 4 });
        assert_eq!(fs::metadata(&vf).unwrap().len(), 2 * (32 + 4) + 8 * 4);
        convert(&vf, &back, 1);
        let text = fs::read_to_string(&back).unwrap();
        let moves = "1. e4 {+0.30/0} 1... e5 {-0.25/0} 2. Bc4 Nc6 3. Qh5 {+M2/0} 3... Nf6 {-M1/0} 4.\nQxf7# 1-0";
        assert!(text.contains(moves), "{text}");
        convert(&back, &again, 3);
        assert_eq!(fs::read(&vf).unwrap(), fs::read(&again).unwrap());
        assert_eq!(broken.len(), 1);
        assert!(broken[0].contains("1. e5: "), "{broken:?}");
    }

    #[test]
    fn pgn_keeps_what_filters_look_at() {
        let folder = Temporary::folder();
        let [pgn, again] = ["a.pgn", "again.pgn"].map(|name| folder.join(name));
        let text = "[Event \"Cup\"]\n[Site \"Here\"]\n[White \"A\"]\n[Black \"B\"]\n[WhiteElo \"2400\"]\n[TimeControl \"60+1\"]\n\n\
            1. e4 {book} e5 {+0.20/9, line=second d7d5 gap 23 depth 9 weights 0000abcd} 1-0\n";
        fs::write(&pgn, text).unwrap();
        converted(&pgn, &again, Some(ScoreSide::Mover)).unwrap();
        let read = |path: &Path| {
            let text = dyad_formats::pgn::GameTexts::open(path).unwrap().next().unwrap().unwrap();
            text.parse(Some(ScoreSide::Mover)).unwrap()
        };
        let [before, after] = [&pgn, &again].map(|path| read(path));
        assert_eq!((before.tags.event.as_str(), after.tags.event.trim()), ("Cup 60+1", "Cup 60+1"));
        assert_eq!((before.tags.players, before.tags.ratings), (after.tags.players, after.tags.ratings));
        assert_eq!((before.tags.site, before.moves), (after.tags.site, after.moves));
    }

    #[test]
    fn positions_with_a_score_become_bulletformat() {
        let folder = Temporary::folder();
        let [pgn, bullet] = ["a.pgn", "a.bullet"].map(|name| folder.join(name));
        fs::write(&pgn, GAMES).unwrap();
        let counts = converted(&pgn, &bullet, None).unwrap();
        assert_eq!(counts, ConvertCounts { games: 2, moves: 4, broken: 1, unfinished: 1, scores: 4 });
        let blocks: Vec<_> =
            bulletformat::RecordBatches::open(&bullet, 100).unwrap().map(|block| block.unwrap()).collect();
        let scores: Vec<_> =
            blocks.iter().flat_map(|block| block.positions()).map(|epd| epd.unwrap().score.unwrap().0).collect();
        // A mate is clamped to the largest score.
        assert_eq!(scores, [30, -25, 30_000, -30_000]);
    }

    #[test]
    fn scores_are_read_from_the_side_that_they_are_given_from() {
        let folder = Temporary::folder();
        let [pgn, plain, bullet] = ["a.pgn", "plain.pgn", "a.bullet"].map(|name| folder.join(name));
        fs::write(&pgn, "1. e4 {[%eval 0.25]} e5 {[%eval 0.30]} 1-0\n").unwrap();
        fs::write(&plain, "1. e4 e5 1-0\n").unwrap();
        let convert = |from: &Path, side| converted(from, &bullet, side);
        // The first is the score of the position after 1. e4; the second is of none from which a move was played.
        assert_eq!(convert(&pgn, None).unwrap().scores, 1);
        assert_eq!(convert(&pgn, Some(ScoreSide::White)).unwrap().scores, 1);
        let error = convert(&pgn, Some(ScoreSide::Mover)).unwrap_err().to_string();
        assert!(error.contains("White's side, not the mover's"), "{error}");
        let error = convert(&plain, None).unwrap_err().to_string();
        assert!(error.contains("no move of 1 games has a score"), "{error}");
    }

    #[test]
    fn unsupported_conversions_are_refused() {
        let folder = Temporary::folder();
        let [pgn, epd, vf] = ["a.pgn", "a.epd", "a.vf"].map(|name| folder.join(name));
        fs::write(&pgn, "[Result \"*\"]\n\n1. d4 *\n").unwrap();
        fs::write(&epd, "8/8/8/8/8/5k2/6p1/6K1 w - -\n").unwrap();
        let convert = |from: &Path, to: &Path| converted(from, to, None).expect_err("it cannot be").to_string();
        assert!(convert(&pgn, &vf).contains("0 broken, 1 without a result"));
        for name in ["a.epd", "a.viri", "a.pgn.zst", "games"] {
            assert!(convert(&pgn, &folder.join(name)).contains(".pgn, .vf or .bullet"), "{name}");
        }
        assert!(convert(&folder.join("a.bullet"), &vf).contains("positions cannot be made games"));
        #[cfg(not(feature = "binpack"))]
        assert!(convert(&folder.join("a.binpack"), &vf).contains("cargo build --features binpack"));
        assert!(convert(&epd, &vf).contains("positions cannot be made games"));
        assert!(convert(&pgn, &pgn).contains("a.pgn"));
        assert!(!vf.exists());
    }
}
