//! CSAR for thresholds: K phases, each of which pulls all open arms equally often and then settles the arm whose side is clearest
//! (Chen, Lin, King, Lyu & Chen 2014; the decision class is the set of all subsets of arms).
//!
//! At the end of phase p every open arm has T̃ₚ = ⌈(T − K)/(L(K − p + 1))⌉ pulls, L = 1 + ½ + … + 1/K, and the open arm with the largest
//! |μ̂ − τ| is settled on the side of its mean. That takes at most T pulls; a few may be left over.

use crate::estimators::Estimator;
use crate::rules::{Choice, Rule};
use crate::{Arm, Beliefs, Rng, Stop};

/// Pulls the open arms in turn until the phase ends, and waits for the rewards of a phase that are out. It needs the number of pulls T in
/// advance. [`Apt`](crate::rules::Apt) does not, and looks at the gaps at every pull. Ties go to the first arm.
///
/// It is the rule and, because phases end by settling an arm, the stop of the algorithm: both are needed.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `horizon` | none | T, the budget | T ≥ K; the pulls are fewer than T otherwise |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Csar {
    /// (T − K)/L.
    share: f64,
}

impl Csar {
    /// The rule for `n_arms` arms and a budget of `horizon`.
    #[must_use]
    pub fn new(horizon: u32, n_arms: usize) -> Self {
        let harmonic: f64 = (1..=n_arms).map(|i| 1.0 / i as f64).sum();
        Self { share: (f64::from(horizon) - n_arms as f64).max(0.0) / harmonic }
    }

    /// T̃ₚ while `n_open` arms are open; at least 1, which matters at T = K only.
    fn target(self, n_open: usize) -> f64 {
        (self.share / n_open as f64).ceil().max(1.0)
    }
}

impl<E: ?Sized> Rule<E> for Csar {
    const OPENS_WITH_EVERY_ARM: bool = true;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        let (settled, pulls) = (beliefs.settled, beliefs.pulls);
        let least_pulled = settled.arg_min_open(pulls, pulls, |pulls, _| f64::from(pulls));
        if f64::from(pulls[least_pulled]) < self.target(settled.n_open()) { least_pulled.into() } else { Choice::Wait }
    }
}

impl<E: Estimator + ?Sized> Stop<E> for Csar {
    fn settles(&self) -> bool {
        true
    }

    /// A phase may be empty, so several may end at one reward.
    fn settle(&mut self, beliefs: &mut Beliefs<'_, E>, _: Arm, newly: &mut Vec<(Arm, bool)>) {
        let (question, settled) = (beliefs.question, beliefs.settled);
        let posterior = beliefs.estimator.posterior();
        let (means, n_rewards) = (posterior.means, posterior.n_rewards);
        for n_open in (1..=settled.n_open()).rev() {
            let is_new = |arm: Arm| newly.iter().any(|&(settled, _)| settled == arm);
            let mut open = settled.open().filter(|&arm| !is_new(arm));
            if open.clone().any(|arm| f64::from(n_rewards[arm]) < self.target(n_open)) {
                return;
            }
            let distance = |arm: Arm| (means[arm] - question.threshold()).abs();
            let Some(first) = open.next() else { return };
            let clearest = open.fold(first, |best, arm| if distance(arm) > distance(best) { arm } else { best });
            newly.push((clearest, question.is_above(means[clearest])));
        }
    }
}
