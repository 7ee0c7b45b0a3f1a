//! How many rewards it takes to prove a side, how often a proof is wrong, and what the stop `proved` costs: the tables of `docs/verdicts.md` and
//! `docs/stopping.md`.
//!
//! `cargo run --release --package cutline-studies --example proved -- [RUNS [TABLE]]`, with a table out of `rewards`, `errors` and `stop`

use cutline::EstimatorKind::{Mixed, Ridge, SampleMean};
use cutline::proof::{Prediction, RewardFamily};
use cutline_studies::proved::{Noise, ProofCount, ProofSetting, RewardLaw, count_proofs, numbers};
use cutline_studies::proved_stop::{Prover, StopSetting, measure};
use std::error::Error;

const BASE: ProofSetting = ProofSetting {
    law: RewardLaw::PassFail(0.5),
    family: RewardFamily::PassFail,
    threshold: 0.5,
    prediction: None,
    n_arms: 1,
    delta: 0.05,
    most_rewards: 6_000,
};

fn main() -> Result<(), Box<dyn Error>> {
    let runs: u64 = std::env::args().nth(1).map_or(Ok(2_000), |runs| runs.parse())?;
    let table = std::env::args().nth(2);
    let is_wanted = |name: &str| table.as_deref().is_none_or(|table| table == name);
    println!("δ = 0.05, {runs} repetitions per cell\n");
    if is_wanted("rewards") {
        rates(runs);
        ranges(runs);
        gaps(runs);
    }
    if is_wanted("errors") {
        errors_at_the_bar(runs);
        skewed_noise(runs);
    }
    if is_wanted("stop") {
        stop(runs.div_ceil(10))?;
    }
    Ok(())
}

/// The mean number of rewards of settings with a generic prior, a model that is right and one that is wrong about the side.
fn with_predictions(setting: &ProofSetting, gap: f64, deviation: f64, noise: f64, runs: u64) -> [f64; 3] {
    let at = |mean| ProofSetting { prediction: Prediction::new(mean, deviation, noise), ..*setting };
    let settings = [*setting, at(setting.threshold + gap), at(setting.threshold - gap)];
    settings.map(|setting| count_proofs(&setting, runs, 0).mean_rewards())
}

fn rates(runs: u64) {
    println!(
        "Mean rewards until proved, pass and fail\n\n| rate / bar | generic | right model | wrong model |\n|---|---|---|---|"
    );
    for (rate, bar) in [(0.95, 0.8), (0.99, 0.9), (0.8, 0.9), (0.95, 0.9), (0.6, 0.5), (0.05, 0.2)] {
        let setting = ProofSetting { law: RewardLaw::PassFail(rate), threshold: bar, ..BASE };
        let [generic, right, wrong] = with_predictions(&setting, rate - bar, 0.05, 0.4, runs);
        println!("| {rate} / {bar} | {generic:.0} | {right:.0} | {wrong:.0} |");
    }
    println!("\nCounts\n\n| rate / bar | generic |\n|---|---|");
    for (rate, bar) in [(3.0, 2.0), (1.5, 2.0), (0.1, 0.04), (0.01, 0.04), (105.0, 100.0)] {
        let setting = ProofSetting { law: RewardLaw::Count(rate), family: RewardFamily::Count, threshold: bar, ..BASE };
        println!("| {rate} / {bar} | {:.0} |", count_proofs(&setting, runs, 0).mean_rewards());
    }
}

fn ranges(runs: u64) {
    println!("\nNumbers between 0 and 1\n\n| rewards | bar | bets on the range | t |\n|---|---|---|---|");
    let range = RewardFamily::Number { range: (0.0, 1.0), noise: None };
    let laws = [
        ("pass rate 0.95", RewardLaw::PassFail(0.95), 0.8),
        ("beta, mean 0.6, σ 0.15", RewardLaw::Beta(0.6, 10.0), 0.5),
        ("beta, mean 0.6, σ 0.28", RewardLaw::Beta(0.6, 2.0), 0.5),
        ("beta, mean 0.52, σ 0.05", RewardLaw::Beta(0.52, 100.0), 0.5),
        ("beta, mean 0.95, σ 0.05", RewardLaw::Beta(0.95, 20.0), 0.9),
    ];
    for (name, law, threshold) in laws {
        let bounded = ProofSetting { law, family: range, threshold, ..BASE };
        let unbounded = ProofSetting { family: numbers(None), n_arms: 10, ..bounded };
        let cells = [count_proofs(&bounded, runs, 0), count_proofs(&unbounded, runs.div_ceil(10), 0)];
        let [bets, t] = cells.map(|count| count.mean_rewards());
        println!("| {name} | {threshold} | {bets:.0} | {t:.0} |");
    }
}

