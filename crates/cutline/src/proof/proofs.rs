//! The proofs of all arms, reward by reward.

use super::arm::{ArmProof, Shared, position};
use super::skew::{Caution, Residuals};
use super::{Prediction, RewardFamily};
use crate::resolution::Resolution;
use crate::{Arm, Guarantee, Question};

/// The e-processes of all arms.
///
/// ```
/// use cutline::proof::{Proofs, RewardFamily};
/// use cutline::{Guarantee, Question};
///
/// // Does it pass in more than 80 % of all cases? Twenty passes in a row are not enough for two arms together, for one they are.
/// let mut proofs = Proofs::new(2, Question::new(0.8, 0.0)?, RewardFamily::PassFail);
/// for _ in 0..20 {
///     proofs.tell(0, 1.0);
/// }
/// assert_eq!(proofs.sides(Guarantee::Each, 0.05), [Some(true), None]);
/// assert_eq!(proofs.sides(Guarantee::All, 0.05), [None, None]);
/// # Ok::<(), cutline::QuestionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Proofs {
    question: Question,
    family: RewardFamily,
    pub(super) arms: Vec<ArmProof>,
    residuals: Residuals,
    resolution: Resolution,
    /// What the t needs at present to prove *above* and *below*.
    pub(super) cautions: [Caution; 2],
}

/// Why an arm is not proved although its evidence is large enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProofLimit {
    /// The t needs more rewards of the arm, because the noise is skewed towards the side to be excluded, or more repeated measurements to tell
    /// whether it is.
    Skew,
}

/// E is limited to this, so that it is a finite number everywhere.
const MOST_LN_EVIDENCE: f64 = 690.0;

impl Proofs {
    /// No rewards yet.
    #[must_use]
    pub fn new(n_arms: usize, question: Question, family: RewardFamily) -> Self {
        let shared = Shared { question, family, least_noise: 0.0 };
        let caution = |is_above| if shared.is_by_t(is_above) { Caution::TOO_EARLY } else { Caution::NONE };
        Self {
            question,
            family,
            arms: vec![ArmProof::new(&shared); n_arms],
            residuals: Residuals::default(),
            resolution: Resolution::new(),
            cautions: [true, false].map(caution),
        }
    }

    fn shared(&self) -> Shared {
        let least_noise = self.resolution.least_noise();
        // While all rewards are equal they say nothing about σ; 1e100 is more than any.
        Shared { question: self.question, family: self.family, least_noise: least_noise.min(1e100) }
    }

