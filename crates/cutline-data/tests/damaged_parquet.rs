//! Damaged Parquet files. This is a separate test binary because it silences the messages of panics.

use cutline_data::dataset::open;
use std::path::Path;

/// A changed byte gives other numbers or an error, never a crash.
#[test]
fn damaged_files_do_not_crash() {
    std::panic::set_hook(Box::new(|_| ()));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("arms.parquet");
    let mut refused = 0;
    for name in ["pandas.parquet", "polars.parquet", "duckdb.parquet", "pyarrow.parquet"] {
        let good = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet").join(name)).unwrap();
        for position in (0..good.len()).step_by(7) {
            let mut damaged = good.clone();
            damaged[position] ^= 0x55;
            std::fs::write(&path, &damaged).unwrap();
            refused += usize::from(open(&path, Some(&["f64".into()])).is_err());
        }
    }
    let _ = std::panic::take_hook();
    assert!(refused > 100, "{refused}");
}
