//! The threads that work is shared out to.

use crate::errors::input;
use crate::given::whole;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The most threads.
const MOST: u64 = 4096;

/// So many threads, or as many as there are cores.
///
/// They are new ones: a process that was forked has none of the threads of the one before.
pub(crate) fn pool(threads: Option<&Bound<'_, PyAny>>) -> PyResult<ThreadPool> {
    let threads = threads.map_or(Ok(0), |threads| whole(threads, "`threads`", 1, MOST))?;
    ThreadPoolBuilder::new().num_threads(usize::try_from(threads).expect("checked")).build().map_err(input)
}
