//! How a campaign stands: what every surface says of it.

use crate::{CampaignState, Plan, Rest};
use cutline::diagnostics::{Conclusion, LEVEL, MissingEvidence};
use cutline::{Amount, Arms, EstimatorKind, Side, Verdict};
use serde::{Serialize, Serializer};

/// The largest K·d² for which the linear model is tested, which takes a few seconds.
pub const MAX_TEST_COST: f64 = 1e9;

/// How a campaign stands. It serialises to everything but the numbers of arms on each side, which other structs of JSON have already.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Standing {
    /// The arms that are decided to be above.
    #[serde(skip)]
    pub above: usize,
    /// Those of them whose mean is the threshold itself, so that nothing speaks for either side.
    pub at_threshold: usize,
    /// The arms that are decided to be below.
    #[serde(skip)]
    pub below: usize,
    /// The arms that are undecided.
    #[serde(skip)]
    pub undecided: usize,
    /// The number of wrong calls to expect if every arm gets the side of its mean: the sum of the doubts. It is an expectation under the
    /// model, not a guarantee. `None` before the first reward.
    pub wrong_calls: Option<f64>,
    /// What that expectation rests on, in words.
    #[serde(skip)]
    pub wrong_calls_by: &'static str,
    /// Whether the model of the campaign fits the rewards.
    #[serde(flatten)]
    pub fit: ModelFit,
    /// Whether every arm that is not withdrawn is decided, so that the campaign may end.
    pub may_stop: bool,
    /// What remains of the budget, in measurements or in units of cost.
    #[serde(serialize_with = "serialize_amount")]
    pub remaining: Amount,
    /// Whether measurements have costs.
    #[serde(skip)]
    pub has_costs: bool,
    /// Whether the campaign has ended, so that nothing more is measured.
    #[serde(skip)]
    pub has_ended: bool,
    /// What they would still bring; `None` without rewards, without budget, or if it was not computed because that takes long.
    pub rest: Option<Rest>,
}

/// Whether a model fits the rewards, in a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fit {
    /// There is too little to test.
    #[default]
    Untested,
    /// The linear model was tested, and the rewards do not contradict it.
    Fits,
    /// The rewards contradict the linear model.
    Misfit,
    /// The model makes no assumption that these rewards could contradict.
    Adapts,
}

impl Fit {
    /// The word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Untested => "untested",
            Self::Fits => "fits",
            Self::Misfit => "misfit",
            Self::Adapts => "adapts",
        }
    }
}

/// Whether a model fits the rewards.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModelFit {
    /// In a word.
    pub fit: Fit,
    /// The p-value of the test of the linear model, whatever the model of the campaign; `None` if it could not be tested.
    #[serde(rename = "fit_p_value")]
    pub p_value: Option<f64>,
    /// What follows, in a sentence without a full stop.
    #[serde(rename = "fit_advice")]
    pub advice: String,
}

impl Standing {
    /// How a campaign with this state and these verdicts stands, without what the rest of its budget would bring.
    #[must_use]
    pub fn new(state: &mut CampaignState, verdicts: &[Verdict]) -> Self {
        let has_ended = state.stop_reason().is_some();
        let count = |side| verdicts.iter().filter(|verdict| verdict.side == side).count();
        let progress = state.progress();
        let has_rewards = u64::from(progress.counted) + progress.uncounted > 0;
        let undecided = count(Side::Undecided);
        let withdrawn = state.withdrawn().filter(|&(arm, _)| verdicts[arm].side == Side::Undecided).count();
        Self {
            above: count(Side::Above),
            at_threshold: verdicts.iter().filter(|verdict| verdict.is_at_threshold()).count(),
            below: count(Side::Below),
            undecided,
            wrong_calls: has_rewards.then(|| verdicts.iter().map(|verdict| verdict.doubt).sum()),
            wrong_calls_by: match state.terms().spec.estimator() {
                EstimatorKind::Mixed => "by the model, not guaranteed",
                EstimatorKind::Ridge => "if the linear model holds",
                _ => "by the sample means, not guaranteed",
            },
            fit: ModelFit::new(state, has_rewards, verdicts),
            may_stop: undecided == withdrawn,
            remaining: progress.remaining(),
            has_costs: progress.spending.is_some(),
            has_ended,
            rest: None,
        }
    }

    /// The same with what the rest of the budget would bring, if that [is quick](Plan::is_rest_quick) to compute. `arms` are the arms as they
    /// were given.
    #[must_use]
    pub fn with_rest(self, state: &mut CampaignState, arms: Arms) -> Self {
        Self { rest: Plan::quick_rest(arms, state), ..self }
    }

