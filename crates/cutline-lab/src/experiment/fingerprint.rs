//! The fingerprint of an experiment: equal fingerprints mean the same runs.

use crate::{Entrant, Experiment, Instance};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// A hash of everything that determines the runs of an experiment: the version of Cutline, seed, budgets, instances, noise, and the
/// algorithms with their parameters and stops. Names, labels, the number of runs and the baseline are not part of it.
///
/// Custom rules, estimators, stops and decisions are known by their names, and custom instances by the one of run 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint([u8; Self::LENGTH]);

/// How many rewards of the first arm are part of a fingerprint.
const N_REWARDS: usize = 32;

impl Fingerprint {
    const LENGTH: usize = 16;

    /// The fingerprint of an experiment whose run 0 has this instance.
    pub(crate) fn new(experiment: &Experiment, first: &Instance) -> Self {
        let mut hash = Hash(Sha256::new());
        hash.text(env!("CARGO_PKG_VERSION"));
        hash.whole(experiment.seed());
        hash.whole(experiment.budgets().len() as u64);
        experiment.budgets().iter().for_each(|&budget| hash.whole(budget.into()));
        hash.whole(experiment.source().fixed().is_some().into());
        hash.instance(first);
        hash.noise(experiment, first);
        hash.whole(experiment.entrants().len() as u64);
        experiment.entrants().iter().for_each(|entrant| hash.entrant(entrant));
        let mut bytes = [0; Self::LENGTH];
        bytes.copy_from_slice(&hash.0.finalize()[..Self::LENGTH]);
        Self(bytes)
    }
}

/// A hash of values, each with its length where that may differ.
struct Hash(Sha256);

impl Hash {
    fn whole(&mut self, value: u64) {
        self.0.update(value.to_le_bytes());
    }

    fn number(&mut self, value: f64) {
        self.whole(value.to_bits());
    }

    fn text(&mut self, text: &str) {
        self.whole(text.len() as u64);
        self.0.update(text);
    }

    fn numbers(&mut self, values: &[f64]) {
        self.whole(values.len() as u64);
        for &value in values {
            self.number(value);
        }
    }

    fn instance(&mut self, instance: &Instance) {
        let arms = instance.arms();
        self.whole(arms.dimension().map_or(u64::MAX, |dimension| dimension as u64));
        for arm in 0..arms.n_arms() {
            self.numbers(&arms.row(arm).unwrap_or_default());
        }
        self.numbers(arms.costs().unwrap_or_default());
        self.numbers(instance.means());
        self.number(instance.question().threshold());
        self.number(instance.question().precision());
    }

    /// The first rewards of the first arm, and the first one of every arm: they tell any two kinds of noise apart.
    fn noise(&mut self, experiment: &Experiment, instance: &Instance) {
        let noise = experiment.noise();
        let mut variates = [0.0; N_REWARDS];
        noise.draw(experiment.seed(), 0, &mut variates);
        let of_arms = noise.of_arms(experiment.seed(), 0, instance.means().len());
        for variate in variates {
            self.number(of_arms.reward(0, instance.means()[0], variate));
        }
        for (arm, &mean) in instance.means().iter().enumerate() {
            self.number(of_arms.reward(arm, mean, variates[0]));
        }
    }

    fn entrant(&mut self, entrant: &Entrant) {
        let spec = entrant.spec();
        self.text(spec.name());
        self.text(spec.estimator_name());
        for (name, value) in spec.values() {
            self.text(name);
            self.number(value);
        }
        // Derived descriptions have every field, so that none is forgotten.
        self.text(&format!("{:?}", spec.confidence_stop()));
        if let Some(stop) = spec.custom_stop() {
            self.text(stop.name());
        }
        self.text(&format!("{:?}", entrant.oracle()));
        self.text(&format!("{:?}", entrant.decision()));
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.to_string()
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let number = u128::from_str_radix(&text, 16).ok().filter(|_| text.len() == 2 * Self::LENGTH);
        number.map(|number| Self(number.to_be_bytes())).ok_or("a fingerprint has 32 hexadecimal digits")
    }
}
