//! GrAPL on a path of eight nodes: pulls and means of an independent program, to all digits that it printed.

use cutline::{Edge, Graph, Question, Spec};

const MEANS: [f64; 8] = [0.1, 0.2, 0.3, 0.45, 0.55, 0.7, 0.8, 0.9];

/// The rewards are the means themselves; τ = ½, ε = 0.01, γ = 1, ρ = 0.001, α = 1e-8.
///
/// The path and the rewards are symmetric, so that arms 3 and 4, 2 and 5, 1 and 6 are tied in turn, and rounding decides between them: every
/// pick of the reference has to have the least index up to rounding.
#[test]
fn a_path_of_eight_nodes() {
    let edges: Vec<Edge> = (0..7).map(|node| (node, node + 1, 1.0)).collect();
    let arms = Graph::new(8, &edges).unwrap().arms(Graph::DEFAULT_RIDGE).unwrap();
    let question = Question::new(0.5, 0.01).unwrap();
    let mut learner = Spec::named("grapl").unwrap().learner(&arms, question, 20, 0).unwrap();
    for (pull, arm) in [0, 7, 4, 3, 2, 5, 1, 6, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4].into_iter().enumerate() {
        let proposed = learner.propose().unwrap();
        let mut beliefs = learner.beliefs();
        let (pulls, means) = (beliefs.pulls, beliefs.means());
        let index = |arm: usize| ((means[arm] - 0.5).abs() + 0.01) * (f64::from(pulls[arm]) + 1e-8).sqrt();
        let least = (0..8).map(index).fold(f64::INFINITY, f64::min);
        assert!(index(arm) <= least * (1.0 + 1e-12), "pull {pull}: {arm}, not {proposed}");
        learner.assign(arm);
        learner.tell(arm, MEANS[arm]).unwrap();
    }
    assert_eq!(learner.propose(), None);
    let expected = [0.16548288, 0.23063125, 0.3261415, 0.44761939, 0.55238061, 0.6738585, 0.76936875, 0.83451712];
    for (found, expected) in learner.beliefs().means().iter().zip(expected) {
        assert!((found - expected).abs() <= 0.5e-8 + 1e-15, "{found} {expected}");
    }
}

/// A larger α makes arms without pulls less urgent, and a larger γ smooths more.
#[test]
fn every_parameter_matters() {
    let edges: Vec<Edge> = (0..7).map(|node| (node, node + 1, 1.0)).collect();
    let arms = Graph::new(8, &edges).unwrap().arms(1e-3).unwrap();
    let question = Question::new(0.5, 0.01).unwrap();
    let run = |parameter: &str, value: f64| {
        let spec = Spec::named("grapl").unwrap().with(parameter, value).unwrap();
        let mut learner = spec.learner(&arms, question, 30, 0).unwrap();
        let mut pulled = Vec::new();
        while let Some(arm) = learner.ask() {
            learner.tell(arm, MEANS[arm]).unwrap();
            pulled.push(arm);
        }
        pulled
    };
    assert_ne!(run("alpha", 1e-8), run("alpha", 1.0));
    assert_ne!(run("lambda", 1.0), run("lambda", 50.0));
    assert_ne!(run("centre", 1.0), run("centre", 0.0));
    assert!(Spec::named("grapl").unwrap().with("alpha", -1.0).is_err());
}
