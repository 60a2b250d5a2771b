//! Figures of a report, as SVG text.
//!
//! Charts are drawn with `plotters` without any font library: text stays text, and the browser's fonts write it. So the
//! text is plain ASCII, whose width can be guessed well enough. They are as wide as a phone, side by side where there
//! is room; the page's style gives them the colors of a dark page. Boards are squares with numbers.

use std::fmt::Write as _;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::html::escape;

/// Colors that stay apart for the color-blind (Okabe and Ito 2008), then the same again.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
];

const FONT: &str = "sans-serif";
/// Of all text: 12 pixels as it appears, since the SVG backend divides by 1.24.
const SMALL: f64 = 15.0;

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
    /// Whether only whole numbers are written below.
    pub whole: bool,
}

/// A chart of lines over a common axis with its legend; empty text if there is nothing to draw.
pub fn chart(axes: &Axes, all: &[Series], size: (u32, u32)) -> String {
    let finite = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
    let points = || all.iter().flat_map(|series| series.points.iter().copied()).filter(finite);
    if points().next().is_none() {
        return String::new();
    }
    let ends = || all.iter().flat_map(|series| series.intervals.iter().flat_map(|&(_, low, high)| [low, high]));
    let xs = range(points().map(|point| point.0), false);
    let ys = range(points().map(|point| point.1).chain(ends()), axes.from_zero);
    let svg = svg(size, |area| {
        let mut builder = ChartBuilder::on(area);
        builder.margin(6).margin_right(12).x_label_area_size(36).y_label_area_size(60);
        let mut chart = builder.build_cartesian_2d(xs, ys)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .axis_style(BLACK.mix(0.6))
            .label_style((FONT, SMALL))
            .axis_desc_style((FONT, SMALL))
            .x_labels(5)
            .y_labels(6)
            .x_label_formatter(&|x| if axes.whole && x.fract() != 0.0 { String::new() } else { number(*x) })
            .y_label_formatter(&|y| number(*y))
            .x_desc(axes.x)
            .y_desc(axes.y)
            .draw()?;
        for (index, series) in all.iter().enumerate() {
            let color = color(index);
            let line: Vec<(f64, f64)> = series.points.iter().copied().filter(finite).collect();
            for &(x, low, high) in &series.intervals {
                chart.draw_series([PathElement::new(vec![(x, low), (x, high)], color.mix(0.5).stroke_width(2))])?;
            }
            if series.marked {
                chart.draw_series(line.iter().map(|&point| Circle::new(point, 3, color.filled())))?;
            }
            if index < PALETTE.len() {
                chart.draw_series(LineSeries::new(line, color.stroke_width(2)))?;
            } else {
                chart.draw_series(DashedLineSeries::new(line, 6, 4, color.stroke_width(2)))?;
            }
        }
        Ok(())
    });
    let label = escape(&format!("{} by {}", axes.y, axes.x));
    let svg = svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{label}\" class=\"plot\" "), 1);
    format!("<div class=\"chart\">\n{svg}{}</div>\n", legend(all))
}

/// A chart in two sizes, of which the screen shows one.
pub fn both(axes: &Axes, all: &[Series], narrow: (u32, u32), wide: (u32, u32)) -> String {
    let sized = |class: &str, size| {
        let chart = chart(axes, all, size);
        if chart.is_empty() { chart } else { format!("<div class=\"{class}\">\n{chart}</div>\n") }
    };
    sized("narrow", narrow) + &sized("wide", wide)
}

/// Color of the line with this index. Lines beyond the palette are dashed.
fn color(index: usize) -> RGBColor {
    PALETTE[index % PALETTE.len()]
}

/// The names of the lines, below the chart, where they take no room from it.
fn legend(all: &[Series]) -> String {
    if all.iter().all(|series| series.name.is_empty()) {
        return String::new();
    }
    let entry = |(index, series): (usize, &Series)| {
        let (color, name) = (hex(color(index)), escape(&series.name));
        let dashed = if index < PALETTE.len() { "" } else { " dashed" };
        format!("<li><span class=\"key{dashed}\" style=\"border-color:{color}\"></span>{name}</li>\n")
    };
    let entries: String = all.iter().enumerate().map(entry).collect();
    format!("<ul class=\"legend\">\n{entries}</ul>\n")
}

fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// A board with a number on every square, a1 first.
pub struct Board {
    /// What stands above it.
    pub title: String,
    /// The numbers; squares without one stay empty.
    pub values: [Option<f64>; 64],
    /// A square with a letter on it instead of a number.
    pub mark: Option<(usize, char)>,
}

/// Side of a square, and room for the letters of files and the numbers of ranks.
const CELL: usize = 26;
const EDGE: usize = 15;

/// Boards side by side on one color scale: blue above zero, red below.
pub fn boards(all: &[Board]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let numbers = || all.iter().flat_map(|board| board.values.iter().flatten().copied());
    let largest = numbers().map(f64::abs).fold(0.0, f64::max);
    let drawn: String = all.iter().map(|board| draw_board(board, largest)).collect();
    format!("<div class=\"boards\">\n{drawn}</div>\n{}", scale(&format!("{:.0}", -largest), &format!("{largest:+.0}")))
}

