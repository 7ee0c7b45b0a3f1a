//! The e-processes agree with integrals by `scipy`, and what holds at any time does.

use super::normal::NormalPrior;
use super::{Prediction, Proofs, RewardFamily, ln_level, student};
use crate::{Guarantee, Purpose, Question, RewardKind, stream};
use rand_core::Rng as _;

const UNBOUNDED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn numbers(noise: Option<f64>) -> RewardFamily {
    RewardFamily::new(RewardKind::Gaussian, UNBOUNDED, noise)
}

fn question(threshold: f64, precision: f64) -> Question {
    Question::new(threshold, precision).unwrap()
}

/// Tells the rewards of one arm.
fn tell(proofs: &mut Proofs, rewards: &[f64]) {
    for &reward in rewards {
        proofs.tell(0, reward);
    }
}

/// ln E of one arm after these rewards, without the protection from skewness.
fn ln_evidence(proofs: &mut Proofs, rewards: &[f64], is_above: bool) -> f64 {
    tell(proofs, rewards);
    proofs.evidence(0, is_above, Guarantee::Fdr).ln()
}

fn passes(n: usize, of: usize) -> Vec<f64> {
    (0..of).map(|i| f64::from(u8::from(i < n))).collect()
}

fn assert_near(ours: f64, theirs: f64, case: &str) {
    assert!((ours - theirs).abs() < 1e-7, "{case}: {ours} instead of {theirs}");
}

/// `scipy.integrate.quad` of likelihood ratio × `scipy.stats.beta.pdf`, version 1.17.
#[test]
fn pass_and_fail_agree_with_scipy() {
    let new = |threshold, precision| Proofs::new(1, question(threshold, precision), RewardFamily::PassFail);
    for (n, expected) in [(20, 3.14887162704157), (18, 0.3277757471379693), (3, -3.085242089304407)] {
        assert_near(ln_evidence(&mut new(0.8, 0.0), &passes(n, 20), true), expected, "above");
    }
    // The bar is τ + ε = 0.25.
    assert_near(ln_evidence(&mut new(0.2, 0.05), &passes(2, 20), false), 0.9690765079771879, "below");
    let mut predicted = new(0.8, 0.0);
    predicted.expect(0, Prediction::new(0.9, 0.05, 0.3).unwrap());
    assert_near(ln_evidence(&mut predicted, &passes(18, 20), true), 0.4307099266364036, "predicted");
}

/// As above, with `scipy.stats.gamma.pdf`.
#[test]
fn counts_agree_with_scipy() {
    let new = || Proofs::new(1, question(2.0, 0.0), RewardFamily::Count);
    assert_near(ln_evidence(&mut new(), &[3.0; 10], true), 1.439657941566449, "above");
    assert_near(ln_evidence(&mut new(), &[[0.0; 5], [2.4; 5]].concat(), false), 1.1565715061299373, "below");
    let mut predicted = new();
    predicted.expect(0, Prediction::new(3.0, 0.5, 1.0).unwrap());
    assert_near(ln_evidence(&mut predicted, &[3.0; 10], true), 1.6789566173006465, "predicted");
}

/// As above, with `scipy.stats.norm.pdf`; in units of σ = 2 around a threshold of 5.
#[test]
fn numbers_with_given_noise_agree_with_scipy() {
    let new = || Proofs::new(1, question(5.0, 0.0), numbers(Some(2.0)));
    assert_near(ln_evidence(&mut new(), &[6.6; 10], true), 2.395328171884311, "above");
    assert_near(ln_evidence(&mut new(), &[3.4; 10], false), 2.395328171884311, "below is its mirror image");
    for (m, c, s, expected) in [(0.7, 0.3, 8.0, 2.8623235808322263), (-0.4, 0.2, -3.0, -0.23975636652226953)] {
        let prior = NormalPrior { mean: m, deviation: c };
        assert_near(prior.ln_evidence(s, 10.0), expected, "predicted");
    }
}

