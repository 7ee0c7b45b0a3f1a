//! What a campaign says: its verdicts, whether it has ended, its progress and its parts.

use super::ledger::Ledger;
use super::{CampaignError, CampaignState, Progress, Terms, TicketId, TicketStatus, Time};
use crate::fit::MAX_TEST_COST;
use cutline::diagnostics::{Conclusion, Diagnostics, LearntModel, RewardStats};
use cutline::estimators::Explained;
use cutline::{
    Amount, Arm, Arms, EstimatorKind, NoiseEstimate, NoiseSource, Settled, Side, StopReason, Verdict, VerdictLimit,
};

/// With fewer rewards nothing is said about how many calls may be wrong.
const LEAST_REWARDS: u64 = 10;

impl CampaignState {
    /// The verdict on every arm from the rewards received so far.
    ///
    /// # Panics
    /// Never: the terms were checked when the campaign began.
    pub fn verdicts(&mut self) -> Vec<Verdict> {
        self.update_noise();
        self.update_proofs();
        let confidence = self.terms.confidence(self.noise).expect("a noise in range, as when the campaign began");
        let mut verdicts: Vec<Verdict> = self.learner.beliefs().verdicts(&confidence).collect();
        let is_out_of_range = self.noise.is_out_of_range();
        if self.noise.source == NoiseSource::Nothing || is_out_of_range {
            // Without a noise scale, the intervals have no ends.
            let (lower, upper) = confidence.range();
            for verdict in &mut verdicts {
                (verdict.lower, verdict.upper) = (lower, upper);
                if is_out_of_range {
                    (verdict.side, verdict.basis) = (Side::Undecided, None);
                    (verdict.doubt, verdict.settled_after) = (0.5, None);
                }
            }
        }
        if let Some(limit) = self.model_limit() {
            for verdict in &mut verdicts {
                *verdict = verdict.without_model(limit);
            }
        }
        if !is_out_of_range {
            self.add_proofs(&mut verdicts);
        }
        verdicts
    }

    /// Why the model makes no side likely: a linear model that the rewards contradict, or that they could not have contradicted yet.
    fn model_limit(&self) -> Option<VerdictLimit> {
        let is_linear = self.terms.spec.estimator() == EstimatorKind::Ridge && !self.arms.has_covariance();
        // Campaigns of earlier versions have no kind of rewards, and keep their verdicts.
        if !is_linear || self.terms.rewards.is_none() {
            return None;
        }
        if !self.is_testable() {
            return Some(VerdictLimit::UntestedModel);
        }
        match self.diagnose().conclusion {
            Conclusion::NotBelievable => Some(VerdictLimit::Misfit),
            Conclusion::NotEnoughData(_) => Some(VerdictLimit::UntestedModel),
            _ => None,
        }
    }

    /// Whether the linear model has few enough arms and features to be tested within seconds.
    #[must_use]
    pub fn is_testable(&self) -> bool {
        let dimension = self.arms.dimension().unwrap_or(0);
        self.arms.n_arms() as f64 * (dimension * dimension) as f64 <= MAX_TEST_COST
    }

    /// Why the campaign will never hand out another measurement; `None` while it may.
    pub fn stop_reason(&mut self) -> Option<StopReason> {
        self.update_noise();
        if self.terms.is_until_proved() {
            self.update_proofs();
        }
        let spent = self.ledger.spending.spent;
        self.learner.set_remaining(Amount::units(self.ledger.budget).minus(spent));
        let is_used = self.ledger.costs.is_none() && self.ledger.counted >= self.ledger.budget;
        if is_used {
            Some(StopReason::Budget)
        } else if self.expects_few_errors() {
            Some(StopReason::ExpectedErrors)
        } else {
            let reason = self.learner.stop_reason();
            let is_proved = self.terms.is_until_proved() && !self.learner.settled().in_order().is_empty();
            match reason {
                Some(StopReason::Settled | StopReason::Withdrawn) if is_proved => Some(StopReason::Proved),
                reason => reason,
            }
        }
    }

    /// The arms whose side is fixed for good, and when that happened.
    pub fn settled(&mut self) -> &Settled {
        if self.terms.is_until_proved() {
            self.update_proofs();
        }
        self.learner.settled()
    }

