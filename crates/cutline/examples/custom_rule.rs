//! A custom rule: any code that chooses the next arm from the beliefs.

use cutline::rules::{Choice, CustomRule, NamedRule, RuleContext};
use cutline::{Arms, Question, Rng, Spec, arg_max};

/// Pulls arg maxᵢ √vᵢ − |μ̂ᵢ − τ|: where the threshold is well inside the uncertainty.
struct Ambiguous;

impl CustomRule for Ambiguous {
    fn choose(&mut self, context: &mut dyn RuleContext, _: &mut Rng) -> Choice {
        let threshold = context.question().threshold();
        let variances = context.variances().to_vec();
        arg_max(context.means(), &variances, |mean, variance| variance.sqrt() - (mean - threshold).abs()).into()
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spec = Spec::custom(NamedRule::new("ambiguous", || Box::new(Ambiguous))?).with_noise_scale(0.2)?;
    let arms = Arms::from_rows(&[[1.0, 0.0], [0.6, 0.5], [0.0, 1.0]])?;
    let mut learner = spec.learner(&arms, Question::new(0.5, 0.0)?, 40, 0)?;
    while let Some(arm) = learner.ask() {
        learner.tell(arm, [0.9, 0.54, 0.1][arm])?;
    }
    let mut beliefs = learner.beliefs();
    assert_eq!([0, 1, 2].map(|arm| beliefs.is_above(arm)), [true, true, false]);
    Ok(())
}
