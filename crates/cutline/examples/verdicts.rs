//! Beliefs and verdicts: what is known about each arm, and how sure that is.

use cutline::{Arms, Confidence, IntervalKind, Question, Side, Spec};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arms = Arms::without_features(3)?;
    let mut learner = Spec::named("apt")?.learner(&arms, Question::new(0.5, 0.0)?, 60, 0)?;
    let mut noise = [0.2, -0.2].into_iter().cycle();
    while let (Some(arm), Some(noise)) = (learner.ask(), noise.next()) {
        learner.tell(arm, [0.9, 0.51, 0.1][arm] + noise)?;
    }
    let confidence = Confidence::new(IntervalKind::Fixed, 0.05, 0.2)?; // δ, and σ of a reward
    let verdicts: Vec<_> = learner.beliefs().verdicts(&confidence).collect();
    let sides: Vec<Side> = verdicts.iter().map(|verdict| verdict.side).collect();
    assert_eq!(sides, [Side::Above, Side::Undecided, Side::Below]);
    assert!(verdicts[0].lower > 0.5 && verdicts[2].upper < 0.5);
    assert!(verdicts[1].doubt > 0.1, "{:?}", verdicts[1]);
    Ok(())
}
