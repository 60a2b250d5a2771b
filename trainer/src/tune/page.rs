//! The report page of a tuning: initial and current values, and their curves.

use crate::page::figures::{Axes, Series, chart};
use crate::page::html::Page;
use crate::tune::parameters::Parameter;
use crate::tune::state::{TuningSettings, TuningState};

/// The page as self-contained HTML.
#[must_use]
pub fn of(settings: &TuningSettings, state: &TuningState) -> String {
    let (pairs, all) = (state.done, settings.schedule.pairs);
    let mut page = Page::default();
    page.paragraph(&format!(
        "{pairs} of {all} pairs of games, {}, {} pairs a batch, seed {}.",
        settings.budget, settings.batch, settings.seed,
    ));
    let draw = |(index, y): (usize, &str)| {
        let points = state.history.iter().map(|moment| (moment.done as f64, moment.values[index])).collect();
        let axes = Axes { x: "pairs", y, from_zero: false, whole: true };
        chart(&axes, &[Series::line("", points)])
    };
    let names: Vec<String> = settings.parameters.iter().map(Parameter::label).collect();
    let charts: Vec<_> = names.iter().map(String::as_str).enumerate().map(draw).collect();
    page.charts(&charts, "The values by pairs of games.");
    let parameters = settings.parameters.iter().zip(&state.values).zip(state.result());
    let row = |((parameter, value), result): ((&Parameter, &f64), &f64)| {
        let steps = (result - parameter.value) / parameter.c_end;
        vec![
            parameter.label(),
            parameter.value.to_string(),
            format!("{value:.3}"),
            format!("{result:.3}"),
            format!("{steps:+.2}"),
            parameter.min.to_string(),
            parameter.max.to_string(),
            format!("{:.3}", parameter.c_end),
            parameter.r_end.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = parameters.map(row).collect();
    page.table(
        "The values; the result is their mean over the last pairs; c: perturbation, r: learning rate, both at the \
         end.",
        &["Parameter", "Begin", "Now", "Result", "Change in c", "Min", "Max", "c", "r"],
        &rows,
    );
    page.finish("Tuning by games")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::parameters::parse;
    use crate::tune::state::Moment;

    #[test]
    fn every_parameter_has_a_row_and_a_curve() {
        let parameters = parse("rfp_factor, int, 139, 60, 260, 10, 0.002\nrfp_depth, int, 9, 5, 14, 1, 0.002").unwrap();
        let settings = TuningSettings { parameters, ..TuningSettings::default() };
        let history = (0..20).map(|n| Moment { done: n, values: vec![139.0 + n as f64, 9.0] }).collect();
        let state = TuningState { done: 19, values: vec![158.0, 9.0], history, ..TuningState::default() };
        let page = of(&settings, &state);
        assert_eq!(page.matches("<svg").count(), 2);
        assert!(
            page.contains(
                "<th scope=\"row\">rfp_factor</th><td>139</td><td>158.000</td><td>158.000</td><td>+1.90</td>"
            ),
            "{page}"
        );
        assert!(
            !page.contains("http://") || page.matches("http://").count() == page.matches("http://www.w3.org").count()
        );
    }
}
