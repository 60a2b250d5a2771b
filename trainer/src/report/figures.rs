//! Figures of a report, as SVG text.
//!
//! Charts and boards are drawn with `plotters` without any font library: text stays text, and the
//! browser's fonts write it. So the text is plain ASCII, whose width can be guessed well enough.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

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
/// Sizes are those of the text as it appears times what the SVG backend divides by.
const SMALL: f64 = 11.0 * 1.24;
const TINY: f64 = 8.0 * 1.24;

/// Width of a legend.
const LEGEND: u32 = 170;

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

/// A chart of lines over a common axis; empty text if there is nothing to draw.
pub fn chart(axes: &Axes, all: &[Series], (width, height): (u32, u32)) -> String {
    let finite = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
    let points = || all.iter().flat_map(|series| series.points.iter().copied()).filter(finite);
    if points().next().is_none() {
        return String::new();
    }
    let ends = || all.iter().flat_map(|series| series.intervals.iter().flat_map(|&(_, low, high)| [low, high]));
    let xs = range(points().map(|point| point.0), false);
    let ys = range(points().map(|point| point.1).chain(ends()), axes.from_zero);
    let legend = all.iter().any(|series| !series.name.is_empty());
    svg((width + if legend { LEGEND } else { 0 }, height), |area| {
        let (left, right) = area.split_horizontally(width);
        let mut builder = ChartBuilder::on(&left);
        builder.margin(8).margin_right(16).x_label_area_size(38).y_label_area_size(62);
        let mut chart = builder.build_cartesian_2d(xs, ys)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.12))
            .axis_style(BLACK.mix(0.6))
            .label_style((FONT, SMALL))
            .x_labels(6)
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
        if legend {
            draw_legend(&right, all)?;
        }
        Ok(())
    })
}

/// Color of the line with this index. Lines beyond the palette are dashed.
fn color(index: usize) -> RGBColor {
    PALETTE[index % PALETTE.len()]
}

fn draw_legend(area: &Area, all: &[Series]) -> Drawn<()> {
    for (index, series) in all.iter().enumerate() {
        let y = 16 + 15 * index as i32;
        let ends: &[i32] = if index < PALETTE.len() { &[0, 18] } else { &[0, 7, 11, 18] };
        for stroke in ends.chunks(2) {
            let line = vec![(stroke[0], y), (stroke[1], y)];
            area.draw(&PathElement::new(line, color(index).stroke_width(2)))?;
        }
        text(area, &series.name, (24, y), SMALL, &BLACK, HPos::Left)?;
    }
    Ok(())
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

/// Boards side by side, in rows of `columns`, all in the same colors: blue above zero, red below.
pub fn boards(all: &[Board], columns: usize) -> String {
    const CELL: i32 = 21;
    const SIDE: i32 = 8 * CELL;
    const GAP: i32 = 12;
    const TITLE: i32 = 22;
    if all.is_empty() {
        return String::new();
    }
    let numbers = || all.iter().flat_map(|board| board.values.iter().flatten().copied());
    let largest = numbers().map(f64::abs).fold(0.0, f64::max);
    let rows = all.len().div_ceil(columns) as i32;
    let columns = columns as i32;
    let size = ((columns * (SIDE + GAP)) as u32, (rows * (SIDE + TITLE + GAP)) as u32);
    svg(size, |area| {
        for (index, board) in (0..).zip(all) {
            let origin = (index % columns * (SIDE + GAP) + GAP / 2, index / columns * (SIDE + TITLE + GAP) + TITLE);
            text(area, &board.title, (origin.0 + SIDE / 2, origin.1 - TITLE / 2), SMALL, &BLACK, HPos::Center)?;
            for (square, value) in (0..).zip(board.values) {
                let corner = (origin.0 + square % 8 * CELL, origin.1 + (7 - square / 8) * CELL);
                let cell = [corner, (corner.0 + CELL, corner.1 + CELL)];
                let share = value.map_or(0.0, |value| if largest > 0.0 { value / largest } else { 0.0 });
                let color = value.map_or(RGBColor(225, 225, 225), |_| diverging(share));
                area.draw(&Rectangle::new(cell, color.filled()))?;
                let middle = (corner.0 + CELL / 2, corner.1 + CELL / 2);
                match (board.mark, value) {
                    (Some((marked, letter)), _) if marked as i32 == square => {
                        text(area, &letter.to_string(), middle, SMALL, &BLACK, HPos::Center)?;
                    }
                    (_, Some(value)) => {
                        let ink = if share.abs() > 0.6 { WHITE } else { BLACK };
                        text(area, &format!("{value:.0}"), middle, TINY, &ink, HPos::Center)?;
                    }
                    _ => (),
                }
            }
            let frame = [origin, (origin.0 + SIDE, origin.1 + SIDE)];
            area.draw(&Rectangle::new(frame, BLACK.mix(0.5)))?;
        }
        Ok(())
    })
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<T> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

/// Draws into text. Nothing can go wrong there but what would be a fault of this module.
fn svg(size: (u32, u32), draw: impl FnOnce(&Area) -> Drawn<()>) -> String {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let drawn = draw(&area).and_then(|()| area.present());
        drawn.expect("drawing into a string does not fail");
    }
    text
}

fn text(area: &Area, text: &str, (x, y): (i32, i32), size: f64, color: &RGBColor, at: HPos) -> Drawn<()> {
    let style = (FONT, size).into_font().color(color).pos(Pos::new(at, VPos::Center));
    area.draw(&Text::new(text.to_string(), (x, y), style))
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
        assert!(one.starts_with("<svg") && one.trim_end().ends_with("</svg>"), "{one}");
        assert!(!one.contains("NaN") && !one.contains("inf"), "{one}");
    }
}
