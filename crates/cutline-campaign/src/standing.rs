//! How a campaign stands: the one struct that every surface shows, with these keys.

use crate::{CampaignModel, CampaignState, EarlyStop, ModelFit, Pace, Plan, Rest, Settings, Time, json};
use cutline::estimators::Explained;
use cutline::{Amount, Arms, NoiseSource, Side, StopReason, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// How a campaign stands, in numbers. `cutline status`, `report` and `list`, the API, the pages and Python show this struct, with these keys;
/// the sentences about it are in `cutline-report`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Standing {
    /// The name of the campaign.
    pub campaign: String,
    /// The threshold τ.
    pub threshold: f64,
    /// The precision ε.
    pub precision: f64,
    /// `mixed`, `linear` or `independent`.
    pub model: CampaignModel,
    /// The algorithm.
    pub algorithm: String,
    /// The number of arms.
    pub n_arms: usize,
    /// How many arms are decided to be above.
    pub above: usize,
    /// How many of them are proved to be above by their own rewards.
    pub above_proved: usize,
    /// How many of those above have the threshold itself as their mean, so that nothing speaks for either side.
    pub at_threshold: usize,
    /// How many arms are decided to be below.
    pub below: usize,
    /// How many of them are proved to be below by their own rewards.
    pub below_proved: usize,
    /// How many arms are undecided.
    pub undecided: usize,
    /// How many verdicts say less than the rewards or the model seem to say, by the reason.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub limits: BTreeMap<&'static str, usize>,
    /// How many arms are withdrawn.
    pub withdrawn: usize,
    /// How many rewards may count or, if measurements have costs, what they may cost in all.
    pub budget: u32,
    /// How many rewards count towards the budget.
    pub told: u32,
    /// What they have cost; left out in a campaign without costs.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "json::some_amount")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<f64>))]
    pub spent: Option<Amount>,
    /// What remains of the budget, in measurements or in units of cost.
    #[serde(serialize_with = "json::serialize_amount")]
    #[cfg_attr(feature = "schema", schema(value_type = f64))]
    pub remaining: Amount,
    /// How many rewards do not count: earlier ones, and late ones beyond the budget.
    pub uncounted: u64,
    /// How many tickets wait for their reward.
    pub open: usize,
    /// How many tickets failed.
    pub failed: u64,
    /// How many tickets expired and have no reward.
    pub expired: u64,
    /// How many rewards were declared void.
    pub voided: u64,
    /// The noise scale σ that is used; null while nothing is known.
    pub noise: Option<f64>,
    /// Where it comes from.
    #[serde(serialize_with = "json::noise_source")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub noise_from: NoiseSource,
    /// How many rewards repeat a measurement of the same arm. Without repeats, noise and differences between the arms cannot be told apart.
    pub repeats: u64,
    /// Whether the arms differ by more than noise would make them; null while there are too few repeats to tell.
    pub differs: Option<bool>,
    /// How much of the differences between the arms each part of the mixed model explains; null for other models, without features, and
    /// before arms have different rewards.
    #[serde(serialize_with = "json::explained")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<json::ExplainedShares>))]
    pub explained: Option<Explained>,
    /// The number of wrong calls to expect if every arm gets the side of its mean: the sum of the doubts. It is an expectation under the
    /// model, not a guarantee. Null while there are fewer than ten rewards.
    pub wrong_calls: Option<f64>,
    /// Whether the model of the campaign fits the rewards.
    #[serde(flatten)]
    pub fit: ModelFit,
    /// Whether every arm that is not withdrawn is decided, so that the campaign may end.
    pub may_stop: bool,
    /// When the campaign ends before its budget is used up; null if it does not.
    #[serde(serialize_with = "json::text")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub until_sure: Option<EarlyStop>,
    /// Why the campaign has ended; null while it goes on.
    #[serde(serialize_with = "json::stop_reason")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub ending: Option<StopReason>,
    /// Rewards per hour, by the last ones; null while there are too few.
    pub rewards_per_hour: Option<f64>,
    /// When the budget will be used up at that rate.
    #[serde(serialize_with = "json::some_time")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub budget_used_at: Option<Time>,
    /// What the remaining budget would bring; null with fewer than ten rewards, without budget, or if the campaign is so large that simulating
    /// it takes long.
    pub rest: Option<Rest>,
    /// The number of events on which all this rests.
    pub events: u64,
    /// Whether all rewards are 0 or 1, in a campaign that takes them as numbers with noise.
    #[serde(skip)]
    pub looks_like_pass_or_fail: bool,
    /// The time at which it stood like this.
    #[serde(skip)]
    pub now: Time,
}

