//! Good arm identification against a public program and an independent one: after how many pulls the first, second, … arm above is reported,
//! and all arms are. Bernoulli rewards, σ = ½, δ = 0.05.
//!
//! The public numbers are those of github.com/lzt68/Online-Learning-Implementation, which counts one pull too many, so 1 is subtracted; both
//! come from 1,000 runs. Seeds are fixed. A tolerance is 4.9 standard errors of the difference, so that a correct program would fail a
//! comparison for one seed in 10⁶; there are 73.
//!
//! `cargo test --release --package cutline-lab --test good_arms -- --ignored --nocapture` plays 1,000 runs and prints z of every number.

use cutline::{Arms, Purpose, Question, Spec, StopReason, stream};
use cutline_lab::{Noise, NoiseKind};
use rayon::prelude::*;

/// The runs behind the numbers to compare with.
const OTHERS: f64 = 1_000.0;

/// Setting 1: τ = ½. Setting 2: τ = 0.35.
const SETTINGS: [(&[f64], f64); 2] =
    [(&[0.1, 0.1, 0.1, 0.35, 0.45, 0.55, 0.65, 0.9, 0.9, 0.9], 0.5), (&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 0.35)];

/// The setting, the algorithm, ε and T₀ of lil'HDoC, and the pulls at each output and at the end: by the public program less 1, and by the independent one.
type Row = (usize, &'static str, Option<(f64, f64)>, &'static [f64], &'static [f64]);

const ROWS: &[Row] = &[
    (0, "hdoc", None, &[111.7, 147.3, 181.3, 727.0, 5578.0, 10280.5], &[110.8, 145.0, 179.5, 719.9, 5526.0, 10230.0]),
    (0, "lucb-g", None, &[126.2, 161.8, 193.6, 813.0, 5789.0, 10230.0], &[127.6, 163.7, 194.6, 802.6, 5717.0, 10224.0]),
    (
        0,
        "apt-g",
        None,
        &[6124.0, 6331.0, 6532.0, 8273.0, 10188.0, 10266.0],
        &[6118.0, 6319.0, 6529.0, 8327.0, 10226.0, 10315.0],
    ),
    (1, "hdoc", None, &[229.1, 679.5, 5272.0, 9928.0], &[226.5, 694.0, 5388.0, 10069.0]),
    (1, "lucb-g", None, &[258.1, 749.6, 5504.0, 9946.0], &[258.6, 751.7, 5627.0, 10062.0]),
    (1, "apt-g", None, &[6812.0, 7905.0, 9873.0, 9957.0], &[6919.0, 7973.0, 9962.0, 10044.0]),
    (0, "lil-hdoc", Some((0.01, 1.0)), &[], &[161.6, 206.5, 245.6, 849.0, 5153.0, 9603.0]),
    (0, "lil-hdoc", Some((0.01, 1323.0)), &[], &[13227.0, 13228.0, 13229.0, 13230.0, 16046.0, 18873.0]),
    (0, "lil-hdoc", Some((0.1, 1.0)), &[], &[f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN, 11250.0]),
];

fn spec(name: &str, parameters: Option<(f64, f64)>) -> Spec {
    let spec = Spec::named(name).unwrap().with("noise", 0.5).unwrap();
    match parameters {
        None => spec,
        Some((epsilon, opening)) => spec.with("epsilon", epsilon).unwrap().with("opening", opening).unwrap(),
    }
}

/// The pulls at each output and at the end; panics if an arm is on the wrong side.
fn play(spec: &Spec, (means, threshold): (&[f64], f64), run: u64) -> Vec<f64> {
    let arms = Arms::without_features(means.len()).unwrap();
    let question = Question::new(threshold, 0.0).unwrap();
    let mut learner = spec.learner(&arms, question, 1_000_000, run).unwrap();
    let noise = Noise::new(NoiseKind::Bernoulli, 1.0).unwrap();
    let (mut rng, mut variates) = (stream(5, Purpose::Noise, run), [0.0; 1024]);
    while learner.stop_reason().is_none() {
        noise.draw(&mut rng, &mut variates);
        for variate in variates {
            let Some(arm) = learner.ask() else { break };
            learner.tell(arm, noise.reward(means[arm], variate)).unwrap();
        }
    }
    assert_eq!(learner.stop_reason(), Some(StopReason::Settled));
    for (arm, &mean) in means.iter().enumerate() {
        assert_eq!(learner.beliefs().is_above(arm), mean >= threshold, "run {run}, arm {arm}");
    }
    let end = learner.beliefs().total_pulls as f64;
    let outputs = learner.settled().in_order().iter().filter(|settled| settled.is_above);
    outputs.map(|settled| settled.after as f64).chain([end]).collect()
}

/// Plays all rows and calls `check` with a description, our number, the other and z, for every number.
fn compare(runs: u64, mut check: impl FnMut(String, f64, f64, f64)) {
    for &(setting, name, parameters, public, independent) in ROWS {
        let spec = spec(name, parameters);
        let times: Vec<Vec<f64>> = (0..runs).into_par_iter().map(|run| play(&spec, SETTINGS[setting], run)).collect();
        for (kind, numbers) in [("public", public), ("independent", independent)] {
            for (position, &theirs) in numbers.iter().enumerate().filter(|(_, number)| !number.is_nan()) {
                let n = runs as f64;
                let ours = times.iter().map(|times| times[position]).sum::<f64>() / n;
                let variance = times.iter().map(|times| (times[position] - ours).powi(2)).sum::<f64>() / (n - 1.0);
                let digit = if theirs < 1000.0 { 0.05 } else { 0.5 };
                let z =
                    ((ours - theirs).abs() - digit).max(0.0) / (variance * (1.0 / n + 1.0 / OTHERS)).sqrt().max(1e-9);
                let what = format!("setting {}, {name}, {parameters:?}, number {}, {kind}", setting + 1, position + 1);
                check(what, ours, theirs, z.copysign(ours - theirs));
            }
        }
    }
}

#[test]
fn outputs_come_when_two_other_programs_say() {
    let mut n_numbers = 0;
    compare(100, |what, ours, theirs, z| {
        assert!(z.abs() <= 4.9, "{what}: {ours} against {theirs}, z = {z}");
        n_numbers += 1;
    });
    assert_eq!(n_numbers, 73);
}

/// The three rules of Kano et al. settle arms by the same test, so they end after about as many pulls: 4.9 standard errors.
#[test]
fn all_rules_end_after_about_as_many_pulls() {
    let ends = ["hdoc", "lucb-g", "apt-g"].map(|name| {
        let spec = spec(name, None);
        let ends: Vec<f64> =
            (0..100).into_par_iter().map(|run| *play(&spec, SETTINGS[1], run).last().unwrap()).collect();
        let mean = ends.iter().sum::<f64>() / 100.0;
        (mean, ends.iter().map(|end| (end - mean).powi(2)).sum::<f64>() / 99.0 / 100.0)
    });
    for (mean, variance) in ends {
        assert!((mean - ends[0].0).abs() <= 4.9 * (variance + ends[0].1).sqrt(), "{ends:?}");
    }
}

#[test]
#[ignore = "minutes"]
fn every_number() {
    compare(1_000, |what, ours, theirs, z| println!("{what}: {ours:.1} against {theirs}, z = {z:.2}"));
}
