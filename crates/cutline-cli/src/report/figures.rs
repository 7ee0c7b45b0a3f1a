//! The figures of a campaign: its verdicts, and how it came to them.

use super::View;
use cutline::{IntervalKind, Side};
use cutline_figure::{ArmVerdict, Decided, DecidedFigure, VerdictFigure};

/// How often the verdicts of the past are looked at.
const STAGES: f64 = 60.0;

/// How much these looks may cost, in K·d²: a few seconds.
const COST: f64 = 1e9;

/// Every arm's mean and interval.
pub(super) fn verdicts(view: &View) -> String {
    let arm = |(verdict, name): (&cutline::Verdict, &String)| ArmVerdict {
        name: name.clone(),
        mean: verdict.mean,
        lower: verdict.lower,
        upper: verdict.upper,
        side: side(verdict.side),
        pulls: verdict.pulls.into(),
    };
    let figure = VerdictFigure {
        title: "Mean and interval of every arm".into(),
        threshold: view.settings.threshold,
        precision: view.settings.precision,
        arms: view.verdicts.iter().zip(&view.names).map(arm).collect(),
        note: Some(intervals(view)),
    };
    figure.to_svg()
}

/// The arms decided against the measurements used.
pub(super) fn decided(view: &View) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 3 and 60")]
    let most = (COST / view.cost()).clamp(3.0, STAGES) as usize;
    let history = view.state.decision_history(&view.records, most).expect("events that were taken before");
    let point = |point: &cutline::campaign::DecisionPoint| Decided {
        pulls: point.counted.into(),
        above: point.above as u64,
        below: point.below as u64,
    };
    let is_cut = history.len() == most && view.state.progress().counted as usize > most;
    let figure = DecidedFigure {
        title: "Arms decided against measurements used".into(),
        n_arms: view.names.len() as u64,
        budget: Some(view.settings.budget.into()),
        points: history.iter().map(point).collect(),
        note: is_cut.then(|| format!("The verdicts at {most} moments.")),
    };
    figure.to_svg()
}

/// What the intervals are.
pub(super) fn intervals(view: &View) -> String {
    let terms = view.state.terms();
    // 100 (1 − δ) without the digits that are not there.
    let percent = ((1.0 - terms.delta) * 1e10).round() / 1e8;
    match terms.interval {
        IntervalKind::Anytime => format!("{percent} % intervals, for all arms and at all times together."),
        _ => format!("{percent} % intervals, each for one arm at one time."),
    }
}

fn side(side: Side) -> cutline_figure::Side {
    match side {
        Side::Above => cutline_figure::Side::Above,
        Side::Below => cutline_figure::Side::Below,
        Side::Undecided => cutline_figure::Side::Undecided,
    }
}
