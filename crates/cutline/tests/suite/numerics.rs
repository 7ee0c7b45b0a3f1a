//! Ridge against a dense solve where features are collinear or badly scaled, and λ small.

use crate::common::{Plain, Problem, assert_close};
use cutline::estimators::{DesignedRidge, Estimator, Ridge, RidgeError, VarianceEstimator};
use cutline::{Arms, Purpose, below, stream};

/// Plays `n_pulls` random pulls. The dense solve itself has an error of 1e-16 times the condition of V.
fn check(problem: &Problem, lambda: f64, n_pulls: usize, tolerance: f64) {
    let (mut ridge, mut designed) = estimators(problem, lambda);
    let mut plain = Plain::new(problem, lambda);
    let mut rng = stream(4, Purpose::Noise, 0);
    for pull in 0..n_pulls {
        let arm = below(&mut rng, problem.rows.len());
        let reward = problem.reward(arm, &mut rng);
        ridge.observe(arm, reward);
        designed.expect(arm);
        designed.observe(arm, reward);
        plain.pulls[arm] += 1;
        plain.rewards.push((arm, reward));
        if pull < 30 || pull == n_pulls - 1 {
            let truth = plain.ridge_means();
            assert_close(ridge.means(), &truth, tolerance, "ridge means");
            assert_close(designed.means(), &truth, tolerance, "designed means");
            let covariances = plain.covariances();
            let (_, variances) = designed.moments();
            for (arm, &q) in variances.iter().enumerate() {
                let truth = covariances[(arm, arm)];
                assert!(
                    (q - truth).abs() <= 100.0 * tolerance * truth,
                    "pull {pull} arm {arm}: q {q} instead of {truth}"
                );
            }
        }
    }
}

#[test]
fn columns_from_a_thousandth_to_a_thousand() {
    let problem = Problem::new(40, 7, 2, |j| 10.0_f64.powf(j - 3.0));
    check(&problem, 1.0, 300, 1e-8);
    check(&problem, 1e-3, 300, 1e-8);
}

#[test]
fn small_lambda() {
    let problem = Problem::uniform(30, 6, 2);
    check(&problem, 1e-6, 300, 1e-8);
    check(&problem, 1e-9, 300, 1e-6);
}

#[test]
fn collinear_columns() {
    let mut problem = Problem::uniform(30, 6, 2);
    for row in &mut problem.rows {
        row[3] = 2.0 * row[1] - row[0];
        row[5] = row[4] + 1e-7 * row[2];
    }
    check(&problem, 1.0, 300, 1e-9);
    check(&problem, 1e-4, 300, 1e-8);
}

/// Until every direction was pulled, V has a condition of ‖x‖²/λ, so any method that forms V loses that many digits; afterwards all
/// of them must be restored.
#[test]
fn large_features_and_small_lambda() {
    for (scale, lambda) in [(1e3, 1e-3), (97.0, 1e-6), (1e3, 1e-6), (1e6, 1.0)] {
        let problem = Problem::new(12, 4, 3, |_| scale);
        let (mut ridge, mut designed) = estimators(&problem, lambda);
        let mut plain = Plain::new(&problem, lambda);
        let mut rng = stream(4, Purpose::Noise, 0);
        for (pull, arm) in [6, 5, 2, 11, 5, 9, 3, 0, 1, 4, 7, 8].into_iter().cycle().take(60).enumerate() {
            let reward = problem.reward(arm, &mut rng);
            ridge.observe(arm, reward);
            designed.observe(arm, reward);
            plain.pulls[arm] += 1;
            plain.rewards.push((arm, reward));
            let tolerance = if pull < 4 { 1e-14 * scale * scale / lambda } else { 1e-11 };
            assert_close(ridge.means(), &plain.ridge_means(), tolerance, "ridge means");
            assert_close(designed.means(), &plain.ridge_means(), tolerance, "designed means");
            if pull >= 4 {
                let variances: Vec<f64> = plain.covariances().diagonal().iter().copied().collect();
                assert_close(designed.moments().1, &variances, 1e-9, "variances");
            }
        }
    }
}

fn estimators(problem: &Problem, lambda: f64) -> (Ridge, DesignedRidge) {
    let arms = problem.arms();
    (Ridge::new(&arms, lambda).unwrap(), DesignedRidge::new(&arms, lambda).unwrap())
}

