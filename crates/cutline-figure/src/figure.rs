//! A figure as plain data, and its drawing from the parts.

use crate::axis::{Axis, WIDE};
use crate::curves;
use crate::legend::Legend;
use crate::page::{Page, note_lines};
use crate::panel::Panel;
use crate::series::Series;

/// One algorithm's failure rates at the budgets, with their 95 % intervals, and the published rates if there are any.
///
/// ```
/// use cutline_figure::{Curve, Point};
///
/// let curve = Curve {
///     label: "apt".into(),
///     points: vec![Point { budget: 200.0, rate: 0.51, low: 0.50, high: 0.52 }],
///     published: vec![(200.0, 0.5166)],
/// };
/// assert_eq!(curve.points.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The algorithm's name. Known names have a look of their own that is the same in all figures.
    pub label: String,
    /// Our rates, in any order.
    pub points: Vec<Point>,
    /// Budget and failure rate as published, drawn as open markers.
    pub published: Vec<(f64, f64)>,
}

/// The failure rate at one budget and its 95 % interval.
///
/// A point is left out of the drawing when a value is not finite, the budget is neither 0 nor from 10⁻⁹ to 10¹⁵, or the
/// rate is no probability.
///
/// ```
/// use cutline_figure::Point;
///
/// let never_failed = Point { budget: 400.0, rate: 0.0, low: 0.0, high: 0.0004 };
/// assert!(never_failed.low <= never_failed.rate && never_failed.rate <= never_failed.high);
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

/// Failure probability against budget, one curve an algorithm: by order of magnitude at the left, as it is at the right.
///
/// ```
/// use cutline_figure::{Curve, FailureFigure};
///
/// let figure = FailureFigure {
///     title: "Iris".into(),
///     curves: vec![Curve { label: "pivot".into(), published: vec![(50.0, 0.3), (90.0, 0.1)], ..Curve::default() }],
///     note: None,
/// };
/// assert_eq!(figure.to_svg(), figure.clone().to_svg());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailureFigure {
    /// Stands above the panels.
    pub title: String,
    /// In the order in which they are drawn and listed.
    pub curves: Vec<Curve>,
    /// Small print under the figure.
    pub note: Option<String>,
}

impl FailureFigure {
    /// The figure as an SVG document, 760 units wide and as high as its legend needs.
    ///
    /// A rate of zero has no place on the logarithmic axis: its marker stands at the axis' foot with an arrow down.
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
            note.push(ASIDE.to_owned());
        }
        let budgets = Axis::budgets(&series, WIDE);
        let rates = [Axis::log_rates(&series), Axis::linear_rates(&series)];
        let mut page = Page::new(&self.title, &rates, Legend::new(&series, &[]), note);
        let headings = ["(a) logarithmic scale", "(b) linear scale"];
        for ((area, upright), heading) in page.panels.into_iter().zip(&rates).zip(headings) {
            let panel = Panel { area, across: &budgets, upright, shows: "Failure probability", against: "Budget T" };
            panel.draw(&mut page.svg, heading);
            panel.draw_emptiness(&mut page.svg, &series);
            curves::draw(&mut page.svg, &panel, &series, true);
        }
        page.finish()
    }
}

/// What a reader must know of the small shift that keeps overlapping curves apart.
const ASIDE: &str = "Curves are set slightly aside of their budgets so that they do not hide each other.";