    /// The same as fields of CSV, by name.
    #[must_use]
    pub fn fields(&self) -> [(&'static str, String); 9] {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
        let rest = |of: fn(&Rest) -> f64| number(self.rest.as_ref().map(of));
        [
            ("wrong_calls", number(self.wrong_calls)),
            ("fit", self.fit.fit.name().into()),
            ("fit_p_value", number(self.fit.p_value)),
            ("fit_advice", self.fit.advice.clone()),
            ("may_stop", self.may_stop.to_string()),
            ("remaining", self.remaining.to_string()),
            ("rest_wrong_calls", rest(|rest| rest.wrong_calls)),
            ("rest_undecided", rest(|rest| rest.undecided)),
            ("at_threshold", self.at_threshold.to_string()),
        ]
    }

    /// The arms on each side, in words.
    #[must_use]
    pub fn sides_in_words(&self) -> String {
        let Self { above, at_threshold, below, undecided, .. } = self;
        let at = if *at_threshold > 0 { format!(" ({at_threshold} of them at the threshold)") } else { String::new() };
        format!("{above} above{at}, {below} below, {undecided} undecided")
    }

    /// The wrong calls to expect, in words.
    #[must_use]
    pub fn wrong_calls_in_words(&self) -> Option<String> {
        let expected = self.wrong_calls?;
        Some(format!("{expected:.1} wrong calls if every arm gets the side of its mean: {}", self.wrong_calls_by))
    }

    /// What the rest of the budget would bring, in words; `plan` is what to do to learn it if it was not computed.
    #[must_use]
    pub fn rest_in_words(&self, plan: &str) -> Option<String> {
        match &self.rest {
            Some(rest) => Some(rest.to_string()),
            // A plan is for whole units of cost.
            None if self.has_ended || self.remaining.whole_units() == 0 || self.wrong_calls.is_none() => None,
            None if self.has_costs => {
                Some(format!("{plan} simulates what spending {} more would bring", self.remaining))
            }
            None => {
                let plural = if self.remaining == Amount::units(1) { "" } else { "s" };
                Some(format!("{plan} simulates what {} more measurement{plural} would bring", self.remaining))
            }
        }
    }

    /// That every arm is decided, in words.
    #[must_use]
    pub fn stop_in_words(&self) -> Option<&'static str> {
        match (self.may_stop, self.undecided) {
            (false, _) => None,
            (true, 0) => Some("every candidate is decided: you may stop"),
            (true, _) => Some("every candidate that is not withdrawn is decided: you may stop"),
        }
    }
}

/// Writes an amount as a whole number where it is one: for the `serialize_with` of serde.
///
/// # Errors
/// If the serializer fails.
pub fn serialize_amount<S: Serializer>(amount: &Amount, serializer: S) -> Result<S::Ok, S::Error> {
    if *amount == Amount::units(amount.whole_units()) {
        serializer.serialize_u32(amount.whole_units())
    } else {
        serializer.serialize_f64(amount.value())
    }
}

impl ModelFit {
    fn new(state: &CampaignState, has_rewards: bool, verdicts: &[Verdict]) -> Self {
        let untested = |advice: &str| Self { fit: Fit::Untested, p_value: None, advice: advice.into() };
        let estimator = state.terms().spec.estimator();
        let Some(dimension) = state.arms().dimension() else {
            let advice = "the arms have no features, so there is no line to test";
            return Self {
                fit: if has_rewards { Fit::Adapts } else { Fit::Untested },
                p_value: None,
                advice: advice.into(),
            };
        };
        if !has_rewards {
            return untested("there are no rewards yet");
        }
        let cost = state.arms().n_arms() as f64 * (dimension * dimension) as f64;
        if cost > MAX_TEST_COST {
            return untested("so many arms and features take too long to test here");
        }
        let diagnostics = state.diagnose();
        let p_value = diagnostics.lack_of_fit.map(|lack| lack.p_value);
        // Single arms may contradict a line that all of them together do not.
        let contradiction = match diagnostics.disagreeing().count() {
            0 => "the rewards contradict a line".to_owned(),
            _ if p_value.is_some_and(|p| p <= LEVEL / 2.0) => "the rewards contradict a line".to_owned(),
            1 => "the rewards of 1 arm contradict a line".to_owned(),
            n => format!("the rewards of {n} arms contradict a line"),
        };
        let n_contradicted = if estimator == EstimatorKind::Ridge { state.n_contradicted(verdicts) } else { 0 };
        let (fit, advice) = match (estimator, diagnostics.conclusion) {
            (EstimatorKind::Ridge, Conclusion::NotBelievable) => {
                (Fit::Misfit, &*format!("{contradiction}, on which the verdicts rest; use the mixed model"))
            }
            (EstimatorKind::Ridge, _) if n_contradicted > 0 => (Fit::Misfit, &*contradicted_in_words(n_contradicted)),
            (EstimatorKind::Ridge, Conclusion::NotEnoughData(missing)) => (Fit::Untested, to_test_a_line(missing)),
            (EstimatorKind::Ridge, Conclusion::AlwaysTrue) => {
                (Fit::Untested, "there are as many features as arms, so any means lie on a line")
            }
            (EstimatorKind::Ridge, _) => (Fit::Fits, "the means lie no further from a line than the noise explains"),
            (EstimatorKind::Mixed, Conclusion::NotBelievable) => {
                (Fit::Adapts, &*format!("{contradiction}, and the mixed model learns what a line does not explain"))
            }
            (EstimatorKind::Mixed, _) => (Fit::Adapts, "the mixed model learns what a line does not explain"),
            _ => (Fit::Adapts, "every arm is estimated from its own rewards"),
        };
        Self { fit, p_value, advice: advice.into() }
    }
}

