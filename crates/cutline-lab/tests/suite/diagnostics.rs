//! How often diagnostics raise false alarms, and how often they detect a departure from the linear model.
//!
//! Seeds are fixed. A rate is compared with a tolerance of 4.9 standard errors, and the greatest distance of p-values from
//! uniform with √(ln(2·10⁶)/2N) (Massart 1990), so that a correct program would fail a comparison for one seed in 10⁶.

use cutline::diagnostics::{Conclusion, Diagnostics, LEVEL, RewardStats};
use cutline::{Arm, Arms, Purpose, Question, Rng, Spec, stream};
use rand::RngExt as _;
use rand_distr::StandardNormal;

const DATA_SETS: u64 = 4_000;

/// How often each arm is pulled.
type Pulls = fn(Arm) -> usize;

fn normal(rng: &mut Rng) -> f64 {
    rng.sample(StandardNormal)
}

/// Arms with standard normal features.
fn drawn(n_arms: usize, dimension: usize) -> Arms {
    let mut rng = stream(1, Purpose::Instance, (n_arms * dimension) as u64);
    let values: Vec<f64> = (0..n_arms * dimension).map(|_| normal(&mut rng)).collect();
    Arms::from_slice(&values, dimension).unwrap()
}

/// The diagnostics after `pulls(arm)` rewards per arm.
fn diagnose_any(
    arms: &Arms,
    pulls: impl Fn(Arm) -> usize,
    reward: impl Fn(Arm, &mut Rng) -> f64,
    index: u64,
) -> Diagnostics {
    let mut rng = stream(2, Purpose::Noise, index);
    let mut stats = RewardStats::new(arms);
    for arm in 0..arms.n_arms() {
        for _ in 0..pulls(arm) {
            stats.tell(arm, reward(arm, &mut rng));
        }
    }
    stats.diagnose()
}

/// The diagnostics after `pulls(arm)` rewards per arm, N(means, 3²).
fn diagnose(arms: &Arms, means: &[f64], pulls: impl Fn(Arm) -> usize, index: u64) -> Diagnostics {
    diagnose_any(arms, pulls, |arm, rng| means[arm] + 3.0 * normal(rng), index)
}

fn assert_rate(hits: usize, n: usize, rate: f64, what: &str) {
    let error = (rate * (1.0 - rate) / n as f64).sqrt();
    let ours = hits as f64 / n as f64;
    assert!((ours - rate).abs() <= 4.9 * error, "{what}: {ours} against {rate} ± {error}");
}

fn assert_at_most(hits: usize, n: usize, rate: f64, what: &str) {
    let error = (rate * (1.0 - rate) / n as f64).sqrt();
    let ours = hits as f64 / n as f64;
    assert!(ours <= rate + 4.9 * error, "{what}: {ours} against {rate} ± {error}");
}

fn assert_uniform(mut p_values: Vec<f64>, what: &str) {
    let n = p_values.len() as f64;
    p_values.sort_by(f64::total_cmp);
    let off = |(i, p): (usize, &f64)| (p - i as f64 / n).max((i + 1) as f64 / n - p);
    let most = p_values.iter().enumerate().map(off).fold(0.0, f64::max);
    assert!(most <= (2e6_f64.ln() / (2.0 * n)).sqrt(), "{what}: {most} off uniform");
}

/// Checks that the documentation has this row, if `make docs-check` asks for it.
fn assert_documented(cells: &[String]) {
    if std::env::var_os("CUTLINE_CHECK_DOCS").is_none() {
        return;
    }
    let row = format!("| {} |", cells.join(" | "));
    assert!(include_str!("../../../../docs/diagnostics.md").contains(&row), "docs/diagnostics.md lacks\n{row}");
}

fn percent(hits: usize, n: usize) -> String {
    format!("{:.1} %", 100.0 * hits as f64 / n as f64)
}

fn alarms(all: &[Diagnostics]) -> usize {
    all.iter().filter(|one| one.conclusion == Conclusion::NotBelievable).count()
}

fn by_f(all: &[Diagnostics]) -> usize {
    all.iter().filter(|one| one.lack_of_fit.unwrap().p_value <= LEVEL / 2.0).count()
}

fn by_arms(all: &[Diagnostics]) -> usize {
    all.iter().filter(|one| one.disagreeing().next().is_some()).count()
}

