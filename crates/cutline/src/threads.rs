//! Rayon's threads as a [`Crew`].

use crate::Crew;

/// The threads of the rayon pool that a learner is used on, or of rayon's own pool.
///
/// ```
/// use cutline::{Arms, Threads};
///
/// let arms = Arms::from_rows(&[[1.0, 0.0], [0.6, 0.8]])?.shared_among(Threads::crew());
/// assert_eq!(arms.times(&[1.0, 1.0]), Some(vec![1.0, 1.4]));
/// # Ok::<(), cutline::ArmsError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Threads;

impl Threads {
    /// As [`Arms::shared_among`](crate::Arms::shared_among) takes it.
    #[must_use]
    pub fn crew() -> std::sync::Arc<dyn Crew> {
        std::sync::Arc::new(Self)
    }
}

impl Crew for Threads {
    fn both(&self, one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
        rayon::join(one, other);
    }
}
