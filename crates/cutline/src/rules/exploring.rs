//! Exploring: now and then an arm that was never pulled, whatever the rule says.
//!
//! Rules pull arms near the threshold, so what is learnt about the model is learnt there. A few arms drawn without regard to the rewards
//! show how well it does elsewhere. The number of such pulls grows with √t, so that they cost little.

use super::{Choice, Rule};
use crate::random::draw;
use crate::{Arm, Beliefs, Purpose, Rng, stream};

/// Pulls 1, 2, 5, 10, 17, … (one more than a square, pending pulls counted) are of the first arm never pulled in an order that the seed
/// determines, if there is one. All others are the choice of another rule.
///
/// [`Spec`](crate::Spec) puts every rule inside this one where the estimator is [mixed](crate::estimators::Mixed), unless the parameter
/// `explore` is 0.
///
/// ```
/// use cutline::estimators::{Mixed, MixedSettings};
/// use cutline::rules::{Exploring, Pivot};
/// use cutline::{Arms, Budget, Learner, Question};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (arms, question, seed) = (Arms::from_rows(&[[1.0], [2.0], [3.0]])?, Question::new(0.0, 0.1)?, 7);
/// let mixed = Mixed::new(&arms, question, &MixedSettings::default(), seed)?;
/// let rule = Exploring::new(Pivot::new(1.0)?, arms.n_arms(), seed);
/// let learner = Learner::new(rule, mixed, Budget::new(10)?, question, seed)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Exploring<R> {
    rule: R,
    order: Vec<Arm>,
}

/// The order in which never-pulled arms are explored.
pub(crate) fn exploration_order(seed: u64, n_arms: usize) -> Vec<Arm> {
    draw(&mut stream(seed, Purpose::Exploration, 0), n_arms, n_arms)
}

impl<R> Exploring<R> {
    /// `rule`, and pulls of arms that were never pulled, in an order that the seed determines. Among 0 arms there is nothing to explore.
    #[must_use]
    pub fn new(rule: R, n_arms: usize, seed: u64) -> Self {
        Self { rule, order: exploration_order(seed, n_arms) }
    }

    /// The arm to explore with now. A search through all arms is rare and costs less than any estimator needs per pull.
    fn explored<E: ?Sized>(&self, beliefs: &Beliefs<'_, E>) -> Option<Arm> {
        let root = beliefs.total_pulls.isqrt();
        if root * root != beliefs.total_pulls || beliefs.first_unpulled.is_none() {
            return None;
        }
        self.order.iter().copied().find(|&arm| beliefs.pulls[arm] == 0 && beliefs.settled.is_open(arm))
    }
}

impl<E: ?Sized, R: Rule<E>> Rule<E> for Exploring<R> {
    const OPENS_WITH_EVERY_ARM: bool = R::OPENS_WITH_EVERY_ARM;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, rng: &mut Rng) -> Choice {
        self.explored(beliefs).map_or_else(|| self.rule.choose(beliefs, rng), Choice::Pull)
    }

    fn may_end(&self) -> bool {
        self.rule.may_end()
    }

    fn learns(&self) -> bool {
        self.rule.learns()
    }

    fn needs_fixed_noise(&self) -> bool {
        self.rule.needs_fixed_noise()
    }

    fn learn(&mut self, beliefs: &mut Beliefs<'_, E>, arm: Arm, reward: f64) {
        self.rule.learn(beliefs, arm, reward);
    }

    fn set_noise(&mut self, noise: f64) {
        self.rule.set_noise(noise);
    }
}
