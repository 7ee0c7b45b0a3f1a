//! Plays the campaigns of a plan.

use super::counts::PlanOutcome;
use super::truths::Truths;
use super::{Goal, Plan, PlanError, PlanTally, PlannedCampaign, PriorError};
use crate::{CampaignState, Event, Request, Terms, TermsError, Time};
use cutline::{Arm, LearnerError, Purpose, Question, RewardKind, SpecError, Verdict, stream};
use rand::Rng as _;
use rayon::prelude::*;
use std::ops::Range;
use std::slice::Iter;

/// Who follows the runs as they are played.
pub(super) struct Watching<'a> {
    /// Called with the number of pulls, or of units of cost.
    pub(super) watch: &'a (dyn Fn(u64) + Sync),
    pub(super) is_interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl Plan {
    /// Plays a range of runs on the threads of the current rayon pool. `watch` is called with the number of pulls as they are played.
    ///
    /// Everything random in a run is a function of the seed and the run's number, so any split of the runs gives the same counts. All
    /// campaigns face the same true means and, pull by pull, the same noise.
    ///
    /// # Errors
    /// If the target is not a number from 1e-9 to 1, the budgets do not ascend or are no multiples of the batch, a campaign is listed twice, there is none that takes the
    /// largest budget, or something else does not fit.
    pub fn play(
        &self,
        budgets: &[u32],
        runs: Range<u64>,
        watch: &(dyn Fn(u64) + Sync),
    ) -> Result<PlanTally, PlanError> {
        self.play_unless(budgets, runs, watch, &|| false)
    }

    /// As [`Plan::play`], and asks `is_interrupted` before every measurement: once that is true, it ends with [`PlanError::Interrupted`].
    ///
    /// # Errors
    /// As [`Plan::play`], and if it was interrupted.
    pub fn play_unless(
        &self,
        budgets: &[u32],
        runs: Range<u64>,
        watch: &(dyn Fn(u64) + Sync),
        is_interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Result<PlanTally, PlanError> {
        let watching = Watching { watch, is_interrupted };
        let first = self.check(budgets)?;
        let truths = self.prior.truths(&self.arms, self.question.threshold())?;
        self.check_question(&truths)?;
        let empty = || PlanTally::new(self.campaigns.len(), budgets.len());
        let play = |run| {
            let mut tally = empty();
            self.play_run(&truths, budgets, &first, run, &mut tally, &watching)?;
            Ok(tally)
        };
        runs.into_par_iter().map(play).try_reduce(empty, |mut sum, tally| {
            sum += &tally;
            Ok(sum)
        })
    }

    /// The number of pulls per run, over all campaigns.
    ///
    /// # Errors
    /// As [`Plan::play`].
    pub fn pulls_per_run(&self, budgets: &[u32]) -> Result<u64, PlanError> {
        let most = budgets.last().copied().map_or(0, u64::from);
        Ok(self.check(budgets)?.iter().filter(|&&first| first < budgets.len()).map(|_| most).sum())
    }

    /// Checks the plan and these budgets. Returns for each campaign the position of the first budget that it takes; if it takes none,
    /// that is the number of budgets.
    pub(super) fn check(&self, budgets: &[u32]) -> Result<Vec<usize>, PlanError> {
        let target = self.goal.value();
        if !(1e-9..1.0).contains(&target) {
            return Err(PlanError::Target(target));
        }
        if budgets.first().is_none_or(|&first| first == 0) || !budgets.is_sorted_by(|a, b| a < b) {
            return Err(PlanError::Budgets);
        }
        let batch = self.batch.get();
        let in_measurements = self.costs().is_none();
        if let Some(&budget) = budgets.iter().find(|budget| in_measurements && !budget.is_multiple_of(batch)) {
            return Err(PlanError::Batch { budget, batch });
        }
        if self.campaigns.is_empty() {
            return Err(PlanError::NoCampaigns);
        }
        let (mut all, mut refused) = (Vec::new(), None);
        for (position, campaign) in self.campaigns.iter().enumerate() {
            if self.campaigns[..position].iter().any(|other| other.label == campaign.label) {
                return Err(PlanError::Twice(campaign.label.clone()));
            }
            let mut pilot = self.prior.rewards().iter().map(|&(_, reward)| campaign.terms.check_reward(reward));
            pilot.try_for_each(|checked| checked).map_err(PlanError::Pilot)?;
            let mut first = 0;
            while let Some(&budget) = budgets.get(first) {
                match self.state(campaign, budget, self.seed) {
                    Ok(_) => break,
                    Err(error) if is_too_small(&error) => (first, refused) = (first + 1, Some(error)),
                    Err(error) => return Err(error),
                }
            }
            all.push(first);
        }
        match refused {
            Some(error) if all.iter().all(|&first| first == budgets.len()) => Err(error),
            _ => Ok(all),
        }
    }

    /// Refuses a precision within which so many arms of the first run lie that any verdicts would meet the goal.
    fn check_question(&self, truths: &Truths) -> Result<(), PlanError> {
        let (threshold, precision) = (self.question.threshold(), self.question.precision());
        // Drawing means takes time, and a precision that is small compared with the spread is never refused.
        let Some(spread) = self.prior.spread().filter(|&spread| spread <= 2.0 * precision) else { return Ok(()) };
        let means = truths.draw(&mut stream(self.seed, Purpose::Instance, 0));
        let can_be_wrong = |mean: &&f64| **mean < threshold - precision || **mean >= threshold + precision;
        let outside = means.iter().filter(can_be_wrong).count() as f64 / means.len() as f64;
        let allowed = if let Goal::WrongShare(share) = self.goal { share } else { 0.0 };
        if outside > allowed {
            return Ok(());
        }
        Err(PriorError::NothingToDecide { precision, spread, within: 100.0 * (1.0 - outside) }.into())
    }

    /// A campaign after the pilot, before its first measurement.
    pub(super) fn state(&self, campaign: &PlannedCampaign, budget: u32, seed: u64) -> Result<CampaignState, PlanError> {
        // Means and noise of a plan are Gaussian, whatever the campaign measures.
        let rewards = campaign.terms.rewards.map(|_| RewardKind::Gaussian);
        let range = (f64::NEG_INFINITY, f64::INFINITY);
        let terms = Terms { question: self.question, budget, seed, rewards, range, ..campaign.terms.clone() };
        let refused = |error: TermsError| PlanError::Campaign { label: campaign.label.clone(), error };
        let mut state = CampaignState::new(campaign.arms.clone(), terms).map_err(refused)?;
        for &(arm, reward) in self.prior.rewards() {
            state.observe(arm, reward, false, NOW).map_err(|_| PriorError::TooLarge)?;
        }
        for &arm in self.prior.withdrawn() {
            state.withdraw(arm, "", NOW).map_err(|_| PriorError::TooLarge)?;
        }
        Ok(state)
    }

    fn play_run(
        &self,
        truths: &Truths,
        budgets: &[u32],
        first: &[usize],
        run: u64,
        tally: &mut PlanTally,
        watching: &Watching<'_>,
    ) -> Result<(), PlanError> {
        let means = truths.draw(&mut stream(self.seed, Purpose::Instance, run));
        let most = budgets[budgets.len() - 1];
        let mut variates = vec![0.0; if self.costs().is_some() { 0 } else { most as usize }];
        self.draw(&mut stream(self.seed, Purpose::Noise, run), &mut variates);
        let seed = stream(self.seed, Purpose::Learner, run).next_u64();
        for (position, (campaign, &first)) in self.campaigns.iter().zip(first).enumerate() {
            if first == budgets.len() {
                continue;
            }
            if self.costs().is_some() {
                let outcomes = self.play_spending(campaign, &budgets[first..], &means, (run, seed), watching)?;
                tally.count(position, first, &outcomes);
                continue;
            }
            let mut state = self.state(campaign, most, seed)?;
            let mut outcomes = Vec::new();
            let mut told = 0;
            let mut open = self.prior.open().iter();
            for &budget in &budgets[first..] {
                self.measure(&mut state, &means, &variates[told..budget as usize], &mut open, watching)?;
                (watching.watch)(u64::from(budget) - told as u64);
                told = budget as usize;
                outcomes.push(PlanOutcome::new(&state.verdicts(), &means, self.question));
            }
            tally.count(position, first, &outcomes);
        }
        Ok(())
    }
}

impl Plan {
    /// Measures once per variate of the noise, in batches: all measurements of a batch are asked for before the first reward is told.
    /// Arms that are `open` are under measurement already and come first.
    fn measure(
        &self,
        state: &mut CampaignState,
        means: &[f64],
        variates: &[f64],
        open: &mut Iter<'_, Arm>,
        watching: &Watching<'_>,
    ) -> Result<(), PlanError> {
        let n_open = open.len().min(variates.len());
        let (first, variates) = variates.split_at(n_open);
        for (&arm, &variate) in open.by_ref().zip(first) {
            let reward = self.reward(means[arm], variate);
            state.observe(arm, reward, true, NOW).map_err(|_| PriorError::TooLarge)?;
        }
        for variates in variates.chunks(self.batch.get() as usize) {
            let request = Request::new(variates.len(), "plan", Time::MAX);
            let asked = state.ask_unless(&request, NOW, watching.is_interrupted).ok_or(PlanError::Interrupted)?;
            for (event, &variate) in asked.iter().zip(variates) {
                let Event::Asked { ticket, arm, .. } = *event else { continue };
                let reward = self.reward(means[arm], variate);
                state.tell(ticket, reward, NOW).map_err(|_| PriorError::TooLarge)?;
            }
            if asked.len() < variates.len() {
                break;
            }
        }
        Ok(())
    }
}

/// The time of everything: a plan has no clock.
pub(super) const NOW: Time = 0;

impl PlanOutcome {
    /// An arm is called by the side of its estimate, decided or not.
    pub(super) fn new(verdicts: &[Verdict], means: &[f64], question: Question) -> Self {
        let is_error = |(verdict, &mean): (&Verdict, &f64)| question.is_error(mean, verdict.mean);
        let doubts: f64 = verdicts.iter().map(|verdict| verdict.doubt).sum();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and K millions")]
        let doubts = (1e6 * doubts).round() as u64;
        Self {
            errors: count(verdicts.iter().zip(means).filter(|&pair| is_error(pair)).count()),
            decided: count(verdicts.iter().filter(|verdict| verdict.is_decided()).count()),
            doubts,
        }
    }
}

/// Whether a campaign was refused because the budget is too small, for example to pull every arm once first.
pub(super) fn is_too_small(error: &PlanError) -> bool {
    let too_small = |error: &SpecError| {
        use LearnerError::{BudgetBelowArms, BudgetBelowCheapest, BudgetBelowCosts};
        matches!(
            error,
            SpecError::Learner(BudgetBelowArms { .. } | BudgetBelowCosts { .. } | BudgetBelowCheapest { .. })
        )
    };
    matches!(error, PlanError::Campaign { error: TermsError::Spec(error), .. } if too_small(error))
}
