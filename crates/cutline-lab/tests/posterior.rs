//! The posterior given a pilot against dense linear algebra, and its draws against the posterior.

use cutline::Arms;
use cutline_lab::{DrawSchedule, InstanceKind, InstanceSource, Prior, PriorError, ThetaPosterior, Threshold, dataset};
use nalgebra::{DMatrix, DVector};

/// θ̂ and σ²V⁻¹, by an explicit inverse.
fn dense(arms: &Arms, pilot: &[(usize, f64)], noise: f64) -> (DVector<f64>, DMatrix<f64>) {
    let d = arms.dimension().unwrap();
    let (mut v, mut b) = (DMatrix::identity(d, d), DVector::zeros(d));
    for &(arm, reward) in pilot {
        let x = DVector::from_vec(arms.row(arm).unwrap());
        v += &x * x.transpose();
        b += reward * x;
    }
    let inverse = v.try_inverse().unwrap();
    (&inverse * b, inverse * noise * noise)
}

/// θ of one run.
fn theta(source: &InstanceSource, run: u64) -> DVector<f64> {
    DVector::from_vec(source.instance(run).unwrap().theta().unwrap().to_vec())
}

fn source(arms: &Arms, prior: Prior, seed: u64) -> InstanceSource {
    InstanceSource::new(
        InstanceKind::Features(arms.clone(), prior),
        DrawSchedule::EveryRun,
        seed,
        Threshold::Value(0.0),
        0.0,
    )
    .unwrap()
}

/// A pilot that measures some arms once, one often and most never.
fn pilot() -> Vec<(usize, f64)> {
    let once = (0..40).step_by(7).map(|arm| (arm, 0.3 * f64::from(u32::try_from(arm).unwrap()) - 2.0));
    once.chain([(3, 1.5), (3, 0.5), (3, 2.5)]).collect()
}

#[test]
fn the_mean_is_that_of_a_dense_solve() {
    for arms in [dataset::iris(), dataset::wine()] {
        let posterior = ThetaPosterior::new(&arms, pilot(), 0.7).unwrap();
        let (mean, _) = dense(&arms, &pilot(), 0.7);
        for (ours, theirs) in posterior.mean().iter().zip(mean.iter()) {
            assert!((ours - theirs).abs() <= 1e-8 * mean.norm(), "{ours} and {theirs}");
        }
    }
}

/// Draws less the mean, whitened by the dense covariance C, are N(0, I): over n = 40,000 draws each mean has standard
/// error 1/√n, each variance √(2/n) and each covariance 1/√n. All numbers within 5.5 of those, so that a correct program
/// fails for fewer than one seed in 10⁵ (4 + 10 and 13 + 91 numbers).
#[test]
fn draws_have_the_mean_and_the_covariance() {
    const N: u32 = 40_000;
    for arms in [dataset::iris(), dataset::wine()] {
        let (mean, covariance) = dense(&arms, &pilot(), 0.7);
        let whiten = covariance.cholesky().unwrap().l().try_inverse().unwrap();
        let prior = Prior::posterior(ThetaPosterior::new(&arms, pilot(), 0.7).unwrap());
        let source = source(&arms, prior, 4);
        let d = mean.len();
        let (mut sum, mut squares) = (DVector::zeros(d), DMatrix::zeros(d, d));
        for run in 0..N {
            let z = &whiten * (theta(&source, u64::from(run)) - &mean);
            squares += &z * z.transpose();
            sum += z;
        }
        let n = f64::from(N);
        assert!(sum.iter().all(|s| (s / n).abs() <= 5.5 / n.sqrt()), "{sum}");
        for i in 0..d {
            for j in 0..d {
                let error = if i == j { (2.0 / n).sqrt() } else { 1.0 / n.sqrt() };
                let expected = f64::from(u8::from(i == j));
                assert!((squares[(i, j)] / n - expected).abs() <= 5.5 * error, "({i}, {j}): {}", squares[(i, j)] / n);
            }
        }
    }
}

/// N(0, s²I): mean and spread over 4 · 20,000 numbers, within 5 standard errors, so that a correct program fails for
/// fewer than two seeds in 10⁶.
#[test]
fn a_normal_prior_has_its_spread() {
    let source = source(&dataset::iris(), Prior::normal(2.5).unwrap(), 9);
    let draws: Vec<f64> = (0..20_000).flat_map(|run| theta(&source, run).iter().copied().collect::<Vec<_>>()).collect();
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    let spread = (draws.iter().map(|x| x * x).sum::<f64>() / n).sqrt();
    assert!(mean.abs() <= 5.0 * 2.5 / n.sqrt(), "{mean}");
    assert!((spread - 2.5).abs() <= 5.0 * 2.5 / (2.0 * n).sqrt(), "{spread}");
}

#[test]
fn runs_and_seeds_have_their_own_theta() {
    let arms = dataset::iris();
    let prior = Prior::posterior(ThetaPosterior::new(&arms, pilot(), 1.0).unwrap());
    let (one, two) = (source(&arms, prior.clone(), 1), source(&arms, prior, 2));
    assert_eq!(theta(&one, 5), theta(&one, 5));
    assert_ne!(theta(&one, 5), theta(&one, 6));
    assert_ne!(theta(&one, 5), theta(&two, 5));
}

/// Features too large for V, invalid rewards and arms that do not exist are refused.
#[test]
fn invalid_pilots_are_refused() {
    let arms = dataset::iris();
    let refused = |pilot: Vec<(usize, f64)>| ThetaPosterior::new(&arms, pilot, 1.0).unwrap_err();
    assert_eq!(refused(vec![(150, 1.0)]), PriorError::Arm { arm: 150, n_arms: 150 });
    assert_eq!(refused(vec![(0, 1e200)]), PriorError::Reward(1e200));
    assert!(matches!(refused(vec![(0, f64::NAN)]), PriorError::Reward(_)));
    assert_eq!(ThetaPosterior::new(&arms, pilot(), 0.0), Err(PriorError::Noise(0.0)));
    let bare = Arms::without_features(2).unwrap();
    assert_eq!(ThetaPosterior::new(&bare, vec![], 1.0), Err(PriorError::NoFeatures));
    let huge = Arms::from_rows(&[[1e200, 1.0], [1.0, 1e200]]).unwrap();
    assert_eq!(ThetaPosterior::new(&huge, vec![(0, 1.0), (1, 1.0)], 1.0), Err(PriorError::TooLarge));
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Prior::normal(scale).is_err());
    }
}

/// Without measurements the posterior is N(0, σ²I), and it stays so in directions that no arm of the pilot has.
#[test]
fn unmeasured_directions_keep_the_prior() {
    let arms = Arms::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
    let posterior = ThetaPosterior::new(&arms, vec![(0, 4.0)], 3.0).unwrap();
    assert!((posterior.mean()[0] - 2.0).abs() < 1e-15 && posterior.mean()[1] == 0.0);
    let source = source(&arms, Prior::posterior(posterior), 3);
    let (n, mut squares) = (20_000, [0.0; 2]);
    for run in 0..n {
        let theta = theta(&source, run);
        squares[0] += (theta[0] - 2.0).powi(2);
        squares[1] += theta[1].powi(2);
    }
    // Variances 9/2 and 9; 5 standard errors of a variance are 5 √(2/n), 5 %.
    let ratio = [squares[0] / 4.5, squares[1] / 9.0].map(|sum| sum / n as f64);
    assert!(ratio.iter().all(|ratio| (ratio - 1.0).abs() <= 0.05), "{ratio:?}");
}