/// Means that are linear in the features.
fn linear(arms: &Arms) -> Vec<f64> {
    let theta: Vec<f64> = (0..arms.dimension().unwrap()).map(|j| 1.0 - 0.6 * j as f64).collect();
    arms.times(&theta).unwrap()
}

/// Linear means and a departure that no linear model explains, `misfit` in the root mean square over arms.
fn bent(arms: &Arms, misfit: f64) -> Vec<f64> {
    let mut rng = stream(4, Purpose::Instance, 0);
    let mut stats = RewardStats::new(arms);
    (0..arms.n_arms()).for_each(|arm| stats.tell(arm, normal(&mut rng)));
    let off: Vec<f64> = stats.diagnose().arms.iter().map(|arm| arm.mean - arm.fit.unwrap().mean).collect();
    let length = (off.iter().map(|off| off * off).sum::<f64>() / off.len() as f64).sqrt();
    linear(arms).iter().zip(off).map(|(mean, off)| mean + off * misfit / length).collect()
}

/// Linear means: p-values of F and of each arm are uniform, and the two tests together alarm in at most 5 % of data sets.
#[test]
fn linear_data_alarm_as_often_as_stated() {
    let dependent = |row: Vec<f64>| vec![row[0], row[1], row[0] - 2.0 * row[1]];
    let dependent: Vec<Vec<f64>> = (0..12).map(|arm| dependent(drawn(12, 2).row(arm).unwrap())).collect();
    let shapes: [(&str, Arms, Pulls); 4] = [
        ("20 arms, 5 features, 4 pulls each", drawn(20, 5), |_| 4),
        ("30 arms, 6 features, 0, 1, 2 or 9 pulls", drawn(30, 6), |arm| [0, 1, 2, 9][arm % 4]),
        ("10 arms, 3 features, one pulled twice", drawn(10, 3), |arm| 1 + usize::from(arm == 0)),
        ("12 arms, 3 features of rank 2, 1 to 3 pulls", Arms::from_rows(&dependent).unwrap(), |arm| 1 + arm % 3),
    ];
    for (what, arms, pulls) in shapes {
        let means = linear(&arms);
        let all: Vec<Diagnostics> = (0..DATA_SETS).map(|index| diagnose(&arms, &means, pulls, index)).collect();
        let (n, counts) = (all.len(), [by_f(&all), by_arms(&all), alarms(&all)]);
        assert_rate(counts[0], n, LEVEL / 2.0, &format!("{what}: F"));
        assert_at_most(counts[1], n, LEVEL / 2.0, &format!("{what}: arms"));
        assert_at_most(counts[2], n, LEVEL, &format!("{what}: either"));
        assert_uniform(all.iter().map(|one| one.lack_of_fit.unwrap().p_value).collect(), &format!("{what}: F"));
        for position in 0..3 {
            let p_value = |one: &Diagnostics| one.arms[position].fit.unwrap().test.unwrap().p_value;
            assert_uniform(all.iter().map(p_value).collect(), &format!("{what}: arm {position}"));
        }
        let [by_f, by_arms, alarms] = counts.map(|hits| percent(hits, n));
        assert_documented(&[what.into(), by_f, by_arms, alarms]);
    }
}

/// 20 arms, 5 features, 4 pulls each, and means that lie off the model by `misfit` σ: the F-test finds them as often as
/// `scipy.stats.ncf.sf(scipy.stats.f.isf(0.025, 15, 60), 15, 60, 80 * misfit**2)`, version 1.17, says.
#[test]
fn power_is_that_of_theory() {
    let arms = drawn(20, 5);
    for (misfit, power) in
        [(0.25, 0.11380261717962689), (0.5, 0.6176537793572118), (0.75, 0.9786595405952984), (1.0, 0.9999385094834945)]
    {
        let means = bent(&arms, 3.0 * misfit);
        let all: Vec<Diagnostics> = (0..DATA_SETS).map(|index| diagnose(&arms, &means, |_| 4, index)).collect();
        let n = all.len();
        assert_rate(by_f(&all), n, power, &format!("misfit {misfit}"));
        let mean = all.iter().map(|one| one.lack_of_fit.unwrap().misfit.powi(2)).sum::<f64>() / n as f64;
        if misfit == 1.0 {
            assert!((all[0].lack_of_fit.unwrap().power - power).abs() < 1e-9);
            assert!((mean / 9.0 - 1.0).abs() < 0.05, "the misfit is estimated without bias where it is large: {mean}");
        }
        assert_documented(&[format!("{misfit} σ"), percent(by_f(&all), n), percent(alarms(&all), n)]);
    }
}

