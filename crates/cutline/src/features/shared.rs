//! A result that is computed from features and shared by all who need it at the same time.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Keeps the last result for as long as somebody holds it: a learner that replaces another one need not compute it again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<Mutex<Option<Weak<dyn Any + Send + Sync>>>>);

impl Shared {
    /// The last result if somebody still holds it and it `fits`, otherwise a new one.
    pub(crate) fn get_or<T: Any + Send + Sync>(&self, fits: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> Arc<T> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Weak::upgrade);
        if let Some(last) = last.and_then(|last| last.downcast::<T>().ok()).filter(|last| fits(last)) {
            return last;
        }
        let result = Arc::new(make());
        let weak: Weak<T> = Arc::downgrade(&result);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(weak);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_shared_while_it_is_held() {
        let shared = Shared::default();
        let get = |shared: &Shared, made: u32, wanted: u32| shared.get_or(|&found| found == wanted, || made);
        let first = get(&shared, 1, 1);
        assert!(Arc::ptr_eq(&first, &get(&shared.clone(), 2, 1)), "clones share it");
        assert_eq!(*get(&shared, 2, 2), 2, "another is wanted");
        assert_eq!(*get(&shared, 3, 2), 3, "nobody holds it any more");
        assert_eq!(*shared.get_or(|_: &u64| true, || 4_u64), 4, "of another type");
    }
}
