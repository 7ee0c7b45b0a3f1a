//! cutline
fn main() {}
