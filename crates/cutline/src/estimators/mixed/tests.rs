//! The mixed model against the K×K Gaussian posterior, at whatever variances it has learnt.

use super::columns::Columns;
use super::estimator::Mixed;
use super::evidence::Variances;
use super::grid::Grid;
use super::rewards::{FitHistory, next_fit};
use super::settings::{MixedSettings, Parts};
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
                    a * b
                        * match column {
                            _ if column < columns.n_linear => variances.linear,
                            _ if column < columns.n_linear + columns.n_products => variances.products,
                            _ => variances.smooth,
                        }
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
#[derive(Clone)]
struct Played {
    mixed: Mixed,
    counts: Vec<u32>,
    pending: Vec<u32>,
    rewards: Vec<Vec<f64>>,
    history: FitHistory,
}

impl Played {
    fn new(arms: &Arms, settings: &MixedSettings) -> Self {
        let n_arms = arms.n_arms();
        let mixed = Mixed::new(arms, question(), settings, 3).unwrap();
        let (counts, rewards) = (vec![0; n_arms], vec![Vec::new(); n_arms]);
        Self { mixed, pending: counts.clone(), counts, rewards, history: FitHistory::new(n_arms, 5.0) }
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
                self.history.add(arm, reward);
                self.mixed.observe(arm, reward);
            }
        }
    }

    fn restore(&self, mixed: &mut Mixed) {
        let means: Vec<f64> = self.averages().iter().map(|average| 5.0 + average).collect();
        mixed.restore(&History {
            n_rewards: &self.counts,
            means: &means,
            pending: &self.pending,
            fit_history: Some(&self.history),
        });
    }

    /// A new estimator with the same history.
    fn restored(&self, arms: &Arms) -> Mixed {
        let mut restored = Mixed::new(arms, question(), &with_landmarks(5), 3).unwrap();
        self.restore(&mut restored);
        restored
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
        for settings in settings().into_iter().filter(|settings| settings.own || arms.dimension().is_some()) {
            let mut played = Played::new(&arms, &settings);
            let mut rng = stream(settings.landmarks as u64, Purpose::Rule, 0);
            let case = format!("{case}, {settings:?}");
            played.check(&case);
            for step in 0..120 {
                played.step(&mut rng);
                if step % 7 == 0 {
                    played.check(&case);
                }
            }
        }
    }
}

fn with_landmarks(landmarks: usize) -> MixedSettings {
    MixedSettings { landmarks, ..Default::default() }
}

/// Every choice of parts, numbers of landmarks, and a known σ.
fn settings() -> Vec<MixedSettings> {
    let mut all =
        vec![with_landmarks(4), with_landmarks(40), MixedSettings { known_noise: Some(0.2), ..with_landmarks(4) }];
    for parts in 1..7 {
        let (linear, smooth, own) = (parts & 1 > 0, parts & 2 > 0, parts & 4 > 0);
        all.push(MixedSettings { linear, smooth, own, ..with_landmarks(4) });
    }
    all
}

/// At any number of rewards, a restored estimator has the variances of the one that received pull by pull, to the last bit, and the same
/// beliefs except for rounding.
#[test]
fn a_restored_past_gives_the_same_beliefs() {
    for (case, arms) in cases() {
        let mut played = Played::new(&arms, &with_landmarks(5));
        let mut rng = stream(9, Purpose::Rule, 0);
        for _ in 0..60 {
            played.step(&mut rng);
            let mut restored = played.restored(&arms);
            assert_eq!(restored.fit(), played.mixed.fit(), "{case}");
            assert_eq!(restored.noise_scale(), played.mixed.noise_scale());
            let mut again = played.mixed.clone();
            played.restore(&mut again);
            assert_eq!(again.moments(), restored.moments(), "{case}: the state before does not matter");
        }
        let mut restored = played.restored(&arms);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * b.abs().max(1.0), "{case}: {a} {b}");
        for arm in 0..arms.n_arms() {
            close(restored.means()[arm], played.mixed.means()[arm]);
            close(restored.moments().1[arm], played.mixed.moments().1[arm]);
        }
        let fits = std::mem::replace(&mut played.mixed, restored);
        let (mut other, mut rng_of_other) = (played.clone(), rng.clone());
        other.mixed = fits;
        for _ in 0..60 {
            played.step(&mut rng);
            other.step(&mut rng_of_other);
            assert_eq!(played.mixed.fit(), other.mixed.fit(), "{case}: later fits");
        }
        played.check(case);
    }
}

