//! The engine: every algorithm with every estimator, asked, told, told what it did not ask for, made to forget, with arms withdrawn and
//! restored, against dense linear algebra.

use crate::dense::{Dense, Learnt, Moments};
use crate::numbers::small;
use arbitrary::{Result, Unstructured};
use cutline::estimators::{FitHistory, History};
use cutline::{ALGORITHMS, Arm, Arms, AskTell, EstimatorKind, Question, Spec};

/// Plays a learner.
pub fn check(data: &[u8]) {
    // An input that ends early ends the play.
    let _ = play(&mut Unstructured::new(data));
}

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let Some(mut player) = Player::new(bytes)? else { return Ok(()) };
    let mut steps = 0;
    while !bytes.is_empty() && steps < 80 {
        player.step(bytes)?;
        player.compare();
        steps += 1;
    }
    Ok(())
}

/// A learner, and everything that it was told.
struct Player {
    learner: Box<dyn AskTell>,
    spec: Spec,
    arms: Arms,
    question: Question,
    budget: u32,
    /// The rewards are so large.
    unit: f64,
    lambda: f64,
    centre: f64,
    rewards: Vec<(Arm, f64)>,
    pending: Vec<u32>,
    withdrawn: Vec<bool>,
    changes: u64,
}

impl Player {
    /// A learner by the bytes; `None` if the algorithm does not take the estimator or the arms.
    fn new(bytes: &mut Unstructured<'_>) -> Result<Option<Self>> {
        let algorithm = bytes.choose(ALGORITHMS)?;
        let estimator = *bytes.choose(EstimatorKind::ALL)?;
        let (least_budget, dimension) = (bytes.int_in_range(1..=8_u32)?, bytes.int_in_range(1..=4_usize)?);
        let n_arms = least_budget as usize;
        let features: Result<Vec<f64>> = (0..n_arms * dimension).map(|_| small(bytes)).collect();
        let arms = Arms::from_slice(&features?, dimension).expect("finite features");
        let unit = *bytes.choose(&[1.0, 1e-6, 1e6])?;
        let question = Question::new(small(bytes)? * unit, 0.01 * unit).expect("in range");
        let (lambda, centre) = (*bytes.choose(&[1.0, 1e-3, 30.0])?, f64::from(bytes.int_in_range(0..=1_u8)?));
        let Ok(mut spec) = Spec::named(algorithm.name).expect("a listed name").with_estimator(estimator.name()) else {
            return Ok(None);
        };
        spec = spec.with_regularisation(lambda).and_then(|spec| spec.with_centre(centre)).expect("in range");
        spec = spec.with_noise_scale(unit).and_then(|spec| spec.with_oracle_exploration(2.0)).expect("in range");
        if estimator == EstimatorKind::Mixed {
            // The smooth part is compared with a dense posterior inside of the engine, where its columns are known.
            spec = spec.with("landmarks", 0.0).expect("in range");
        }
        let budget = bytes.int_in_range(least_budget..=60)?;
        let learner = spec.learner(&arms, question, budget, bytes.arbitrary()?).expect("a budget for every arm");
        let (rewards, pending, withdrawn) = (Vec::new(), vec![0; n_arms], vec![false; n_arms]);
        let centre = centre * question.threshold();
        let changes = 0;
        let player =
            Self { learner, spec, arms, question, budget, unit, lambda, centre, rewards, pending, withdrawn, changes };
        Ok(Some(player))
    }

    fn step(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        let arm = bytes.int_in_range(0..=self.arms.n_arms() - 1)?;
        match bytes.int_in_range(0..=15_u8)? {
            0..=5 => self.ask(),
            6 => self.assign(arm),
            7..=11 => {
                let mut others = (arm..self.pending.len()).chain(0..arm);
                let arm = others.find(|&arm| self.pending[arm] > 0).unwrap_or(arm);
                self.tell(arm, small(bytes)? * self.unit);
            }
            12 => self.tell(arm, small(bytes)? * self.unit),
            13 => {
                if self.pending[arm] > 0 {
                    self.pending[arm] -= 1;
                    self.changes += 1;
                    self.learner.forget(arm);
                }
            }
            14 => {
                self.withdrawn[arm] = bytes.arbitrary()?;
                self.learner.set_withdrawn(arm, self.withdrawn[arm]);
            }
            _ => self.restore(),
        }
        Ok(())
    }