/// One arm of 60 is off by 6 standard deviations of its mean: the test of that arm detects it more often than the F-test.
#[test]
fn one_arm_that_is_off_is_found() {
    let arms = drawn(60, 5);
    let mut means = linear(&arms);
    means[7] += 6.0 * 3.0 / 2.0;
    let all: Vec<Diagnostics> = (0..DATA_SETS / 4).map(|index| diagnose(&arms, &means, |_| 4, index)).collect();
    let n = all.len();
    let found = |one: &&Diagnostics| one.disagreeing().any(|arm| arm.arm == 7);
    let others = |one: &&Diagnostics| one.disagreeing().any(|arm| arm.arm != 7);
    let (found, others) = (all.iter().filter(found).count(), all.iter().filter(others).count());
    assert!(found > by_f(&all) && found as f64 > 0.9 * n as f64, "{found} by name, {} by F, of {n}", by_f(&all));
    assert!(others as f64 <= 0.05 * n as f64, "{others} of {n}");
    assert_documented(&[
        "one of 60 arms, by 6 deviations of its mean".into(),
        percent(by_f(&all), n),
        percent(alarms(&all), n),
    ]);
}

/// Linear means whose noise is not what the tests assume: the documentation states the false-alarm rates.
#[test]
fn other_noise() {
    let arms = drawn(20, 5);
    let means = linear(&arms);
    let most = means.iter().fold(0.0_f64, |most, mean| most.max(mean.abs()));
    // A column of ones, as success probabilities lie around ½ and not around 0.
    let rows: Vec<Vec<f64>> = (0..20).map(|arm| [arms.row(arm).unwrap(), vec![1.0]].concat()).collect();
    let probabilities = Arms::from_rows(&rows).unwrap();
    let bernoulli = |arm: Arm, rng: &mut Rng| f64::from(u8::from(rng.random_bool(0.5 + 0.4 * means[arm] / most)));
    let uneven = |arm: Arm, rng: &mut Rng| means[arm] + normal(rng) * if arm.is_multiple_of(4) { 3.0 } else { 1.0 };
    let heavy = |arm: Arm, rng: &mut Rng| means[arm] + normal(rng) / rng.random::<f64>().sqrt();
    let count = |arms: &Arms, reward: &dyn Fn(Arm, &mut Rng) -> f64| {
        let all: Vec<Diagnostics> = (0..DATA_SETS).map(|index| diagnose_any(arms, |_| 10, reward, index)).collect();
        (alarms(&all), all.len())
    };
    for (what, (alarms, n)) in [
        ("0 or 1, means 0.1 to 0.9", count(&probabilities, &bernoulli)),
        ("three times as large for every fourth arm", count(&arms, &uneven)),
        ("with heavy tails (normal/√uniform)", count(&arms, &heavy)),
    ] {
        assert_documented(&[what.into(), percent(alarms, n)]);
    }
}

/// Pulls chosen by an algorithm are not a fixed design, yet false alarms stay within the level.
#[test]
fn pulls_that_algorithms_choose() {
    let arms = drawn(20, 5);
    let question = Question::new(0.0, 0.1).unwrap();
    for name in ["apt", "linear-apt", "pivot"] {
        let play = |means: &[f64], index: u64| {
            let mut rng = stream(3, Purpose::Noise, index);
            let mut learner = Spec::named(name).unwrap().learner(&arms, question, 200, index).unwrap();
            let mut stats = RewardStats::new(&arms);
            while let Some(arm) = learner.ask() {
                let reward = means[arm] + normal(&mut rng);
                learner.tell(arm, reward).unwrap();
                stats.tell(arm, reward);
            }
            stats.diagnose()
        };
        let count = |means: &[f64]| alarms(&(0..1_000).map(|index| play(means, index)).collect::<Vec<_>>());
        let (false_alarms, detected) = (count(&linear(&arms)), count(&bent(&arms, 1.0)));
        assert_at_most(false_alarms, 1_000, LEVEL, name);
        assert!(detected > 900, "{name}: {detected}");
        assert_documented(&[format!("`{name}`"), percent(false_alarms, 1_000), percent(detected, 1_000)]);
    }
}
