//! Every file of `examples/` runs, and finds what it asserts.

#[path = "../../examples/batches.rs"]
mod batches;
#[path = "../../examples/custom_estimator.rs"]
mod custom_estimator;
#[path = "../../examples/custom_rule.rs"]
mod custom_rule;
#[path = "../../examples/diagnostics.rs"]
mod diagnostics;
#[path = "../../examples/early_stop.rs"]
mod early_stop;
#[path = "../../examples/parts.rs"]
mod parts;
#[path = "../../examples/verdicts.rs"]
mod verdicts;

type Main = fn() -> Result<(), Box<dyn std::error::Error>>;

const EXAMPLES: [(&str, Main); 7] = [
    ("batches", batches::main),
    ("custom_estimator", custom_estimator::main),
    ("custom_rule", custom_rule::main),
    ("diagnostics", diagnostics::main),
    ("early_stop", early_stop::main),
    ("parts", parts::main),
    ("verdicts", verdicts::main),
];

#[test]
fn all_run() {
    for (name, main) in EXAMPLES {
        main().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap();
    assert_eq!(files.count(), EXAMPLES.len(), "a file of `examples/` is not run here");
}
