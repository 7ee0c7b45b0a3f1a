//! Custom rules: rules that the program receives at run time as trait objects, for example from another language.

use super::{Choice, Rule};
use crate::estimators::{Estimator, Isotonic, LinearEstimate, SampleMean, VarianceEstimator};
use crate::{Arm, Beliefs, NameError, Named, Question, Rng, Settled, algorithm};
use std::sync::Arc;

/// A custom rule, for [`Spec::custom`](crate::Spec::custom). If the rule is known at compile time, implement [`Rule`] instead: that is
/// simpler and faster.
///
/// Every learner has its own, made by the factory of its [`NamedRule`]. The choice may depend only on the context, on `rng` and on what
/// earlier calls of [`learn`](CustomRule::learn) received: asked twice in the same state, it must be the same. Campaigns are resumed by other
/// processes, which tell the rewards again in order if the rule [learns](CustomRule::learns), and runs may be played on any machine.
pub trait CustomRule: Send {
    /// Whether the learner pulls every arm once before it calls [`choose`](CustomRule::choose). If so, budgets below K are refused.
    fn opens_with_every_arm(&self) -> bool {
        false
    }

    /// The next pull, or whether to wait for rewards or to end. To report an error, panic: the learner is then unchanged.
    fn choose(&mut self, context: &mut dyn RuleContext, rng: &mut Rng) -> Choice;

    /// Whether [`choose`](CustomRule::choose) may return [`Choice::Done`]. While it may, asking whether a learner has ended asks the rule; a
    /// rule that should not be asked then may return `false` until it has returned `Done` once.
    fn may_end(&self) -> bool {
        true
    }

    /// Whether [`learn`](CustomRule::learn) does anything.
    fn learns(&self) -> bool {
        false
    }

    /// Called once per reward, in the order of arrival, after the estimator has taken it.
    fn learn(&mut self, context: &mut dyn RuleContext, arm: Arm, reward: f64) {
        let _ = (context, arm, reward);
    }
}

/// Makes the rule of one learner.
type RuleFactory = dyn Fn() -> Box<dyn CustomRule> + Send + Sync;

/// The [`Beliefs`] as a custom rule sees them: in units of the rewards, for any estimator.
pub trait RuleContext {
    /// The threshold and precision.
    fn question(&self) -> Question;

    /// σ, the standard deviation of a reward.
    fn noise(&self) -> f64;

    /// The pulls Tᵢ of every arm, including pending ones.
    fn pulls(&self) -> &[u32];

    /// The arms whose side is fixed for good; a rule chooses among the others.
    fn settled(&self) -> &Settled;

    /// The estimates μ̂ of all means.
    fn means(&mut self) -> &[f64];

    /// The variances of the estimates, pending pulls counted: σ²xᵢᵀV⁻¹xᵢ with ridge, σ²/Tᵢ with sample means.
    fn variances(&mut self) -> &[f64];

    /// The covariances of every arm's estimate with that of `arm`.
    ///
    /// # Panics
    /// If there is no such arm.
    fn covariances_with(&mut self, arm: Arm) -> &[f64];

    /// θ̂ and V⁻¹ from the rewards received, if the estimator is linear in the features.
    fn linear_estimate(&mut self) -> Option<LinearEstimate> {
        None
    }
}

/// A custom rule and its name.
pub type NamedRule = Named<RuleFactory>;

impl NamedRule {
    /// A rule with a name; `factory` makes it afresh for every learner.
    ///
    /// # Errors
    /// If a built-in algorithm has this name, or the name is not valid.
    pub fn new(
        name: &str,
        factory: impl Fn() -> Box<dyn CustomRule> + Send + Sync + 'static,
    ) -> Result<Self, NameError> {
        Self::checked(("rule", "algorithms"), name, algorithm(name).is_some(), Arc::new(factory))
    }

    /// A rule for one learner.
    pub(crate) fn make(&self) -> Box<dyn CustomRule> {
        (self.part())()
    }
}

/// [`CustomRule`] as a [`Rule`].
pub(crate) struct CustomRuleAdapter<const OPENS: bool> {
    rule: Box<dyn CustomRule>,
    noise: f64,
    scratch: Vec<f64>,
}

impl<const OPENS: bool> CustomRuleAdapter<OPENS> {
    /// The rule for rewards of standard deviation `noise`.
    pub(crate) fn new(rule: Box<dyn CustomRule>, noise: f64) -> Self {
        Self { rule, noise, scratch: Vec::new() }
    }
}