/// That verdicts on a line contradict rewards that do not contradict the line itself: its slopes were taken to be small.
fn contradicted_in_words(n_arms: usize) -> String {
    let (arms, their) = if n_arms == 1 { ("1 arm", "its") } else { (&*format!("{n_arms} arms"), "their") };
    format!(
        "the verdicts on {arms} contradict {their} own rewards, because the linear model expects the features to matter less than they do, as \
         with outliers among them; use the mixed model"
    )
}

/// What it would take to test the linear model.
fn to_test_a_line(missing: MissingEvidence) -> &'static str {
    match missing {
        MissingEvidence::Arms => "it takes rewards of more arms to test the line on which the verdicts rest",
        MissingEvidence::Replicates => {
            "it takes arms that were measured more than once to test the line on which the verdicts rest"
        }
        MissingEvidence::Noise => {
            "the rewards of each arm are all the same, so how noisy they are is not known, and the line on which the verdicts rest cannot be \
             tested"
        }
        _ => "it takes more rewards to test the line on which the verdicts rest",
    }
}

/// `fits: the means lie no further from a line than the noise explains (test of a line: p = 0.47)`.
impl std::fmt::Display for ModelFit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { fit, p_value, advice } = self;
        let p_value = match p_value {
            None => String::new(),
            Some(p) if *p < 1e-4 => format!(" (test of a line: p = {p:.1e})"),
            Some(p) => format!(" (test of a line: p = {p:.4})"),
        };
        write!(f, "{}: {advice}{p_value}", fit.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Terms;
    use cutline::{Question, RewardKind, Spec};

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
            let standing = Standing::new(&mut state, &verdicts);
            assert_eq!(standing.fit.fit, fit, "{estimator} {curvature}: {}", standing.fit);
            let p_value = standing.fit.p_value.unwrap();
            assert_eq!(p_value < 0.025, curvature > 0.0, "{p_value}");
            assert_eq!(standing.fit.advice.contains("contradict"), curvature > 0.0, "{}", standing.fit);
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
            Standing::new(&mut state, &verdicts).fit
        };
        assert_eq!(fit(None).fit, Fit::Fits);
        let misled = fit(Some(999.0));
        assert!(misled.p_value.unwrap() > 0.025, "{misled}");
        assert!(misled.fit == Fit::Misfit && misled.advice.contains(" contradict their own rewards"), "{misled}");
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
        assert_eq!(Standing::new(&mut state, &verdicts).fit.fit, Fit::Untested);
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
        let fit = Standing::new(&mut state, &verdicts).fit;
        assert!(fit.p_value.unwrap() > 0.025, "{fit}");
        assert!(fit.advice.starts_with("the rewards of 1 arm contradict a line, on which"), "{fit}");
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
        for (arm, reward) in [(0, 1.0), (1, 0.0), (2, 1.0), (3, 0.0), (0, 1.0), (1, 1.0), (2, 0.0), (3, 0.0)] {
            state.observe(arm, reward, true, 0).unwrap();
        }
        let verdicts = state.verdicts();
        let rest = Standing::new(&mut state, &verdicts).with_rest(&mut state, arms).rest.unwrap();
        assert_eq!((rest.measurements, rest.runs), (Some(32), 16));
    }

    /// What the rest would bring is computed where it is cheap, and not for a long campaign.
    #[test]
    fn the_rest_of_a_short_campaign_is_played() {
        let mut state = state("mixed", 0.0);
        let verdicts = state.verdicts();
        let rows: Vec<[f64; 1]> = (0..12).map(|arm| [f64::from(arm)]).collect();
        let standing = Standing::new(&mut state, &verdicts).with_rest(&mut state, Arms::from_rows(&rows).unwrap());
        let rest = standing.rest.unwrap();
        assert_eq!((rest.measurements, rest.runs), (Some(24), 16));
        assert!(rest.wrong_calls < 1.0 && rest.undecided <= standing.undecided as f64 + 0.5, "{rest:?}");
        assert!(rest.wrong_calls_low <= rest.wrong_calls && rest.wrong_calls <= rest.wrong_calls_high, "{rest:?}");
    }
}
