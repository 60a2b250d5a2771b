//! A tuning on one page: where every value began, where it stands, and its way there.

use std::fmt::Write as _;

use crate::report::figures::{Axes, Series, chart};
use crate::tune::run::{Settings, State};

const CHART: (u32, u32) = (420, 210);

/// The page, as HTML that needs nothing but itself.
#[must_use]
pub fn of(settings: &Settings, state: &State) -> String {
    let (pairs, all) = (state.done, settings.schedule.pairs);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Dyad: tuning</title>\n<style>\n\
         body {{ font-family: sans-serif; margin: 2em auto; max-width: 90em; padding: 0 1em; color: #222; }}\n\
         table {{ border-collapse: collapse; }} td, th {{ padding: 0.15em 0.8em; text-align: right; }}\n\
         td:first-child, th:first-child {{ text-align: left; }} tr:nth-child(even) {{ background: #f4f4f4; }}\n\
         .charts {{ display: flex; flex-wrap: wrap; }}\n</style>\n</head>\n<body>\n<h1>Tuning by games</h1>\n\
         <p>{pairs} of {all} pairs of games, {}, {} pairs a batch, seed {}.</p>\n<table>\n\
         <tr><th>parameter</th><th>begin</th><th>now</th><th>change in c</th><th>min</th><th>max</th><th>c</th>\
         <th>r</th></tr>\n",
        settings.budget, settings.batch, settings.seed,
    );
    for (parameter, value) in settings.parameters.iter().zip(&state.values) {
        let steps = (value - parameter.value) / parameter.c_end;
        writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{value:.3}</td><td>{steps:+.2}</td><td>{}</td><td>{}</td><td>{:.3}</td>\
             <td>{}</td></tr>",
            parameter.name, parameter.value, parameter.min, parameter.max, parameter.c_end, parameter.r_end,
        )
        .expect("writing to a string does not fail");
    }
    page.push_str("</table>\n<div class=\"charts\">\n");
    for (index, parameter) in settings.parameters.iter().enumerate() {
        let points = state.history.iter().map(|moment| (moment.done as f64, moment.values[index])).collect();
        let axes = Axes { x: "pairs", y: &parameter.name, from_zero: false, whole: true };
        writeln!(page, "<div>{}</div>", chart(&axes, &[Series::line("", points)], CHART))
            .expect("writing to a string does not fail");
    }
    page.push_str("</div>\n</body>\n</html>\n");
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::parameters::parse;
    use crate::tune::run::Moment;

    #[test]
    fn every_parameter_has_a_row_and_a_curve() {
        let parameters = parse("rfp_factor, int, 139, 60, 260, 10, 0.002\nrfp_depth, int, 9, 5, 14, 1, 0.002").unwrap();
        let settings = Settings { parameters, ..Settings::default() };
        let history = (0..20).map(|n| Moment { done: n, values: vec![139.0 + n as f64, 9.0] }).collect();
        let state = State { done: 19, values: vec![158.0, 9.0], history, ..State::default() };
        let page = of(&settings, &state);
        assert_eq!(page.matches("<svg").count(), 2);
        assert!(page.contains("<td>rfp_factor</td><td>139</td><td>158.000</td><td>+1.90</td>"), "{page}");
        assert!(
            !page.contains("http://") || page.matches("http://").count() == page.matches("http://www.w3.org").count()
        );
    }
}
