//! A game to annotate, for tests.

use dyad_engine::control::Control;
use dyad_engine::eval::Weights;
use dyad_formats::testing::texts;

use super::analysis::{Analyst, Annotated, annotate_game};

/// A short game that ends with a blunder, with comments to keep and to remove.
pub const MISTAKES: &str = "[Event \"<b>Club</b> & \\\"open\\\"\"]\n[White \"A \\\"quoted\\\" {name}\"]\n\
    [Black \"</script><script>alert(1)</script>\"]\n[ECO \"C20\"]\n[Result \"1-0\"]\n\n\
    {a word before} 1. e4 {the king's pawn [%clk 0:03:00] [%eval 9.99]} e5 {[%cal Ra1a8]} 2. Qh5 $5 Nc6 \
    (2... Ke7 {no}) 3. Bc4 Nf6 {<img src=x onerror=alert(2)>} 4. Qxf7# 1-0\n";

/// The first game of a text, annotated.
pub fn annotated(pgn: &str, nodes: u64) -> Annotated {
    let text = &texts(pgn)[0];
    let record = text.parse(None).expect("the game can be read");
    let weights = Weights::embedded();
    let analyst = || Analyst::new(&weights, nodes);
    annotate_game(&record, text.notes(), 2, analyst, &Control::new(false), |_| {}).expect("there is memory")
}
