//! GrAPL on block models and level sets of a function with a kernel, against the numbers of an independent program: shares of wrong arms.

use cutline::{AskTell, Purpose, Rng, below, stream};
use cutline_lab::{Experiment, Instance, Oracle, SimulateOptions};
use rand::RngExt;
use rand_distr::StandardNormal;
use std::path::Path;

/// A mean and its standard error.
#[derive(Clone, Copy)]
struct Estimate(f64, f64);

impl Estimate {
    fn new(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Self(mean, (variance / n).sqrt())
    }

    /// Asserts that the expectations may be the same. The bound of 4 has a false-alarm rate of 7e-5 per number, 1.5e-3 for all of this file.
    fn agrees(self, reference: f64, error: f64, what: &str) {
        let z = (self.0 - reference) / self.1.hypot(error);
        println!("{what}: {:.5} ± {:.5}, reference {reference}, z = {z:.2}", self.0, self.1);
        assert!(z.abs() < 4.0, "{what}: {} ± {}, reference {reference}, z = {z}", self.0, self.1);
    }
}

/// Pulls up to `budget` arms that `choose` takes, or that the learner proposes; returns how many were pulled.
fn play(
    learner: &mut dyn AskTell,
    instance: &Instance,
    sigma: f64,
    budget: u32,
    rng: &mut Rng,
    choose: impl Fn(&mut dyn AskTell, &mut Rng) -> Option<usize>,
) -> u32 {
    for pull in 0..budget {
        let Some(arm) = choose(learner, rng) else { return pull };
        learner.assign(arm);
        learner.tell(arm, instance.means()[arm] + sigma * rng.sample::<f64, _>(StandardNormal)).unwrap();
    }
    budget
}

/// The share of arms on the wrong side, arms within `margin` of the threshold never being wrong.
fn wrong_share(learner: &mut dyn AskTell, instance: &Instance, margin: f64) -> f64 {
    let (threshold, means) = (instance.question().threshold(), instance.means());
    let mut beliefs = learner.beliefs();
    let is_wrong = |arm: &usize| {
        let distance = means[*arm] - threshold;
        distance.abs() > margin && beliefs.is_above(*arm) != (distance >= 0.0)
    };
    (0..means.len()).filter(is_wrong).count() as f64 / means.len() as f64
}

/// Block models of 100 nodes in two blocks, p = ln 50/50 within and p/√50 between them; means ±1, σ = 2, ρ = 0.001, ε = 0.01, T = 500.
#[test]
fn grapl_on_block_models() {
    let p = 50.0_f64.ln() / 50.0;
    for (gamma, grapl, error, random) in
        [(1.0, 0.01325, 0.00095, 0.0637), (10.0, 0.00720, 0.00061, 0.0412), (100.0, 0.00935, 0.00067, 0.237)]
    {
        let text = format!(
            "runs = 200\nbudgets = [500]\nthreshold = 0.0\nprecision = 0.01\nnoise = 2.0\n\
             [instance]\nkind = \"graph\"\nmodel = \"blocks\"\nn_arms = 100\np_in = {p}\np_cross = {}\n\
             [[algorithm]]\nname = \"grapl\"\ngamma = {gamma:?}\n",
            p / 50.0_f64.sqrt()
        );
        let experiment = Experiment::parse(&text, Path::new("")).unwrap();
        let mut shares = [Vec::new(), Vec::new()];
        for run in 0..200 {
            let instance = experiment.source().instance(run).unwrap();
            for (which, shares) in shares.iter_mut().enumerate() {
                let mut learner = experiment.entrants()[0].learner(&instance, 500, 0).unwrap();
                let mut rng = stream(7, Purpose::Noise, run);
                play(learner.as_mut(), &instance, 2.0, 500, &mut rng, |learner, rng| {
                    if which == 0 { learner.propose() } else { Some(below(rng, 100)) }
                });
                shares.push(wrong_share(learner.as_mut(), &instance, 0.0));
            }
        }
        let [ours, at_random] = shares.map(|shares| Estimate::new(&shares));
        ours.agrees(grapl, error, &format!("grapl, γ = {gamma}"));
        at_random.agrees(random, at_random.1, &format!("at random, γ = {gamma}"));
    }
}