impl<E: PullVariances + ?Sized, const OPENS: bool> Rule<E> for CustomRuleAdapter<OPENS> {
    const OPENS_WITH_EVERY_ARM: bool = OPENS;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, rng: &mut Rng) -> Choice {
        match beliefs.first_unpulled {
            Some(arm) if OPENS => arm.into(),
            _ => self.rule.choose(&mut Context { beliefs, noise: self.noise, scratch: &mut self.scratch }, rng),
        }
    }

    fn may_end(&self) -> bool {
        self.rule.may_end()
    }

    fn learns(&self) -> bool {
        self.rule.learns()
    }

    fn learn(&mut self, beliefs: &mut Beliefs<'_, E>, arm: Arm, reward: f64) {
        if self.rule.learns() {
            let context = &mut Context { beliefs, noise: self.noise, scratch: &mut self.scratch };
            self.rule.learn(context, arm, reward);
        }
    }

    fn set_noise(&mut self, noise: f64) {
        self.noise = noise;
    }
}

/// [`Beliefs`] as a [`RuleContext`].
struct Context<'a, 'b, E: ?Sized> {
    beliefs: &'a mut Beliefs<'b, E>,
    noise: f64,
    scratch: &'a mut Vec<f64>,
}

impl<E: PullVariances + ?Sized> RuleContext for Context<'_, '_, E> {
    fn question(&self) -> Question {
        self.beliefs.question
    }

    fn noise(&self) -> f64 {
        self.noise
    }

    fn pulls(&self) -> &[u32] {
        self.beliefs.pulls
    }

    fn settled(&self) -> &Settled {
        self.beliefs.settled
    }

    fn means(&mut self) -> &[f64] {
        self.beliefs.means()
    }

    fn variances(&mut self) -> &[f64] {
        let variance = self.noise * self.noise;
        self.scratch.clear();
        self.beliefs.estimator.variances(self.beliefs.pulls, &mut |q| self.scratch.push(variance * q));
        self.scratch
    }

    fn linear_estimate(&mut self) -> Option<LinearEstimate> {
        self.beliefs.estimator.linear_estimate()
    }

    fn covariances_with(&mut self, arm: Arm) -> &[f64] {
        let variance = self.noise * self.noise;
        self.scratch.clear();
        self.beliefs.estimator.covariances(self.beliefs.pulls, arm, &mut |c| self.scratch.push(variance * c));
        self.scratch
    }
}

/// An estimator that can compute the variances and covariances of its means, given the pulls of every arm (including pending ones), in
/// units of the noise variance; by default those of sample means.
pub(crate) trait PullVariances: Estimator {
    /// Calls `visit` with the variance of every arm, in order.
    fn variances(&mut self, pulls: &[u32], visit: &mut dyn FnMut(f64)) {
        pulls.iter().map(|&pulls| 1.0 / f64::from(pulls)).for_each(visit);
    }

    /// Calls `visit` with the covariance of every arm with `arm`, in order.
    fn covariances(&mut self, pulls: &[u32], arm: Arm, visit: &mut dyn FnMut(f64)) {
        assert!(arm < pulls.len(), "there is no arm {arm}");
        let covariance = |(other, &pulls): (Arm, &u32)| if other == arm { 1.0 / f64::from(pulls) } else { 0.0 };
        pulls.iter().enumerate().map(covariance).for_each(visit);
    }
}

impl<E: VarianceEstimator> PullVariances for E {
    fn variances(&mut self, _: &[u32], visit: &mut dyn FnMut(f64)) {
        self.moments().1.iter().copied().for_each(visit);
    }

    fn covariances(&mut self, _: &[u32], arm: Arm, visit: &mut dyn FnMut(f64)) {
        self.covariances_with(arm).0.iter().copied().for_each(visit);
    }
}

impl PullVariances for Box<dyn PullVariances + Send> {
    fn variances(&mut self, pulls: &[u32], visit: &mut dyn FnMut(f64)) {
        (**self).variances(pulls, visit);
    }

    fn covariances(&mut self, pulls: &[u32], arm: Arm, visit: &mut dyn FnMut(f64)) {
        (**self).covariances(pulls, arm, visit);
    }
}

/// A custom estimator without covariances: the variances are those of its posterior, and the means are taken to be independent.
impl PullVariances for Box<dyn Estimator + Send> {
    fn variances(&mut self, _: &[u32], visit: &mut dyn FnMut(f64)) {
        self.posterior().variances.iter().copied().for_each(visit);
    }

    fn covariances(&mut self, pulls: &[u32], arm: Arm, visit: &mut dyn FnMut(f64)) {
        let (_, variance) = self.moments_of(arm);
        (0..pulls.len()).map(|other| if other == arm { variance } else { 0.0 }).for_each(visit);
    }
}

impl PullVariances for SampleMean {}

impl PullVariances for Isotonic {}
