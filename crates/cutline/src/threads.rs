//! Rayon's threads as an [`Executor`].

use crate::Executor;

/// The threads of the current rayon pool: the one that the calling thread belongs to, or the global one.
///
/// ```
/// use cutline::{Arms, Threads};
///
/// let arms = Arms::from_rows(&[[1.0, 0.0], [0.6, 0.8]])?.with_executor(Threads::executor());
/// assert_eq!(arms.times(&[1.0, 1.0]), Some(vec![1.0, 1.4]));
/// # Ok::<(), cutline::ArmsError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Threads;

impl Threads {
    /// As an argument for [`Arms::with_executor`](crate::Arms::with_executor).
    #[must_use]
    pub fn executor() -> std::sync::Arc<dyn Executor> {
        std::sync::Arc::new(Self)
    }
}

impl Executor for Threads {
    fn both(&self, one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
        rayon::join(one, other);
    }
}