/// f = sin 3πx + 0.3 cos 9x on 41 points, with the kernel exp(−(x − y)²/(2·0.15²)); τ = 0.2, σ = 0.3.
fn level_sets(budget: u32, precision: f64, algorithm: &str) -> Experiment {
    let f = |i: u32| {
        let x = f64::from(i) / 40.0;
        (3.0 * std::f64::consts::PI * x).sin() + 0.3 * (9.0 * x).cos()
    };
    let means: Vec<f64> = (0..41).map(f).collect();
    let text = format!(
        "runs = 200\nbudgets = [{budget}]\nthreshold = 0.2\nprecision = {precision:?}\nnoise = 0.3\n\
         [instance]\nkind = \"kernel\"\nkernel = \"rbf\"\nlength = 0.15\nn_arms = 41\nmeans = {means:?}\n\
         [[algorithm]]\n{algorithm}\nlambda = 0.09\n"
    );
    Experiment::parse(&text, Path::new("")).unwrap()
}

/// 200 runs each. The reference states one standard error, 0.0022 at T = 15; the others are taken to be as large as ours.
#[test]
fn level_sets_on_a_budget() {
    for (budget, precision, name, algorithm, reference) in [
        (15, 0.0, "variance", "name = \"straddle\"", 0.0551),
        (15, 0.0, "straddle", "name = \"straddle\"", 0.0420),
        (15, 0.0, "random-straddle", "name = \"random-straddle\"", 0.0443),
        (15, 0.1, "lse", "name = \"lse\"\nbeta = 9.0", 0.0426),
        (30, 0.0, "variance", "name = \"straddle\"", 0.0382),
        (30, 0.0, "straddle", "name = \"straddle\"", 0.0257),
        (30, 0.0, "random-straddle", "name = \"random-straddle\"", 0.0255),
        (30, 0.1, "lse", "name = \"lse\"\nbeta = 9.0", 0.0277),
    ] {
        let experiment = level_sets(budget, precision, algorithm);
        let instance = experiment.source().instance(0).unwrap();
        let shares: Vec<f64> = (0..200)
            .map(|run| {
                let mut learner = experiment.entrants()[0].learner(&instance, budget, run).unwrap();
                let mut rng = stream(11, Purpose::Noise, run);
                play(learner.as_mut(), &instance, 0.3, budget, &mut rng, |learner, _| {
                    if name != "variance" {
                        return learner.propose();
                    }
                    let beliefs = learner.beliefs();
                    let variances = beliefs.estimator.posterior().variances;
                    let most = variances.iter().copied().fold(0.0, f64::max);
                    variances.iter().position(|&variance| variance >= most * (1.0 - 1e-9))
                });
                wrong_share(learner.as_mut(), &instance, 0.0)
            })
            .collect();
        let ours = Estimate::new(&shares);
        ours.agrees(reference, ours.1, &format!("{name}, T = {budget}"));
    }
}

/// LSE until every arm is settled, 20 runs each: the numbers of pulls, and no arm further than ε from τ on the wrong side.
#[test]
fn lse_to_the_end() {
    for (parameter, pulls) in [("beta = 9.0", 114.0), ("delta = 0.05", 504.0)] {
        let experiment = level_sets(20_000, 0.1, &format!("name = \"lse\"\n{parameter}"));
        let instance = experiment.source().instance(0).unwrap();
        let (mut ends, mut wrong) = (Vec::new(), 0.0);
        for run in 0..20 {
            let mut learner = experiment.entrants()[0].learner(&instance, 20_000, run).unwrap();
            let mut rng = stream(13, Purpose::Noise, run);
            let end = play(learner.as_mut(), &instance, 0.3, 20_000, &mut rng, |learner, _| learner.propose());
            ends.push(f64::from(end));
            wrong += wrong_share(learner.as_mut(), &instance, 0.1);
        }
        let ours = Estimate::new(&ends);
        ours.agrees(pulls, ours.1, &format!("LSE to the end, {parameter}"));
        assert_eq!(wrong, 0.0, "{parameter}");
    }
}

