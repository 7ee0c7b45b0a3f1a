//! The proofs of a campaign: e-processes of every arm's own rewards, folded in the order of the journal.
//!
//! Where a model makes predictions, half of the stake of an arm is on what the model predicted before the arm's first reward. So that this is a
//! function of the journal, however it is split, predictions are taken at fixed times: after the first 8, 16, 32, … rewards, from a model that is
//! fitted to these alone. The proofs are brought up to date only when they are needed, which costs at most log₂ N fits for N rewards.

use super::early_stop::EarlyStop;
use super::expected_errors::plain_spec;
use super::ledger::Received;
use super::{CampaignState, Event, Terms};
use cutline::proof::{Prediction, Proofs, RewardFamily, ln_level};
use cutline::{Arm, EstimatorKind, Guarantee, NoiseSource, RewardKind, SettledArm, Verdict, VerdictLimit};

/// The first number of rewards after which predictions are taken; the next are twice as many each.
const FIRST_SNAPSHOT: usize = 8;

/// The proofs, and how far they have come.
#[derive(Clone, Debug)]
pub(super) struct Proving {
    proofs: Proofs,
    /// The number of rewards that are in the proofs.
    n_rewards: usize,
    /// The predictions after this many rewards.
    snapshot: Option<(usize, Vec<Option<Prediction>>)>,
    /// The number of rewards, of all arms, up to the last one of each arm.
    last_reward: Vec<u64>,
    /// The arms that the stop does not wait for any more.
    settled: Vec<SettledArm>,
    is_settled: Vec<bool>,
}

impl Proving {
    fn new(terms: &Terms, n_arms: usize) -> Self {
        let kind = terms.rewards.unwrap_or(RewardKind::Gaussian);
        Self {
            proofs: Proofs::new(n_arms, terms.question, RewardFamily::new(kind, terms.range, terms.noise)),
            n_rewards: 0,
            snapshot: None,
            last_reward: vec![0; n_arms],
            settled: Vec::new(),
            is_settled: vec![false; n_arms],
        }
    }

    /// Takes the next reward. The arms that it proves at this level are settled.
    fn tell(&mut self, arm: Arm, reward: f64, ln_level: f64) {
        self.n_rewards += 1;
        self.last_reward[arm] = self.n_rewards as u64;
        let changes_others = self.proofs.tell(arm, reward);
        let changed = if changes_others { 0..self.last_reward.len() } else { arm..arm + 1 };
        for arm in changed {
            if let Some(is_above) = self.proofs.side_at(arm, ln_level)
                && !self.is_settled[arm]
            {
                self.is_settled[arm] = true;
                self.settled.push(SettledArm::new(arm, is_above, self.n_rewards as u64));
            }
        }
    }

    /// The arms that are settled at present.
    fn settled(&self, guarantee: Guarantee, delta: f64) -> Vec<SettledArm> {
        if guarantee != Guarantee::Fdr {
            return self.settled.clone();
        }
        let sides = self.proofs.sides(guarantee, delta).into_iter().enumerate();
        sides.filter_map(|(arm, side)| Some(SettledArm::new(arm, side?, self.last_reward[arm]))).collect()
    }
}

impl Terms {
    /// Whether the campaign ends when everything is proved.
    pub(super) fn is_until_proved(&self) -> bool {
        self.until_sure == Some(EarlyStop::Proved)
    }

    /// The guarantee of the stop.
    fn stop_guarantee(&self) -> Guarantee {
        self.guarantee.unwrap_or(Guarantee::All)
    }
}

impl CampaignState {
    /// Brings the proofs up to date with the rewards, and the learner with what is proved, if the campaign ends by that.
    pub(super) fn update_proofs(&mut self) {
        let n_arms = self.arms.n_arms();
        let mut proving = self.proving.take().unwrap_or_else(|| Box::new(Proving::new(&self.terms, n_arms)));
        let (guarantee, delta) = (self.terms.stop_guarantee(), self.terms.delta);
        let level = ln_level(guarantee, delta, n_arms);
        let is_new = proving.n_rewards < self.ledger.received().len();
        while let Some(&Received { arm, reward, .. }) = self.ledger.received().get(proving.n_rewards) {
            if proving.proofs.n_rewards(arm) == 0.0
                && let Some(prediction) = self.prediction(&mut proving.snapshot, arm, proving.n_rewards)
            {
                proving.proofs.expect(arm, prediction);
            }
            proving.tell(arm, reward, level);
        }
        if is_new && self.terms.is_until_proved() {
            self.learner.set_settled(&proving.settled(guarantee, delta));
        }
        self.proving = Some(proving);
    }

    /// What the model predicted about `arm` before the reward after the first `n_before`.
    fn prediction(
        &self,
        snapshot: &mut Option<(usize, Vec<Option<Prediction>>)>,
        arm: Arm,
        n_before: usize,
    ) -> Option<Prediction> {
        let predicts = matches!(self.terms.spec.estimator(), EstimatorKind::Mixed | EstimatorKind::Ridge);
        if !predicts || n_before < FIRST_SNAPSHOT {
            return None;
        }
        let size = 1 << n_before.ilog2();
        if snapshot.as_ref().is_none_or(|(other, _)| *other != size) {
            *snapshot = Some((size, self.predictions_after(size)));
        }
        snapshot.as_ref().and_then(|(_, predictions)| predictions[arm])
    }

    /// The predictions of a model that knows the first `size` rewards only.
    fn predictions_after(&self, size: usize) -> Vec<Option<Prediction>> {
        let spec = plain_spec(&self.terms).expect("as when the campaign began");
        let terms = Terms { spec, until_sure: None, budget: u32::MAX, ..self.terms.clone() };
        let mut state = Self::new(self.arms.clone(), terms).expect("terms that were checked");
        let observed = |received: &Received| {
            let &Received { arm, reward, .. } = received;
            Event::Observed { arm, reward, is_counted: false }
        };
        let events: Vec<Event> = self.ledger.received()[..size].iter().map(observed).collect();
        state.record(0, &events);
        state.update_noise();
        if state.noise.source == NoiseSource::Nothing || state.noise.is_out_of_range() {
            return vec![None; self.arms.n_arms()];
        }
        state.learner.beliefs().predictions(state.noise.sigma)
    }

    /// Adds what is proved, by proofs that are up to date, to the verdicts of the model.
    pub(super) fn add_proofs(&self, verdicts: &mut [Verdict]) {
        let Some(proving) = &self.proving else { return };
        let (guarantee, delta) = (self.terms.guarantee.unwrap_or(Guarantee::Each), self.terms.delta);
        let level = ln_level(guarantee, delta, verdicts.len());
        let sides = proving.proofs.sides(guarantee, delta);
        for (arm, (verdict, side)) in verdicts.iter_mut().zip(sides).enumerate() {
            if let Some(is_above) = side {
                *verdict = verdict.proved(is_above, delta);
            } else if proving.proofs.limit_at(arm, level).is_some() {
                verdict.limit.get_or_insert(VerdictLimit::Skew);
            }
            verdict.evidence = proving.proofs.evidence(arm, verdict.is_mean_above(), guarantee);
        }
    }
}
