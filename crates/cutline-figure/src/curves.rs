//! The data of a panel: bands under lines under our markers under the published ones.

use crate::layout::count;
use crate::panel::Panel;
use crate::series::{Series, is_zero};
use crate::svg::{Svg, path};

/// The radius of our markers; the published ones are larger, so that agreement shows as a ring around a dot.
pub(crate) const RADIUS: f64 = 3.0;
pub(crate) const OPEN_RADIUS: f64 = 5.2;
pub(crate) const BAND_OPACITY: &str = "0.16";
pub(crate) const LINE_WIDTH: &str = "1.4";

/// How far above the axis a zero is drawn, with an arrow down from it.
const ZERO_LIFT: f64 = 15.0;

/// The most that all curves together take at a budget: less than two markers, so that a tick still shows what is meant.
const ASIDE: f64 = 10.0;

/// The width of the bar that is the band of a single point.
const BAR: f64 = 7.0;

/// Draws all series, layer by layer, so that no band hides a line and no line a marker; a little aside of each other if
/// asked.
pub(crate) fn draw(svg: &mut Svg, panel: &Panel<'_>, all: &[Series<'_>], aside: bool) {
    let layers: [(&str, Layer); 4] =
        [("bands", draw_band), ("lines", draw_line), ("markers", draw_markers), ("published", draw_published)];
    let step = if aside { step_aside(panel, all) } else { 0.0 };
    for (class, draw_layer) in layers {
        svg.open(class);
        let mut shift = -step * (count(all.len()) - 1.0) / 2.0;
        for series in all {
            draw_layer(svg, &Pen { panel, shift }, series);
            shift += step;
        }
        svg.close();
    }
}

type Layer = fn(&mut Svg, &Pen<'_>, &Series<'_>);

/// A panel as one curve sees it: a little aside, so that markers at one budget do not hide each other.
struct Pen<'a> {
    panel: &'a Panel<'a>,
    shift: f64,
}

impl Pen<'_> {
    fn x(&self, budget: f64) -> f64 {
        self.panel.x(budget) + self.shift
    }

    fn y(&self, rate: f64) -> f64 {
        self.panel.y(rate)
    }

    /// The place of a marker.
    fn place(&self, budget: f64, rate: f64) -> (f64, f64) {
        let y = if self.is_off_axis(rate) { self.panel.area.bottom() - ZERO_LIFT } else { self.y(rate) };
        (self.x(budget), y)
    }

    fn is_off_axis(&self, rate: f64) -> bool {
        self.panel.upright.scale.logarithmic && is_zero(rate)
    }
}

/// How far apart neighbouring curves are set: all together stay near their budget; at a single budget, side by side.
fn step_aside(panel: &Panel<'_>, all: &[Series<'_>]) -> f64 {
    let mut places: Vec<f64> = all.iter().flat_map(Series::budgets).map(|b| panel.x(b)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let curves = count(all.len()).max(1.0);
    match places.windows(2).map(|pair| pair[1] - pair[0]).reduce(f64::min) {
        Some(closest) => ASIDE.min(0.3 * closest) / curves,
        None => (2.0 * BAR).min(0.8 * panel.area.width / curves),
    }
}

fn draw_band(svg: &mut Svg, pen: &Pen<'_>, series: &Series<'_>) {
    if !series.has_band() {
        return;
    }
    let colour = series.style.colour;
    if let [only] = &series.points[..] {
        // A single point has no width to shade, so its interval is a thick bar.
        let x = pen.x(only.budget);
        let d = path([(x, pen.y(only.low)), (x, pen.y(only.high))]);
        svg.pale_strokes(&d, colour, BAR, 0.3);
        return;
    }
    let upper = series.points.iter().map(|p| (pen.x(p.budget), pen.y(p.high)));
    let lower = series.points.iter().rev().map(|p| (pen.x(p.budget), pen.y(p.low)));
    let d = path(upper.chain(lower)) + "Z";
    svg.element("path", &[("d", &d), ("fill", colour), ("fill-opacity", BAND_OPACITY)]);
}

fn draw_line(svg: &mut Svg, pen: &Pen<'_>, series: &Series<'_>) {
    if series.points.len() > 1 {
        let d = path(series.points.iter().map(|p| pen.place(p.budget, p.rate)));
        stroke(svg, &d, series.style.colour, series.style.dash);
    }
}

/// A curve's line, in the panel or in the legend.
pub(crate) fn stroke(svg: &mut Svg, d: &str, colour: &str, dash: &str) {
    svg.element(
        "path",
        &[("d", d), ("stroke", colour), ("stroke-width", LINE_WIDTH), ("stroke-dasharray", dash), ("fill", "none")],
    );
}

fn draw_markers(svg: &mut Svg, pen: &Pen<'_>, series: &Series<'_>) {
    for point in &series.points {
        let at = pen.place(point.budget, point.rate);
        draw_zero_arrow(svg, pen, at, point.rate, series.style.colour);
        series.style.marker.draw_filled(svg, at, RADIUS, series.style.colour);
    }
}

fn draw_published(svg: &mut Svg, pen: &Pen<'_>, series: &Series<'_>) {
    for &(budget, rate) in &series.published {
        let at = pen.place(budget, rate);
        draw_zero_arrow(svg, pen, at, rate, series.style.colour);
        series.style.marker.draw_open(svg, at, OPEN_RADIUS, series.style.colour);
    }
}

/// A zero is infinitely far down a logarithmic axis, so an arrow from its marker to the edge says "below here".
fn draw_zero_arrow(svg: &mut Svg, pen: &Pen<'_>, at: (f64, f64), rate: f64, colour: &str) {
    if pen.is_off_axis(rate) {
        arrow_down(svg, at, pen.panel.area.bottom() - 1.0, colour);
    }
}

/// An arrow from a marker down to a height.
pub(crate) fn arrow_down(svg: &mut Svg, (x, y): (f64, f64), tip: f64, colour: &str) {
    svg.open("zero");
    svg.line((x, y), (x, tip - 2.0), colour, 1.2);
    let d = path([(x - 2.8, tip - 5.0), (x + 2.8, tip - 5.0), (x, tip)]) + "Z";
    svg.element("path", &[("d", &d), ("fill", colour)]);
    svg.close();
}
