//! Candidates from Parquet files.

use crate::csv::load;
use cutline_data::dataset::ReadOptions;

/// Hides the messages of panics in the crate `parquet`: it panics on some damaged files, and the reader of candidates catches that.
pub fn hide_caught_panics() {
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let is_caught = info.location().is_some_and(|location| location.file().contains("/parquet-"));
        if !is_caught {
            shown(info);
        }
    }));
}

/// Reads a file as Parquet, all of it and as numbers only.
pub fn check(data: &[u8]) {
    const MAGIC: &[u8] = b"PAR1";
    if !data.starts_with(MAGIC) {
        return;
    }
    let all = load(data, &ReadOptions::default());
    let filled = load(data, &ReadOptions { fills_missing: true, ..ReadOptions::default() });
    if let (Some(all), Some(filled)) = (all, filled)
        && all.encoding.is_none()
        && filled.encoding.is_none()
    {
        assert_eq!(all.candidates, filled.candidates, "nothing is missing");
    }
}
