#![no_main]
#![allow(missing_docs, reason = "the macro makes public functions")]

libfuzzer_sys::fuzz_target!(
    init: cutline_fuzz::parquet::hide_caught_panics(),
    |data: &[u8]| cutline_fuzz::parquet::check(data)
);