/// With ρ = 0, no smooth part and fixed precisions it is ridge on the same columns.
#[test]
fn without_an_own_part_it_is_ridge() {
    let arms = random_arms(12, 3);
    let (parts, settings) = (Parts { linear: true, smooth: false, products: false, own: true }, with_landmarks(0));
    let columns = Columns::new(&arms, parts, &settings, 0);
    let rows: Vec<Vec<f64>> = (0..12).map(|arm| columns.features.row(arm).iter().collect()).collect();
    let grid = Grid::new(3, parts, &settings);
    let mut fit = grid.prior();
    fit.variances = Variances { linear: 2.0, smooth: 0.0, products: 0.0, own: 0.0 };
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

/// The linear part alone is ridge on standardised features and a level √d, with λ = 1/V = d/ω at the ω it has learnt.
#[test]
fn the_linear_part_alone_is_ridge() {
    let arms = random_arms(12, 3);
    let settings = MixedSettings { smooth: false, own: false, ..Default::default() };
    let mut mixed = Mixed::new(&arms, Question::new(0.0, 0.0).unwrap(), &settings, 0).unwrap();
    let mut rng = stream(1, Purpose::Rule, 0);
    let mut rewards = Vec::new();
    for _ in 0..50 {
        let (arm, noise) = (below(&mut rng, 12), uniform(&mut rng));
        rewards.push((arm, (arm as f64).cos() + noise));
        mixed.observe(arm, rewards.last().unwrap().1);
    }
    let Variances { linear, smooth, products, own } = mixed.fit().variances;
    assert_eq!((smooth, products, own), (0.0, 0.0, 0.0));
    let with_level = arms.standardised().with_intercept(3.0_f64.sqrt()).unwrap();
    let mut ridge = DesignedRidge::new(&with_level, 1.0 / linear).unwrap();
    for (arm, reward) in rewards {
        ridge.observe(arm, reward);
    }
    let ((means, variances), (ridge_means, ridge_variances)) = (mixed.moments(), ridge.moments());
    for (ours, theirs) in means.iter().zip(ridge_means).chain(variances.iter().zip(ridge_variances)) {
        assert!((ours - theirs).abs() < 1e-12, "{ours} {theirs}");
    }
}

/// The own part alone shrinks sample means towards their level: with n rewards each, the posterior mean of an arm is
/// τ + g·l + (1 − g)ȳ, where g = 1/(1 + ωn) and l is the level, of prior variance ω.
#[test]
fn the_own_part_alone_shrinks_sample_means() {
    for arms in [Arms::without_features(5).unwrap(), random_arms(5, 2)] {
        let settings = MixedSettings { linear: false, smooth: false, ..Default::default() };
        let mut mixed = Mixed::new(&arms, question(), &settings, 0).unwrap();
        let truth = [1.0, 2.0, 4.0, 8.0, 16.0];
        for noise in [0.5, -0.5, 0.25, -0.25] {
            (0..5).for_each(|arm| mixed.observe(arm, 5.0 + truth[arm] + noise));
        }
        let omega = mixed.fit().variances.own;
        let (g, average) = (1.0 / (1.0 + 4.0 * omega), 31.0 / 5.0);
        // The mean of all rewards has variance (ω + 1/4)/5 around the level.
        let level = omega / (omega + (omega + 0.25) / 5.0) * average;
        for (mean, truth) in mixed.means().iter().zip(truth) {
            let expected = 5.0 + g * level + (1.0 - g) * truth;
            assert!((mean - expected).abs() < 1e-12, "{mean} {expected}");
        }
        let explained = mixed.explained().unwrap();
        assert_eq!((explained.linear, explained.smooth, explained.own), (0.0, 0.0, 1.0));
    }
}

/// A known σ is kept; with it a reward of τ is evidence too.
#[test]
fn a_known_noise_is_not_learnt() {
    let settings = MixedSettings { known_noise: Some(0.3), ..with_landmarks(3) };
    let mut mixed = Mixed::new(&random_arms(4, 2), question(), &settings, 0).unwrap();
    assert_eq!((mixed.noise_scale(), mixed.explained()), (Some(0.3), None));
    mixed.observe(0, 5.0);
    assert!(mixed.explained().is_some());
    for reward in [7.0, -20.0, 1e200, 5.0] {
        mixed.observe(1, reward);
        assert_eq!(mixed.noise_scale(), Some(0.3));
        assert!(mixed.means().iter().all(|mean| mean.is_finite()));
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
        let mut mixed = Mixed::new(&random_arms(4, 2), question(), &with_landmarks(3), 0).unwrap();
        for arm in [0, 1, 1] {
            mixed.observe(arm, reward);
        }
        assert_eq!(mixed.noise_scale(), None, "{reward}");
        assert!(mixed.means().iter().all(|mean| mean.is_finite()));
        mixed.observe(2, 5.5);
        assert_eq!(mixed.noise_scale().is_some(), reward == 5.0);
    }
}

/// Draws have the means and covariances of the posterior. In the directions of the eigenvectors of the dense covariance they are independent
/// with the eigenvalues as variances; over n = 20,000 draws a mean has standard error 1/√n in units of its deviation, a variance √(2/n).
/// Within 5.5 of those, so that a correct program fails for fewer than one seed in 10⁵ (about 100 numbers).
#[test]
fn draws_have_the_moments_of_the_posterior() {
    const N: usize = 20_000;
    for (case, arms) in cases() {
        let n_arms = arms.n_arms();
        let mut mixed = Mixed::new(&arms, question(), &MixedSettings::default(), 3).unwrap();
        let mut rng = stream(5, Purpose::Rule, 0);
        for pull in 0..2 * n_arms {
            mixed.observe(pull / 3, 5.0 + 2.0 * uniform(&mut rng));
        }
        let (means, _) = mixed.moments();
        let means = DVector::from_column_slice(means);
        let rows: Vec<Vec<f64>> = (0..n_arms).map(|arm| mixed.covariances_with(arm).0.to_vec()).collect();
        let variance = mixed.noise_scale().unwrap().powi(2);
        let covariance = DMatrix::from_fn(n_arms, n_arms, |i, j| variance * rows[i][j]);
        let eigen = covariance.symmetric_eigen();
        let (mut sums, mut squares) = (DVector::zeros(n_arms), DVector::zeros(n_arms));
        for _ in 0..N {
            let draw = DVector::from_vec(mixed.draw(|| normal(&mut rng)));
            let turned = eigen.eigenvectors.transpose() * (draw - &means);
            squares += turned.component_mul(&turned);
            sums += turned;
        }
        let n = N as f64;
        for (i, &expected) in eigen.eigenvalues.iter().enumerate().filter(|(_, value)| **value > 1e-9 * variance) {
            let (mean, found) = (sums[i] / n, squares[i] / n);
            assert!(mean.abs() < 5.5 * (expected / n).sqrt(), "{case}, direction {i}: mean {mean}");
            let error = expected * (2.0 / n).sqrt();
            assert!((found - expected).abs() < 5.5 * error, "{case}, direction {i}: {found}, not {expected} ± {error}");
        }
    }
}

/// Standard normal, by Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    let mut open = || (f64::from(rng.next_u32()) + 0.5) / (f64::from(u32::MAX) + 1.0);
    (-2.0 * open().ln()).sqrt() * (std::f64::consts::TAU * open()).cos()
}

/// The spread is σ√ω: rewards times 4 have four times the spread, and twice the deviation of the means has about twice.
#[test]
fn the_spread_is_that_of_the_means() {
    let arms = random_arms(60, 3);
    let spread = |scale: f64| {
        let mut mixed = Mixed::new(&arms, Question::new(0.0, 0.0).unwrap(), &MixedSettings::default(), 3).unwrap();
        assert_eq!(mixed.spread(), None, "before the first reward");
        let mut rng = stream(8, Purpose::Rule, 0);
        let means: Vec<f64> = (0..60).map(|_| scale * normal(&mut rng)).collect();
        for _ in 0..4 {
            for (arm, mean) in means.iter().enumerate() {
                mixed.observe(arm, mean + 0.3 * scale * normal(&mut rng));
            }
        }
        mixed.spread().unwrap()
    };
    let one = spread(1.0);
    assert!((0.7..1.4).contains(&one), "{one}");
    assert_eq!(spread(4.0), 4.0 * one);
}
