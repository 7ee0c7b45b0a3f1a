//! The figure of a plan: failure probability and wrong verdicts against budget, the target, and the budgets that meet it.

use crate::axis::Axis;
use crate::failure::{Curve, Point, Series, draw_curves, is_budget};
use crate::legend::{Legend, Symbol};
use crate::page::{INK, Panel, WidePage, count, note_lines};
use crate::style::{Marker, Style};
use crate::svg::Svg;

/// One algorithm's failure rates and mean numbers of wrong verdicts, and the budget it needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanCurve {
    /// The algorithm's name. Known names have a fixed colour, marker and dash in all figures.
    pub label: String,
    /// The failure rates, in any order.
    pub failures: Vec<Point>,
    /// The mean numbers of arms called wrongly, in any order.
    pub errors: Vec<Point>,
    /// The budget that meets the target, if one does.
    pub planned: Option<BudgetRange>,
}

/// A budget and its 95 % interval; for an unknown end, use the smallest or largest budget tried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BudgetRange {
    /// The budget.
    pub budget: f64,
    /// The low end.
    pub low: f64,
    /// The high end.
    pub high: f64,
}

/// What a budget has to reach: the target is drawn in the panel that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlanTarget {
    /// This failure probability.
    Failures(f64),
    /// This mean number of wrong verdicts.
    Errors(f64),
}

impl Default for PlanTarget {
    fn default() -> Self {
        Self::Failures(0.0)
    }
}

/// On the left the failure probability, on the right the number of wrong verdicts; in one of them the target, and the budget at which
/// each algorithm meets it.
///
/// ```
/// use cutline_figure::{PlanCurve, PlanFigure, PlanTarget, BudgetRange, Point};
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
/// let target = PlanTarget::Failures(0.05);
/// let figure = PlanFigure { title: "Iris".into(), target, forecasts: vec![forecast], note: None };
/// let svg = figure.to_svg();
/// assert!(svg.contains("planned budget") && svg.contains(">pivot<"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanFigure {
    /// The title above the panels.
    pub title: String,
    /// What a budget has to reach.
    pub target: PlanTarget,
    /// In the order in which they are drawn and listed.
    pub forecasts: Vec<PlanCurve>,
    /// Small print under the figure.
    pub note: Option<String>,
}

/// Plans try budgets by factors, so their axis is logarithmic from this ratio on.
const WIDE: f64 = 5.0;

/// Counts of arms above this are not drawn.
const MAX_ERRORS: f64 = 1e12;

/// The radius of the ring at a planned budget.
const RING: f64 = 4.0;

/// The vertical distance of planned budgets: almost two rings.
const STACK_STEP: f64 = 7.5;

impl PlanFigure {
    /// The figure as an SVG document, 760 units wide and as high as its legend needs.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let curves = [self.curves(|forecast| &forecast.failures), self.curves(|forecast| &forecast.errors)];
        let series = [Series::up_to(1.0, &curves[0]), Series::up_to(MAX_ERRORS, &curves[1])];
        let budgets = Axis::budgets(&series[0], WIDE);
        let rates = [0, 1].map(|position| Axis::log_rates_with(&series[position], self.drawn_target(position)));
        let planned: Vec<(BudgetRange, Style)> = self.planned(&series[0]).collect();
        let legend = Legend::new(&series[0], &self.symbols(!planned.is_empty()));
        let mut page = WidePage::new(&self.title, &rates, legend, note_lines(self.note.as_deref()));
        let headings = ["(a) probability of any wrong verdict", "(b) mean number of wrong verdicts"];
        for (position, heading) in headings.into_iter().enumerate() {
            let y_label = ["Failure probability", "Wrong verdicts per run"][position];
            let (area, y_axis) = (page.panels[position], &rates[position]);
            let panel = Panel { area, x_axis: &budgets, y_axis, x_label: "Budget T", y_label };
            let svg = &mut page.svg;
            panel.draw(svg, heading);
            panel.draw_no_data_if_empty(svg, &series[position]);
            let target = self.drawn_target(position);
            draw_target_lines(svg, &panel, &planned, target);
            draw_curves(svg, &panel, &series[position], false);
            if let Some(target) = target {
                draw_planned_budgets(svg, &panel, &planned, target);
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

    /// The target, if it belongs to the panel at this position and its axis can show it.
    fn drawn_target(&self, position: usize) -> Option<f64> {
        match self.target {
            PlanTarget::Failures(rate) => (position == 0 && (1e-9..=1.0).contains(&rate)).then_some(rate),
            PlanTarget::Errors(errors) => (position == 1 && (1e-9..=MAX_ERRORS).contains(&errors)).then_some(errors),
        }
    }

    /// The budgets that meet the target, with the styles of their algorithms.
    fn planned(&self, series: &[Series<'_>]) -> impl Iterator<Item = (BudgetRange, Style)> {
        let is_drawable =
            |planned: &BudgetRange| [planned.budget, planned.low, planned.high].into_iter().all(is_budget);
        self.forecasts
            .iter()
            .zip(series)
            .filter_map(move |(forecast, series)| Some((forecast.planned.filter(is_drawable)?, series.style)))
    }

    fn symbols(&self, has_planned: bool) -> Vec<Symbol> {
        let target = self.drawn_target(0).or(self.drawn_target(1));
        let planned = target.filter(|_| has_planned).map(|_| Symbol::PlannedBudget);
        target.map(|_| Symbol::Target).into_iter().chain(planned).collect()
    }
}

/// The line of the target, and a line from each planned budget down to the axis.
fn draw_target_lines(svg: &mut Svg, panel: &Panel<'_>, planned: &[(BudgetRange, Style)], target: Option<f64>) {
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

/// Each planned budget with its interval; one below the other, as intervals overlap.
fn draw_planned_budgets(svg: &mut Svg, panel: &Panel<'_>, planned: &[(BudgetRange, Style)], target: f64) {
    svg.open("planned");
    let n = count(planned.len()).max(1.0);
    let step = STACK_STEP.min(4.0 * STACK_STEP / n);
    let mut y = panel.y(target) - step * (n - 1.0) / 2.0;
    for (planned, style) in planned {
        draw_planned(svg, (panel.x(planned.low), y), panel.x(planned.high), panel.x(planned.budget), style.colour);
        y += step;
    }
    svg.close();
}

/// The line of the target, in a panel or in the legend.
pub(crate) fn draw_target(svg: &mut Svg, from: (f64, f64), to: (f64, f64)) {
    svg.dashed(from, to, INK, "7 3");
}

/// A planned budget, in a panel or in the legend: an interval from `from` to `to`, and a ring at `middle`.
pub(crate) fn draw_planned(svg: &mut Svg, from: (f64, f64), to: f64, middle: f64, colour: &str) {
    let (left, y) = from;
    svg.line((left, y), (to, y), colour, 2.2);
    for end in [left, to] {
        svg.line((end, y - 3.5), (end, y + 3.5), colour, 1.4);
    }
    Marker::Circle.draw_filled(svg, (middle, y), RING, "#ffffff");
    Marker::Circle.draw_open(svg, (middle, y), RING, colour);
}
