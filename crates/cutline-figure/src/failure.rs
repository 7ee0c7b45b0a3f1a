//! Failure probability against budget: the figure as data, and its drawing.

use std::ops::RangeInclusive;

use crate::axis::{Axis, WIDE};
use crate::legend::Legend;
use crate::page::{Panel, WidePage, count, note_lines};
use crate::style;
use crate::style::{Style, stroke};
use crate::svg::{Svg, path};

/// One algorithm's failure rates at the budgets, with their 95 % intervals, and the published rates if there are any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The algorithm's name. Known names have a fixed colour, marker and dash in all figures.
    pub label: String,
    /// Our rates, in any order.
    pub points: Vec<Point>,
    /// Budget and failure rate as published, drawn as open markers.
    pub published: Vec<(f64, f64)>,
}

/// The failure rate at one budget and its 95 % interval.
///
/// A point is left out of the drawing when a value is not finite, the budget is neither 0 nor from 10⁻⁹ to 10¹⁵, or the
/// rate is not a probability. A rate of zero is drawn with an arrow:
///
/// ```
/// use cutline_figure::{Curve, FailureFigure, Point};
///
/// let never_failed = Point { budget: 400.0, rate: 0.0, low: 0.0, high: 0.0004 };
/// let curve = Curve { label: "pivot".into(), points: vec![never_failed], published: Vec::new() };
/// let svg = FailureFigure { curves: vec![curve], ..FailureFigure::default() }.to_svg();
/// assert!(svg.contains("arrow: rate 0"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// The number of pulls T.
    pub budget: f64,
    /// The share of runs that ended with a wrong verdict.
    pub rate: f64,
    /// The low end of the interval.
    pub low: f64,
    /// The high end of the interval.
    pub high: f64,
}

/// Failure probability against budget, one curve per algorithm: logarithmic scale on the left, linear on the right.
///
/// ```
/// use cutline_figure::{Curve, FailureFigure};
///
/// let figure = FailureFigure {
///     title: "Iris".into(),
///     curves: vec![Curve { label: "pivot".into(), published: vec![(50.0, 0.3), (90.0, 0.1)], ..Curve::default() }],
///     note: None,
/// };
/// let svg = figure.to_svg();
/// assert!(svg.contains(">pivot<") && svg.contains("open markers: published"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailureFigure {
    /// The title above the panels.
    pub title: String,
    /// In the order in which they are drawn and listed.
    pub curves: Vec<Curve>,
    /// Small print under the figure.
    pub note: Option<String>,
}

impl FailureFigure {
    /// The figure as an SVG document, 760 units wide and as high as its legend needs.
    ///
    /// A rate of zero has no place on the logarithmic axis: its marker is drawn at the bottom, with an arrow down.
    ///
    /// ```
    /// # use cutline_figure::FailureFigure;
    /// let svg = FailureFigure { title: "A & B".into(), curves: Vec::new(), note: None }.to_svg();
    /// assert!(svg.starts_with("<svg") && svg.contains("A &amp; B"));
    /// ```
    #[must_use]
    pub fn to_svg(&self) -> String {
        let series = Series::all(&self.curves);
        let mut note = note_lines(self.note.as_deref());
        if series.len() > 1 {
            note.push(SHIFT_NOTE.to_owned());
        }
        let budgets = Axis::budgets(&series, WIDE);
        let rates = [Axis::log_rates(&series), Axis::linear_rates(&series)];
        let mut page = WidePage::new(&self.title, &rates, Legend::new(&series, &[]), note);
        let headings = ["(a) logarithmic scale", "(b) linear scale"];
        for ((area, y_axis), heading) in page.panels.into_iter().zip(&rates).zip(headings) {
            let panel = Panel { area, x_axis: &budgets, y_axis, x_label: "Budget T", y_label: "Failure probability" };
            panel.draw(&mut page.svg, heading);
            panel.draw_no_data_if_empty(&mut page.svg, &series);
            draw_curves(&mut page.svg, &panel, &series, true);
        }
        page.finish()
    }
}

/// Explains the small shift that keeps overlapping curves apart.
const SHIFT_NOTE: &str = "Curves are shifted slightly from their budgets so that they do not hide each other.";

/// The budgets that are drawn: beyond them, sums and quotients may overflow.
const BUDGETS: RangeInclusive<f64> = 1e-9..=1e15;

/// Rates below this are drawn as zeros: no simulation can measure them.
pub(crate) const SMALLEST_RATE: f64 = 1e-12;

/// The points of a curve that can be drawn (finite and in range), in order of budget, with the style.
#[derive(Debug)]
pub(crate) struct Series<'a> {
    pub(crate) label: &'a str,
    pub(crate) style: Style,
    pub(crate) points: Vec<Point>,
    pub(crate) published: Vec<(f64, f64)>,
}

