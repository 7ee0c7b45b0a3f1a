//! The first batch of a campaign.

use super::Terms;
use super::ledger::Ledger;
use crate::random::draw;
use crate::{Arm, Purpose, stream};

/// The arms to measure before the first reward arrives, where several are asked for at once, or `None` where the rule chooses them.
///
/// Without rewards, the mixed model knows neither level nor scale of anything, and a rule on it chooses the arms whose features are most extreme, again
/// and again. A random sample of the arms tells more: docs/models.md compares them. The order is that of [`Exploring`](crate::rules::Exploring),
/// whose first pull is the first of it, so that campaigns that ask for one measurement at a time are not changed.
pub(super) fn opening(terms: &Terms, ledger: &Ledger) -> Option<Vec<Arm>> {
    let explores = terms.spec.values().any(|(name, value)| name == "explore" && value > 0.0);
    // Campaigns of earlier versions have no kind of rewards.
    let is_open = terms.rewards.is_some() && explores && ledger.n_rewards() == 0;
    let n_arms = ledger.counts.len();
    let order = || draw(&mut stream(terms.seed, Purpose::Exploration, 0), n_arms, n_arms);
    is_open.then(|| {
        order().into_iter().filter(|arm| ledger.pending[*arm] == 0 && !ledger.withdrawn.contains_key(arm)).collect()
    })
}
