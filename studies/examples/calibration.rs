//! How honest verdicts are in worlds where the model is wrong: the table of `docs/verdicts.md`.
//!
//! `cargo run --release --package cutline-studies --example calibration -- [SEEDS] [WORLD …]`

use cutline_studies::worlds::{Honesty, World, default_terms, judge};
use std::error::Error;
use std::io::Write as _;

const BUDGETS: [f64; 3] = [0.5, 1.0, 3.0];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().map_or(Ok(20), |seeds| seeds.parse())?;
    let names: Vec<String> = arguments.collect();
    println!(
        "| world | T | decided | of these wrong | wrong calls | expected | ratio | doubts < .01 wrong | < .001 wrong | coverage |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for world in World::ALL.iter().filter(|world| names.is_empty() || names.iter().any(|name| name == world.name)) {
        for (budget, campaigns) in BUDGETS.iter().zip(judge(world, default_terms, &BUDGETS, 1000..1000 + seeds)) {
            let mut all = Honesty::default();
            for campaign in &campaigns {
                all.add(campaign);
            }
            let n = campaigns.len() as f64;
            let share = |(number, wrong): (f64, f64)| {
                if number > 0.0 { format!("{:.2} % of {number:.0}", 100.0 * wrong / number) } else { "–".into() }
            };
            println!(
                "| {} | {budget}K | {:.1} | {:.1} % ± {:.1} | {:.1}, {} | {:.2} ± {:.2} | {:.2} | {:.2} | {} | {} | {:.3} |",
                world.name,
                all.decided / n,
                100.0 * all.decided_wrong / all.decided.max(1.0),
                100.0 * ratio_error(&campaigns, all.decided_wrong / all.decided.max(1.0), all.decided),
                all.proved / n,
                all.proved_wrong,
                all.wrong / n,
                deviation(campaigns.iter().map(|c| c.wrong)) / n.sqrt(),
                all.doubts / n,
                all.doubts / all.wrong,
                share(all.small[0]),
                share(all.small[1]),
                all.covered / all.verdicts,
            );
            std::io::stdout().flush()?;
        }
    }
    Ok(())
}

/// The standard error, over campaigns, of the share of decided calls that are wrong.
fn ratio_error(campaigns: &[Honesty], share: f64, decided: f64) -> f64 {
    let squares: f64 = campaigns.iter().map(|c| (c.decided_wrong - share * c.decided).powi(2)).sum();
    squares.sqrt() / decided.max(1.0)
}

fn deviation(values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let n = values.len() as f64;
    let mean = values.clone().sum::<f64>() / n;
    (values.map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt()
}
