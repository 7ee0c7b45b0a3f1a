//! The number of decided arms over the course of a campaign.

use super::{BrokenJournal, CampaignState, Event, Record};
use cutline::Side;

/// The number of arms decided after a number of counted rewards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecisionPoint {
    /// The number of rewards counted so far.
    pub counted: u32,
    /// The number of arms decided as above.
    pub above: usize,
    /// The number of arms decided as below.
    pub below: usize,
}

impl CampaignState {
    /// How many arms were decided in the course of `records`, which are all events of this campaign, by its present terms. There are at most `most` points,
    /// and at least the first and the last: they are spaced as evenly in rewards as possible, from before the first reward that counts
    /// to the end.
    ///
    /// This costs one fold over the events, and the verdicts on all arms once per point. The campaign itself is not changed.
    ///
    /// ```
    /// use cutline_campaign::{CampaignState, Event, Record, Terms};
    /// use cutline::{Arms, Question, Spec};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let terms = Terms { noise: Some(1.0), ..Terms::new(Question::new(0.0, 0.0)?, Spec::named("apt")?, 9) };
    /// let campaign = CampaignState::new(Arms::without_features(1)?, terms)?;
    /// let observed = |number| Record { number, at: 0, event: Event::Observed { arm: 0, reward: 1.0, is_counted: true } };
    /// let points = campaign.decision_history(&(1..=9).map(observed).collect::<Vec<_>>(), 10)?;
    /// assert_eq!(points.iter().position(|point| point.above == 1), Some(4), "1.96/√4 < 1");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If an event cannot follow those before it.
    ///
    /// # Panics
    /// Never: the terms were checked when the campaign began.
    pub fn decision_history(&self, records: &[Record], most: usize) -> Result<Vec<DecisionPoint>, BrokenJournal> {
        let mut replay = Self::new(self.arms.clone(), self.terms.clone()).expect("terms that were checked");
        // Events may have changed the budget, and only its last value is known here. So there is none: rewards that came late count here, of
        // which the budget of their time left some out.
        replay.ledger.budget = u32::MAX;
        let records: Vec<Record> = records.iter().cloned().map(without_budget).collect();
        let budget = self.ledger.budget;
        let mut done = 0;
        let point_at = |end: usize| {
            replay.extend(&records[done..end])?;
            done = end;
            let verdicts = replay.verdicts();
            let count = |side| verdicts.iter().filter(|verdict| verdict.side == side).count();
            Ok(DecisionPoint {
                counted: replay.ledger.n_counted(budget),
                above: count(Side::Above),
                below: count(Side::Below),
            })
        };
        positions(&records, most).into_iter().map(point_at).collect()
    }
}

/// The same record; if the budget was changed, as if it had been removed.
fn without_budget(mut record: Record) -> Record {
    if let Event::Changed { budget, .. } = &mut record.event {
        *budget = u32::MAX;
    }
    record
}

/// The numbers of events after which to count. All but the last, which is the number of all events, are just before a reward that
/// counts, so that every event since the previous one is included.
fn positions(records: &[Record], most: usize) -> Vec<usize> {
    let counts =
        |record: &Record| matches!(record.event, Event::Told { .. } | Event::Observed { is_counted: true, .. });
    let rewards: Vec<usize> = (0..records.len()).filter(|&position| counts(&records[position])).collect();
    let steps = most.saturating_sub(1).clamp(1, rewards.len().max(1));
    let before_rewards = (0..steps).filter_map(|step| rewards.get(step * rewards.len() / steps).copied());
    before_rewards.chain([records.len()]).collect()
}
