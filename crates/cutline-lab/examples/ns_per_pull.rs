//! Nanoseconds per pull on one thread, for the cases and in the format of `benches/peers/linear_apt_peers.py`, and of
//! `benches/peers/mixed_peer.py` for the name `mixed`, which is Pivot on the mixed model; those of `benches/peers/index_peers.py` for
//! algorithms on sample means.
//!
//! `cargo run --release --package cutline-lab --example ns_per_pull -- linear-apt pivot mixed apt lsa`
//!
//! With `--case N --runs R` it plays R runs of one case only, for tools that count instructions.

use cutline::{Arms, EstimatorKind, Purpose, algorithm, stream};
use cutline_lab::{CustomInstances, Experiment, Extensions, Overrides, SimulateOptions, Truth, simulate};
use rand::RngExt as _;
use rand_distr::StandardNormal;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// K, d, T and the number of runs.
type Case = (usize, usize, u32, u64);

const CASES: [Case; 4] = [(20, 5, 200, 10_000), (20, 20, 200, 10_000), (150, 4, 400, 2_000), (178, 13, 400, 2_000)];

/// Cases without features.
const MEAN_CASES: [Case; 2] = [(10, 0, 1_000, 2_000), (100, 0, 1_000, 1_000)];

const MIXED_CASES: [Case; 3] = [(150, 4, 300, 40), (442, 10, 884, 16), (2_000, 16, 4_000, 2)];

fn main() -> Result<(), Box<dyn Error>> {
    let mut names = Vec::new();
    let (mut only_case, mut n_runs) = (None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--case" => only_case = Some(arguments.next().ok_or("--case takes a number")?.parse::<usize>()?),
            "--runs" => n_runs = Some(arguments.next().ok_or("--runs takes a number")?.parse::<u64>()?),
            _ => names.push(argument),
        }
    }
    for name in &names {
        let cases: &[Case] = match name.as_str() {
            "mixed" => &MIXED_CASES,
            name if has_sample_means(name) => &MEAN_CASES,
            _ => &CASES,
        };
        for (case, &(n_arms, dimension, budget, runs)) in cases.iter().enumerate() {
            if only_case.is_none_or(|only| only == case) {
                play(name, (n_arms, dimension, budget, n_runs.unwrap_or(runs)))?;
            }
        }
    }
    Ok(())
}

/// Whether this is an algorithm on sample means.
fn has_sample_means(name: &str) -> bool {
    algorithm(name).is_some_and(|algorithm| algorithm.estimator == EstimatorKind::SampleMean)
}

/// Plays the runs of one case and prints a line.
fn play(name: &str, (n_arms, dimension, budget, runs): Case) -> Result<(), Box<dyn Error>> {
    let extensions = Extensions { instances: Some(Arc::new(Blend { n_arms, dimension })), ..Extensions::default() };
    let file = file(name, n_arms, dimension, budget);
    let experiment = Experiment::read(&file, "bench", Path::new(""), Overrides::default(), &extensions)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let start = Instant::now();
    let tally = pool.install(|| simulate(&experiment, 0..runs, SimulateOptions::default()))?.tally;
    let ns = start.elapsed().as_secs_f64() / (runs * u64::from(budget)) as f64 * 1e9;
    let cell = tally.cell(0, 0);
    let (rate, wrong) = (cell.failures as f64 / runs as f64, cell.errors as f64 / runs as f64);
    println!(
        r#"{{"peer": "{name}", "arms": {n_arms}, "dimension": {dimension}, "budget": {budget}, "runs": {runs}, "ns_per_pull": {ns:.1}, "failure_rate": {rate:.4}, "wrong_arms": {wrong:.2}}}"#
    );
    Ok(())
}

fn file(name: &str, n_arms: usize, dimension: usize, budget: u32) -> String {
    let (instance, algorithm) = if name == "mixed" {
        ("kind = \"own\"".to_owned(), "name = \"pivot\"\nestimator = \"mixed\"".to_owned())
    } else if dimension == 0 {
        let means: Vec<f64> = (0..n_arms).map(|arm| if arm % 2 == 0 { -1.0 } else { 1.0 }).collect();
        (format!("kind = \"means\"\nmeans = {means:?}"), format!("name = \"{name}\""))
    } else {
        let instance = format!("kind = \"uniform\"\nn_arms = {n_arms}\ndimension = {dimension}");
        (instance, format!("name = \"{name}\""))
    };
    format!(
        r"
        budgets = [{budget}]
        threshold = 0.0
        precision = 0.01
        seed = 1
        [instance]
        {instance}
        [[algorithm]]
        {algorithm}
        "
    )
}

/// Means of variance 1: half of it linear in the features, a quarter smooth, a quarter the arms' own. The features are uniform on
/// [−1, 1].
#[derive(Debug)]
struct Blend {
    n_arms: usize,
    dimension: usize,
}

impl CustomInstances for Blend {
    fn draw(&self, seed: u64) -> Truth {
        let mut rng = stream(seed, Purpose::Instance, 0);
        let d = self.dimension;
        let values: Vec<f64> = (0..self.n_arms * d).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect();
        let theta: Vec<f64> = (0..d).map(|_| rng.sample(StandardNormal)).collect();
        let norm = theta.iter().map(|t| t * t).sum::<f64>().sqrt();
        let mean = |x: &[f64]| {
            let linear = x.iter().zip(&theta).map(|(x, t)| x * t).sum::<f64>() / norm;
            let own: f64 = rng.sample(StandardNormal);
            1.5_f64.sqrt() * linear + 0.5_f64.sqrt() * (std::f64::consts::PI * x[d - 1]).cos() + 0.5 * own
        };
        let means = values.chunks_exact(d).map(mean).collect();
        Truth::Means(Arms::from_slice(&values, d).expect("finite features"), means)
    }
}
