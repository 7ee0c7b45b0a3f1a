//! The interface of every learner.

use super::TellError;
use crate::estimators::{Estimator, History};
use crate::{Amount, Arm, Beliefs, Settled, SettledArm, StopReason};

/// The interface of every learner, whatever its rule, estimator and stop. Simulations and campaigns use it as `dyn AskTell`.
///
/// A pull is handed out by [`propose`](AskTell::propose) and [`assign`](AskTell::assign) (or both at once,
/// [`ask`](AskTell::ask)) and counts from then on. It is pending until its reward is told, in any order among the pending pulls,
/// or the pull is [forgotten](AskTell::forget).
pub trait AskTell: Send {
    /// The arm to pull next, or `None` once the stop is met or while the rule [waits](crate::rules::Choice::Wait) for rewards of pending pulls:
    /// [`stop_reason`](AskTell::stop_reason) tells which. Asking twice without a change in between gives the same arm.
    fn propose(&mut self) -> Option<Arm>;

    /// Hands out a pull of `arm`, proposed or not.
    ///
    /// # Panics
    /// If there is no such arm.
    fn assign(&mut self, arm: Arm);

    /// Receives the reward of a pull of `arm`. If no pull of `arm` is pending, the reward counts as a new pull.
    ///
    /// # Errors
    /// If there is no such arm or the reward is not finite; the learner is then unchanged.
    fn tell(&mut self, arm: Arm, reward: f64) -> Result<(), TellError>;

    /// Withdraws a pending pull of `arm` whose reward will never come: it no longer counts.
    ///
    /// # Panics
    /// If there is no such arm or no pull of it is pending.
    fn forget(&mut self, arm: Arm);

    /// Replaces everything that the learner has received by a history, in one step. `changes` is how many times, in that history, a pull was handed out
    /// or lost; it becomes [`Beliefs::changes`].
    ///
    /// # Panics
    /// If the choices of the learner [depend on the order](AskTell::depends_on_order) of the rewards, the history has another number
    /// of arms, or it lacks the [`FitHistory`](crate::estimators::FitHistory) that the mixed model needs.
    fn restore(&mut self, history: &History<'_>, changes: u64);

    /// Whether its choices depend on the order of the rewards, so that it cannot be [restored](AskTell::restore) from a
    /// history.
    fn depends_on_order(&self) -> bool;

    /// Changes σ, the standard deviation of a reward, for rule and stop. Where the estimator
    /// [learns σ](crate::estimators::Estimator::noise_scale), this has no effect once it has done so.
    ///
    /// # Panics
    /// If σ is not between 1e-100 and 1e100, or the rule [needs a σ that does not change](crate::rules::Rule::needs_fixed_noise): its state was computed
    /// with the old σ.
    fn set_noise(&mut self, noise: f64);

    /// Withdraws `arm`, which is not proposed again, or with `false` makes it available again. Rewards of a withdrawn arm are still taken, and
    /// a stop does not wait for it.
    ///
    /// # Panics
    /// If there is no such arm.
    fn set_withdrawn(&mut self, arm: Arm, is_withdrawn: bool);

    /// Fixes the sides of these arms, which were decided outside the learner, for example [proved](crate::proof), and opens those that were fixed in
    /// this way before and are not among them. If the stop of the learner settles arms itself, they stay settled.
    ///
    /// # Panics
    /// If there is no such arm.
    fn set_settled(&mut self, settled: &[SettledArm]);

    /// Whether its rule pulls every arm once first.
    fn opens_with_every_arm(&self) -> bool;

    /// How much is left to spend: arms whose [measurement costs](crate::Arms::with_measurement_costs) more are not proposed, and if no open
    /// arm can be paid for, the learner has ended. Without costs, this has no effect.
    fn set_remaining(&mut self, remaining: Amount);

    /// Why the learner has ended; `None` if it has not.
    fn stop_reason(&mut self) -> Option<StopReason>;

    /// The arms whose side is fixed for good, and when that happened.
    fn settled(&self) -> &Settled;

    /// The question, the pulls and the estimates at this moment.
    fn beliefs(&mut self) -> Beliefs<'_, dyn Estimator>;

    /// Proposes an arm and hands it out.
    fn ask(&mut self) -> Option<Arm> {
        let arm = self.propose()?;
        self.assign(arm);
        Some(arm)
    }
}
