//! How fast the rewards of a campaign come, and when its budget will be used up at that rate.

use crate::{Progress, Time};

/// The rate of the last rewards of a campaign.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pace {
    /// The number of rewards per hour: those after the oldest of the recent ones, divided by the time since that one. While none come, it
    /// drops.
    pub rewards_per_hour: f64,
    /// After how many milliseconds the budget is used up at this rate, with costs as they were on average.
    pub budget_used_in: Time,
}

impl Pace {
    /// The pace at the time `now`; `None` until there are rewards of two different times.
    #[must_use]
    pub fn new(progress: &Progress, now: Time) -> Option<Self> {
        let first = *progress.recent.first()?;
        let after = progress.recent.iter().filter(|&&at| at > first).count();
        let since = now.max(*progress.recent.last()?).saturating_sub(first);
        let per_millisecond = (after > 0).then(|| after as f64 / since as f64)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast saturates, and the number is not negative"
        )]
        let budget_used_in = (measurements_to_go(progress) / per_millisecond) as Time;
        Some(Self { rewards_per_hour: per_millisecond * 3.6e6, budget_used_in })
    }
}

/// How many more rewards the budget is enough for, with costs as they were on average.
fn measurements_to_go(progress: &Progress) -> f64 {
    let mean_cost = progress.spent().value() / f64::from(progress.counted.max(1));
    progress.remaining().value() / if progress.counted > 0 { mean_cost } else { 1.0 }
}