/// An experiment with this table `[instance]` and this algorithm.
fn file(instance: &str, algorithm: &str) -> Result<Experiment, String> {
    let text = format!("budgets = [9]\nthreshold = 0.0\n[instance]\n{instance}\n[[algorithm]]\n{algorithm}\n");
    Experiment::parse(&text, Path::new("")).map_err(|error| error.to_string())
}

#[test]
fn kernels_and_graphs_in_files() {
    let directory = tempfile::tempdir().unwrap();
    let edges = directory.path().join("edges.csv");
    std::fs::write(&edges, "from,to\n0,1\n2,1\n").unwrap();
    let edges = edges.display();
    for (instance, n_arms, is_graph, is_fixed) in [
        ("kind = \"graph\"\nmodel = \"cliques\"\nn_cliques = 2\nsize = 3".to_owned(), 6, true, true),
        ("kind = \"graph\"\nmodel = \"newman-watts\"\nn_arms = 7\nneighbours = 2\np = 0.5".to_owned(), 7, true, false),
        ("kind = \"graph\"\nmodel = \"path\"\nn_arms = 2\nmeans = [1, -1]\nridge = 0.1".to_owned(), 2, true, true),
        ("kind = \"graph\"\nmodel = \"path\"\nn_arms = 4".to_owned(), 4, true, false),
        ("kind = \"kernel\"\nkernel = \"matern52\"\nlength = 0.2\nn_arms = 5".to_owned(), 5, false, false),
        (format!("kind = \"means\"\nmeans = [1, 2, 3]\ngraph = \"{edges}\""), 3, true, true),
        ("kind = \"iris\"\nstandardise = true\nkernel = \"rbf\"\nlength = 1".to_owned(), 150, false, false),
    ] {
        let experiment = file(&instance, "name = \"pivot\"").unwrap();
        let (first, second) = (experiment.source().instance(0).unwrap(), experiment.source().instance(1).unwrap());
        assert_eq!((first.means().len(), first.graph().is_some()), (n_arms, is_graph), "{instance}");
        assert!(first.arms().has_covariance() && first.theta().is_none(), "{instance}");
        assert_eq!(first.means() == second.means(), is_fixed, "{instance}");
        assert!(cutline_lab::simulate(&experiment, 0..3, SimulateOptions::default()).is_ok(), "{instance}");
    }
}

#[test]
fn gamma_is_a_number_or_optimal() {
    let cliques = "kind = \"graph\"\nmodel = \"cliques\"\nn_cliques = 2\nsize = 3";
    let optimal = file(cliques, "name = \"grapl\"\ngamma = \"optimal\"").unwrap();
    let entrant = &optimal.entrants()[0];
    assert_eq!((entrant.label(), entrant.oracle()), ("grapl(optimal)", Some(Oracle::Gamma { noise: 1.0 })));
    assert!(entrant.is_anytime(), "it does not depend on the budget");
    let lambda = |algorithm: &str| {
        let experiment = file(cliques, algorithm).unwrap();
        experiment.entrants()[0].spec().values().find(|(name, _)| *name == "lambda").unwrap().1
    };
    assert_eq!(lambda("name = \"grapl\"\ngamma = 2.5"), 2.5);
    assert_eq!(lambda("name = \"grapl\"\nlambda = 2.5"), 2.5);
    for (algorithm, message) in [
        ("gamma = \"best\"", "10: `gamma` must be a finite number or \"optimal\", not the text \"best\""),
        ("gamma = 0", "10: `gamma` is refused: `lambda` must be a finite number of at least 1e-12, not 0"),
        ("gamma = 1\nlambda = 1", "11: `lambda` and `gamma` are two names of the same number; give one"),
    ] {
        assert_eq!(file(cliques, &format!("name = \"grapl\"\n{algorithm}")).unwrap_err(), message);
    }
    let iris = file("kind = \"iris\"", "name = \"grapl\"\ngamma = \"optimal\"").unwrap_err();
    assert_eq!(iris, "5: `algorithm` cannot have `gamma = \"optimal\"`: the arms are not on a graph");
}

