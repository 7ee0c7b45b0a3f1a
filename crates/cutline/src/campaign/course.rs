//! How a campaign came to its verdicts.

use super::{BrokenJournal, CampaignState, Event, Record};
use crate::Side;

/// How many arms were decided once so many rewards had been counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stage {
    /// The rewards counted until then.
    pub counted: u32,
    /// The arms called above.
    pub above: usize,
    /// The arms called below.
    pub below: usize,
}

impl CampaignState {
    /// How many arms were decided while `records`, all events of this campaign, happened. At most `most` stages, and at least the
    /// first and the last: they are as evenly apart in rewards as can be, from before the first reward that counts to the end.
    ///
    /// One fold over the events, and the verdicts on all arms once a stage. The campaign itself stays as it is.
    ///
    /// ```
    /// use cutline::campaign::{CampaignState, Event, Record, Terms};
    /// use cutline::{Arms, IntervalKind, Question, Spec};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let terms = Terms {
    ///     question: Question::new(0.0, 0.0)?,
    ///     spec: Spec::named("apt")?,
    ///     budget: 9,
    ///     noise: Some(1.0),
    ///     interval: IntervalKind::Fixed,
    ///     delta: 0.05,
    ///     until_sure: None,
    ///     seed: 0,
    /// };
    /// let campaign = CampaignState::new(Arms::without_features(1)?, terms)?;
    /// let told = |number| Record { number, at: 0, event: Event::Observed { arm: 0, reward: 1.0, is_counted: true } };
    /// let course = campaign.course(&(1..=9).map(told).collect::<Vec<_>>(), 10)?;
    /// assert_eq!(course.iter().position(|stage| stage.above == 1), Some(4), "1.96/√4 < 1");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If an event cannot have happened.
    ///
    /// # Panics
    /// Never: the terms were checked when the campaign began.
    pub fn course(&self, records: &[Record], most: usize) -> Result<Vec<Stage>, BrokenJournal> {
        let mut past = Self::new(self.arms.clone(), self.terms.clone()).expect("terms that were checked");
        let mut done = 0;
        let stage = |end: usize| {
            past.extend(&records[done..end])?;
            done = end;
            let verdicts = past.verdicts();
            let count = |side| verdicts.iter().filter(|verdict| verdict.side == side).count();
            Ok(Stage { counted: past.ledger.counted, above: count(Side::Above), below: count(Side::Below) })
        };
        ends(records, most).into_iter().map(stage).collect()
    }
}

/// Before which events to look, the last being none: all just before a reward that counts, so that what came since the one
/// before is in.
fn ends(records: &[Record], most: usize) -> Vec<usize> {
    let counts =
        |record: &Record| matches!(record.event, Event::Told { .. } | Event::Observed { is_counted: true, .. });
    let rewards: Vec<usize> = (0..records.len()).filter(|&position| counts(&records[position])).collect();
    let steps = most.saturating_sub(1).clamp(1, rewards.len().max(1));
    let looks = (0..steps).filter_map(|step| rewards.get(step * rewards.len() / steps).copied());
    looks.chain([records.len()]).collect()
}
