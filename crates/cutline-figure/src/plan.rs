//! What a plan expects: failure probability and wrong verdicts against budget, the target, and who meets it where.

use crate::axis::Axis;
use crate::curves;
use crate::figure::{Curve, Point};
use crate::layout::count;
use crate::legend::{Legend, Sign};
use crate::marker::Marker;
use crate::page::{Page, note_lines};
use crate::panel::{INK, Panel};
use crate::series::{Series, is_budget};
use crate::style::Style;
use crate::svg::Svg;

/// One algorithm's failure rates and mean numbers of wrong verdicts, and the budget it needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanCurve {
    /// The algorithm's name. Known names have a look of their own that is the same in all figures.
    pub label: String,
    /// The failure rates, in any order.
    pub failures: Vec<Point>,
    /// The mean numbers of arms called wrongly, in any order.
    pub errors: Vec<Point>,
    /// The budget that meets the target, if one does.
    pub planned: Option<BudgetRange>,
}

/// A budget and its 95 % interval; an end that is not known is that of the budgets tried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BudgetRange {
    /// The budget.
    pub budget: f64,
    /// The low end.
    pub low: f64,
    /// The high end.
    pub high: f64,
}

/// Failure probability at the left, with the target and where each algorithm meets it; wrong verdicts at the right.
///
/// ```
/// use cutline_figure::{PlanCurve, PlanFigure, BudgetRange, Point};
///
/// let forecast = PlanCurve {
///     label: "pivot".into(),
///     failures: vec![
///         Point { budget: 100.0, rate: 0.2, low: 0.18, high: 0.22 },
///         Point { budget: 400.0, rate: 0.01, low: 0.006, high: 0.014 },
///     ],
///     errors: vec![Point { budget: 100.0, rate: 3.1, low: 3.0, high: 3.2 }],
///     planned: Some(BudgetRange { budget: 210.0, low: 190.0, high: 230.0 }),
/// };
/// let figure = PlanFigure { title: "Iris".into(), target: 0.05, forecasts: vec![forecast], note: None };
/// assert!(figure.to_svg().contains("Wrong verdicts"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanFigure {
    /// Stands above the panels.
    pub title: String,
    /// The failure probability to be reached.
    pub target: f64,
    /// In the order in which they are drawn and listed.
    pub forecasts: Vec<PlanCurve>,
    /// Small print under the figure.
    pub note: Option<String>,
}

/// Plans try budgets by factors, so their axis is logarithmic early.
const WIDE: f64 = 5.0;

/// No count of arms is above this.
const MOST_ERRORS: f64 = 1e12;

/// The radius of the ring at a planned budget.
const RING: f64 = 4.0;

/// How far planned budgets are set under each other: almost two rings.
const STACK: f64 = 7.5;

impl PlanFigure {
    /// The figure as an SVG document, 760 units wide and as high as its legend needs.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let curves = [self.curves(|forecast| &forecast.failures), self.curves(|forecast| &forecast.errors)];
        let series = [Series::up_to(1.0, &curves[0]), Series::up_to(MOST_ERRORS, &curves[1])];
        let budgets = Axis::budgets(&series[0], WIDE);
        let rates = [Axis::log_rates_with(&series[0], self.drawn_target()), Axis::log_rates(&series[1])];
        let planned: Vec<(BudgetRange, Style)> = self.planned(&series[0]).collect();
        let legend = Legend::new(&series[0], &self.signs(!planned.is_empty()));
        let mut page = Page::new(&self.title, &rates, legend, note_lines(self.note.as_deref()));
        let headings = ["(a) some verdict is wrong", "(b) how many are wrong"];
        for (position, heading) in headings.into_iter().enumerate() {
            let shows = ["Failure probability", "Wrong verdicts a run"][position];
            let (area, upright) = (page.panels[position], &rates[position]);
            let panel = Panel { area, across: &budgets, upright, shows, against: "Budget T" };
            let svg = &mut page.svg;
            panel.draw(svg, heading);
            panel.draw_emptiness(svg, &series[position]);
            let target = self.drawn_target().filter(|_| position == 0);
            draw_drops(svg, &panel, &planned, target);
            curves::draw(svg, &panel, &series[position], false);
            if let Some(target) = target {
                draw_answers(svg, &panel, &planned, target);
            }
        }
        page.finish()
    }

    fn curves(&self, points: fn(&PlanCurve) -> &Vec<Point>) -> Vec<Curve> {
        let curve = |forecast: &PlanCurve| Curve {
            label: forecast.label.clone(),
            points: points(forecast).clone(),
            published: Vec::new(),
        };
        self.forecasts.iter().map(curve).collect()
    }

    /// The target, if it is a probability that the axis can show.
    fn drawn_target(&self) -> Option<f64> {
        (1e-9..=1.0).contains(&self.target).then_some(self.target)
    }

    /// The budgets that meet the target, in the looks of their algorithms.
    fn planned(&self, series: &[Series<'_>]) -> impl Iterator<Item = (BudgetRange, Style)> {
        let is_drawable =
            |planned: &BudgetRange| [planned.budget, planned.low, planned.high].into_iter().all(is_budget);
        self.forecasts
            .iter()
            .zip(series)
            .filter_map(move |(forecast, series)| Some((forecast.planned.filter(is_drawable)?, series.style)))
    }

    fn signs(&self, has_planned: bool) -> Vec<Sign> {
        let target = self.drawn_target();
        let planned = target.filter(|_| has_planned).map(|_| Sign::BudgetRange);
        target.map(|_| Sign::Target).into_iter().chain(planned).collect()
    }
}

/// The target, and lines from each planned budget down to the axis.
fn draw_drops(svg: &mut Svg, panel: &Panel<'_>, planned: &[(BudgetRange, Style)], target: Option<f64>) {
    let area = panel.area;
    svg.open("target");
    let top = target.map_or(area.top, |target| panel.y(target));
    if target.is_some() {
        draw_target(svg, (area.left, top), (area.right(), top));
    }
    for (planned, style) in planned {
        let x = panel.x(planned.budget);
        svg.dashed((x, top), (x, area.bottom()), style.colour, "2 3");
    }
    svg.close();
}

/// Where each algorithm meets the target, with the interval along it; one under the other, as intervals overlap.
fn draw_answers(svg: &mut Svg, panel: &Panel<'_>, planned: &[(BudgetRange, Style)], target: f64) {
    svg.open("planned");
    let n = count(planned.len()).max(1.0);
    let step = STACK.min(4.0 * STACK / n);
    let mut y = panel.y(target) - step * (n - 1.0) / 2.0;
    for (planned, style) in planned {
        draw_planned(svg, (panel.x(planned.low), y), panel.x(planned.high), panel.x(planned.budget), style.colour);
        y += step;
    }
    svg.close();
}

/// The line of the target, in the panel or in the legend.
pub(crate) fn draw_target(svg: &mut Svg, from: (f64, f64), to: (f64, f64)) {
    svg.dashed(from, to, INK, "7 3");
}

/// A planned budget, in the panel or in the legend: an interval from `from` to the right, and a ring at `middle`.
pub(crate) fn draw_planned(svg: &mut Svg, from: (f64, f64), to: f64, middle: f64, colour: &str) {
    let (left, y) = from;
    svg.line((left, y), (to, y), colour, 2.2);
    for end in [left, to] {
        svg.line((end, y - 3.5), (end, y + 3.5), colour, 1.4);
    }
    Marker::Circle.draw_filled(svg, (middle, y), RING, "#ffffff");
    Marker::Circle.draw_open(svg, (middle, y), RING, colour);
}
