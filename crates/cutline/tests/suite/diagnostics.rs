//! Diagnostics against dense linear algebra with one row per reward, and their conclusion for each kind of data.

use cutline::diagnostics::{Conclusion, DesignShape, Diagnostics, LearntModel, MissingEvidence, RewardStats};
use cutline::estimators::Explained;
use cutline::{Arm, Arms, Purpose, Question, Rng, Spec, stream};
use cutline_campaign::{CampaignState, Terms};
use nalgebra::{DMatrix, DVector};
use rand_core::Rng as _;

/// Uniform on [−1, 1).
fn draw(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn diagnose(arms: &Arms, rewards: &[(Arm, f64)]) -> Diagnostics {
    let mut stats = RewardStats::new(arms);
    for &(arm, reward) in rewards {
        stats.tell(arm, reward);
    }
    stats.diagnose()
}

fn assert_near(ours: f64, theirs: f64, relative: f64, what: &str) {
    assert!((ours - theirs).abs() <= relative * theirs.abs(), "{what}: {ours:e} against {theirs:e}");
}

/// A matrix with its columns scaled to length 1.
fn scaled(mut matrix: DMatrix<f64>) -> DMatrix<f64> {
    matrix.column_iter_mut().filter(|column| column.amax() > 0.0).for_each(|mut column| {
        column.unscale_mut(column.amax());
        column.normalize_mut();
    });
    matrix
}

fn assert_shape(shape: DesignShape, matrix: &DMatrix<f64>, rank: usize, what: &str) {
    assert_eq!((shape.dimension, shape.rank), (matrix.ncols(), rank), "{what}");
    match shape.condition {
        None => assert!(rank < matrix.ncols(), "{what}"),
        Some(condition) => {
            let values = scaled(matrix.clone()).singular_values();
            // Singular values are exact to about 1e-16 of the greatest, so the relative error of the least grows with the condition.
            assert_near(condition, values.max() / values.min(), 1e-12 + 1e-14 * condition, what);
        }
    }
}

/// Everything from the n×d matrix with one row per reward, of which the first `rank` columns are independent.
fn check(rows: &[Vec<f64>], rewards: &[(Arm, f64)], rank: usize, what: &str) {
    let arms = Arms::from_rows(rows).unwrap();
    let ours = diagnose(&arms, rewards);
    let matrix = |arms: &[Arm]| DMatrix::from_fn(arms.len(), rows[0].len(), |i, j| rows[arms[i]][j]);
    let pulled: Vec<Arm> = rewards.iter().map(|&(arm, _)| arm).collect();
    let x = matrix(&pulled);
    assert_shape(ours.design.unwrap(), &x, rank, what);
    let all: Vec<Arm> = (0..rows.len()).collect();
    assert_shape(ours.features.unwrap(), &matrix(&all), rank, what);

    let y = DVector::from_iterator(rewards.len(), rewards.iter().map(|&(_, reward)| reward));
    let u = scaled(x).columns(0, rank).into_owned().qr().q();
    let hat = &u * u.transpose();
    let fitted = &hat * &y;
    let n_of = |arm: Arm| pulled.iter().filter(|&&other| other == arm).count() as f64;
    let mean_of = |arm: Arm| rewards.iter().filter(|r| r.0 == arm).map(|r| r.1).sum::<f64>() / n_of(arm);
    let n_pulled = ours.arms.len();
    let (m, n, r) = (n_pulled as f64, rewards.len() as f64, rank as f64);
    let pure: f64 = rewards.iter().map(|&(arm, reward)| (reward - mean_of(arm)).powi(2)).sum();
    let residual = (&y - &fitted).norm_squared();
    let sigma = (pure / (n - m)).sqrt();
    assert_near(ours.replicates.unwrap().sigma, sigma, 1e-11, what);
    assert_near(ours.residuals.unwrap().sigma, (residual / (n - r)).sqrt(), 1e-11, what);
    let lack = ours.lack_of_fit.unwrap();
    assert_eq!(lack.freedom, (n_pulled as u64 - rank as u64, rewards.len() as u64 - n_pulled as u64));
    assert_near(lack.f, (residual - pure) / (m - r) / sigma.powi(2), 1e-8, what);
    for arm in &ours.arms {
        let position = pulled.iter().position(|&other| other == arm.arm).unwrap();
        let fit = arm.fit.unwrap();
        let leverage = hat[(position, position)] * n_of(arm.arm);
        assert_eq!(arm.pulls as f64, n_of(arm.arm));
        assert!((arm.mean - mean_of(arm.arm)).abs() < 1e-12 * y.amax());
        assert!((fit.mean - fitted[position]).abs() < 1e-11 * y.amax(), "{what}");
        assert!((fit.leverage - leverage).abs() < 1e-11, "{what}: {} against {leverage}", fit.leverage);
        if let Some(test) = fit.test {
            let deviation = sigma * ((1.0 - leverage) / n_of(arm.arm)).sqrt();
            let t = (mean_of(arm.arm) - fitted[position]) / deviation;
            assert!((test.t - t).abs() < 1e-8 * (1.0 + t.abs()), "{what}: {} against {t}", test.t);
        } else {
            assert!(leverage > 1.0 - 1e-7, "{what}: {leverage}");
        }
    }
}

/// Rows of features and unbalanced rewards; the last arm is not pulled.
fn drawn(n_arms: usize, dimension: usize, index: u64) -> (Vec<Vec<f64>>, Vec<(Arm, f64)>) {
    let mut rng = stream(11, Purpose::Instance, index);
    let rows: Vec<Vec<f64>> = (0..n_arms).map(|_| (0..dimension).map(|_| draw(&mut rng)).collect()).collect();
    let rewards = (0..n_arms - 1)
        .flat_map(|arm| (0..=arm % 4).map(move |_| arm))
        .map(|arm| (arm, rows[arm].iter().sum::<f64>() + draw(&mut rng)))
        .collect();
    (rows, rewards)
}

#[test]
fn numbers_agree_with_dense_linear_algebra() {
    for (index, (n_arms, dimension)) in [(3, 1), (6, 2), (20, 5), (40, 13), (60, 30)].into_iter().enumerate() {
        let (rows, rewards) = drawn(n_arms, dimension, index as u64);
        check(&rows, &rewards, dimension, &format!("{n_arms} × {dimension}"));
    }
}

/// Units do not matter: columns scaled by 1e-300 to 1e300 give the same numbers.
#[test]
fn columns_may_have_any_scale() {
    let (rows, rewards) = drawn(20, 5, 7);
    let plain = diagnose(&Arms::from_rows(&rows).unwrap(), &rewards);
    let units = [1e-300, 1e300, 1.0, 1e-9, 1e9];
    let scaled: Vec<Vec<f64>> =
        rows.iter().map(|row| row.iter().zip(units).map(|(x, unit)| x * unit).collect()).collect();
    let ours = diagnose(&Arms::from_rows(&scaled).unwrap(), &rewards);
    assert_near(ours.lack_of_fit.unwrap().f, plain.lack_of_fit.unwrap().f, 1e-12, "F");
    assert_near(ours.design.unwrap().condition.unwrap(), plain.design.unwrap().condition.unwrap(), 1e-12, "condition");
}

/// Columns that depend on others, up to rounding, do not count towards the rank.
#[test]
fn dependent_columns_are_found_by_rank() {
    for index in 0..40 {
        let (mut rows, rewards) = drawn(15, 4, 100 + index);
        for row in &mut rows {
            let sum = 0.3 * row[0] - 0.7 * row[1] + 1.9 * row[3];
            row.extend([sum, 0.0, 1e6 * row[2], 1e-6 * (row[0] + sum)]);
        }
        check(&rows, &rewards, 4, &format!("index {index}"));
    }
}

/// Columns that are nearly but not exactly dependent, κ up to 1e12. Q stays orthogonal, so that four arms with four independent
/// features have leverage 1 each.
#[test]
fn nearly_dependent_columns_count() {
    for (exponent, index) in (2..=12).zip(0..) {
        let (mut rows, rewards) = drawn(15, 3, 200 + index);
        let mut rng = stream(12, Purpose::Instance, index);
        for row in &mut rows {
            row.push(row[0] + 10.0_f64.powi(-exponent) * draw(&mut rng));
        }
        let arms = Arms::from_rows(&rows).unwrap();
        let ours = diagnose(&arms, &rewards).design.unwrap();
        assert_eq!(ours.rank, 4);
        let condition = ours.condition.unwrap() / 10.0_f64.powi(exponent);
        assert!((0.1..100.0).contains(&condition), "1e{exponent}: {condition}");
        for arm in diagnose(&arms, &[(0, 1.0), (5, 2.0), (9, 3.0), (12, 4.0)]).arms {
            assert_near(arm.fit.unwrap().leverage, 1.0, 1e-13, "leverage");
        }
    }
}

/// A straight line through the origin at x = 1, 2, 4 with rewards 1 ± 1, 3 ± 1, 4 ± 1, worked out by hand:
/// θ̂ = (1 + 6 + 16)/21, pure error 6 on 3, lack of fit 2·(26 − 23²/21) on 2.
#[test]
fn a_line_by_hand() {
    let arms = Arms::from_rows(&[[1.0], [2.0], [4.0]]).unwrap();
    let ours = diagnose(&arms, &[(0, 0.0), (0, 2.0), (1, 2.0), (1, 4.0), (2, 3.0), (2, 5.0)]);
    let squares = 2.0 * (26.0 - 23.0_f64.powi(2) / 21.0);
    let lack = ours.lack_of_fit.unwrap();
    assert_near(lack.f, squares / 2.0 / 2.0, 1e-13, "F");
    assert_near(lack.p_value, (1.0 + 2.0 * lack.f / 3.0).powf(-1.5), 1e-13, "I_y(3/2, 1) = y^(3/2)");
    assert_eq!((lack.freedom, lack.misfit), ((2, 3), 0.0), "the noise explains all of it");
    assert_near(ours.replicates.unwrap().sigma, 2.0_f64.sqrt(), 1e-15, "σ");
    assert_near(ours.residuals.unwrap().sigma, ((6.0 + squares) / 5.0).sqrt(), 1e-13, "σ");
    assert_eq!(ours.design.unwrap(), DesignShape { dimension: 1, rank: 1, condition: Some(1.0) });
    let fit = ours.arms[2].fit.unwrap();
    assert_near(fit.leverage, 16.0 / 21.0, 1e-14, "h");
    assert_near(fit.mean, 4.0 * 23.0 / 21.0, 1e-14, "fit");
    let t = (4.0 - 92.0 / 21.0) / (2.0 * (1.0 - 16.0 / 21.0) / 2.0_f64).sqrt();
    assert_near(fit.test.unwrap().t, t, 1e-12, "t");
}

/// t is the difference from the fit without the arm, divided by its standard deviation.
#[test]
fn standardised_differences_are_those_of_a_fit_without_the_arm() {
    let (rows, rewards) = drawn(12, 3, 9);
    let arms = Arms::from_rows(&rows).unwrap();
    let whole = diagnose(&arms, &rewards);
    for arm in &whole.arms {
        let rest: Vec<(Arm, f64)> = rewards.iter().copied().filter(|reward| reward.0 != arm.arm).collect();
        let x = DMatrix::from_fn(rest.len(), 3, |i, j| rows[rest[i].0][j]);
        let y = DVector::from_iterator(rest.len(), rest.iter().map(|reward| reward.1));
        let inverse = (x.transpose() * &x).try_inverse().unwrap();
        let features = DVector::from_row_slice(&rows[arm.arm]);
        let predicted = (&inverse * x.transpose() * y).dot(&features);
        let variance = 1.0 / arm.pulls as f64 + features.dot(&(&inverse * &features));
        let t = (arm.mean - predicted) / (whole.replicates.unwrap().sigma * variance.sqrt());
        assert_near(arm.fit.unwrap().test.unwrap().t, t, 1e-9, "t");
    }
}

/// The mean of `level` plus noise that alternates, so that a mean of an even number of pulls is exact.
fn replicate(arm: Arm, pulls: usize, level: f64, noise: f64) -> impl Iterator<Item = (Arm, f64)> {
    (0..pulls).map(move |i| (arm, level + if i % 2 == 0 { noise } else { -noise }))
}

#[test]
fn each_conclusion() {
    let line: Vec<[f64; 1]> = (1..=6).map(|x| [f64::from(x)]).collect();
    let line = Arms::from_rows(&line).unwrap();
    let plain = Arms::without_features(2).unwrap();
    let wide = Arms::from_rows(&[[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]).unwrap();
    let of = |pulls: usize, noise: f64, mean: fn(f64) -> f64| -> Vec<(Arm, f64)> {
        (0..6).flat_map(|arm| replicate(arm, pulls, mean(arm as f64 + 1.0), noise)).collect()
    };
    let one_off: Vec<(Arm, f64)> =
        (0..6).flat_map(|arm| replicate(arm, 10, if arm == 0 { 2.5 } else { arm as f64 + 1.0 }, 1.0)).collect();
    let not_enough = Conclusion::NotEnoughData;
    for (arms, rewards, expected, sentence) in [
        (&line, of(10, 1.0, |x| 2.0 * x), Conclusion::Believable, "believable: the means lie no further from it than"),
        (
            &line,
            of(10, 1.0, |x| x * x),
            Conclusion::NotBelievable,
            "p = 5.9e-36, 6 arms disagree). That matters only to campaigns on `linear`",
        ),
        (
            &line,
            one_off,
            Conclusion::NotBelievable,
            "1 arm disagrees). That matters only to campaigns on `linear`: `mixed` learns what a line does not explain.",
        ),
        (&line, vec![], not_enough(MissingEvidence::Rewards), "there are no rewards yet."),
        (
            &line,
            replicate(2, 10, 1.0, 1.0).collect(),
            not_enough(MissingEvidence::Arms),
            "(1) would fit it; pull other arms too",
        ),
        (&line, of(1, 1.0, |x| x), not_enough(MissingEvidence::Replicates), "no arm was pulled twice"),
        (&line, of(3, 0.0, |x| x), not_enough(MissingEvidence::Noise), "the rewards of each arm are all the same"),
        (
            &line,
            of(2, 1.0, |x| x),
            not_enough(MissingEvidence::Power),
            "detected with a probability of only 0.25; measure more.",
        ),
        (
            &wide,
            vec![],
            Conclusion::AlwaysTrue,
            "the features of the 2 arms are linearly independent, so any means fit it.",
        ),
        (&plain, vec![(0, 1.0)], Conclusion::NoFeatures, "no linear model: every arm has to be measured."),
    ] {
        let ours = diagnose(arms, &rewards);
        assert_eq!(ours.conclusion, expected, "{ours}");
        let text = ours.to_string();
        assert!(text.contains(sentence) && text.ends_with('.') && !text.contains('\n'), "{text}");
        let model = match expected {
            Conclusion::NotBelievable => Some("mixed"),
            Conclusion::NoFeatures => Some("independent"),
            _ => None,
        };
        assert_eq!(ours.model(), model, "{text}");
    }
}

/// Without features the noise is still known.
#[test]
fn arms_without_features_have_a_noise_scale() {
    let ours = diagnose(&Arms::without_features(3).unwrap(), &[(0, 1.0), (0, 3.0), (2, 5.0)]);
    assert_eq!(ours.replicates.map(|scale| (scale.sigma, scale.freedom)), Some((2.0_f64.sqrt(), 1)));
    assert!(ours.features.is_none() && ours.design.is_none() && ours.residuals.is_none() && ours.lack_of_fit.is_none());
    assert_eq!(ours.arms.iter().map(|arm| (arm.arm, arm.mean)).collect::<Vec<_>>(), [(0, 2.0), (2, 5.0)]);
}

/// Few pulls, zero features and numbers at the limits give numbers, not NaN.
#[test]
fn unusual_data_give_finite_numbers() {
    let zeros = Arms::from_rows(&[[0.0, 0.0], [0.0, 0.0]]).unwrap();
    let ours = diagnose(&zeros, &[(0, 1.0), (0, 3.0), (1, -1.0)]);
    assert_eq!(ours.design.unwrap(), DesignShape { dimension: 2, rank: 0, condition: None });
    let lack = ours.lack_of_fit.unwrap();
    assert_near(lack.f, 9.0 / 2.0 / 2.0, 1e-15, "every mean is 0 by the model");

    let one = diagnose(&Arms::from_rows(&[[2.0]]).unwrap(), &[(0, 1.0)]);
    assert_eq!((one.conclusion, one.replicates, one.residuals), (Conclusion::AlwaysTrue, None, None));

    let line = Arms::from_rows(&[[1.0], [2.0], [3.0]]).unwrap();
    let most = [(0, 1e140), (0, -1e140), (1, 1e140), (1, 1e140), (2, -1e140), (2, -1e140)];
    let lack = diagnose(&line, &most).lack_of_fit.unwrap();
    assert!([lack.f, lack.p_value, lack.misfit, lack.power].iter().all(|value| value.is_finite()), "{lack:?}");
    let tiny = [(0, 1e-200), (0, -1e-200), (1, 1.0), (2, 2.0)];
    assert!(diagnose(&line, &tiny).lack_of_fit.is_none(), "noise below rounding does not count");

    let basis = Arms::from_rows(&[[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]]).unwrap();
    let ours = diagnose(&basis, &[(0, 5.0), (0, 6.0), (1, 1.0), (1, 2.0), (2, 3.0)]);
    assert_eq!(ours.arms[0].fit.unwrap().test, None, "the fit of the only arm of its kind is its own mean");
    assert!(ours.arms[1].fit.unwrap().test.is_some());
}

/// A campaign on this estimator with rewards of every arm, `n` each; its threshold is their mean.
fn observed(arms: &Arms, estimator: &str, n: usize, reward: impl Fn(usize, usize) -> f64) -> Diagnostics {
    let rewards = (0..n).flat_map(|pull| (0..arms.n_arms()).map(move |arm| (arm, pull)));
    let mean = rewards.map(|(arm, pull)| reward(arm, pull)).sum::<f64>() / (n * arms.n_arms()) as f64;
    let terms = Terms {
        rewards: None,
        ..Terms::new(
            Question::new(mean, 0.0).unwrap(),
            Spec::named("pivot").unwrap().with_estimator(estimator).unwrap(),
            1,
        )
    };
    let mut campaign = CampaignState::new(arms.clone(), terms).unwrap();
    assert!(campaign.diagnose().learnt.is_none(), "no rewards yet");
    for pull in 0..n {
        for arm in 0..arms.n_arms() {
            campaign.observe(arm, reward(arm, pull), false, 0).unwrap();
        }
    }
    campaign.diagnose()
}

/// 40 arms with one feature, and numbers between −1 and 1 that have nothing to do with it.
fn feature_and_scatter() -> (Arms, impl Fn(usize) -> f64) {
    let rows: Vec<[f64; 1]> = (0..40).map(|i| [f64::from(i)]).collect();
    let scatter =
        |i: usize| f64::from(stream(1, Purpose::Noise, i as u64).next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0;
    (Arms::from_rows(&rows).unwrap(), scatter)
}

/// On a line that does not pass through the origin: a campaign's test has an intercept, that of its raw features has none.
#[test]
fn campaigns_are_diagnosed_as_they_prepare_features() {
    let (arms, scatter) = feature_and_scatter();
    let reward = |arm: usize, pull: usize| 50.0 + 0.3 * arm as f64 + scatter(arm + 40 * pull);
    let mixed = observed(&arms, "mixed", 8, reward);
    assert_eq!((mixed.conclusion, mixed.features.unwrap().dimension), (Conclusion::Believable, 2));
    let learnt = mixed.learnt.unwrap();
    assert!(learnt.explained.linear > 0.9 && (0.4..0.75).contains(&learnt.noise), "{learnt:?}");
    assert_eq!(mixed.model(), Some("linear"));
    assert!(mixed.to_string().ends_with(" A campaign on `linear` would do as well as one on `mixed`."), "{mixed}");
    let raw = observed(&arms, "ridge", 8, reward);
    assert_eq!((raw.conclusion, raw.features.unwrap().dimension), (Conclusion::NotBelievable, 1));
    assert!(raw.learnt.is_none());
}

/// Means that have nothing to do with the feature: the advice is what the numbers support, measurements.
#[test]
fn features_that_say_little() {
    let (arms, scatter) = feature_and_scatter();
    let ours = observed(&arms, "mixed", 8, |arm, pull| 2.0 * scatter(arm + 5000) + 0.5 * scatter(arm + 40 * pull));
    let learnt = ours.learnt.unwrap();
    assert!(learnt.explained.features() < 0.3, "{learnt:?}");
    assert!((0.7..2.2).contains(&learnt.spread), "{learnt:?}");
    let text = ours.to_string();
    let end = format!("about {} measurement", learnt.pulls_per_arm());
    assert!(text.contains("That matters only to campaigns on `linear`"), "{text}");
    assert!(
        text.contains(" The features say little about these arms. What they do not explain has a spread of "),
        "{text}"
    );
    assert!(text.contains(&end) && text.ends_with(" of an arm bring its error to half of that."), "{text}");
    assert_eq!(ours.model(), Some("mixed"));
}

/// σ = 3 and an own spread of √0.25 · 4 = 2: the error of nine measurements is 1, half of that.
#[test]
fn measurements_per_arm() {
    let explained = Explained { linear: 0.5, smooth: 0.25, own: 0.25 };
    let learnt = LearntModel { explained, noise: 3.0, spread: 4.0 };
    assert_eq!((learnt.own_spread(), learnt.pulls_per_arm()), (2.0, 9.0));
    assert_eq!(LearntModel { noise: 0.1, ..learnt }.pulls_per_arm(), 1.0);
}

/// One-way analysis of variance: `f_oneway` of `scipy.stats` has p = 0.87 for the first rewards and p = 8.6e-5 for the second ones. With two rewards per
/// arm, differences as large as the noise are found with a probability of 0.14 only (`ncf.sf`), so nothing is said.
#[test]
fn arms_differ_or_not() {
    let first = [4.1, 3.7, 4.4, 3.9, 4.2, 3.6];
    let last = [3.9, 4.2, 4.0, 3.5, 4.4, 3.7];
    let differ = |second: [f64; 6], pulls: usize| {
        let mut rewards = RewardStats::new(&Arms::without_features(4).unwrap());
        for (arm, of_arm) in [first, second, last].iter().enumerate() {
            of_arm[..pulls].iter().for_each(|&reward| rewards.tell(arm, reward));
        }
        rewards.differ()
    };
    let (equal, higher) = ([4.0, 4.3, 3.5, 4.4, 3.8, 4.3], [4.9, 5.2, 4.4, 5.0, 4.7, 5.1]);
    assert_eq!((differ(equal, 6), differ(higher, 6)), (Some(false), Some(true)));
    assert_eq!((differ(equal, 2), differ(equal, 1)), (None, None));
}