impl<'a> Series<'a> {
    /// One series per curve, for rates that are probabilities.
    pub(crate) fn all(curves: &'a [Curve]) -> Vec<Self> {
        Self::up_to(1.0, curves)
    }

    /// One series per curve, without the rates above `most`.
    pub(crate) fn up_to(most: f64, curves: &'a [Curve]) -> Vec<Self> {
        let styles = style::assign(curves.iter().map(|curve| curve.label.as_str()));
        curves.iter().zip(styles).map(|(curve, style)| Self::new(curve, style, most)).collect()
    }

    fn new(curve: &'a Curve, style: Style, most: f64) -> Self {
        let is_drawable = |p: &&Point| {
            is_budget(p.budget) && (0.0..=most).contains(&p.rate) && p.low.is_finite() && p.high.is_finite()
        };
        // An interval may reach beyond 0 or `most` by rounding or approximation; its drawing does not.
        let in_range = |p: &Point| Point { low: p.low.clamp(0.0, most), high: p.high.clamp(0.0, most), ..*p };
        let mut points: Vec<Point> = curve.points.iter().filter(is_drawable).map(in_range).collect();
        points.sort_by(|a, b| a.budget.total_cmp(&b.budget));
        let mut published = curve.published.clone();
        published.retain(|(budget, rate)| is_budget(*budget) && (0.0..=most).contains(rate));
        published.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { label: &curve.label, style, points, published }
    }

    /// All budgets, ours and the published ones.
    pub(crate) fn budgets(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|p| p.budget).chain(self.published.iter().map(|p| p.0))
    }

    /// All rates, ours and the published ones.
    pub(crate) fn rates(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|p| p.rate).chain(self.published.iter().map(|p| p.1))
    }

    /// The low ends of the intervals.
    pub(crate) fn lows(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|p| p.low)
    }

    /// The high ends of the intervals.
    pub(crate) fn highs(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|p| p.high)
    }

    /// Whether any rate is too small for a logarithmic axis.
    pub(crate) fn has_zero(&self) -> bool {
        self.rates().any(is_zero)
    }

    /// Whether there is an interval to shade.
    pub(crate) fn has_band(&self) -> bool {
        self.points.iter().any(|p| p.high > p.low)
    }
}

/// Whether a logarithmic axis cannot show the rate.
pub(crate) fn is_zero(rate: f64) -> bool {
    rate < SMALLEST_RATE
}

pub(crate) fn is_budget(budget: f64) -> bool {
    budget == 0.0 || BUDGETS.contains(&budget)
}

/// The radius of our markers; the published ones are larger, so that agreement shows as a ring around a dot.
pub(crate) const RADIUS: f64 = 3.0;
pub(crate) const OPEN_RADIUS: f64 = 5.2;
pub(crate) const BAND_OPACITY: &str = "0.16";

/// How far above the axis a zero is drawn, with an arrow down from it.
const ZERO_LIFT: f64 = 15.0;

/// The most that all curves together are shifted at a budget: less than two markers, so that their tick stays clear.
const MAX_SHIFT: f64 = 10.0;

/// The width of the bar that is the band of a single point.
const BAR: f64 = 7.0;

/// Draws all series layer by layer, so that no band hides a line and no line a marker; with `is_shifted`, slightly beside
/// each other.
pub(crate) fn draw_curves(svg: &mut Svg, panel: &Panel<'_>, all: &[Series<'_>], is_shifted: bool) {
    let layers: [(&str, Layer); 4] =
        [("bands", draw_band), ("lines", draw_line), ("markers", draw_markers), ("published", draw_published)];
    let step = if is_shifted { shift_step(panel, all) } else { 0.0 };
    for (class, draw_layer) in layers {
        svg.open(class);
        let mut shift = -step * (count(all.len()) - 1.0) / 2.0;
        for series in all {
            draw_layer(svg, &ShiftedPanel { panel, shift }, series);
            shift += step;
        }
        svg.close();
    }
}

type Layer = fn(&mut Svg, &ShiftedPanel<'_>, &Series<'_>);

/// A panel with the shift of one curve, so that markers at one budget do not hide each other.
struct ShiftedPanel<'a> {
    panel: &'a Panel<'a>,
    shift: f64,
}

impl ShiftedPanel<'_> {
    fn x(&self, budget: f64) -> f64 {
        self.panel.x(budget) + self.shift
    }

    fn y(&self, rate: f64) -> f64 {
        self.panel.y(rate)
    }

    /// The centre of a marker.
    fn place(&self, budget: f64, rate: f64) -> (f64, f64) {
        let y = if self.is_off_axis(rate) { self.panel.area.bottom() - ZERO_LIFT } else { self.y(rate) };
        (self.x(budget), y)
    }

    fn is_off_axis(&self, rate: f64) -> bool {
        self.panel.y_axis.scale.logarithmic && is_zero(rate)
    }
}

