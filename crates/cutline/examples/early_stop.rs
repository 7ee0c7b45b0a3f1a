//! An early stop: the learner ends as soon as every arm is sure.

use cutline::{Arms, ConfidenceStop, Question, Spec, StopCriterion, StopReason};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arms = Arms::without_features(2)?;
    let pulls_until_sure = |criterion| -> Result<u64, Box<dyn std::error::Error>> {
        let stop = ConfidenceStop::new(criterion, 0.05, 0.2)?; // δ, and σ of a reward
        let spec = Spec::named("apt")?.with_confidence_stop(stop);
        let mut learner = spec.learner(&arms, Question::new(0.5, 0.0)?, 10_000, 0)?;
        while let Some(arm) = learner.ask() {
            learner.tell(arm, [0.6, 0.4][arm])?;
        }
        assert_eq!(learner.stop_reason(), Some(StopReason::Confidence));
        Ok(learner.beliefs().total_pulls)
    };
    let guaranteed = pulls_until_sure(StopCriterion::Intervals)?;
    let heuristic = pulls_until_sure(StopCriterion::Evidence)?;
    assert!(heuristic < guaranteed && guaranteed < 300, "{heuristic} {guaranteed}");
    Ok(())
}