impl Standing {
    /// How a campaign with this state and these verdicts stands at a time, without what the rest of its budget would bring.
    #[must_use]
    pub fn new(name: &str, settings: &Settings, state: &mut CampaignState, verdicts: &[Verdict], now: Time) -> Self {
        let count = |side| verdicts.iter().filter(|verdict| verdict.side == side).count();
        let proved = |side| verdicts.iter().filter(|verdict| verdict.side == side && verdict.is_proved()).count();
        let (progress, noise) = (state.progress(), state.noise());
        let undecided = count(Side::Undecided);
        let undecided_withdrawn = state.withdrawn().filter(|&(arm, _)| verdicts[arm].side == Side::Undecided).count();
        let pace = Pace::new(&progress, now);
        let is_known = noise.source != NoiseSource::Nothing && noise.sigma.is_finite();
        Self {
            campaign: name.into(),
            threshold: settings.threshold,
            precision: settings.precision,
            model: CampaignModel::of(state.terms().spec.estimator()),
            algorithm: settings.algorithm(state.arms().dimension().is_some()).into(),
            n_arms: verdicts.len(),
            above: count(Side::Above),
            above_proved: proved(Side::Above),
            at_threshold: verdicts.iter().filter(|verdict| verdict.is_at_threshold()).count(),
            below: count(Side::Below),
            below_proved: proved(Side::Below),
            undecided,
            limits: limits(verdicts),
            withdrawn: progress.withdrawn,
            budget: progress.budget,
            told: progress.counted,
            spent: progress.spending.map(|spending| spending.spent),
            remaining: progress.remaining(),
            uncounted: progress.uncounted,
            open: progress.open,
            failed: progress.failed,
            expired: progress.expired,
            voided: progress.voided,
            noise: is_known.then_some(noise.sigma),
            noise_from: noise.source,
            repeats: state.n_repeats(),
            differs: state.differs(),
            explained: state.learnt(),
            wrong_calls: state.may_forecast().then(|| verdicts.iter().map(|verdict| verdict.doubt).sum()),
            fit: ModelFit::new(state, verdicts),
            may_stop: undecided == undecided_withdrawn,
            until_sure: state.terms().until_sure,
            ending: state.stop_reason(),
            rewards_per_hour: pace.map(|pace| pace.rewards_per_hour),
            budget_used_at: pace.map(|pace| now.saturating_add(pace.budget_used_in)),
            rest: None,
            events: progress.events,
            looks_like_pass_or_fail: state.looks_like_pass_or_fail(),
            now,
        }
    }

    /// Whether there are enough rewards to say something about the campaign: [`CampaignState::may_forecast`].
    #[must_use]
    pub fn may_forecast(&self) -> bool {
        self.wrong_calls.is_some()
    }

    /// Whether there are rewards.
    #[must_use]
    pub fn has_rewards(&self) -> bool {
        u64::from(self.told) + self.uncounted > 0
    }

    /// The same with what the rest of the budget would bring, if the campaign [is small enough](Plan::is_rest_quick). `arms` are the arms as they
    /// were given.
    #[must_use]
    pub fn with_rest(self, state: &mut CampaignState, arms: Arms) -> Self {
        Self { rest: Plan::quick_rest(arms, state), ..self }
    }
}