    fn ask(&mut self) {
        let proposed = self.learner.propose();
        assert_eq!(self.learner.propose(), proposed, "asking twice changes nothing");
        let handed_out = self.rewards.len() as u64 + self.pending.iter().map(|&n| u64::from(n)).sum::<u64>();
        match proposed {
            Some(arm) => {
                assert!(handed_out < self.budget.into() && !self.withdrawn[arm], "arm {arm}");
                self.assign(arm);
            }
            None => assert!(
                self.learner.stop_reason().is_some() || self.pending.iter().any(|&pending| pending > 0),
                "it neither ends nor waits"
            ),
        }
    }

    fn assign(&mut self, arm: Arm) {
        self.pending[arm] += 1;
        self.changes += 1;
        self.learner.assign(arm);
    }

    fn tell(&mut self, arm: Arm, reward: f64) {
        if self.pending[arm] == 0 {
            self.changes += 1;
        }
        self.pending[arm] = self.pending[arm].saturating_sub(1);
        self.rewards.push((arm, reward));
        self.learner.tell(arm, reward).expect("a finite reward of an arm");
    }

    /// Replaces the state of the learner by the same history.
    fn restore(&mut self) {
        if self.learner.depends_on_order() {
            return;
        }
        let dense = Dense { arms: &self.arms, rewards: &self.rewards };
        let mut fit_history = FitHistory::new(self.arms.n_arms(), self.question.threshold());
        for &(arm, reward) in &self.rewards {
            fit_history.add(arm, reward);
        }
        let history = History {
            n_rewards: &dense.counts(),
            means: &dense.averages(),
            pending: &self.pending,
            fit_history: Some(&fit_history),
        };
        self.learner.restore(&history, self.changes);
    }

    /// Compares pulls, means and variances.
    fn compare(&mut self) {
        let dense = Dense { arms: &self.arms, rewards: &self.rewards };
        let counts = dense.counts();
        let beliefs = self.learner.beliefs();
        let pulls: Vec<u32> = counts.iter().zip(&self.pending).map(|(n, pending)| n + pending).collect();
        assert_eq!((beliefs.pulls, beliefs.changes), (&pulls[..], self.changes));
        let estimator = beliefs.estimator;
        let expected: Option<Moments> = match self.spec.estimator() {
            EstimatorKind::SampleMean => Some(dense.sample_means()),
            EstimatorKind::Isotonic => Some(dense.isotonic()),
            EstimatorKind::Ridge => Some(dense.ridge(self.lambda, self.centre)),
            EstimatorKind::Mixed => estimator.explained().zip(estimator.spread()).zip(estimator.noise_scale()).map(
                |((explained, spread), noise)| {
                    let learnt = Learnt { explained, scale: (spread / noise).powi(2) };
                    dense.mixed(learnt, self.question.threshold())
                },
            ),
            other => panic!("{} has no definition here", other.name()),
        };
        let name = format!("{} with {}", self.spec.name(), self.spec.estimator().name());
        let means = estimator.means().to_vec();
        let posterior = estimator.posterior();
        assert_eq!(posterior.n_rewards, counts, "{name}");
        let variances = posterior.variances;
        assert!(means.iter().all(|mean| mean.is_finite()) && variances.iter().all(|&q| q >= 0.0), "{name}");
        if let Some((expected_means, expected_variances)) = expected {
            assert_close(&means, &expected_means, 2.0 * self.unit, &name);
            assert_close(posterior.means, &expected_means, 2.0 * self.unit, &name);
            assert_close(variances, &expected_variances, 0.0, &name);
        }
    }
}

/// Asserts that numbers agree to 10⁻⁷ of `unit` or, where it is 0, of the number.
fn assert_close(found: &[f64], expected: &[f64], unit: f64, name: &str) {
    for (arm, (a, b)) in found.iter().zip(expected).enumerate() {
        let scale = if unit > 0.0 { unit } else { b.abs().max(1e-9) };
        assert!(a == b || (a - b).abs() <= 1e-7 * scale, "{name}, arm {arm}: {a} instead of {b}");
    }
}
