//! A new algorithm from outside Cutline's crates: its own rule, estimator, stop and decision, which an experiment file names like built-in ones.
//!
//! Copy this crate, replace the formulas by those of your paper, and run `cargo run`.

mod normal_inverse_gamma;

pub use normal_inverse_gamma::NormalInverseGamma;

use cutline::estimators::{CustomEstimator, Estimator, NamedEstimator};
use cutline::rules::{Choice, CustomRule, NamedRule, RuleContext};
use cutline::{Beliefs, NameError, NamedDecision, NamedStop, Rng, Stop, StopReason, arg_min};
use cutline_lab::{Experiment, Extensions, FileError, Overrides};
use std::path::Path;

/// The experiment of this crate.
const EXPERIMENT: &str = include_str!("../experiment.toml");

/// Pulls arg minᵢ |μ̂ᵢ − τ|/√vᵢ: the arm whose side is least sure.
struct LeastSure;

impl CustomRule for LeastSure {
    fn choose(&mut self, context: &mut dyn RuleContext, _: &mut Rng) -> Choice {
        let threshold = context.question().threshold();
        let variances = context.variances().to_vec();
        arg_min(context.means(), &variances, |mean, variance| (mean - threshold).abs() / variance.sqrt()).into()
    }
}

/// Ends when the expected number of wrong sides is at most `most`, for estimators that have [marginals](Estimator::marginals).
struct FewErrors {
    most: f64,
}

impl Stop<dyn Estimator> for FewErrors {
    fn stop_reason(&mut self, beliefs: &mut Beliefs<'_, dyn Estimator>) -> Option<StopReason> {
        let marginals = beliefs.estimator.marginals(beliefs.question)?;
        (marginals.doubts.iter().sum::<f64>() <= self.most).then_some(StopReason::Custom)
    }
}

/// Above only if that is certain to 90 %, for users who must not be told that a bad arm is good.
fn cautious(beliefs: &mut Beliefs<'_, dyn Estimator>, _: f64) -> Vec<bool> {
    let question = beliefs.question;
    let Some(marginals) = beliefs.estimator.marginals(question) else {
        return beliefs.means().iter().map(|&mean| question.is_above(mean)).collect();
    };
    let arms = marginals.means.iter().zip(&marginals.doubts);
    arms.map(|(&mean, &doubt)| question.is_above(mean) && doubt <= 0.1).collect()
}

/// Everything that experiment files may name.
///
/// # Errors
/// If one of the names is taken.
pub fn extensions() -> Result<Extensions, NameError> {
    let estimator = CustomEstimator::with_variances(|problem| Ok(Box::new(NormalInverseGamma::new(problem))));
    Ok(Extensions {
        rules: vec![NamedRule::new("least-sure", || Box::new(LeastSure))?],
        estimators: vec![NamedEstimator::new("normal-inverse-gamma", estimator.learning_noise())?],
        stops: vec![NamedStop::new("few-errors", |_| Ok(Box::new(FewErrors { most: 0.1 })))?],
        decisions: vec![NamedDecision::new("cautious", cautious)?],
        ..Extensions::default()
    })
}

/// The experiment of this crate, read with these extensions.
///
/// # Errors
/// If the file does not fit the extensions.
pub fn experiment(extensions: &Extensions) -> Result<Experiment, FileError> {
    Experiment::read(EXPERIMENT, "new-algorithm", Path::new(""), Overrides::default(), extensions)
}
