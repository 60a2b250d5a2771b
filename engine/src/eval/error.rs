//! Why weights are refused, each as a sentence that says what is wrong and where.

use super::units::MAX_SCALE;
use crate::board::{Color, PieceSquare};
use std::fmt;
use std::path::PathBuf;

/// Largest size of one integer weight: what the fast tables hold.
pub const LIMIT: i32 = i16::MAX as i32;

/// Which weight of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The middlegame weight.
    Middlegame,
    /// The endgame weight.
    Endgame,
}

impl Stage {
    /// Both, in the order in which weights hold them.
    pub const ALL: [Stage; 2] = [Stage::Middlegame, Stage::Endgame];
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Stage::Middlegame => "middlegame",
            Stage::Endgame => "endgame",
        })
    }
}

/// Why weights cannot be used.
#[derive(Debug)]
pub enum WeightsError {
    /// The file cannot be read or written.
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// Something about the file at this path.
    InFile {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        error: Box<WeightsError>,
    },
    /// JSON that ends too early.
    Cut(serde_json::Error),
    /// Not JSON.
    Syntax(serde_json::Error),
    /// JSON of another shape: a fraction where integers belong, a missing field.
    Shape(serde_json::Error),
    /// Another format version.
    Format {
        /// The version found.
        found: u32,
        /// The oldest and the newest version read here.
        known: [u32; 2],
    },
    /// The content hash is missing or not that of the numbers.
    Hash {
        /// The hash the file states.
        stated: Option<String>,
        /// The hash of what the file holds.
        computed: String,
    },
    /// The layout's checksum is not that of its groups.
    Checksum {
        /// The checksum the file states.
        stated: u32,
        /// The checksum of the groups the file lists.
        computed: u32,
    },
    /// A group that this engine does not have.
    UnknownGroup(String),
    /// A group whose length is another one here.
    GroupLength {
        /// Which group.
        group: String,
        /// Its length in the file.
        found: usize,
        /// Its length here.
        expected: usize,
    },
    /// A group that is in the file's layout but has no weights, or the other way round.
    GroupMissing(String),
    /// A group that comes twice.
    GroupTwice(String),
    /// A list of weights that is not as long as the file's layout says.
    Count {
        /// Which group.
        group: String,
        /// Which list.
        stage: Stage,
        /// How many integers it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A weight that is too large for the fast tables.
    Overflow {
        /// Which group.
        group: &'static str,
        /// Which of its features.
        index: usize,
        /// Which weight.
        stage: Stage,
        /// Its value.
        value: f64,
    },
    /// Two weights of one pair of pieces that are too large together.
    PairOverflow {
        /// One piece.
        piece: PieceSquare,
        /// The other.
        other: PieceSquare,
        /// Which weight.
        stage: Stage,
        /// The sum.
        value: i32,
    },
    /// A float weight that is not a number or infinite.
    NotFinite {
        /// Which group.
        group: &'static str,
        /// Which of its features.
        index: usize,
        /// Which weight.
        stage: Stage,
        /// Its value.
        value: f64,
    },
    /// Float weights that are not as many as the layout's features.
    Length {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// Opening weights of the pieces that sum to nothing, so that no scaling makes them constant.
    Material(f64),
    /// A scale that is not positive.
    Scale(i32),
    /// A WDL model that would divide by zero.
    WinRate,
}

impl fmt::Display for WeightsError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        use WeightsError::*;
        match self {
            Io { path, error } => write!(f, "{}: {error}", path.display()),
            InFile { path, error } => write!(f, "{}: {error}", path.display()),
            Cut(error) => write!(f, "the weights end too early, the file is cut off: {error}"),
            Syntax(error) => write!(f, "the weights are not valid JSON: {error}"),
            Shape(error) => write!(f, "the weights are not as expected: {error}"),
            Format { found, known: [oldest, newest] } => {
                let known = format!("versions {oldest} to {newest}");
                write!(f, "the weights have format version {found}, and this engine reads {known}")
            }
            Hash { stated: Some(stated), computed } => write!(
                f,
                "the content hash is {computed} by the numbers, but the file says {stated}: the file is damaged or was \
                 changed by hand"
            ),
            Hash { stated: None, .. } => f.write_str("the weights have no content hash"),
            Checksum { stated, computed } => {
                write!(f, "the layout's checksum is {computed} by its groups, but the file says {stated}")
            }
            UnknownGroup(group) => write!(f, "the weights have a group `{group}` that this engine does not know"),
            GroupLength { group, found, expected } => {
                write!(f, "group `{group}` has {found} features in the weights and {expected} in this engine")
            }
            GroupMissing(group) => write!(f, "group `{group}` is not both in the layout and among the weights"),
            GroupTwice(group) => write!(f, "group `{group}` comes twice"),
            Count { group, stage, found, expected } => {
                write!(f, "group `{group}` has {found} {stage} weights where the layout says {expected}")
            }
            Overflow { group, index, stage, value } => {
                write!(f, "{stage} weight {index} of group `{group}` is {value}, outside -{LIMIT} to {LIMIT}")
            }
            PairOverflow { piece, other, stage, value } => write!(
                f,
                "the {stage} pair weights of {} and {} sum to {value}, outside -{LIMIT} to {LIMIT}",
                words(*piece),
                words(*other)
            ),
            NotFinite { group, index, stage, value } => {
                write!(f, "{stage} weight {index} of group `{group}` is {value}, not a finite number")
            }
            Length { found, expected } => write!(f, "there are {found} float weights for {expected} features"),
            Material(sum) => {
                write!(f, "the middlegame weights of the pieces sum to {sum}, which no scaling turns into a constant")
            }
            Scale(scale) => write!(f, "the scale is {scale}, and must be from 1 to {MAX_SCALE}"),
            WinRate => f.write_str("the WDL model's parameters are not positive at every phase"),
        }
    }
}

impl std::error::Error for WeightsError {}

fn words(piece: PieceSquare) -> String {
    let color = if piece.color == Color::White { "white" } else { "black" };
    let name = ["pawn", "knight", "bishop", "rook", "queen", "king"][piece.piece.to_index()];
    format!("{color} {name} {}", piece.square)
}
