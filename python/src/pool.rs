//! Thread pools.

use crate::convert::integer;
use crate::errors::input;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The largest number of threads.
const MAX_THREADS: u64 = 4096;

/// A pool of `threads` threads; one per core if `None`.
///
/// Every call makes a new pool, because a forked process does not inherit the threads of its parent. For the same reason, all work that may
/// use rayon runs in one of these pools: in a forked process, it would wait for the global pool for ever.
pub(crate) fn pool(threads: Option<&Bound<'_, PyAny>>) -> PyResult<ThreadPool> {
    let threads = threads.map_or(Ok(0), |threads| integer(threads, "`threads`", 1, MAX_THREADS))?;
    ThreadPoolBuilder::new().num_threads(usize::try_from(threads).expect("checked")).build().map_err(input)
}
