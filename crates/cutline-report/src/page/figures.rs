//! The figures of a campaign: its verdicts, and its progress.

use cutline::{EstimatorKind, IntervalKind, Verdict};
use cutline_campaign::{CampaignModel, Terms, View};
use cutline_figure::{DecidedCount, DecidedFigure, VerdictFigure, interval_note, model_interval_note};

/// The number of points in time at which past verdicts are computed.
const STAGES: f64 = 60.0;

/// The most that computing them may cost, in K·d²: a few seconds.
const COST: f64 = 1e9;

/// The mean and interval of every arm of a campaign with these terms, as SVG.
#[must_use]
pub fn verdict_figure(title: &str, names: &[String], verdicts: &[Verdict], terms: &Terms) -> String {
    let figure = VerdictFigure::new(title, names, verdicts, terms.question, (terms.interval, terms.delta));
    VerdictFigure { note: Some(interval_sentence(terms)), ..figure }.to_svg()
}

/// The mean and interval of every arm.
pub(super) fn verdicts(view: &View) -> String {
    verdict_figure("Mean and interval of every arm", &view.names, &view.verdicts, view.state.terms())
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
    interval_sentence(view.state.terms())
}

fn interval_sentence(terms: &Terms) -> String {
    match (terms.spec.estimator(), terms.interval) {
        (EstimatorKind::Mixed, IntervalKind::Fixed) => model_interval_note(terms.delta),
        (_, kind) => interval_note(kind, terms.delta),
    }
}