/// How many verdicts are limited, by the name of the reason.
fn limits(verdicts: &[Verdict]) -> BTreeMap<&'static str, usize> {
    let mut limits = BTreeMap::new();
    for limit in verdicts.iter().filter_map(|verdict| verdict.limit) {
        *limits.entry(limit.name()).or_default() += 1;
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fit, FitReason, Terms};
    use cutline::{Question, RewardKind, Spec};

    fn standing(state: &mut CampaignState, verdicts: &[Verdict]) -> Standing {
        Standing::new("screen", &Settings::new(6.0, 60), state, verdicts, 0)
    }

    fn state(estimator: &str, curvature: f64) -> CampaignState {
        let rows: Vec<[f64; 1]> = (0..12).map(|arm| [f64::from(arm)]).collect();
        let arms = Arms::from_rows(&rows).unwrap().standardised().with_intercept(1.0).unwrap();
        let mut spec = Spec::named("pivot").unwrap().with_estimator(estimator).unwrap();
        if estimator == "ridge" {
            spec = spec.with_centre(1.0).unwrap();
        }
        let terms = Terms { rewards: None, ..Terms::new(Question::new(6.0, 0.0).unwrap(), spec, 60) };
        let mut state = CampaignState::new(arms, terms).unwrap();
        for arm in 0..12 {
            for noise in [0.3, -0.2, -0.1] {
                let x = arm as f64;
                state.observe(arm, x + curvature * (x - 6.0).powi(2) + noise, true, 0).unwrap();
            }
        }
        state
    }

    /// A line on linear and on curved rewards: only a campaign that rests on the line is told that its model does not fit.
    #[test]
    fn the_fit_is_that_of_the_campaigns_model() {
        for (estimator, curvature, fit) in [
            ("ridge", 0.0, Fit::Fits),
            ("ridge", 0.5, Fit::Misfit),
            ("mixed", 0.0, Fit::Adapts),
            ("mixed", 0.5, Fit::Adapts),
        ] {
            let mut state = state(estimator, curvature);
            let verdicts = state.verdicts();
            let standing = standing(&mut state, &verdicts);
            assert_eq!(standing.fit.fit, fit, "{estimator} {curvature}: {:?}", standing.fit);
            let p_value = standing.fit.p_value.unwrap();
            assert_eq!(p_value < 0.025, curvature > 0.0, "{p_value}");
            let is_contradicted = matches!(standing.fit.reason, FitReason::Contradicted(_));
            assert_eq!(is_contradicted, curvature > 0.0, "{:?}", standing.fit);
            assert_eq!(standing.above + standing.below + standing.undecided, 12);
            assert_eq!(standing.may_stop, standing.undecided == 0);
            let doubts: f64 = verdicts.iter().map(|verdict| verdict.doubt).sum();
            assert_eq!((standing.wrong_calls, standing.remaining), (Some(doubts), Amount::units(24)));
        }
    }

    /// An outlier among the features makes all others nearly equal, and the slope that ridge expects too small. The rewards lie on a line, and
    /// the verdicts contradict them.
    #[test]
    fn verdicts_that_contradict_the_rewards_are_said_to_do_so() {
        let fit = |outlier: Option<f64>| {
            let rows: Vec<[f64; 1]> =
                (0..30).map(|arm| (f64::from(arm) - 15.0) / 7.0).chain(outlier).map(|x| [x]).collect();
            let arms = Arms::from_rows(&rows).unwrap().standardised().with_intercept(1.0).unwrap();
            let question = Question::new(0.3, 0.0).unwrap();
            let terms = Terms { question, budget: 300, ..state("ridge", 0.0).terms().clone() };
            let mut state = CampaignState::new(arms, terms).unwrap();
            for arm in 0..30_u32 {
                for repeat in 0..3_u32 {
                    let noise = f64::from((arm * 7 + repeat * 5) % 11) / 20.0 - 0.25;
                    state.observe(arm as usize, 1.0 + (f64::from(arm) - 15.0) / 7.0 + noise, true, 0).unwrap();
                }
            }
            let verdicts = state.verdicts();
            standing(&mut state, &verdicts).fit
        };
        assert_eq!(fit(None).fit, Fit::Fits);
        let misled = fit(Some(999.0));
        assert!(misled.p_value.unwrap() > 0.025, "{misled:?}");
        assert_eq!(misled.fit, Fit::Misfit);
        assert!(matches!(misled.reason, FitReason::VerdictsContradicted(2..)), "{misled:?}");
    }

    /// With as many features as arms nothing can contradict a line.
    #[test]
    fn a_line_through_any_means_is_not_tested() {
        let arms = Arms::from_rows(&[[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]).unwrap();
        let mut state = CampaignState::new(arms, state("ridge", 0.0).terms().clone()).unwrap();
        for reward in [5.0, 5.5, 7.0] {
            state.observe(0, reward, true, 0).unwrap();
        }
        let verdicts = state.verdicts();
        assert_eq!(standing(&mut state, &verdicts).fit.fit, Fit::Untested);
    }

    /// One arm of many that lies far from a line, where all of them together do not.
    #[test]
    fn an_arm_that_contradicts_a_line_is_said_to_do_so() {
        let arms = Arms::from_rows(&(0..60).map(|arm| [f64::from(arm) / 60.0]).collect::<Vec<_>>()).unwrap();
        let terms = Terms { budget: 300, ..state("ridge", 0.0).terms().clone() };
        let mut state = CampaignState::new(arms, terms).unwrap();
        for arm in 0..60_u32 {
            for repeat in 0..4_u32 {
                let noise = f64::from((arm * 7 + repeat * 29) % 13) / 6.0 - 1.0;
                let own = if arm == 20 { 1.6 } else { 0.0 };
                state.observe(arm as usize, f64::from(arm) / 60.0 + own + noise, true, 0).unwrap();
            }
        }
        let verdicts = state.verdicts();
        let fit = standing(&mut state, &verdicts).fit;
        assert!(fit.p_value.unwrap() > 0.025, "{fit:?}");
        assert_eq!((fit.fit, fit.reason), (Fit::Misfit, FitReason::Contradicted(Some(1))));
    }

    /// A campaign of passes and fails goes on with passes and fails.
    #[test]
    fn the_rest_of_passes_and_fails_is_played() {
        let arms = Arms::without_features(4).unwrap();
        let terms = Terms {
            rewards: Some(RewardKind::Bernoulli),
            ..Terms::new(Question::new(0.5, 0.0).unwrap(), Spec::named("apt").unwrap(), 40)
        };
        let mut state = CampaignState::new(arms.clone(), terms).unwrap();
        for reward in [1.0, 0.0, 1.0] {
            (0..4).for_each(|arm| drop(state.observe(arm, reward, true, 0).unwrap()));
        }
        let verdicts = state.verdicts();
        let rest = standing(&mut state, &verdicts).with_rest(&mut state, arms).rest.unwrap();
        assert_eq!((rest.measurements, rest.runs), (Some(28), 16));
    }

    /// What the rest would bring is computed where it is cheap, and not for a long campaign.
    #[test]
    fn the_rest_of_a_short_campaign_is_played() {
        let mut state = state("mixed", 0.0);
        let verdicts = state.verdicts();
        let rows: Vec<[f64; 1]> = (0..12).map(|arm| [f64::from(arm)]).collect();
        let standing = standing(&mut state, &verdicts).with_rest(&mut state, Arms::from_rows(&rows).unwrap());
        let rest = standing.rest.unwrap();
        assert_eq!((rest.measurements, rest.runs), (Some(24), 16));
        assert!(rest.wrong_calls < 1.0 && rest.undecided <= standing.undecided as f64 + 0.5, "{rest:?}");
        assert!(rest.wrong_calls_low <= rest.wrong_calls && rest.wrong_calls <= rest.wrong_calls_high, "{rest:?}");
    }
}
