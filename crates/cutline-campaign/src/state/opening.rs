//! The first batch of a campaign.

use super::Terms;
use super::ledger::{LearnerUpdate, Ledger};
use cutline::{Arm, Purpose, draw, stream};

/// The arms to measure before the first reward arrives, where several are asked for at once.
///
/// Without rewards, the mixed model knows neither level nor scale of anything, and a rule on it chooses the arms whose features are most extreme, again
/// and again. A random sample of the arms tells more: docs/models.md compares them. The order is that of [`Exploring`](cutline::rules::Exploring),
/// whose first pull is the first of it, so that campaigns that ask for one measurement at a time are not changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Opening {
    /// All arms; empty until it is needed.
    order: Vec<Arm>,
    /// All arms before this position are pending, withdrawn or too expensive.
    position: usize,
}

impl Opening {
    /// The next arm of the opening; `None` where the rule chooses.
    pub(super) fn next(&mut self, terms: &Terms, ledger: &Ledger) -> Option<Arm> {
        let explores = || terms.spec.values().any(|(name, value)| name == "explore" && value > 0.0);
        // Campaigns of earlier versions have no kind of rewards.
        let is_open = ledger.n_rewards() == 0 && terms.rewards.is_some() && explores();
        if !is_open {
            self.order = Vec::new();
            return None;
        }
        let n_arms = ledger.counts.len();
        if self.order.is_empty() {
            self.order = draw(&mut stream(terms.seed, Purpose::Exploration, 0), n_arms, n_arms);
        }
        let is_measurable = |arm: &Arm| !ledger.withdrawn.contains_key(arm) && ledger.n_affordable(*arm) > 0;
        let is_free = |arm: &Arm| ledger.pending[*arm] == 0 && is_measurable(arm);
        self.position += self.order[self.position..].iter().take_while(|arm| !is_free(arm)).count();
        self.order.get(self.position).copied()
    }

    /// After any change but a pull, arms may be free again.
    pub(super) fn follow(&mut self, update: LearnerUpdate) {
        if !matches!(update, LearnerUpdate::Assign(_)) {
            self.position = 0;
        }
    }
}
