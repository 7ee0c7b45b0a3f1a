//! Rows of a campaign's tables: verdicts and open tickets, as every surface lists them.

use crate::{CampaignState, TicketId, Time, json};
use cutline::diagnostics::RewardStats;
use cutline::{Arm, Basis, MeasurementCosts, Side, Verdict, VerdictLimit};
use serde::Serialize;

/// The verdict on an arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct VerdictRow {
    /// The name of the arm.
    pub arm: String,
    /// Its number, from 0.
    pub index: Arm,
    /// `above`, `below` or `undecided`.
    #[serde(serialize_with = "json::side")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub side: Side,
    /// `proved` if its own rewards prove the side, `likely` if the model makes it likely; null if it is undecided.
    #[serde(serialize_with = "json::basis")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub basis: Option<Basis>,
    /// Why it says less than the rewards or the model seem to say, if it does: `skew`, `few-rewards`, `untested-model` or `misfit`.
    #[serde(serialize_with = "json::limit")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub limit: Option<VerdictLimit>,
    /// Whether the mean is the threshold to the last digit, and nothing speaks for either side; the side is `above` then.
    pub at_threshold: bool,
    /// The estimate of its mean; null if nothing is known.
    pub mean: Option<f64>,
    /// The lower end of the interval; null if it has none.
    pub lower: Option<f64>,
    /// The upper end.
    pub upper: Option<f64>,
    /// The mean of its own rewards; null if it was not measured.
    pub own_mean: Option<f64>,
    /// How often it was measured.
    pub pulls: u32,
    /// What a measurement of it costs; left out in a campaign without costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The probability that the call is wrong.
    pub doubt: f64,
    /// The probability that calling it above is right.
    pub probability_above: f64,
    /// The evidence of its own rewards for its side, an e-value: 1 is none. Null if it is too large for a number.
    pub evidence: Option<f64>,
    /// After how many rewards its side was settled for good.
    pub settled_after: Option<u64>,
    /// Whether it is withdrawn.
    pub withdrawn: bool,
}

impl VerdictRow {
    /// The row of an arm with this number, name and verdict; `rewards` and `costs` are those of all arms.
    #[must_use]
    pub fn new(
        (index, name): (Arm, &str),
        verdict: &Verdict,
        rewards: &RewardStats,
        costs: Option<&MeasurementCosts>,
    ) -> Self {
        let finite = |number: f64| number.is_finite().then_some(number);
        Self {
            arm: name.into(),
            index,
            side: verdict.side,
            basis: verdict.basis,
            limit: verdict.limit,
            at_threshold: verdict.is_at_threshold(),
            mean: finite(verdict.mean),
            lower: finite(verdict.lower),
            upper: finite(verdict.upper),
            own_mean: (verdict.pulls > 0).then(|| rewards.mean(index)),
            pulls: verdict.pulls,
            cost: costs.map(|costs| costs.of(index).value()),
            doubt: verdict.doubt,
            probability_above: verdict.probability_above(),
            evidence: finite(verdict.evidence),
            settled_after: verdict.settled_after,
            withdrawn: verdict.is_withdrawn,
        }
    }

    /// The rows of the arms with the largest doubts.
    #[must_use]
    pub fn most_doubtful(state: &CampaignState, names: &[String], verdicts: &[Verdict], most: usize) -> Vec<Self> {
        let mut arms: Vec<Arm> = (0..verdicts.len()).collect();
        arms.sort_by(|&a, &b| verdicts[b].doubt.total_cmp(&verdicts[a].doubt));
        let (rewards, costs) = (state.reward_stats(), state.arms().measurement_costs());
        let row = |arm: Arm| Self::new((arm, &names[arm]), &verdicts[arm], rewards, costs);
        arms.into_iter().take(most).map(row).collect()
    }
}

/// A ticket that waits for its reward.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OpenTicket {
    /// Its number.
    pub ticket: TicketId,
    /// The name of the arm.
    pub arm: String,
    /// Who has it.
    pub worker: String,
    /// When its lease ends.
    #[serde(serialize_with = "json::time")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub until: Time,
    /// Whether its lease has ended.
    pub is_overdue: bool,
}

impl OpenTicket {
    /// The open tickets of a campaign, the lease that ends first first.
    pub fn all<'a>(state: &'a CampaignState, names: &'a [String], now: Time) -> impl Iterator<Item = Self> + 'a {
        state.open_tickets().filter_map(move |(ticket, until)| {
            let (arm, worker, _) = state.ticket(ticket).ok()?;
            Some(Self { ticket, arm: names[arm].clone(), worker: worker.into(), until, is_overdue: until <= now })
        })
    }
}