/// The distance between neighbouring curves: small, so that all stay near their budget; side by side if there is only one
/// budget.
fn shift_step(panel: &Panel<'_>, all: &[Series<'_>]) -> f64 {
    let mut places: Vec<f64> = all.iter().flat_map(Series::budgets).map(|b| panel.x(b)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let curves = count(all.len()).max(1.0);
    match places.windows(2).map(|pair| pair[1] - pair[0]).reduce(f64::min) {
        Some(closest) => MAX_SHIFT.min(0.3 * closest) / curves,
        None => (2.0 * BAR).min(0.8 * panel.area.width / curves),
    }
}

fn draw_band(svg: &mut Svg, panel: &ShiftedPanel<'_>, series: &Series<'_>) {
    if !series.has_band() {
        return;
    }
    let colour = series.style.colour;
    if let [only] = &series.points[..] {
        // A single point has no width to shade, so its interval is a thick bar.
        let x = panel.x(only.budget);
        let d = path([(x, panel.y(only.low)), (x, panel.y(only.high))]);
        svg.pale_strokes(&d, colour, BAR, 0.3);
        return;
    }
    let upper = series.points.iter().map(|p| (panel.x(p.budget), panel.y(p.high)));
    let lower = series.points.iter().rev().map(|p| (panel.x(p.budget), panel.y(p.low)));
    let d = path(upper.chain(lower)) + "Z";
    svg.element("path", &[("d", &d), ("fill", colour), ("fill-opacity", BAND_OPACITY)]);
}

fn draw_line(svg: &mut Svg, panel: &ShiftedPanel<'_>, series: &Series<'_>) {
    if series.points.len() > 1 {
        let d = path(series.points.iter().map(|p| panel.place(p.budget, p.rate)));
        stroke(svg, &d, series.style.colour, series.style.dash);
    }
}

fn draw_markers(svg: &mut Svg, panel: &ShiftedPanel<'_>, series: &Series<'_>) {
    for point in &series.points {
        let at = panel.place(point.budget, point.rate);
        draw_zero_arrow(svg, panel, at, point.rate, series.style.colour);
        series.style.marker.draw_filled(svg, at, RADIUS, series.style.colour);
    }
}

fn draw_published(svg: &mut Svg, panel: &ShiftedPanel<'_>, series: &Series<'_>) {
    for &(budget, rate) in &series.published {
        let at = panel.place(budget, rate);
        draw_zero_arrow(svg, panel, at, rate, series.style.colour);
        series.style.marker.draw_open(svg, at, OPEN_RADIUS, series.style.colour);
    }
}

/// A zero is infinitely far down a logarithmic axis, so an arrow points from its marker to the edge.
fn draw_zero_arrow(svg: &mut Svg, panel: &ShiftedPanel<'_>, at: (f64, f64), rate: f64, colour: &str) {
    if panel.is_off_axis(rate) {
        arrow_down(svg, at, panel.panel.area.bottom() - 1.0, colour);
    }
}

/// An arrow from a marker down to `tip`.
pub(crate) fn arrow_down(svg: &mut Svg, (x, y): (f64, f64), tip: f64, colour: &str) {
    svg.open("zero");
    svg.line((x, y), (x, tip - 2.0), colour, 1.2);
    let d = path([(x - 2.8, tip - 5.0), (x + 2.8, tip - 5.0), (x, tip)]) + "Z";
    svg.element("path", &[("d", &d), ("fill", colour)]);
    svg.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_out_of_range_are_left_out_and_the_rest_is_sorted() {
        let point = |budget, rate, low, high| Point { budget, rate, low, high };
        let curve = Curve {
            label: "apt".into(),
            points: vec![
                point(300.0, 0.5, 0.4, 0.6),
                point(f64::NAN, 0.5, 0.4, 0.6),
                point(100.0, f64::INFINITY, 0.4, 0.6),
                point(100.0, 0.5, f64::NAN, 0.6),
                point(100.0, 1.5, 0.4, 0.6),
                point(200.0, 0.99, 0.9, 1.1),
            ],
            published: vec![(9.0, 0.5), (f64::NAN, 0.5), (5.0, f64::NAN), (7.0, 0.0)],
        };
        let series = Series::all(std::slice::from_ref(&curve));
        let budgets: Vec<f64> = series[0].points.iter().map(|p| p.budget).collect();
        assert_eq!(budgets, [200.0, 300.0]);
        assert!((series[0].points[0].high - 1.0).abs() < f64::EPSILON);
        assert_eq!(series[0].published, [(7.0, 0.0), (9.0, 0.5)]);
        assert!(series[0].has_zero() && series[0].has_band());
    }
}