/// The ratio of `scipy.stats.nct.pdf`, averaged over effect sizes by `scipy.integrate.quad`, and `scipy.stats.t.pdf`: t, n, m, c and ln E.
#[test]
fn the_anytime_t_agrees_with_scipy() {
    let table = [
        (2.5, 8.0, 0.0, 1.0, 1.7468216544559751),
        (-1.0, 8.0, 0.0, 1.0, -1.687082781076972),
        (6.0, 12.0, 0.0, 1.0, 6.776856946062229),
        (2.5, 8.0, 1.0, 0.4, 2.0476553566808247),
        (-1.0, 8.0, -0.5, 0.3, -0.36024266397388965),
        (3.0, 40.0, 0.5, 0.1, 3.93830704156284),
        (4.0, 3.0, 2.0, 0.7, 2.3480079501510005),
    ];
    for (t, n, mean, deviation, expected) in table {
        let t: f64 = t;
        let b = t * (n / (n - 1.0 + t * t)).sqrt();
        let prior = NormalPrior { mean, deviation };
        assert_near(student::ln_evidence_of(prior, b, n), expected, &format!("t = {t}, m = {mean}"));
        // The closed form for m = 0 is the limit of the integral.
        let nearly = NormalPrior { mean: 1e-12, deviation };
        let centred = NormalPrior { mean: 0.0, deviation };
        assert_near(student::ln_evidence_of(nearly, b, n), student::ln_evidence_of(centred, b, n), "m = 0");
    }
}

/// With both ends, pass and fail are bets too: one pass at the bar ½ multiplies the stake on the share θ by 1 + θ.
#[test]
fn bets_do_not_depend_on_the_order_and_need_one_end() {
    let bounded = |range| RewardFamily::new(RewardKind::Gaussian, range, None);
    let evidence = |rewards: &[f64], is_above| {
        ln_evidence(&mut Proofs::new(1, question(0.5, 0.0), bounded((0.0, 1.0))), rewards, is_above)
    };
    let rewards = [0.9, 0.2, 0.75, 0.6, 1.0, 0.0];
    let reversed: Vec<f64> = rewards.iter().rev().copied().collect();
    assert_near(evidence(&rewards, true), evidence(&reversed, true), "reversed");
    let mirrored: Vec<f64> = rewards.iter().map(|reward| 1.0 - reward).collect();
    assert_near(evidence(&rewards, true), evidence(&mirrored, false), "mirrored");
    let shares: Vec<f64> = (0..20).map(|j| 0.995 * 0.74_f64.powi(j)).collect();
    let expected = shares.iter().map(|share| share * (1.0 + share)).sum::<f64>() / shares.iter().sum::<f64>();
    assert_near(evidence(&[1.0], true), expected.ln(), "one pass");
    // The lower end proves above. Below is left to the t, which is protected from skewness.
    let mut half_bounded = Proofs::new(1, question(0.5, 0.0), bounded((0.0, f64::INFINITY)));
    let again = ln_evidence(&mut half_bounded, &rewards, true);
    assert_near(again, evidence(&rewards, true), "the upper end does not matter");
    assert_eq!(half_bounded.evidence(0, false, Guarantee::Fdr), 1.0);
}

