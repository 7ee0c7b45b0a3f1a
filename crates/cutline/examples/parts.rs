//! An algorithm is rule × estimator × stop: put together from types, and by name with the same pulls.

use cutline::estimators::Ridge;
use cutline::rules::{Apt, Indexed};
use cutline::{Arms, AskTell, Budget, Learner, Question, Spec, TellError};

fn pulls(learner: &mut dyn AskTell) -> Result<Vec<u32>, TellError> {
    while let Some(arm) = learner.ask() {
        learner.tell(arm, [0.9, 0.4, -0.3][arm])?; // your real, noisy measurement goes here
    }
    Ok(learner.beliefs().pulls.to_vec())
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arms = Arms::from_rows(&[[1.0, 0.2], [0.4, 0.3], [-0.3, 0.1]])?;
    let question = Question::new(0.5, 0.0)?;
    let rule = Indexed::new(Apt, arms.n_arms());
    let mut from_types = Learner::new(rule, Ridge::new(&arms, 1.0)?, Budget::new(30)?, question, 7)?;
    let mut by_name = Spec::named("linear-apt")?.learner(&arms, question, 30, 7)?;
    let found = pulls(&mut from_types)?;
    assert_eq!(found, pulls(by_name.as_mut())?);
    assert!(found[1] > found[2], "the arm close to the threshold is pulled more often");
    Ok(())
}
