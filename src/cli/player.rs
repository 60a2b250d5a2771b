//! Players of matches, as arguments name them.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

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
    /// A network that compares positions: `deepchess:FILE`.
    Network(PathBuf),
}

impl FromStr for PlayerSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<PlayerSpec, String> {
        let (kind, rest) = text.split_once(':').unwrap_or(("", text));
        Ok(match kind {
            "level" => {
                let (elo, model) = rest.split_once(':').map_or((rest, None), |(elo, file)| (elo, Some(file.into())));
                let number = elo.parse().ok().filter(|elo| (0.0..=4000.0).contains(elo));
                let elo = number.ok_or_else(|| format!("'{text}': '{elo}' is not a number from 0 to 4000"))?;
                PlayerSpec::Level { elo, model }
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
            PlayerSpec::Network(file) => write!(f, "deepchess:{}", file.display()),
        }
    }
}

impl PlayerSpec {
    /// The name in games and results: a level as it is given, a file without folder and extension.
    pub fn name(&self) -> String {
        let argument = self.to_string();
        match self {
            PlayerSpec::Level { .. } => argument,
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
        }
    }

    /// Loads the player.
    pub fn player(&self, name: &str) -> Result<MatchPlayer, Box<dyn Error>> {
        /// Levels draw the same moves in every match.
        const SEED: u64 = 1;
        let (elo, model) = match self {
            PlayerSpec::Weights(file) => return Ok(MatchPlayer::new(name, load_weights(file)?)),
            PlayerSpec::Network(file) => return Ok(Network::load(file)?.player(name)),
            PlayerSpec::Level { elo, model } => (*elo, model_or_embedded(model.as_deref())?),
        };
        let profile = PlayerProfile::with_elo(&model, elo, SEED);
        Ok(MatchPlayer::other(name, profile.id(), move || LevelPlayer::new(profile.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_and_printed() {
        for (argument, name) in [
            ("level:1600", "level:1600"),
            ("level:1600:models/other.json", "level:1600:models/other.json"),
            ("runs/best.json", "best"),
            ("default", "default"),
            ("deepchess:runs/network.json", "network"),
        ] {
            let player: PlayerSpec = argument.parse().unwrap();
            assert_eq!((player.to_string(), player.name()), (argument.to_string(), name.to_string()));
        }
        let error = "level:x".parse::<PlayerSpec>().unwrap_err();
        assert_eq!(error, "'level:x': 'x' is not a number from 0 to 4000");
    }
}
