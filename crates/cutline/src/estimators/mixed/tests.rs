//! The mixed model against the K×K Gaussian posterior, at whatever variances it has learnt.

use super::columns::Columns;
use super::estimator::{Mixed, next_fit};
use super::evidence::Variances;
use super::grid::Grid;
use crate::estimators::{DesignedRidge, Estimator, History, VarianceEstimator};
use crate::{Arms, Purpose, Question, Rng, below, stream};
use nalgebra::{DMatrix, DVector};
use rand_core::Rng as _;

fn uniform(rng: &mut Rng) -> f64 {
    f64::from(rng.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0
}

fn question() -> Question {
    Question::new(5.0, 0.1).unwrap()
}

fn random_arms(n_arms: usize, dimension: usize) -> Arms {
    let mut rng = stream(n_arms as u64, Purpose::Instance, 0);
    let values: Vec<f64> = (0..n_arms * dimension).map(|_| 10.0 + 3.0 * uniform(&mut rng)).collect();
    Arms::from_slice(&values, dimension).unwrap()
}

/// All cases that the columns treat differently.
fn cases() -> Vec<(&'static str, Arms)> {
    let mut equal_rows: Vec<Vec<f64>> = (0..8).map(|i| vec![f64::from(i % 3), 1.0]).collect();
    equal_rows.push(vec![0.0, 1.0]);
    vec![
        ("one arm", random_arms(1, 1)),
        ("more arms than features", random_arms(14, 3)),
        ("as many", random_arms(5, 5)),
        ("more features than arms", random_arms(6, 11)),
        ("features that are 0", Arms::from_slice(&[0.0; 14], 2).unwrap()),
        ("equal rows", Arms::from_rows(&equal_rows).unwrap()),
        ("no features", Arms::without_features(7).unwrap()),
    ]
}

/// The posterior by the covariance of all means before the first reward.
struct Dense {
    mean: DVector<f64>,
    covariance: DMatrix<f64>,
}

impl Dense {
    /// In units of σ², for these pulls; the means are those of y = r − τ.
    fn new(columns: &Columns, variances: Variances, pulls: &[u32], averages: &[f64]) -> Self {
        let n_arms = pulls.len();
        let rows: Vec<Vec<f64>> = (0..n_arms).map(|arm| columns.features.row(arm).iter().collect()).collect();
        let prior = DMatrix::from_fn(n_arms, n_arms, |i, j| {
            let products = rows[i].iter().zip(&rows[j]).enumerate();
            let related: f64 = products
                .map(|(column, (a, b))| {
                    a * b * if column < columns.n_linear { variances.linear } else { variances.smooth }
                })
                .sum();
            related + if i == j { variances.own + variances.smooth * columns.missed[i] } else { 0.0 }
        });
        let measured: Vec<usize> = (0..n_arms).filter(|&arm| pulls[arm] > 0).collect();
        let m = measured.len();
        let cross = DMatrix::from_fn(n_arms, m, |i, j| prior[(i, measured[j])]);
        let rewards = DMatrix::from_fn(m, m, |i, j| {
            let noise = if i == j { 1.0 / f64::from(pulls[measured[i]]) } else { 0.0 };
            prior[(measured[i], measured[j])] + noise
        });
        let factor = rewards.cholesky().unwrap();
        let y = DVector::from_fn(m, |i, _| averages[measured[i]]);
        Self { mean: &cross * factor.solve(&y), covariance: prior - &cross * factor.solve(&cross.transpose()) }
    }
}

/// A mixed model and the rewards it has received.
struct Played {
    mixed: Mixed,
    counts: Vec<u32>,
    pending: Vec<u32>,
    rewards: Vec<Vec<f64>>,
}

impl Played {
    fn new(arms: &Arms, landmarks: usize) -> Self {
        let n_arms = arms.n_arms();
        let mixed = Mixed::new(arms, question(), landmarks, 1.0, 3).unwrap();
        Self { mixed, counts: vec![0; n_arms], pending: vec![0; n_arms], rewards: vec![Vec::new(); n_arms] }
    }

    /// A pull is handed out, or one comes back with a reward, or is lost, or a reward comes that was not asked for.
    fn step(&mut self, rng: &mut Rng) {
        let arm = below(rng, self.counts.len());
        match below(rng, 8) {
            0..=2 => {
                self.mixed.expect(arm);
                self.pending[arm] += 1;
            }
            3 if self.pending[arm] > 0 => {
                self.pending[arm] -= 1;
                self.mixed.forget(&self.pending);
            }
            _ => {
                let reward = 4.0 + (arm as f64).sin() + 0.3 * uniform(rng);
                self.pending[arm] = self.pending[arm].saturating_sub(1);
                self.counts[arm] += 1;
                self.rewards[arm].push(reward);
                self.mixed.observe(arm, reward);
            }
        }
    }

    fn averages(&self) -> Vec<f64> {
        let mean = |rewards: &Vec<f64>| rewards.iter().map(|r| r - 5.0).sum::<f64>() / rewards.len().max(1) as f64;
        self.rewards.iter().map(mean).collect()
    }

    fn check(&mut self, case: &str) {
        let averages = self.averages();
        let planned: Vec<u32> = self.counts.iter().zip(&self.pending).map(|(n, pending)| n + pending).collect();
        let (columns, variances) = (self.mixed.columns().clone(), self.mixed.fit().variances);
        let observed = Dense::new(&columns, variances, &self.counts, &averages);
        let planned = Dense::new(&columns, variances, &planned, &averages);
        let close = |ours: f64, theirs: f64, what: &str| {
            assert!((ours - theirs).abs() < 1e-10 * theirs.abs().max(1.0), "{case}, {what}: {ours} {theirs}");
        };
        let n_arms = self.counts.len();
        for arm in 0..n_arms {
            close(self.mixed.means()[arm], 5.0 + observed.mean[arm], "mean");
            close(self.mixed.moments().1[arm], planned.covariance[(arm, arm)], "variance");
            close(self.mixed.observed_moments().1[arm], observed.covariance[(arm, arm)], "observed variance");
            close(self.mixed.posterior().variances[arm], observed.covariance[(arm, arm)], "posterior");
            close(self.mixed.moments_of(arm).1, observed.covariance[(arm, arm)], "variance of one arm");
            for other in 0..n_arms {
                let expected = planned.covariance[(other, arm)];
                close(self.mixed.covariances_with(arm).0[other], expected, "covariance");
                let expected = observed.covariance[(other, arm)];
                close(self.mixed.observed_covariances_with(arm)[other], expected, "observed covariance");
            }
        }
    }
}

/// With pending pulls, lost pulls and rewards that were not asked for, between fits and just after them.
#[test]
fn beliefs_are_the_gaussian_posterior() {
    for (case, arms) in cases() {
        for landmarks in [0, 4, 40] {
            let mut played = Played::new(&arms, landmarks);
            let mut rng = stream(landmarks as u64, Purpose::Rule, 0);
            played.check(case);
            for step in 0..120 {
                played.step(&mut rng);
                if step % 7 == 0 {
                    played.check(case);
                }
            }
        }
    }
}

/// At a number of rewards at which the variances are learnt anyway, a restored estimator is the one that received pull by pull.
#[test]
fn a_restored_past_gives_the_same_beliefs() {
    for (case, arms) in cases() {
        let mut played = Played::new(&arms, 5);
        let mut rng = stream(9, Purpose::Rule, 0);
        while played.rewards.iter().map(Vec::len).sum::<usize>() < 32 {
            played.step(&mut rng);
        }
        let means: Vec<f64> = played.averages().iter().map(|average| 5.0 + average).collect();
        let deviations = |(rewards, mean): (&Vec<f64>, &f64)| rewards.iter().map(|r| (r - mean) * (r - mean)).sum();
        let squares: Vec<f64> = played.rewards.iter().zip(&means).map(deviations).collect();
        let mut restored = Mixed::new(&arms, question(), 5, 1.0, 3).unwrap();
        restored.restore(&History {
            n_rewards: &played.counts,
            means: &means,
            squares: &squares,
            pending: &played.pending,
        });
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{case}: {a} {b}");
        close(restored.noise_scale().unwrap(), played.mixed.noise_scale().unwrap());
        close(restored.fit().shares.own, played.mixed.fit().shares.own);
        for arm in 0..means.len() {
            close(restored.means()[arm], played.mixed.means()[arm]);
            close(restored.moments().1[arm], played.mixed.moments().1[arm]);
        }
        played.mixed = restored;
        for _ in 0..30 {
            played.step(&mut rng);
        }
        played.check(case);
    }
}

/// With ρ = 0, no smooth part and fixed precisions it is ridge on the same columns.
#[test]
fn without_an_own_part_it_is_ridge() {
    let arms = random_arms(12, 3);
    let columns = Columns::new(&arms, 0, 1.0, 0);
    let rows: Vec<Vec<f64>> = (0..12).map(|arm| columns.features.row(arm).iter().collect()).collect();
    let grid = Grid::new(3, false);
    let mut fit = grid.prior();
    fit.variances = Variances { linear: 2.0, smooth: 0.0, own: 0.0 };
    let mut mixed = Mixed::with_fit(columns, grid, 0.0, fit).without_learning();
    let mut ridge = DesignedRidge::new(&Arms::from_rows(&rows).unwrap(), 0.5).unwrap();
    let mut rng = stream(1, Purpose::Rule, 0);
    for _ in 0..100 {
        let (arm, pending) = (below(&mut rng, 12), below(&mut rng, 12));
        mixed.expect(pending);
        ridge.expect(pending);
        for (arm, reward) in [(arm, uniform(&mut rng)), (pending, uniform(&mut rng))] {
            mixed.observe(arm, reward);
            ridge.observe(arm, reward);
            let ((means, variances), (ridge_means, ridge_variances)) = (mixed.moments(), ridge.moments());
            let pairs = means.iter().zip(ridge_means).chain(variances.iter().zip(ridge_variances));
            for (ours, theirs) in pairs {
                assert!((ours - theirs).abs() < 1e-12, "{ours} {theirs}");
            }
        }
    }
}

#[test]
fn fits_are_at_fixed_numbers_of_rewards() {
    let mut schedule = vec![0];
    while *schedule.last().unwrap() < 40 {
        schedule.push(next_fit(*schedule.last().unwrap()));
    }
    let expected: Vec<u64> = (0..=20).chain([23, 27, 32, 37, 43]).collect();
    assert_eq!(schedule, expected);
    assert_eq!(next_fit(29), 32, "whatever the number of rewards at the last fit");
}

/// Rewards that say nothing about σ, or are too large to be squared, leave the prior in place.
#[test]
fn extreme_rewards_are_survived() {
    for reward in [5.0, 1e200, -1e300] {
        let mut mixed = Mixed::new(&random_arms(4, 2), question(), 3, 1.0, 0).unwrap();
        for arm in [0, 1, 1] {
            mixed.observe(arm, reward);
        }
        assert_eq!(mixed.noise_scale(), None, "{reward}");
        assert!(mixed.means().iter().all(|mean| mean.is_finite()));
        mixed.observe(2, 5.5);
        assert_eq!(mixed.noise_scale().is_some(), reward == 5.0);
    }
}
