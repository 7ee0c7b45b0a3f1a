//! Every arm once, then arms uniformly at random: the paper's `Random`.

use super::{Choice, Rule};
use crate::{Beliefs, Rng, below};

/// Ignores the rewards; the baseline that every other rule has to beat. No parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl<E: ?Sized> Rule<E> for Uniform {
    const OPENS_WITH_EVERY_ARM: bool = true;

    #[inline]
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, rng: &mut Rng) -> Choice {
        let settled = beliefs.settled;
        let draw = |rng: &mut Rng| match below(rng, settled.n_open()) {
            arm if settled.is_empty() => arm,
            position => settled.open().nth(position).unwrap_or(0),
        };
        beliefs.first_unpulled.unwrap_or_else(|| draw(rng)).into()
    }
}
