//! Every arm once, then arms uniformly at random: the paper's `Random`.

use super::Rule;
use crate::{Arm, Beliefs, Rng, below};

/// Ignores the rewards; the baseline that every other rule has to beat. No parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl<E: ?Sized> Rule<E> for Uniform {
    const OPENS_WITH_EVERY_ARM: bool = true;

    #[inline]
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, rng: &mut Rng) -> Arm {
        beliefs.first_unpulled.unwrap_or_else(|| below(rng, beliefs.pulls.len()))
    }
}