#[test]
fn at_the_limit_everything_is_finite() {
    for (scale, lambda) in [(1.5e7, 1.0), (1e3, 1e-8), (10.0, 1e-12)] {
        let problem = Problem::new(12, 4, 3, |_| scale);
        let (mut ridge, mut designed) = estimators(&problem, lambda);
        for arm in (0..12).cycle().take(100) {
            ridge.observe(arm, problem.means[arm]);
            designed.observe(arm, problem.means[arm]);
            assert!(designed.moments().1.iter().all(|q| q.is_finite() && *q >= 0.0));
        }
        assert_close(ridge.means(), &problem.means, 1e-2, "ridge");
        assert_close(designed.means(), &problem.means, 1e-2, "designed");
    }
    let beyond = Problem::new(12, 4, 3, |_| 1e8).arms();
    assert!(matches!(Ridge::new(&beyond, 1.0), Err(RidgeError::TooLarge(_))));
}

/// A reward without a pending pull counts as one more pull.
#[test]
fn rewards_without_a_pending_pull_count_in_the_variances() {
    let problem = Problem::uniform(6, 2, 0);
    let mut designed = DesignedRidge::new(&problem.arms(), 1.0).unwrap();
    let mut plain = Plain::new(&problem, 1.0);
    for arm in [0, 3, 3] {
        designed.observe(arm, 0.5);
        plain.pulls[arm] += 1;
        plain.rewards.push((arm, 0.5));
    }
    let variances: Vec<f64> = plain.covariances().diagonal().iter().copied().collect();
    assert_close(designed.moments().1, &variances, 1e-12, "variances");
    assert_close(designed.means(), &plain.ridge_means(), 1e-12, "means");
}

/// Where there are no more arms than features, the arms are the coordinates; features of very different scales, arms that
/// are nearly equal, and arms that are zero or combinations of others.
#[test]
fn no_more_arms_than_features() {
    for (n_arms, dimension) in [(1, 1), (1, 7), (8, 8), (20, 20), (12, 50)] {
        for lambda in [1.0, 1e-3, 30.0] {
            check(&Problem::uniform(n_arms, dimension, 5), lambda, 300, 1e-9);
        }
        let scaled = Problem::new(n_arms, dimension, 6, |j| 10.0_f64.powf(3.0 * j / dimension as f64));
        for lambda in [1.0, 30.0] {
            check(&scaled, lambda, 300, 1e-8);
        }
    }
    let mut odd = Problem::uniform(10, 12, 7);
    for j in 0..12 {
        odd.rows[3][j] = 0.0;
        odd.rows[4][j] = 2.0 * odd.rows[0][j] - odd.rows[1][j];
        odd.rows[5][j] = odd.rows[2][j] + if j == 0 { 1e-4 } else { 0.0 };
    }
    for lambda in [1.0, 1e-3] {
        check(&odd, lambda, 300, 1e-8);
    }
}

/// Rounding errors must not accumulate.
#[test]
fn a_hundred_thousand_pulls() {
    let problem = Problem::new(20, 5, 8, |j| 10.0_f64.powf(j));
    check(&problem, 1.0, 100_000, 1e-8);
}

#[test]
fn covariances_agree_with_a_dense_solve() {
    let problem = Problem::uniform(17, 5, 6);
    let mut designed = DesignedRidge::new(&problem.arms(), 0.5).unwrap();
    let mut plain = Plain::new(&problem, 0.5);
    for arm in [3, 5, 5, 16, 0, 9] {
        designed.expect(arm);
        plain.pulls[arm] += 1;
    }
    let truth = plain.covariances();
    for arm in 0..17 {
        let column: Vec<f64> = truth.column(arm).iter().copied().collect();
        assert_close(designed.covariances_with(arm).0, &column, 1e-12, "covariances");
    }
}

#[test]
fn bad_lambdas_and_features_are_refused() {
    let arms = Problem::uniform(3, 2, 0).arms();
    for bad in [0.0, -1.0, 1e-13, f64::NAN, f64::INFINITY] {
        assert!(matches!(Ridge::new(&arms, bad), Err(RidgeError::Lambda(_))), "{bad}");
    }
    let huge = Arms::from_rows(&[[1e60]]).unwrap();
    assert!(matches!(Ridge::new(&huge, 1.0), Err(RidgeError::TooLarge(_))));
    let bare = Arms::without_features(3).unwrap();
    assert!(matches!(Ridge::new(&bare, 1.0), Err(RidgeError::NoFeatures)));
}
