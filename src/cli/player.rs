//! Players of matches, as arguments name them.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use dyad_levels::file::{MoveModel, Strength};
use dyad_levels::player::{LevelPlayer, PlayerProfile};
use dyad_papers::deepchess::network::Network;
use dyad_trainer::arena::matches::MatchPlayer;

use super::{load_weights, model_or_embedded};

/// A player of a match.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayerSpec {
    /// The search with weights: a file, `default` or `material`.
    Weights(PathBuf),
    /// A level by its Elo, of the embedded move model or of one in a file: `level:1600`, `level:1600:FILE`.
    Level { elo: f64, model: Option<PathBuf> },
    /// A level by rating, inverse temperature and nodes: `rating:1600`, `rating:1600:0.5`, `rating:2700:20:30000`.
    Strength(Strength),
    /// A network that compares positions: `deepchess:FILE`.
    Network(PathBuf),
}

impl FromStr for PlayerSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<PlayerSpec, String> {
        let number = |word: &str| {
            let number = word.parse::<f64>().ok().filter(|number| (-5.0..=4000.0).contains(number));
            number.ok_or_else(|| format!("'{text}': '{word}' is not a number from -5 to 4000"))
        };
        let (kind, rest) = text.split_once(':').unwrap_or(("", text));
        Ok(match kind {
            "level" => {
                let (elo, model) = rest.split_once(':').map_or((rest, None), |(elo, file)| (elo, Some(file.into())));
                PlayerSpec::Level { elo: number(elo)?, model }
            }
            "rating" => {
                let mut parts = rest.splitn(3, ':');
                let rating = number(parts.next().unwrap_or_default())?;
                let inverse_temperature = parts.next().map_or(Ok(0.0), number)?;
                let nodes = parts.next().map_or(Ok(0), |nodes| {
                    nodes.parse().map_err(|_| format!("'{text}': '{nodes}' is not a number of nodes"))
                })?;
                PlayerSpec::Strength(Strength { rating, inverse_temperature, nodes })
            }
            "deepchess" => PlayerSpec::Network(rest.into()),
            _ => PlayerSpec::Weights(text.into()),
        })
    }
}

/// The argument.
impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerSpec::Weights(file) => file.display().fmt(f),
            PlayerSpec::Level { elo, model: None } => write!(f, "level:{elo}"),
            PlayerSpec::Level { elo, model: Some(file) } => write!(f, "level:{elo}:{}", file.display()),
            PlayerSpec::Strength(Strength { rating, inverse_temperature, nodes }) => {
                write!(f, "rating:{rating}")?;
                if *inverse_temperature != 0.0 || *nodes != 0 {
                    write!(f, ":{inverse_temperature}")?;
                }
                if *nodes != 0 {
                    write!(f, ":{nodes}")?;
                }
                Ok(())
            }
            PlayerSpec::Network(file) => write!(f, "deepchess:{}", file.display()),
        }
    }
}

impl PlayerSpec {
    /// The name in games and results: a level as it is given, a file without folder and extension.
    pub fn name(&self) -> String {
        let argument = self.to_string();
        match self {
            PlayerSpec::Level { .. } | PlayerSpec::Strength(_) => argument,
            PlayerSpec::Weights(_) | PlayerSpec::Network(_) => {
                Path::new(&argument).file_stem().map_or(argument.clone(), |stem| stem.to_string_lossy().into_owned())
            }
        }
    }

    /// The file that the player is loaded from.
    pub fn file(&self) -> Option<&Path> {
        match self {
            PlayerSpec::Weights(file) | PlayerSpec::Network(file) => Some(file),
            PlayerSpec::Level { model, .. } => model.as_deref(),
            PlayerSpec::Strength(_) => None,
        }
    }

    /// Loads the player.
    pub fn player(&self, name: &str) -> Result<MatchPlayer, Box<dyn Error>> {
        /// Levels draw the same moves in every match.
        const SEED: u64 = 1;
        let profile = match self {
            PlayerSpec::Weights(file) => return Ok(MatchPlayer::new(name, load_weights(file)?)),
            PlayerSpec::Network(file) => return Ok(Network::load(file)?.player(name)),
            PlayerSpec::Level { elo, model } => {
                PlayerProfile::with_elo(&model_or_embedded(model.as_deref())?, *elo, SEED)
            }
            PlayerSpec::Strength(strength) => PlayerProfile::with_strength(&MoveModel::embedded(), *strength, SEED),
        };
        Ok(MatchPlayer::other(name, profile.id(), move || LevelPlayer::new(profile.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_and_printed() {
        for (argument, name) in [
            ("rating:1909", "rating:1909"),
            ("rating:1909:0.5", "rating:1909:0.5"),
            ("rating:2700:20:30000", "rating:2700:20:30000"),
            ("level:1600", "level:1600"),
            ("level:1600:models/other.json", "level:1600:models/other.json"),
            ("runs/best.json", "best"),
            ("default", "default"),
            ("deepchess:runs/network.bin", "network"),
        ] {
            let player: PlayerSpec = argument.parse().unwrap();
            assert_eq!((player.to_string(), player.name()), (argument.to_string(), name.to_string()));
        }
        for (argument, problem) in [
            ("level:x", "'level:x': 'x' is not a number from -5 to 4000"),
            ("rating:1600:50000", "'50000' is not a number"),
            ("rating:1600:1:many", "'many' is not a number of nodes"),
        ] {
            let error = argument.parse::<PlayerSpec>().unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
