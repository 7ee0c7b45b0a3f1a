//! The pulls of a learner.

use crate::estimators::History;
use crate::{Arm, Beliefs, MeasurementCosts, Question, Settled};

/// How often each arm was pulled, pending pulls included, and the totals.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    pub(super) pulls: Vec<u32>,
    pub(super) total: u64,
    /// The number of rewards received.
    pub(super) n_rewards: u64,
    /// How often a pull was handed out or lost.
    pub(super) changes: u64,
    /// All arms before this one have been pulled.
    pub(super) first_unpulled: Arm,
}

impl Counts {
    pub(super) fn add(&mut self, arm: Arm) {
        self.pulls[arm] += 1;
        self.total += 1;
        self.changes += 1;
        while self.pulls.get(self.first_unpulled).is_some_and(|&pulls| pulls > 0) {
            self.first_unpulled += 1;
        }
    }

    pub(super) fn remove(&mut self, arm: Arm) {
        self.pulls[arm] -= 1;
        self.total -= 1;
        self.changes += 1;
        if self.pulls[arm] == 0 {
            self.first_unpulled = self.first_unpulled.min(arm);
        }
    }

    pub(super) fn restore(&mut self, history: &History<'_>, changes: u64) {
        for ((pulls, rewards), pending) in self.pulls.iter_mut().zip(history.n_rewards).zip(history.pending) {
            *pulls = rewards + pending;
        }
        self.total = self.pulls.iter().map(|&pulls| u64::from(pulls)).sum();
        self.n_rewards = history.n_rewards.iter().map(|&n| u64::from(n)).sum();
        self.changes = changes;
        self.first_unpulled = self.pulls.iter().position(|&pulls| pulls == 0).unwrap_or(self.pulls.len());
    }

    pub(super) fn beliefs<'a, E: ?Sized>(
        &'a self,
        question: Question,
        settled: &'a Settled,
        costs: Option<&'a MeasurementCosts>,
        estimator: &'a mut E,
    ) -> Beliefs<'a, E> {
        let Self { pulls, total, changes, .. } = self;
        let first_unpulled = if settled.is_empty() {
            Some(self.first_unpulled).filter(|&arm| arm < pulls.len())
        } else {
            (self.first_unpulled..pulls.len()).find(|&arm| pulls[arm] == 0 && settled.is_open(arm))
        };
        Beliefs { question, pulls, total_pulls: *total, changes: *changes, first_unpulled, settled, costs, estimator }
    }
}
