//! What a plan predicts against what happens on real tables: the table of docs/planning.md.
//!
//! One column of a table is hidden and becomes the true means, the others are the features; σ is half of the means' standard deviation and
//! the threshold is their median. The plan with defaults knows the noise ratio and that half of the arms are above, and expects features
//! to explain 0.7 of the differences, whatever the table. The pilot is one measurement of every second arm.

use cutline::{Arms, Purpose, Question, Spec, stream};
use cutline_campaign::{Expectation, Goal, Pilot, Plan, PlannedCampaign, Prior, Terms};
use cutline_data::dataset;
use rand_distr::{Distribution, StandardNormal};
use std::path::Path;

const RUNS: u64 = 20;

struct Table {
    name: &'static str,
    arms: Arms,
    means: Vec<f64>,
    question: Question,
    noise: f64,
}

impl Table {
    fn new(name: &'static str, hidden: &str) -> Self {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
        let candidates = dataset::open(&data.join(format!("{name}.csv")), None).unwrap();
        let (d, column) = (candidates.columns().len(), candidates.columns().iter().position(|c| c == hidden).unwrap());
        let rows = candidates.features().chunks(d);
        let means: Vec<f64> = rows.clone().map(|row| row[column]).collect();
        let others = rows.flat_map(|row| row.iter().enumerate().filter(|(j, _)| *j != column).map(|(_, x)| *x));
        let arms = Arms::from_slice(&others.collect::<Vec<_>>(), d - 1).unwrap();
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let spread = (means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / n).sqrt();
        let mut ascending = means.clone();
        ascending.sort_unstable_by(f64::total_cmp);
        let median = ascending[means.len() / 2 - 1].midpoint(ascending[means.len() / 2]);
        let question = Question::new(median, 0.0).unwrap();
        Self { name, arms, means, question, noise: 0.5 * spread }
    }

    /// One measurement of every second arm.
    fn pilot(&self) -> Vec<(usize, f64)> {
        let mut rng = stream(11, Purpose::Noise, 0);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        (0..self.means.len()).step_by(2).map(|arm| (arm, self.means[arm] + self.noise * normal())).collect()
    }

    /// Wrong calls at each budget of the campaign that `cutline new` begins by default, in percent of the arms.
    fn wrong(&self, prior: Prior, noise: f64, budgets: &[u32]) -> Vec<f64> {
        let terms = Terms {
            rewards: None,
            ..Terms::new(self.question, Spec::named("pivot").unwrap().with_estimator("mixed").unwrap(), 1)
        };
        let plan = Plan {
            name: self.name.into(),
            arms: self.arms.clone(),
            question: self.question,
            noise,
            prior,
            campaigns: vec![PlannedCampaign { label: "pivot".into(), arms: self.arms.clone(), terms }],
            goal: Goal::WrongShare(0.05),
            batch: std::num::NonZeroU32::MIN,
            runs: RUNS,
            seed: 0,
        };
        let forecast = plan.forecast(budgets, &plan.play(budgets, 0..RUNS, &|_| ()).unwrap());
        let share = 100.0 / self.means.len() as f64;
        forecast.prospects.iter().map(|row| share * row.mean_errors).collect()
    }
}

#[test]
#[ignore = "`make docs-check`"]
fn predicted_and_real_wrong_calls_are_as_documented() {
    let mut lines = Vec::new();
    for (name, hidden) in [("iris", "petal_width"), ("wine", "alcohol"), ("diabetes", "progression")] {
        let table = Table::new(name, hidden);
        let k = u32::try_from(table.means.len()).unwrap();
        let budgets = [k / 2, k, 2 * k];
        let expected = Prior::expected(Expectation { spread: 2.0 * table.noise, ..Expectation::default() }).unwrap();
        let planned = table.wrong(expected, table.noise, &budgets);
        let real = table.wrong(Prior::known(table.means.clone(), Vec::new()), table.noise, &budgets);
        let pilot = Pilot::new(&table.arms, table.question, table.pilot(), None, 0).unwrap();
        let noise = pilot.noise();
        let planned_after = table.wrong(Prior::pilot(pilot), noise, &budgets);
        let real_after = table.wrong(Prior::known(table.means.clone(), table.pilot()), table.noise, &budgets);
        for (i, budget) in ["K/2", "K", "2K"].into_iter().enumerate() {
            lines.push(format!(
                "| {name} | {budget} | {:.1} % | {:.1} % | {:.1} % | {:.1} % |",
                planned[i], real[i], planned_after[i], real_after[i]
            ));
        }
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/planning.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = lines.join("\n");
    assert!(page.contains(&table), "the table of docs/planning.md should be\n{table}");
}