fn gaps(runs: u64) {
    println!(
        "\nNormal rewards; predictions are off by 0.3 σ at most\n\n| σ | gap | generic | right model | wrong model |\n|---|---|---|---|---|"
    );
    for (name, noise, n_arms) in [("given", Some(1.0), 1), ("unknown, K = 1", None, 1), ("unknown, K = 10", None, 10)] {
        for gap in [0.3, 0.5, 1.0, 2.0] {
            let law = RewardLaw::Noise(gap, Noise::Normal);
            let setting = ProofSetting { law, threshold: 0.0, family: numbers(noise), n_arms, ..BASE };
            let [generic, right, wrong] = with_predictions(&setting, gap, 0.3, 1.0, runs.div_ceil(n_arms as u64));
            println!("| {name} | {gap} | {generic:.1} | {right:.1} | {wrong:.1} |");
        }
    }
}

/// The share of arms that were proved to be above and below, in percent.
fn shares(count: &ProofCount) -> [f64; 2] {
    [count.above, count.below].map(|n| 100.0 * n as f64 / count.arms as f64)
}

fn errors_at_the_bar(runs: u64) {
    println!(
        "\nSides that are said with the mean at the bar, in % of arms, within 1,000 rewards\n\n| rewards | above | below |\n|---|---|---|"
    );
    let range = RewardFamily::Number { range: (0.0, 1.0), noise: None };
    let cells = [
        ("pass rate 0.9", RewardLaw::PassFail(0.9), RewardFamily::PassFail),
        ("pass rate 0.5", RewardLaw::PassFail(0.5), RewardFamily::PassFail),
        ("pass rate 0.02", RewardLaw::PassFail(0.02), RewardFamily::PassFail),
        ("counts, rate 0.1", RewardLaw::Count(0.1), RewardFamily::Count),
        ("counts, rate 5", RewardLaw::Count(5.0), RewardFamily::Count),
        ("beta, mean 0.3, in a range", RewardLaw::Beta(0.3, 5.0), range),
        ("pass rate 0.9, in a range", RewardLaw::PassFail(0.9), range),
        ("normal, σ given", RewardLaw::Noise(0.0, Noise::Normal), numbers(Some(1.0))),
    ];
    for (name, law, family) in cells {
        let setting = ProofSetting { law, family, threshold: law.mean(), most_rewards: 1_000, ..BASE };
        let [above, below] = shares(&count_proofs(&setting, runs, 0));
        println!("| {name} | {above:.1} | {below:.1} |");
    }
}

fn skewed_noise(runs: u64) {
    println!(
        "\nThe same for numbers with an unknown σ, within 800 rewards of each of K arms\n\n| noise | K = 1: above | below | K = 3: above | below | K = 10: above | below |\n|---|---|---|---|---|---|---|"
    );
    for &(name, noise) in Noise::ALL {
        let cells = [1, 3, 10].map(|n_arms| {
            let law = RewardLaw::Noise(0.0, noise);
            let setting =
                ProofSetting { law, threshold: 0.0, family: numbers(None), n_arms, most_rewards: 800, ..BASE };
            let [above, below] = shares(&count_proofs(&setting, runs.div_ceil(n_arms as u64), 0));
            format!("{above:.1} | {below:.1}")
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
}

fn stop(runs: u64) -> Result<(), Box<dyn Error>> {
    println!(
        "\nMeasurements until every side is proved, {runs} campaigns per cell; wrong campaigns; sides that are proved after a quarter of them\n"
    );
    println!("| rewards | K | model, rule | measurements | wrong | proved at a quarter |\n|---|---|---|---|---|---|");
    let normal =
        StopSetting { n_arms: 10, dimension: 3, linear: 0.7, gap: 0.25, rates: None, delta: 0.05, budget: 50_000 };
    let (rates, more) = (StopSetting { rates: Some(0.18), ..normal }, StopSetting { n_arms: 40, gap: 0.1, ..normal });
    for (name, setting) in [("normal, σ = 1", normal), ("rates", rates), ("normal, σ = 1", more)] {
        let baseline = measure(&setting, Prover::Elimination, runs, 1)?;
        let needed = baseline.pulls / baseline.runs;
        println!("| {name} | {} | elimination, σ known | {needed} | {} | |", setting.n_arms, baseline.wrong);
        for (estimator, rule, noise) in [
            (SampleMean, "easiest", None),
            (Mixed, "easiest", None),
            (Ridge, "easiest", None),
            (Mixed, "pivot", None),
            (SampleMean, "apt", None),
            (SampleMean, "easiest", Some(1.0)),
            (Mixed, "easiest", Some(1.0)),
        ] {
            if noise.is_some() && setting.rates.is_some() {
                continue;
            }
            let entrant = Prover::Campaign(estimator, rule, noise);
            let whole = measure(&setting, entrant, runs, 1)?;
            let budget = u32::try_from(needed / 4)?;
            let quarter = measure(&StopSetting { budget, ..setting }, entrant, runs, 1)?;
            let label = format!("{}, {rule}{}", estimator.name(), noise.map_or("", |_| ", σ given"));
            let (pulls, proved) = (whole.pulls as f64 / whole.runs as f64, quarter.proved as f64 / quarter.runs as f64);
            println!("| {name} | {} | {label} | {pulls:.0} | {} | {proved:.1} |", setting.n_arms, whole.wrong);
        }
    }
    Ok(())
}