/// Ville's inequality at δ = 5 %: the evidence against the truth reaches 20 in at most 5 % of 2,000 runs of 300 rewards each with the mean at the bar. 135 of
/// them or more would be a false alarm in 1 of 2,400 cases if the probability were 5 %.
#[test]
fn a_side_is_proved_at_the_bar_in_at_most_five_percent() {
    type Case = (RewardFamily, f64, fn(f64, f64) -> f64);
    let families: [Case; 4] = [
        (RewardFamily::PassFail, 0.9, |u, _| f64::from(u8::from(u < 0.9))),
        (RewardFamily::new(RewardKind::Gaussian, (0.0, 1.0), None), 0.25, |u, v| u * v),
        (numbers(Some(1.0)), 0.0, |u, v| (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()),
        (numbers(None), 0.0, |u, v| (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()),
    ];
    for (position, (family, bar, draw)) in families.into_iter().enumerate() {
        let mut rng = stream(1, Purpose::Noise, position as u64);
        let mut uniform = || ((rng.next_u64() >> 11) as f64 + 0.5) * 2.0_f64.powi(-53);
        // Ten arms together, because the t needs the residuals of several.
        let (mut above, mut below) = (0, 0);
        for _ in 0..200 {
            let mut proofs = Proofs::new(10, question(bar, 0.0), family);
            for i in 0..3_000 {
                proofs.tell(i % 10, draw(uniform(), uniform()));
            }
            let level = ln_level(Guarantee::Each, 0.05, 10);
            above += (0..10).filter(|&arm| proofs.arms[arm].most[0] >= level).count();
            below += (0..10).filter(|&arm| proofs.arms[arm].most[1] >= level).count();
        }
        assert!(above < 135 && below < 135, "{family:?}: {above} above, {below} below");
        assert!(above + below > 10, "{family:?}: the test is not trivial");
    }
}

/// Skewed to the left, the t says *above* in a third of all cases where it is not protected; skewed to the right, *below*.
#[test]
fn the_t_is_protected_from_skewness() {
    let mut rng = stream(2, Purpose::Noise, 0);
    let mut exponential = || -(((rng.next_u64() >> 11) as f64 + 0.5) * 2.0_f64.powi(-53)).ln();
    let mut proofs = Proofs::new(10, question(0.0, 0.0), numbers(None));
    for i in 0..1_000 {
        proofs.tell(i % 10, 1.0 - exponential());
    }
    let [above, below] = proofs.cautions.map(|caution| caution.least_rewards);
    // γ = −2, so that 25 · 4 rewards are needed apart from the error of γ̂.
    assert!((70.0..200.0).contains(&above) && below < 5.0, "{above} and {below}");
    let level = ln_level(Guarantee::Each, 0.05, 10);
    let mut few = Proofs::new(1, question(0.0, 0.0), numbers(None));
    for i in 0..12 {
        few.tell(0, 3.0 + f64::from(i % 3));
    }
    assert_eq!((few.side_at(0, level), few.limit_at(0, level)), (None, Some(super::ProofLimit::Skew)));
}

/// Rewards in steps that happen to be equal say nothing about σ, so nothing is proved by them.
#[test]
fn equal_rewards_prove_nothing() {
    let mut proofs = Proofs::new(2, question(0.9, 0.0), numbers(None));
    for i in 0..80 {
        proofs.tell(i % 2, 1.0);
    }
    assert_eq!(proofs.sides(Guarantee::Each, 0.05), [None, None]);
    assert!(proofs.evidence(0, true, Guarantee::Fdr) <= 1.0);
}

#[test]
fn a_proof_stays_and_e_bh_uses_the_evidence_of_now() {
    let mut proofs = Proofs::new(1, question(0.5, 0.0), RewardFamily::PassFail);
    tell(&mut proofs, &passes(12, 12));
    assert_eq!(proofs.sides(Guarantee::Each, 0.05), [Some(true)]);
    let most = proofs.evidence(0, true, Guarantee::Each);
    tell(&mut proofs, &passes(0, 6));
    assert_eq!(
        (proofs.sides(Guarantee::Each, 0.05), proofs.sides(Guarantee::Fdr, 0.05)),
        (vec![Some(true)], vec![None])
    );
    assert_eq!(proofs.evidence(0, true, Guarantee::Each), most);
}

/// K = 4, δ = 0.1: one arm needs 40, two need 20 each, three 13.3, four 10.
#[test]
fn e_bh_by_hand() {
    let called = |evidence: [f64; 4]| super::proofs::e_bh(&evidence.map(f64::ln), 0.1);
    assert_eq!(called([39.0, 1.0, 1.0, 1.0]), [false; 4]);
    assert_eq!(called([1.0, 41.0, 19.0, 1.0]), [false, true, false, false]);
    assert_eq!(called([21.0, 1.0, 20.5, 0.0]), [true, false, true, false]);
    assert_eq!(called([11.0, 10.5, 12.0, 10.1]), [true; 4]);
}

/// The units of the rewards change no evidence.
#[test]
fn units_do_not_matter() {
    let rewards = [0.3, 1.2, -0.4, 2.2, 0.8, 0.9, 1.7];
    for (noise, range) in [(None, UNBOUNDED), (Some(1.5), UNBOUNDED), (None, (-3.0, 4.0))] {
        let evidence = |scale: f64, shift: f64| {
            let of = |x: f64| scale * x + shift;
            let family =
                RewardFamily::new(RewardKind::Gaussian, (of(range.0), of(range.1)), noise.map(|noise| scale * noise));
            let mut proofs = Proofs::new(1, question(of(0.2), 0.1 * scale), family);
            proofs.expect(0, Prediction::new(of(0.9), 0.4 * scale, scale).unwrap());
            tell(&mut proofs, &rewards.map(of));
            proofs.arms[0].now
        };
        let (ours, scaled) = (evidence(1.0, 0.0), evidence(1024.0, 4096.0));
        assert_near(ours[0], scaled[0], "above");
        assert_near(ours[1], scaled[1], "below");
    }
}
