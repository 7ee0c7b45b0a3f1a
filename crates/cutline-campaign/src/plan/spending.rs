//! Plays planned campaigns whose measurements cost different amounts. Their budgets are in units of cost.

use super::counts::PlanOutcome;
use super::simulation::{NOW, Watching};
use super::{Plan, PlanError, PlannedCampaign, PriorError};
use crate::{CampaignState, Event, Record, Request, Time};
use cutline::{MeasurementCosts, Purpose, Rng, stream};

impl Plan {
    /// What measurements cost; `None` if budgets are numbers of measurements.
    #[must_use]
    pub fn costs(&self) -> Option<&MeasurementCosts> {
        self.campaigns.first().and_then(|campaign| campaign.arms.measurement_costs())
    }

    /// What as many measurements cost on average, in whole units; the number itself without costs.
    pub(super) fn cost_of(&self, n_measurements: u32) -> u32 {
        let Some(costs) = self.costs() else { return n_measurements };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let cost = (f64::from(n_measurements) * costs.mean()).ceil() as u32;
        cost.clamp(1, 100_000_000)
    }

    /// One campaign through ascending budgets, and how it stands at each of them. As without costs, its n-th reward has the n-th variate of
    /// the run's noise.
    pub(super) fn play_spending(
        &self,
        campaign: &PlannedCampaign,
        budgets: &[u32],
        means: &[f64],
        (run, seed): (u64, u64),
        watching: &Watching<'_>,
    ) -> Result<Vec<PlanOutcome>, PlanError> {
        let mut state = self.state(campaign, budgets[budgets.len() - 1], seed)?;
        let mut variates = Variates { rng: stream(self.seed, Purpose::Noise, run), drawn: Vec::new(), next: 0 };
        let mut open = self.prior.open().iter().peekable();
        let mut before = 0;
        let mut outcomes = Vec::new();
        for &budget in budgets {
            change_budget(&mut state, budget)?;
            while let Some(&&arm) = open.peek() {
                let reward = self.reward(means[arm], variates.next(self));
                if state.observe(arm, reward, true, NOW).is_err() {
                    // It costs more than this budget.
                    variates.next -= 1;
                    break;
                }
                open.next();
            }
            self.spend(&mut state, means, &mut variates, watching)?;
            (watching.watch)(u64::from(budget - before));
            before = budget;
            outcomes.push(PlanOutcome::new(&state.verdicts(), means, self.question));
        }
        Ok(outcomes)
    }

    /// Measures, in batches, until the campaign asks for nothing more.
    fn spend(
        &self,
        state: &mut CampaignState,
        means: &[f64],
        variates: &mut Variates,
        watching: &Watching<'_>,
    ) -> Result<(), PlanError> {
        let request = Request::new(self.batch.get() as usize, "plan", Time::MAX);
        loop {
            let asked = state.ask_unless(&request, NOW, watching.is_interrupted).ok_or(PlanError::Interrupted)?;
            if asked.is_empty() {
                return Ok(());
            }
            for event in asked {
                let Event::Asked { ticket, arm, .. } = event else { continue };
                let reward = self.reward(means[arm], variates.next(self));
                state.tell(ticket, reward, NOW).map_err(|_| PriorError::TooLarge)?;
            }
        }
    }
}

/// The noise of one run, drawn as it is needed.
struct Variates {
    rng: Rng,
    drawn: Vec<f64>,
    next: usize,
}

impl Variates {
    fn next(&mut self, plan: &Plan) -> f64 {
        if self.next == self.drawn.len() {
            let mut more = [0.0; 256];
            plan.draw(&mut self.rng, &mut more);
            self.drawn.extend(more);
        }
        self.next += 1;
        self.drawn[self.next - 1]
    }
}

fn change_budget(state: &mut CampaignState, budget: u32) -> Result<(), PlanError> {
    let event = Event::Changed { budget, change: String::new() };
    let record = Record { number: state.n_events() + 1, at: NOW, event };
    state.extend(&[record]).map_err(|_| PlanError::Budgets)
}
