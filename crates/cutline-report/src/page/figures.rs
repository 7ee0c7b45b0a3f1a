//! The figures of a campaign: its verdicts, and its progress.

use cutline::IntervalKind;
use cutline_campaign::{CampaignModel, View};
use cutline_figure::{DecidedCount, DecidedFigure, VerdictFigure, interval_note, model_interval_note};

/// The number of points in time at which past verdicts are computed.
const STAGES: f64 = 60.0;

/// The most that computing them may cost, in K·d²: a few seconds.
const COST: f64 = 1e9;

/// The mean and interval of every arm, as SVG.
#[must_use]
pub fn verdicts(view: &View) -> String {
    let terms = view.state.terms();
    let (title, intervals) = ("Mean and interval of every arm", (terms.interval, terms.delta));
    let figure = VerdictFigure::new(title, &view.names, &view.verdicts, terms.question, intervals);
    VerdictFigure { note: Some(self::intervals(view)), ..figure }.to_svg()
}

/// The arms decided against the measurements used.
pub(super) fn decided(view: &View) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 3 and 60")]
    let most = (COST / view.cost()).clamp(3.0, STAGES) as usize;
    let history = view.state.decision_history(&view.records, most).expect("events that were applied before");
    let point = |point: &cutline_campaign::DecisionPoint| DecidedCount {
        pulls: point.counted.into(),
        above: point.above as u64,
        below: point.below as u64,
    };
    let is_cut = history.len() == most && view.state.progress().counted as usize > most;
    let figure = DecidedFigure {
        title: "Arms decided against measurements used".into(),
        n_arms: view.names.len() as u64,
        // In units of cost it is no number of measurements.
        budget: view.state.arms().measurement_costs().is_none().then(|| view.settings.budget.into()),
        points: history.iter().map(point).collect(),
        note: is_cut.then(|| format!("Verdicts computed at {most} points in time.")),
    };
    figure.to_svg()
}

/// A sentence about the doubts.
pub(super) fn doubts(view: &View) -> String {
    let by = if view.model() == CampaignModel::Mixed { "by the model, " } else { "" };
    let (threshold, precision) = (view.settings.threshold, view.settings.precision);
    let beyond = if precision > 0.0 { format!(", and more than {precision} from it") } else { String::new() };
    format!(
        "Doubt: {by}the probability that the call is wrong, because the true mean lies on the other side of {threshold} than the \
         estimate{beyond}."
    )
}

/// A sentence about the intervals.
pub(super) fn intervals(view: &View) -> String {
    let terms = view.state.terms();
    match (view.model(), terms.interval) {
        (CampaignModel::Mixed, IntervalKind::Fixed) => model_interval_note(terms.delta),
        (_, kind) => interval_note(kind, terms.delta),
    }
}
