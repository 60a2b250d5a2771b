//! Charts of lines on a page, as SVG.
//!
//! Text stays text, so the browser's fonts write it, and the page's style gives the colors, those of a dark page too.

use std::ops::Range;

use maud::{Markup, html};

/// A named line of a chart.
pub struct Series {
    /// What the legend says; nothing for a chart of one line.
    pub name: String,
    /// Its points, from left to right. Points that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// 95 % intervals of the points, where they have some.
    pub intervals: Vec<(f64, f64, f64)>,
    /// Whether the points are marked.
    pub marked: bool,
}

impl Series {
    /// A plain line.
    pub fn line(name: &str, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.to_string(), points, intervals: Vec::new(), marked: false }
    }

    /// A line whose points are marked.
    pub fn marked(name: &str, points: Vec<(f64, f64)>) -> Series {
        Series { marked: true, ..Series::line(name, points) }
    }
}

/// What is drawn around the lines of a chart.
pub struct Axes<'a> {
    /// Below.
    pub x: &'a str,
    /// At the left.
    pub y: &'a str,
    /// Whether the vertical axis begins at zero.
    pub from_zero: bool,
}

/// A chart of lines over a common axis with its legend; empty if there is nothing to draw.
pub fn chart(axes: &Axes, all: &[Series]) -> Markup {
    // As wide as a phone. The text is as large as that of the page there.
    const SIZE: (f64, f64) = (400.0, 270.0);
    const AREA: (Range<f64>, Range<f64>) = (62.0..388.0, 8.0..226.0);
    let finite = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
    let points = || all.iter().flat_map(|series| series.points.iter().copied()).filter(finite);
    if points().next().is_none() {
        return html! {};
    }
    let bounded = |&(_, low, high): &(f64, f64, f64)| low.is_finite() && high.is_finite();
    let intervals = |series: &Series| series.intervals.iter().copied().filter(bounded).collect::<Vec<_>>();
    let ends = all.iter().flat_map(intervals).flat_map(|(_, low, high)| [low, high]);
    let xs = range(points().map(|point| point.0), false);
    let ys = range(points().map(|point| point.1).chain(ends), axes.from_zero);
    let part = |range: &Range<f64>, value: f64| (value - range.start) / (range.end - range.start);
    let x = |value: f64| pixels(AREA.0.start + part(&xs, value) * (AREA.0.end - AREA.0.start));
    let y = |value: f64| pixels(AREA.1.end - part(&ys, value) * (AREA.1.end - AREA.1.start));
    let line = |series: &Series| {
        let points = series.points.iter().copied().filter(finite);
        points.map(|(at, value)| format!("{},{}", x(at), y(value))).collect::<Vec<_>>().join(" ")
    };
    html! {
        div.chart {
            svg.plot role="img" aria-label={ (axes.y) " by " (axes.x) } viewBox={ "0 0 " (SIZE.0) " " (SIZE.1) } {
                @for tick in ticks(&xs, 5.0) {
                    path.grid d={ "M" (x(tick)) " " (AREA.1.start) "V" (AREA.1.end) } {}
                    text x=(x(tick)) y=(AREA.1.end + 17.0) text-anchor="middle" { (number(tick)) }
                }
                @for tick in ticks(&ys, 6.0) {
                    path.grid d={ "M" (AREA.0.start) " " (y(tick)) "H" (AREA.0.end) } {}
                    text x=(AREA.0.start - 5.0) y=(y(tick)) dy="4" text-anchor="end" { (number(tick)) }
                }
                path.axis d={ "M" (AREA.0.start) " " (AREA.1.start) "V" (AREA.1.end) "H" (AREA.0.end) } {}
                text x=((AREA.0.start + AREA.0.end) / 2.0) y=(SIZE.1 - 6.0) text-anchor="middle" { (axes.x) }
                text transform={ "rotate(-90) translate(" (-(AREA.1.start + AREA.1.end) / 2.0) " 13)" } text-anchor="middle" {
                    (axes.y)
                }
                @for (index, series) in all.iter().enumerate() {
                    g class={ "line-" (index) } {
                        @for (at, low, high) in intervals(series) {
                            path.interval d={ "M" (x(at)) " " (y(low)) "V" (y(high)) } {}
                        }
                        @if series.marked {
                            @for &(at, value) in series.points.iter().filter(|point| finite(point)) {
                                circle cx=(x(at)) cy=(y(value)) r="3" {}
                            }
                        }
                        polyline points=(line(series)) {}
                    }
                }
            }
            (legend(all))
        }
    }
}

/// The names of the lines, below the chart, where they take no room from it.
fn legend(all: &[Series]) -> Markup {
    html! {
        @if all.iter().any(|series| !series.name.is_empty()) {
            ul.legend {
                @for (index, series) in all.iter().enumerate() {
                    li { span class={ "key line-" (index) } {} (series.name) }
                }
            }
        }
    }
}

/// A length in a drawing.
fn pixels(length: f64) -> String {
    format!("{length:.1}")
}

/// The values that are written at an axis, about `count`: multiples of 1, 2 or 5 times a power of ten.
fn ticks(range: &Range<f64>, count: f64) -> impl Iterator<Item = f64> {
    let least = (range.end - range.start) / count;
    let power = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0].map(|factor| factor * power).into_iter().find(|step| *step >= least);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
    (first..=last).map(move |number| number as f64 * step)
}

/// The range of an axis that shows all values, with some air.
fn range(values: impl Iterator<Item = f64>, from_zero: bool) -> Range<f64> {
    let (mut low, mut high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if from_zero {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    let air = if high > low { 0.04 * (high - low) } else { low.abs().max(1.0) * 0.1 };
    let keep_zero = from_zero && low == 0.0;
    (if keep_zero { 0.0 } else { low - air })..high + air
}

/// A number as short as it can be read.
fn number(value: f64) -> String {
    let short = |value: f64| {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    match value.abs() {
        size if size >= 1e6 => format!("{}M", short(value / 1e6)),
        size if size >= 1e4 => format!("{}k", short(value / 1e3)),
        size if size < 5e-4 => "0".to_string(),
        _ => short(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(0.0, "0"), (0.25, "0.25"), (-3.0, "-3"), (1234.5, "1234.5"), (20_000.0, "20k"), (2.5e6, "2.5M")]
        {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn ranges_are_never_empty() {
        for values in [vec![1.0], vec![0.0, 0.0], vec![-5.0, 7.0], vec![1e9, 1e9]] {
            for from_zero in [false, true] {
                let range = range(values.iter().copied(), from_zero);
                assert!(range.start < range.end && values.iter().all(|value| range.contains(value)), "{range:?}");
                let ticks = ticks(&range, 5.0).count();
                assert!((2..=6).contains(&ticks), "{range:?} {ticks}");
            }
        }
        assert!(ticks(&(-0.1..0.62), 6.0).map(number).eq(["0", "0.2", "0.4", "0.6"]));
    }

    #[test]
    fn charts_of_nothing_and_of_odd_numbers() {
        let axes = Axes { x: "x", y: "<y>", from_zero: false };
        assert_eq!(chart(&axes, &[]).0, "");
        assert_eq!(chart(&axes, &[Series::line("", vec![(1.0, f64::NAN)])]).0, "");
        let one = chart(&axes, &[Series::marked("one", vec![(1.0, 1.0), (f64::INFINITY, 2.0)])]).0;
        assert!(one.starts_with("<div class=\"chart\"><svg ") && one.contains("</svg>"), "{one}");
        assert!(!one.contains("NaN") && !one.contains("inf") && one.contains("&lt;y&gt;"), "{one}");
    }
}