#[test]
fn bad_kernels_and_graphs_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let edges = directory.path().join("edges.csv").display().to_string();
    std::fs::write(&edges, "from,to\n0,9\n").unwrap();
    let (graph, kernel) = ("kind = \"graph\"\n", "kind = \"kernel\"\n");
    for (instance, message) in [
        (
            format!("{graph}model = \"tree\""),
            "5: `model` must be one of \"cliques\", \"blocks\", \"newman-watts\", \"path\", not the text \"tree\"",
        ),
        (
            format!("{graph}model = \"path\"\nn_arms = 5001"),
            "6: `n_arms` must be a whole number between 1 and 5000, not 5001",
        ),
        (
            format!("{graph}model = \"path\"\nn_arms = 2\nmeans = [1]"),
            "7: `means` is refused: there are 1 means, but 2 arms",
        ),
        (
            format!("{graph}model = \"path\"\nn_arms = 2\nridge = 0"),
            "7: `ridge` must be a number between 1e-12 and 1000000000000, not 0",
        ),
        (
            format!("{graph}model = \"blocks\"\nn_arms = 2\np_in = 1.5\np_cross = 0"),
            "7: `p_in` must be a number between 0 and 1, not 1.5",
        ),
        (
            format!("{kernel}kernel = \"linear\"\nlength = 1"),
            "5: `kernel` must be one of \"rbf\", \"matern52\", not the text \"linear\"",
        ),
        (
            format!("{kernel}kernel = \"rbf\"\nn_arms = 3"),
            "3: [instance] needs the key `length`; it has `kind`, `kernel`, `n_arms`",
        ),
        (
            "kind = \"iris\"\nkernel = \"rbf\"\nlength = -1".into(),
            "6: `length` must be a number between 1e-100 and 1e100, not -1",
        ),
        (
            "kind = \"iris\"\nkernel = \"rbf\"\nlength = 1\ngraph = \"x\"".into(),
            "7: `graph` does not go with `kernel`: give one of them",
        ),
        (
            "kind = \"means\"\nmeans = [1, 2]\nkernel = \"rbf\"\nlength = 1".into(),
            "3: `instance` is refused: a kernel needs arms with features, and these have none",
        ),
        (
            format!("kind = \"means\"\nmeans = [1, 2]\ngraph = \"{edges}\""),
            &format!(
                "6: `graph` is refused: {edges}: row 2, column `to`: there is no arm `9`; give a row number from 0 to 1"
            ),
        ),
    ] {
        assert_eq!(file(&instance, "name = \"pivot\"").unwrap_err(), message, "{instance}");
    }
    let mixed =
        file("kind = \"iris\"\nkernel = \"rbf\"\nlength = 1", "name = \"pivot\"\nestimator = \"mixed\"").unwrap_err();
    assert!(
        mixed.ends_with("the mixed model learns how the means are related, so it takes no covariance, kernel or graph"),
        "{mixed}"
    );
    let stop =
        file("kind = \"iris\"", "name = \"straddle\"\nstop = { confidence = 0.05, by = \"evidence\" }").unwrap_err();
    assert!(stop.ends_with("so it takes no confidence stop"), "{stop}");
}
