//! Explore for monotone means: a binary search for the first arm above τ that may go back (PD-MTB of Cheshire, Ménard & Carpentier 2021; Explore
//! in their paper of 2020).
//!
//! The means do not decrease from arm to arm. Arms are numbered from 1; arm 0 is certainly below τ and arm K + 1 certainly above. A node is
//! an interval (l, r) of arms, with m = ⌊(l + r)/2⌋ between them; the root is (0, K + 1). There are T₁ = ⌈6 ln K⌉ rounds, each of
//! T₂ = ⌊T/(3T₁)⌋ pulls of each of l, m and r, whose means over this round alone decide where to go:
//!
//! - back to the parent if τ does not lie between the means of l and r, because an earlier turn was wrong;
//! - otherwise to (l, m) if the mean of m is at least τ, else to (m, r). A leaf, r = l + 1, has no m; its child is the leaf itself.
//!
//! The arms from r of the last node on are above.

use super::{Choice, Rule};
use crate::estimators::Estimator;
use crate::{Arm, Beliefs, Question, Rng, Stop};

/// Searches for the place where the means cross the threshold. It needs the number of pulls T in advance, and uses only that the means are
/// monotone; with few arms or a small T, an index rule on [isotonic](crate::estimators::Isotonic) means is better.
///
/// It is the rule and, because it ends by settling all arms, the stop of the algorithm: both are needed. With T < 3T₁ there are too few pulls
/// for all rounds, and no arm is settled.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `horizon` | none | T, the budget | T ≥ 1 |
#[derive(Clone, Debug)]
pub struct Explore {
    /// T₂.
    round_pulls: u32,
    /// How many of the T₁ rounds have not ended.
    rounds_left: u32,
    /// The nodes from the root to this one.
    path: Vec<Node>,
    /// The number of rewards of every arm.
    n_rewards: Vec<u32>,
    /// The rewards of this round, for l, m and r.
    fresh: [Fresh; 3],
}

/// An interval of arms, numbered from 1; 0 and K + 1 are no arms.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    l: usize,
    r: usize,
}

/// The rewards of an arm in one round.
#[derive(Clone, Copy, Debug, Default)]
struct Fresh {
    n: u32,
    /// The sum of its rewards in earlier rounds.
    earlier: f64,
}

impl Explore {
    /// The rule for `n_arms` arms and a budget of `horizon`.
    #[must_use]
    pub fn new(horizon: u32, n_arms: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 6 ln 2⁶⁴ = 267")]
        let rounds = (6.0 * (n_arms as f64).ln()).ceil().max(1.0) as u32;
        let mut path = Vec::with_capacity(rounds as usize + 1);
        path.push(Node { l: 0, r: n_arms + 1 });
        Self {
            round_pulls: (horizon / (3 * rounds)).max(1),
            rounds_left: rounds,
            path,
            n_rewards: vec![0; n_arms],
            fresh: [Fresh::default(); 3],
        }
    }

    fn node(&self) -> Node {
        self.path[self.path.len() - 1]
    }

    /// l, m and r as arms numbered from 0; `None` where there is no such arm.
    fn arms(&self) -> [Option<Arm>; 3] {
        let Node { l, r } = self.node();
        let m = if r == l + 1 { 0 } else { usize::midpoint(l, r) };
        [l, m, r].map(|number| number.checked_sub(1).filter(|&arm| arm < self.n_rewards.len()))
    }

    /// Counts a reward of `told`, and goes to the next node if it was the last one of a round.
    fn take<E: Estimator + ?Sized>(&mut self, question: &Question, estimator: &mut E, told: Arm) {
        self.n_rewards[told] += 1;
        let arms = self.arms();
        let mut is_over = self.rounds_left > 0;
        for (fresh, arm) in self.fresh.iter_mut().zip(arms) {
            fresh.n += u32::from(arm == Some(told));
            is_over &= arm.is_none() || fresh.n >= self.round_pulls;
        }
        if !is_over {
            return;
        }
        let sum = |estimator: &mut E, arm: Arm| match self.n_rewards[arm] {
            0 => 0.0,
            n => f64::from(n) * estimator.moments_of(arm).0,
        };
        let mut means = [f64::NEG_INFINITY, f64::NAN, f64::INFINITY];
        for ((mean, fresh), arm) in means.iter_mut().zip(&self.fresh).zip(arms) {
            if let Some(arm) = arm {
                *mean = (sum(estimator, arm) - fresh.earlier) / f64::from(fresh.n);
            }
        }
        self.rounds_left -= 1;
        match self.node().next(means, question.threshold()) {
            Some(child) => self.path.push(child),
            None if self.path.len() > 1 => drop(self.path.pop()),
            None => {}
        }
        self.fresh = self.arms().map(|arm| Fresh { n: 0, earlier: arm.map_or(0.0, |arm| sum(estimator, arm)) });
    }
}

impl Node {
    /// The child to go to; `None` to go back.
    fn next(self, [left, middle, right]: [f64; 3], threshold: f64) -> Option<Self> {
        let Self { l, r } = self;
        if !(left <= threshold && threshold <= right) {
            return None;
        }
        let m = usize::midpoint(l, r);
        Some(if r == l + 1 {
            self
        } else if middle >= threshold {
            Self { l, r: m }
        } else {
            Self { l: m, r }
        })
    }
}

impl<E: Estimator + ?Sized> Rule<E> for Explore {
    const OPENS_WITH_EVERY_ARM: bool = false;

    /// The arm of the node with the fewest pulls in this round, pending ones included.
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        let mut least = (self.round_pulls, Choice::Wait);
        for (fresh, arm) in self.fresh.iter().zip(self.arms()) {
            if let Some(arm) = arm {
                let n = fresh.n + (beliefs.pulls[arm] - self.n_rewards[arm]);
                if n < least.0 {
                    least = (n, arm.into());
                }
            }
        }
        least.1
    }

    fn learns(&self) -> bool {
        true
    }

    fn needs_fixed_noise(&self) -> bool {
        false
    }

    fn learn(&mut self, beliefs: &mut Beliefs<'_, E>, arm: Arm, _: f64) {
        self.take(&beliefs.question, beliefs.estimator, arm);
    }
}

impl<E: Estimator + ?Sized> Stop<E> for Explore {
    fn settles(&self) -> bool {
        true
    }

    fn settle(&mut self, beliefs: &mut Beliefs<'_, E>, told: Arm, newly: &mut Vec<(Arm, bool)>) {
        self.take(&beliefs.question, beliefs.estimator, told);
        if self.rounds_left == 0 && beliefs.settled.in_order().is_empty() {
            let r = self.node().r;
            newly.extend((0..self.n_rewards.len()).map(|arm| (arm, arm + 1 >= r)));
        }
    }
}