    /// Its progress.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let Ledger { budget, failed, expired, voided, events, .. } = self.ledger;
        let counted = self.ledger.n_counted(budget);
        let uncounted = self.ledger.uncounted + u64::from(self.ledger.counted - counted);
        let (open, recent) = (self.ledger.n_open(), self.ledger.recent.iter().copied().collect());
        let withdrawn = self.ledger.withdrawn.len();
        let spending = self.ledger.costs.as_ref().map(|_| self.ledger.spending);
        Progress { budget, spending, counted, uncounted, open, failed, expired, voided, withdrawn, events, recent }
    }

    /// What the cheapest measurement costs that can still be asked for, of an arm that is not withdrawn; `None` in a campaign without costs, and if all
    /// arms are withdrawn.
    #[must_use]
    pub fn least_cost(&self) -> Option<Amount> {
        let costs = self.arms.measurement_costs()?.all().iter().enumerate();
        costs.filter(|(arm, _)| !self.ledger.withdrawn.contains_key(arm)).map(|(_, &cost)| cost).min()
    }

    /// The number of events.
    #[must_use]
    pub fn n_events(&self) -> u64 {
        self.ledger.events
    }

    /// The arm, the worker and the status of a ticket.
    ///
    /// # Errors
    /// If there is no such ticket.
    pub fn ticket(&self, ticket: TicketId) -> Result<(Arm, &str, TicketStatus), CampaignError> {
        self.ledger.ticket(ticket)
    }

    /// The tickets that wait for their reward, with the end of their lease; the lease that ends first comes first.
    pub fn open_tickets(&self) -> impl Iterator<Item = (TicketId, Time)> + '_ {
        self.ledger.open_tickets()
    }

    /// The noise scale, given or estimated from the rewards received so far. Choices, stop and verdicts all use it.
    #[must_use]
    pub fn noise(&self) -> NoiseEstimate {
        if self.is_noise_stale { self.ledger.current_noise() } else { self.noise }
    }

    /// How much of the differences between the arms the features explain, by the rewards received so far; `None` unless the model is
    /// [mixed](cutline::estimators::Mixed) and there are rewards.
    #[must_use]
    pub fn explained(&self) -> Option<Explained> {
        self.explained
    }

    /// Whether all rewards so far are 0 or 1, and there are both, although the campaign does not take its rewards as pass or fail.
    #[must_use]
    pub fn looks_like_pass_or_fail(&self) -> bool {
        !self.terms.is_bernoulli() && self.ledger.has_only_passes_and_fails()
    }

    /// The shares that the mixed model has [learnt](CampaignState::explained), in a campaign with features, once arms have different rewards:
    /// before that nothing is learnt, and the shares are those of the prior.
    #[must_use]
    pub fn learnt(&self) -> Option<Explained> {
        self.arms.dimension()?;
        let explained = self.explained()?;
        let (first_arm, first_reward) = self.rewards().next()?;
        let differs =
            self.rewards().any(|(arm, _)| arm != first_arm) && self.rewards().any(|(_, reward)| reward != first_reward);
        differs.then_some(explained)
    }

    /// Whether there are enough rewards, ten, to say how many calls may be wrong.
    #[must_use]
    pub fn may_forecast(&self) -> bool {
        self.ledger.n_rewards() >= LEAST_REWARDS
    }

    /// The number of rewards that repeat a measurement of the same arm.
    #[must_use]
    pub fn n_repeats(&self) -> u64 {
        self.ledger.counts.iter().map(|&rewards| u64::from(rewards.saturating_sub(1))).sum()
    }

    /// Whether the arms differ by more than noise would make them, by a test of equal means that would find differences as large as the noise;
    /// `None` while there are too few repeats for that. A model that has learnt larger differences is not contradicted.
    #[must_use]
    pub fn differs(&self) -> Option<bool> {
        let has_learnt = self.spread.is_some_and(|spread| spread >= self.noise.sigma);
        self.ledger.rewards.differ().filter(|differ| *differ || !has_learnt)
    }

    /// Tests the linear model with the rewards received so far, and reports what the model of the campaign has learnt. The linear model is
    /// that of a campaign on ridge: with the features as this campaign prepares them if its estimator is ridge, and otherwise with
    /// standardised features and an intercept.
    #[must_use]
    pub fn diagnose(&self) -> Diagnostics {
        let rewards = &self.ledger.rewards;
        let is_linear = self.terms.spec.estimator() == EstimatorKind::Ridge;
        let prepared = if is_linear { None } else { self.arms.clone().standardised().with_intercept(1.0).ok() };
        let tests = prepared.map_or_else(|| rewards.diagnose(), |arms| rewards.with_arms(&arms).diagnose());
        let learnt = self.explained.zip(self.spread);
        let learnt = learnt.map(|(explained, spread)| LearntModel { explained, noise: self.noise.sigma, spread });
        tests.with_learnt(learnt)
    }

    /// The number of arms whose verdict contradicts their own rewards by more than the noise explains, so that the model misleads there:
    /// for example one whose prior does not suit features with outliers.
    #[must_use]
    pub fn n_contradicted(&self, verdicts: &[Verdict]) -> usize {
        self.ledger.rewards.n_contradicted(self.terms.question, verdicts)
    }

    /// The rewards received so far, for diagnostics.
    #[must_use]
    pub fn reward_stats(&self) -> &RewardStats {
        &self.ledger.rewards
    }

    /// Its terms.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Its arms.
    #[must_use]
    pub fn arms(&self) -> &Arms {
        &self.arms
    }
}
