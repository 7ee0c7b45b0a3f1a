//! Diagnostics: do the rewards contradict the linear model?

use cutline::Arms;
use cutline::diagnostics::{Conclusion, RewardStats};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arms = Arms::from_rows(&[[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])?;
    let conclusion = |means: [f64; 4]| {
        let mut rewards = RewardStats::new(&arms);
        for pull in 0..20 {
            let noise = if pull % 2 == 0 { 0.1 } else { -0.1 };
            means.iter().enumerate().for_each(|(arm, mean)| rewards.tell(arm, mean + noise));
        }
        rewards.diagnose().conclusion
    };
    assert_eq!(conclusion([0.0, 1.0, 0.0, 1.0]), Conclusion::NotBelievable);
    assert_ne!(conclusion([0.0, 1.0, 2.0, 3.0]), Conclusion::NotBelievable);
    Ok(())
}
