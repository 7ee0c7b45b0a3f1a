//! Every check on its kept corpus and on seeded mutations of it, the same inputs each time. `CUTLINE_SEEDED=n` tries n times as many.

use cutline::{Purpose, Rng, below, stream};
use cutline_fuzz::{CHECKS, MAX_BYTES};
use std::path::Path;

/// How many mutations each check gets. Those that open a store or simulate take longer.
fn n_cases(name: &str) -> u64 {
    match name {
        "rows" => 3_000,
        "engine" | "events" | "parquet" => 6_000,
        _ => 10_000,
    }
}

fn run(name: &str) {
    let (_, check) = CHECKS.iter().find(|(check, _)| *check == name).expect("a check of that name");
    if name == "parquet" {
        cutline_fuzz::parquet::hide_caught_panics();
    }
    let corpus = corpus(name);
    for input in &corpus {
        check(input);
    }
    let times = std::env::var("CUTLINE_SEEDED").map_or(1, |n| n.parse().expect("CUTLINE_SEEDED is a whole number"));
    for case in 0..n_cases(name) * times {
        let mut rng = stream(1, Purpose::Noise, case);
        let input = mutated(&corpus, &mut rng);
        let result = std::panic::catch_unwind(|| check(&input));
        assert!(result.is_ok(), "case {case} of `{name}` fails: {}", input.escape_ascii());
    }
}

/// The kept inputs of a check.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut paths: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "`{name}` has no corpus");
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// An input of the corpus with some changes, or bytes that have nothing to do with it.
fn mutated(corpus: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let byte = |rng: &mut Rng| u8::try_from(below(rng, 256)).unwrap();
    if below(rng, 8) == 0 {
        let length = below(rng, 1_200);
        return (0..length).map(|_| byte(rng)).collect();
    }
    let mut input = corpus[below(rng, corpus.len())].clone();
    for _ in 0..=below(rng, 6) {
        let at = below(rng, input.len() + 1);
        let end = (at + below(rng, 9)).min(input.len());
        match below(rng, 7) {
            0 => input.insert(at, byte(rng)),
            1 => drop(input.drain(at..end)),
            2 if at < input.len() => input[at] ^= 1 << below(rng, 8),
            3 if at < input.len() => input[at] = byte(rng),
            4 => {
                let repeated = input[at..end].to_vec();
                drop(input.splice(at..at, repeated));
            }
            5 => {
                let other = &corpus[below(rng, corpus.len())];
                let from = below(rng, other.len() + 1);
                let to = (from + below(rng, 40)).min(other.len());
                drop(input.splice(at..end, other[from..to].iter().copied()));
            }
            _ => replace_number(&mut input, at, rng),
        }
    }
    input.truncate(MAX_BYTES);
    input
}

/// Replaces the digits at or after a position by a number at which something may go wrong.
fn replace_number(input: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    const NUMBERS: [&str; 16] = [
        "0",
        "-1",
        "1",
        "2",
        "1e308",
        "-1e300",
        "1e-320",
        "inf",
        "nan",
        "4294967296",
        "18446744073709551615",
        "9223372036854775808",
        "99999999999999999999999",
        "0.1",
        "1_000",
        "",
    ];
    let Some(first) = (at..input.len()).find(|&i| input[i].is_ascii_digit()) else { return };
    let last = (first..input.len()).find(|&i| !input[i].is_ascii_digit()).unwrap_or(input.len());
    drop(input.splice(first..last, NUMBERS[below(rng, NUMBERS.len())].bytes()));
}

macro_rules! seeded {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { run(stringify!($name)); })*

        #[test]
        fn every_check_is_run() {
            assert_eq!(CHECKS.map(|(name, _)| name), [$(stringify!($name)),*]);
        }
    };
}

seeded!(address, csv, engine, events, experiment, parquet, rows, tell);
