//! The example of CONTRIBUTING.md, compiled: the rule of "Add a rule" under the name of "Give it a name".

use super::algorithm::{Algorithm, PLAIN};
use super::{EstimatorKind, Parameter, ParameterRole, Spec};
use crate::estimators::Estimator;
use crate::rules::{Choice, Rule, RuleError};
use crate::{Arms, Beliefs, Question, Range, Rng};

/// Pulls arg minᵢ Tᵢ kl(max(m, min(1 − m, μ̂ᵢ)), τ), where the margin m keeps means away from 0 and 1.
#[derive(Clone, Copy, Debug)]
pub struct KlApt {
    margin: f64,
}

impl KlApt {
    /// The rule with m = `margin`.
    pub fn new(margin: f64) -> Result<Self, RuleError> {
        Ok(Self { margin: Range::new(1e-12, 0.5).check("margin", margin)? })
    }
}

/// kl(p, q) for p between 0 and 1, both excluded.
fn kl(p: f64, q: f64) -> f64 {
    p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln()
}

impl<E: Estimator + ?Sized> Rule<E> for KlApt {
    const OPENS_WITH_EVERY_ARM: bool = true;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        if let Some(arm) = beliefs.first_unpulled {
            return arm.into();
        }
        let (threshold, margin) = (beliefs.question.threshold(), self.margin);
        let index = |mean: f64, pulls: u32| f64::from(pulls) * kl(mean.clamp(margin, 1.0 - margin), threshold);
        beliefs.settled.arg_min_open(beliefs.estimator.means(), beliefs.pulls, index).into()
    }
}

#[rustfmt::skip]
static ENTRY: Algorithm =
Algorithm {
    name: "kl-apt",
    about: "as `apt`, for rewards that are 0 or 1",
    paper: "an example; unpublished",
    rule: "kl-apt",
    estimator: EstimatorKind::SampleMean,
    rule_parameters: &[Parameter {
        name: "margin",
        default: Some(0.01),
        about: "m, how far means are kept away from 0 and 1",
        range: Range::new(1e-12, 0.5),
        role: ParameterRole::Setting,
    }],
    build: |builder, parameters| builder.any(KlApt::new(parameters[0])?),
    ..PLAIN
};

/// The lines of this file from the one that begins with `first` to the one that is `last`.
fn lines(first: &str, last: &str) -> String {
    let all: Vec<&str> = include_str!("contributing.rs").lines().collect();
    let start = all.iter().position(|line| line.starts_with(first)).expect("the first line");
    let end = start + all[start..].iter().position(|line| *line == last).expect("the last line");
    all[start..=end].join("\n")
}

#[test]
fn the_text_is_the_code_that_is_compiled_here() {
    let text = include_str!("../../../../CONTRIBUTING.md");
    assert!(text.contains(&lines("/// Pulls arg min", "pub struct KlApt {")), "the rule");
    assert!(text.contains(&lines("impl<E: Estimator + ?Sized> Rule<E> for KlApt {", "}")), "its choices");
    let entry = lines("Algorithm {", "};").replace('\n', "\n   ");
    assert!(text.contains(&format!("   {},\n", entry.trim_end_matches(';'))), "the list entry:\n{entry}");
}

#[test]
fn the_entry_plays_the_rule() {
    let spec = Spec::of(&ENTRY, ENTRY.estimator).with("margin", 0.01).unwrap();
    let arms = Arms::without_features(3).unwrap();
    let mut learner = spec.learner(&arms, Question::new(0.5, 0.0).unwrap(), 30, 0).unwrap();
    while let Some(arm) = learner.ask() {
        learner.tell(arm, [0.9, 0.4, 0.1][arm]).unwrap();
    }
    assert_eq!(learner.beliefs().pulls, [2, 26, 2]);
}
