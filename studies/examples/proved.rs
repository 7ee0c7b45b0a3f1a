//! How many rewards proofs take, and how often they are wrong: the tables of `docs/verdicts.md`.
use cutline::proof::{Prediction, RewardFamily};
use cutline_studies::proved::*;

fn main() {
    let runs = std::env::args().nth(1).map_or(Ok(2000), |runs| runs.parse()).expect("runs");
    let base = ProofSetting {
        law: RewardLaw::PassFail(0.5),
        family: RewardFamily::PassFail,
        threshold: 0.5,
        prediction: None,
        n_arms: 1,
        delta: 0.05,
        most_rewards: 5000,
    };
    for (rate, bar) in [(0.95, 0.8), (0.99, 0.9), (0.8, 0.9), (0.95, 0.9), (0.6, 0.5), (0.05, 0.2)] {
        let mut s = ProofSetting { law: RewardLaw::PassFail(rate), threshold: bar, ..base };
        let a = count_proofs(&s, runs, 0);
        s.family = RewardFamily::Number { range: (0.0, 1.0), noise: None };
        let b = count_proofs(&s, runs, 0);
        s.family = RewardFamily::PassFail;
        s.prediction = Prediction::new(rate, 0.05, 0.5);
        let c = count_proofs(&s, runs, 0);
        println!(
            "{rate}/{bar}: {:.1} bets {:.1} right {:.1}  {:?}",
            a.mean_rewards(),
            b.mean_rewards(),
            c.mean_rewards(),
            a
        );
    }
    for (name, noise) in [("known", Some(1.0)), ("t", None)] {
        for gap in [0.3, 0.5, 1.0, 2.0] {
            let g = ProofSetting {
                law: RewardLaw::Noise(gap, Noise::Normal),
                threshold: 0.0,
                family: numbers(noise),
                most_rewards: 3000,
                n_arms: if noise.is_none() { 50 } else { 1 },
                ..base
            };
            let r = runs / if noise.is_none() { 50 } else { 1 };
            let generic = count_proofs(&g, r, 0);
            let right = count_proofs(&ProofSetting { prediction: Prediction::new(gap, 0.3, 1.0), ..g }, r, 0);
            let wrong = count_proofs(&ProofSetting { prediction: Prediction::new(-gap, 0.3, 1.0), ..g }, r, 0);
            println!(
                "{name} {gap}: generic {:.1} right {:.1} wrong {:.1} (wrong sides {})",
                generic.mean_rewards(),
                right.mean_rewards(),
                wrong.mean_rewards(),
                generic.below
            );
        }
    }
}
