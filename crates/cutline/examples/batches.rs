//! Batches: many runs at once, with the pulls of individual learners to the last bit, and faster.

use cutline::{Arms, Question, Spec};

const MEANS: [f64; 3] = [0.9, 0.4, -0.3];

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (spec, question) = (Spec::named("pivot")?, Question::new(0.5, 0.0)?);
    let arms = Arms::from_rows(&[[1.0, 0.2], [0.4, 0.3], [-0.3, 0.1]])?;
    let noise = |run: usize, pull: usize| ((7 * run + 3 * pull) % 5) as f64 / 10.0 - 0.2;

    let mut batch = Spec::batch(&[&spec; 6], &[&arms; 6], &[question; 6]).ok_or("pivot has a batch form")?;
    for pull in 0..40 {
        batch.pull(|run, arm| MEANS[arm] + noise(run, pull));
    }

    for run in 0..6 {
        let mut learner = spec.learner(&arms, question, 40, 0)?;
        for pull in 0..40 {
            let arm = learner.ask().ok_or("the budget is 40")?;
            learner.tell(arm, MEANS[arm] + noise(run, pull))?;
        }
        assert!(batch.means(run).eq(learner.beliefs().means().iter().copied()), "run {run}");
    }
    Ok(())
}