fn draw_board(board: &Board, largest: f64) -> String {
    let size = 8 * CELL + EDGE;
    let title = escape(&board.title);
    let mut text = format!(
        "<div class=\"board\"><h3>{title}</h3>\n<svg viewBox=\"0 0 {size} {size}\" role=\"img\" aria-label=\"{title}\">\n"
    );
    for (square, value) in board.values.into_iter().enumerate() {
        let (x, y) = (EDGE + square % 8 * CELL, (7 - square / 8) * CELL);
        let share = value.map_or(0.0, |value| if largest > 0.0 { value / largest } else { 0.0 });
        let color = value.map_or(RGBColor(200, 200, 200), |_| diverging(share));
        let _ = write!(text, "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{}\"/>", hex(color));
        let (x, y) = (x + CELL / 2, y + CELL * 5 / 8);
        let ink = if is_light(color) { "#000" } else { "#FFF" };
        let mut write_in = |size: &str, inside: &dyn std::fmt::Display| {
            let _ = write!(text, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{ink}\">{inside}</text>");
        };
        match (board.mark, value) {
            (Some((marked, letter)), _) if marked == square => write_in("15", &letter),
            (_, Some(value)) => write_in("11.5", &format_args!("{:.0}", value.round() + 0.0)),
            _ => (),
        }
    }
    text + &edges(CELL, EDGE, 12) + "</svg></div>\n"
}

/// A board without numbers, for a script to fill in: 64 squares, a1 first, then as many numbers.
pub(crate) fn empty_board(title: &str, class: &str) -> String {
    let size = 8 * CELL + EDGE;
    let title = escape(title);
    let mut text = format!(
        "<div class=\"board {class}\"><p>{title}</p>\n<svg viewBox=\"0 0 {size} {size}\" role=\"img\" aria-label=\"{title}\">\n"
    );
    let corner = |square: usize| (EDGE + square % 8 * CELL, (7 - square / 8) * CELL);
    for (x, y) in (0..64).map(corner) {
        let _ = write!(text, "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"#C8C8C8\"/>");
    }
    for (x, y) in (0..64).map(corner) {
        let (x, y) = (x + CELL / 2, y + CELL * 5 / 8);
        let _ = write!(text, "<text x=\"{x}\" y=\"{y}\" font-size=\"11.5\" class=\"number\"></text>");
    }
    text + &edges(CELL, EDGE, 12) + "</svg></div>\n"
}

/// The colors of boards from the least to the greatest value, and on which of them one writes in black.
pub(crate) fn palette() -> (Vec<String>, Vec<bool>) {
    const STEPS: i32 = 32;
    let colors = (-STEPS..=STEPS).map(|step| diverging(f64::from(step) / f64::from(STEPS)));
    colors.map(|color| (hex(color), is_light(color))).unzip()
}

/// Letters of the files below a board, numbers of the ranks at its left.
pub(crate) fn edges(cell: usize, edge: usize, size: usize) -> String {
    let mut text = format!("<g class=\"edge\" font-size=\"{size}\" text-anchor=\"middle\">");
    for (index, (file, rank)) in ('a'..='h').zip(1..).enumerate() {
        let (x, y) = (edge + index * cell + cell / 2, 8 * cell + edge - 3);
        let _ = write!(text, "<text x=\"{x}\" y=\"{y}\">{file}</text>");
        let (x, y) = (edge / 2, (7 - index) * cell + cell * 5 / 8);
        let _ = write!(text, "<text x=\"{x}\" y=\"{y}\">{rank}</text>");
    }
    text + "</g>"
}

/// What the colors of boards mean, from the least to the greatest value.
pub(crate) fn scale(least: &str, greatest: &str) -> String {
    let stops = palette().0.join(",");
    format!("<div class=\"scale\">{least}<i style=\"background:linear-gradient(90deg,{stops})\"></i>{greatest}</div>\n")
}

/// Whether black can be read on it better than white: by relative luminance (WCAG 2, where both contrasts are equal).
fn is_light(RGBColor(red, green, blue): RGBColor) -> bool {
    let linear = |channel: u8| (f64::from(channel) / 255.0).powf(2.2);
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) > 0.179
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<T> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

/// Draws into a string; an error would be a bug of this module.
fn svg(size: (u32, u32), draw: impl FnOnce(&Area) -> Drawn<()>) -> String {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let drawn = draw(&area).and_then(|()| area.present());
        drawn.expect("drawing into a string does not fail");
    }
    text
}

/// White in the middle, blue at 1, vermilion at -1.
fn diverging(share: f64) -> RGBColor {
    let end = if share >= 0.0 { PALETTE[0] } else { PALETTE[1] };
    let depth = share.abs().clamp(0.0, 1.0).sqrt();
    let mix = |channel: u8| (255.0 - depth * (255.0 - f64::from(channel))).round() as u8;
    RGBColor(mix(end.0), mix(end.1), mix(end.2))
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
        _ if value.abs() < 5e-4 => "0".to_string(),
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
            }
        }
    }

    #[test]
    fn charts_of_nothing_and_of_odd_numbers() {
        let axes = Axes { x: "x", y: "y", from_zero: false, whole: false };
        assert_eq!(chart(&axes, &[], (400, 300)), "");
        assert_eq!(chart(&axes, &[Series::line("", vec![(1.0, f64::NAN)])], (400, 300)), "");
        let one = chart(&axes, &[Series::marked("one", vec![(1.0, 1.0), (f64::INFINITY, 2.0)])], (400, 300));
        assert!(one.starts_with("<div class=\"chart\">\n<svg ") && one.contains("</svg>"), "{one}");
        assert!(!one.contains("NaN") && !one.contains("inf"), "{one}");
    }
}