    /// The number of rewards of an arm.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn n_rewards(&self, arm: Arm) -> f64 {
        self.arms[arm].moments.n
    }

    /// Puts half of the stake of an arm on a prediction of its mean. The prediction may depend on the rewards of all arms before the first one of
    /// this arm.
    ///
    /// # Panics
    /// If there is no such arm, or it has rewards.
    pub fn expect(&mut self, arm: Arm, prediction: Prediction) {
        let shared = self.shared();
        self.arms[arm].expect(&shared, prediction);
    }

    /// Takes the next reward. Returns whether the evidence of other arms may count as a proof from now on too.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn tell(&mut self, arm: Arm, reward: f64) -> bool {
        self.resolution.add(reward);
        let shared = self.shared();
        let before = self.arms[arm].moments;
        self.arms[arm].tell(&shared, reward);
        self.residuals.follow(&before, &self.arms[arm].moments);
        let mut has_fallen = false;
        for is_above in [true, false].into_iter().filter(|&is_above| shared.is_by_t(is_above)) {
            let caution = self.residuals.caution(is_above);
            has_fallen |= caution.least_rewards < self.cautions[position(is_above)].least_rewards;
            self.cautions[position(is_above)] = caution;
        }
        if has_fallen {
            (0..self.arms.len()).for_each(|arm| self.raise(arm));
        } else {
            self.raise(arm);
        }
        has_fallen
    }

    /// Keeps the evidence of an arm if it counts and is the greatest so far.
    fn raise(&mut self, arm: Arm) {
        let shared = self.shared();
        for is_above in [true, false] {
            let counted = self.arms[arm].counted(&shared, is_above, self.cautions[position(is_above)]);
            let most = &mut self.arms[arm].most[position(is_above)];
            *most = most.max(counted);
        }
    }

    /// The evidence that counts as a proof under this guarantee, as a logarithm.
    fn counted(&self, arm: Arm, is_above: bool, guarantee: Guarantee) -> f64 {
        let (proof, side) = (&self.arms[arm], position(is_above));
        match guarantee {
            // e-BH holds for e-values at one time, not for their maxima.
            Guarantee::Fdr => proof.counted(&self.shared(), is_above, self.cautions[side]),
            Guarantee::Each | Guarantee::All => proof.most[side],
        }
    }

    /// The e-value for a side of an arm, by the evidence that counts: the greatest after any reward, or for [`Guarantee::Fdr`] that after the last
    /// one. It is at most e⁶⁹⁰.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn evidence(&self, arm: Arm, is_above: bool, guarantee: Guarantee) -> f64 {
        self.counted(arm, is_above, guarantee).min(MOST_LN_EVIDENCE).exp()
    }

    /// Whether an arm is proved to be above (`true`) or below, each arm by itself at this level of evidence.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn side_at(&self, arm: Arm, ln_level: f64) -> Option<bool> {
        let [above, below] = self.arms[arm].most;
        let is_above = above >= below;
        (above.max(below) >= ln_level).then_some(is_above)
    }

    /// The sides that are proved with error probability `delta`: for each arm whether it is above, or `None` if neither side is proved.
    #[must_use]
    pub fn sides(&self, guarantee: Guarantee, delta: f64) -> Vec<Option<bool>> {
        match guarantee {
            Guarantee::Each | Guarantee::All => {
                let level = ln_level(guarantee, delta, self.arms.len());
                (0..self.arms.len()).map(|arm| self.side_at(arm, level)).collect()
            }
            Guarantee::Fdr => {
                let [above, below] = [true, false].map(|is_above| {
                    let evidence: Vec<f64> =
                        (0..self.arms.len()).map(|arm| self.counted(arm, is_above, guarantee)).collect();
                    e_bh(&evidence, delta)
                });
                above.into_iter().zip(below).map(|(above, below)| (above || below).then_some(above)).collect()
            }
        }
    }

    /// Why an arm is not proved, although its evidence is at this level.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn limit_at(&self, arm: Arm, ln_level: f64) -> Option<ProofLimit> {
        let ArmProof { now, most, .. } = &self.arms[arm];
        let is_limited = now.iter().zip(most).any(|(&now, &most)| now >= ln_level && most < ln_level);
        is_limited.then_some(ProofLimit::Skew)
    }
}

/// The logarithm of the e-value that proves the side of one of `n_arms` arms: 1/δ, or K/δ for all together.
#[must_use]
pub fn ln_level(guarantee: Guarantee, delta: f64, n_arms: usize) -> f64 {
    let tests = if guarantee == Guarantee::All { n_arms as f64 } else { 1.0 };
    (tests / delta).ln()
}

/// e-BH (Wang & Ramdas 2022): the k arms with the greatest evidence, for the greatest k with e₍ₖ₎ ≥ K/(kδ).
pub(super) fn e_bh(ln_evidence: &[f64], delta: f64) -> Vec<bool> {
    let n_arms = ln_evidence.len();
    let mut order: Vec<Arm> = (0..n_arms).collect();
    order.sort_by(|&i, &j| ln_evidence[j].total_cmp(&ln_evidence[i]));
    let is_enough = |&k: &usize| ln_evidence[order[k - 1]] >= (n_arms as f64 / (k as f64 * delta)).ln();
    let k = (1..=n_arms).rev().find(is_enough).unwrap_or(0);
    let mut is_called = vec![false; n_arms];
    order[..k].iter().for_each(|&arm| is_called[arm] = true);
    is_called
}
