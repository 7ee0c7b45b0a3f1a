//! Arms from a prior covariance: ridge on them is the dense Gaussian posterior, pull by pull, restored and in batches.

use cutline::estimators::{DesignedRidge, Estimator, History, Ridge, VarianceEstimator};
use cutline::{Arms, Edge, Graph, Kernel, Purpose, Question, Spec, below, stream};
use nalgebra::{DMatrix, DVector};
use rand_core::Rng as _;

fn uniform(rng: &mut cutline::Rng) -> f64 {
    f64::from(rng.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0
}

/// Means and variances, in units of σ², of N(0, P σ²/λ) given rewards: `m = P_o (P_oo + λI)⁻¹ r`, one row of `o` per reward.
fn posterior(
    covariance: &DMatrix<f64>,
    lambda: f64,
    pulled: &[usize],
    rewards: &[f64],
) -> (DVector<f64>, DVector<f64>) {
    let cross = covariance.select_columns(pulled);
    let gram = cross.select_rows(pulled) + DMatrix::identity(pulled.len(), pulled.len()) * lambda;
    let solved = gram.cholesky().unwrap();
    let means = &cross * solved.solve(&DVector::from_column_slice(rewards));
    let explained = &cross * solved.solve(&cross.transpose());
    (means, (covariance - explained).diagonal() / lambda)
}

fn points(n: usize, dimension: usize, seed: u64) -> Arms {
    let mut rng = stream(seed, Purpose::Instance, 0);
    Arms::from_slice(&(0..n * dimension).map(|_| uniform(&mut rng)).collect::<Vec<_>>(), dimension).unwrap()
}

/// The covariance of arms, from the inner products of their rows.
fn covariance(arms: &Arms) -> DMatrix<f64> {
    let n = arms.n_arms();
    let rows = DMatrix::from_row_iterator(n, n, (0..n).flat_map(|arm| arms.row(arm).unwrap()));
    &rows * rows.transpose()
}

fn graph(n: usize, seed: u64) -> Graph {
    let mut rng = stream(seed, Purpose::Instance, 1);
    let mut edges: Vec<Edge> = Vec::new();
    for one in 0..n {
        for other in 0..one {
            if below(&mut rng, n) < 3 {
                edges.push((one, other, 0.5 + 0.4 * uniform(&mut rng)));
            }
        }
    }
    Graph::new(n, &edges).unwrap()
}

#[test]
fn ridge_is_the_dense_posterior() {
    let one = Arms::from_covariance(&[0.7], 1).unwrap();
    let equal = Arms::from_covariance(&[2.0; 9], 3).unwrap();
    let (smooth, rough) = (points(41, 1, 1), points(30, 3, 2));
    let smooth = smooth.with_kernel(Kernel::Rbf, 0.3).unwrap(); // of rank 12 or so
    let rough = rough.with_kernel(Kernel::Matern52, 1.0).unwrap();
    let linked = graph(25, 3).arms(1e-3).unwrap();
    let raised = rough.with_intercept(2.0).unwrap();
    for (case, arms) in [one, equal, smooth, rough, linked, raised].into_iter().enumerate() {
        let prior = covariance(&arms);
        let largest = prior.diagonal().max();
        for lambda in [1e-6, 0.09, 3.0] {
            let mut rng = stream(case as u64, Purpose::Noise, 0);
            let (mut ridge, mut designed) =
                (Ridge::new(&arms, lambda).unwrap(), DesignedRidge::new(&arms, lambda).unwrap());
            let (mut pulled, mut rewards) = (Vec::new(), Vec::new());
            for pull in 0..60 {
                let arm = below(&mut rng, arms.n_arms());
                let reward = uniform(&mut rng);
                ridge.observe(arm, reward);
                designed.observe(arm, reward);
                pulled.push(arm);
                rewards.push(reward);
                if pull % 10 != 9 {
                    continue;
                }
                let (means, variances) = posterior(&prior, lambda, &pulled, &rewards);
                let place = format!("case {case}, λ = {lambda}, pull {pull}");
                // The dense posterior loses digits too: as many as the largest variance is times λ.
                let close = 1e-13 * (1.0 + largest / lambda);
                let (found, found_variances) = designed.moments();
                for arm in 0..arms.n_arms() {
                    assert!((found[arm] - means[arm]).abs() < 10.0 * close, "{place}: {} {}", found[arm], means[arm]);
                    let error = (found_variances[arm] - variances[arm]).abs();
                    assert!(error < close * largest / lambda, "{place}: {} {}", found_variances[arm], variances[arm]);
                    assert!((ridge.means()[arm] - means[arm]).abs() < 10.0 * close, "{place}");
                }
            }
            let n_rewards: Vec<u32> = (0..arms.n_arms())
                .map(|arm| u32::try_from(pulled.iter().filter(|&&other| other == arm).count()).unwrap())
                .collect();
            let sum = |arm: usize| pulled.iter().zip(&rewards).filter(|(a, _)| **a == arm).map(|(_, r)| r).sum::<f64>();
            let averages: Vec<f64> =
                (0..arms.n_arms()).map(|arm| sum(arm) / f64::from(n_rewards[arm].max(1))).collect();
            let pending = vec![0; arms.n_arms()];
            let history = History { n_rewards: &n_rewards, means: &averages, pending: &pending, fit_history: None };
            let mut restored = DesignedRidge::new(&arms, lambda).unwrap();
            restored.restore(&history);
            for (again, before) in restored.moments().0.iter().zip(designed.moments().0) {
                assert!((again - before).abs() < 1e-12 * (1.0 + largest / lambda), "case {case}: {again} {before}");
            }
        }
    }
}

/// `GaussianProcessRegressor(kernel, alpha=0.09, optimizer=None)` of scikit-learn 1.9.1, after these rewards at multiples of 1/8.
#[test]
fn kernels_give_the_posterior_of_scikit_learn() {
    let points: Vec<[f64; 1]> = (0..9).map(|i| [f64::from(i) / 8.0]).collect();
    let rbf = (
        [
            0.34887890309711145,
            0.2067047801312677,
            0.04626811309144655,
            -0.025447659252891486,
            0.057737071817040006,
            0.27820024106041463,
            0.5477740520068859,
            0.757491937472733,
            0.8298829450780686,
        ],
        [
            0.28306386092450775,
            0.30091922498206564,
            0.2730408219207303,
            0.20042042284516673,
            0.21567770445573725,
            0.2676843265902268,
            0.3228402240071984,
            0.3167209638726355,
            0.2833505763920101,
        ],
    );
    let matern = (
        [
            0.3558530645141867,
            0.22535404998363195,
            0.048795464327794656,
            -0.030529868594576216,
            0.07008429560254069,
            0.2838107470677344,
            0.5200155425837631,
            0.7326057794208283,
            0.8277624808050165,
        ],
        [
            0.28504913140350063,
            0.4292475442348371,
            0.40143776024858646,
            0.20378145649653878,
            0.3013254032398465,
            0.2770822352599548,
            0.4335222879551909,
            0.4368862090033414,
            0.2851850140231033,
        ],
    );
    for (kernel, (means, deviations)) in [(Kernel::Rbf, rbf), (Kernel::Matern52, matern)] {
        let arms = Arms::from_rows(&points).unwrap().with_kernel(kernel, 0.3).unwrap();
        let mut ridge = DesignedRidge::new(&arms, 0.09).unwrap();
        for (arm, reward) in [(0, 0.4), (3, -0.2), (3, 0.1), (8, 0.9), (5, 0.3)] {
            ridge.observe(arm, reward);
        }
        let (found, variances) = ridge.moments();
        for arm in 0..9 {
            assert!((found[arm] - means[arm]).abs() < 1e-12, "{kernel:?}: {} {}", found[arm], means[arm]);
            assert!(((0.09 * variances[arm]).sqrt() - deviations[arm]).abs() < 1e-12, "{kernel:?}, arm {arm}");
        }
    }
}

/// Before the first pull all arms of a kernel are alike to the last bit, so the first is chosen.
#[test]
fn equal_variances_are_equal_to_the_last_bit() {
    let arms = points(41, 2, 5).with_kernel(Kernel::Rbf, 0.4).unwrap();
    let mut ridge = DesignedRidge::new(&arms, 0.09).unwrap();
    assert!(ridge.moments().1.iter().all(|&variance| variance == 1.0 / 0.09));
}

/// Batches play what individual learners play, to the last bit.
#[test]
fn batches_are_individual_learners() {
    let arms: Vec<Arms> = (0..4).map(|seed| points(15, 2, seed).with_kernel(Kernel::Matern52, 0.5).unwrap()).collect();
    let all: Vec<&Arms> = arms.iter().collect();
    let question = Question::new(0.1, 0.01).unwrap();
    for name in ["pivot", "linear-apt"] {
        let spec = Spec::named(name).unwrap().with("lambda", 0.3).unwrap();
        let mut batch = Spec::batch(&[&spec; 4], &all, &[question; 4]).unwrap();
        let mut learners: Vec<_> = arms.iter().map(|arms| spec.learner(arms, question, 200, 0).unwrap()).collect();
        let mut rng = stream(4, Purpose::Noise, 0);
        let mut asked = [0; 4];
        for _ in 0..200 {
            batch.ask(&mut asked);
            let rewards: [f64; 4] = std::array::from_fn(|_| uniform(&mut rng));
            for (run, learner) in learners.iter_mut().enumerate() {
                assert_eq!(learner.ask(), Some(asked[run]), "{name}");
                learner.tell(asked[run], rewards[run]).unwrap();
            }
            batch.tell(&rewards);
        }
        for (run, learner) in learners.iter_mut().enumerate() {
            assert_eq!(learner.beliefs().means(), batch.means(run).collect::<Vec<_>>(), "{name}");
        }
    }
}

/// (L + ρI)⁻¹ by nalgebra, and an intercept adds its square.
#[test]
fn graphs_and_intercepts() {
    let graph = graph(20, 9);
    let precision = DMatrix::from_row_slice(20, 20, &graph.precision(0.01));
    let inverse = precision.try_inverse().unwrap();
    let arms = graph.arms(0.01).unwrap();
    let found = covariance(&arms);
    assert!((&found - &inverse).abs().max() < 1e-12 * inverse.max(), "{}", (&found - &inverse).abs().max());
    let raised = covariance(&arms.with_intercept(3.0).unwrap());
    assert!((raised - found).map(|change| (change - 9.0).abs()).max() < 1e-12 * inverse.max());
    assert!(arms.has_covariance() && !points(3, 1, 0).has_covariance());
    assert_eq!(arms.clone().standardised().row(3), arms.row(3));
}
