//! A custom estimator and a custom stop; `examples/new-algorithm` plays such parts from an experiment file.

use cutline::estimators::{CustomEstimator, Estimator, Model, NamedEstimator, Posterior};
use cutline::{Arm, Arms, Beliefs, NamedStop, Question, Spec, Stop, StopReason};

/// The median of the rewards of each arm, for rewards with outliers.
struct Medians {
    rewards: Vec<Vec<f64>>,
    centres: Vec<f64>,
    variances: Vec<f64>,
    n_rewards: Vec<u32>,
}

impl Medians {
    fn new(n_arms: usize) -> Self {
        let (centres, variances) = (vec![0.0; n_arms], vec![f64::INFINITY; n_arms]);
        Self { rewards: vec![Vec::new(); n_arms], centres, variances, n_rewards: vec![0; n_arms] }
    }
}

impl Estimator for Medians {
    fn n_arms(&self) -> usize {
        self.centres.len()
    }

    fn observe(&mut self, arm: Arm, reward: f64) {
        let rewards = &mut self.rewards[arm];
        let position = rewards.partition_point(|other| *other < reward);
        rewards.insert(position, reward);
        self.centres[arm] = f64::midpoint(rewards[(rewards.len() - 1) / 2], rewards[rewards.len() / 2]);
        self.n_rewards[arm] += 1;
        // The variance of the median of Gaussian rewards, in units of σ².
        self.variances[arm] = std::f64::consts::FRAC_PI_2 / f64::from(self.n_rewards[arm]);
    }

    fn means(&mut self) -> &[f64] {
        &self.centres
    }

    fn posterior(&mut self) -> Posterior<'_> {
        Posterior::new(&self.centres, &self.variances, &self.n_rewards, Model::Unrelated)
    }
}

/// Ends when every arm has `least` pulls.
struct EnoughForAll {
    least: u32,
}

impl Stop<dyn Estimator> for EnoughForAll {
    fn stop_reason(&mut self, beliefs: &mut Beliefs<'_, dyn Estimator>) -> Option<StopReason> {
        beliefs.pulls.iter().all(|&pulls| pulls >= self.least).then_some(StopReason::Custom)
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let medians = CustomEstimator::new(|problem| Ok(Box::new(Medians::new(problem.arms.n_arms()))));
    let spec = Spec::named("apt")?
        .with_custom_estimator(NamedEstimator::new("median", medians)?)?
        .with_custom_stop(NamedStop::new("enough-for-all", |_| Ok(Box::new(EnoughForAll { least: 5 })))?);
    let mut learner = spec.learner(&Arms::without_features(2)?, Question::new(0.5, 0.1)?, 1000, 0)?;
    let mut pull = 0;
    while let Some(arm) = learner.ask() {
        pull += 1;
        let outlier = if pull % 5 == 0 { -100.0 } else { 0.0 };
        learner.tell(arm, [0.9, 0.2][arm] + outlier)?;
    }
    assert_eq!(learner.stop_reason(), Some(StopReason::Custom));
    assert_eq!(learner.beliefs().means(), [0.9, 0.2], "outliers do not move a median");
    Ok(())
}
