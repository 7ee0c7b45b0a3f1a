//! Errors in an experiment file outside of its instance and its algorithms, with the line and the message.

use crate::common;

use crate::common::{GOOD, assert_refused, parse, refusal};
use cutline_lab::Entrant;
use std::path::Path;

const RUNS: &str = "`runs` must be a whole number between 1 and 1125899906842624, not";
const BUDGETS: &str = "`budgets` must be a whole number between 1 and 100000000, not";
const SCALE: &str = "`noise` is refused: the noise scale must be a number between 1e-100 and 1e100, not";

#[test]
fn the_good_one_is_good() {
    let experiment = parse(GOOD);
    assert_eq!((experiment.name(), experiment.runs(), experiment.seed()), ("experiment", 10, 0));
    assert_eq!((experiment.budgets(), experiment.baseline()), (&[40, 80][..], None));
    assert_eq!(experiment.entrants().iter().map(Entrant::label).collect::<Vec<_>>(), ["linear-apt", "pivot"]);
}

#[test]
fn runs_and_budgets() {
    for (to, not) in [("0", "0"), ("-1", "-1"), ("1.5", "1.5"), ("0x8000000000000", "0x8000000000000")] {
        assert_refused(&[("runs = 10", &format!("runs = {to}"), &format!("1: {RUNS} {not}"))]);
    }
    assert_refused(&[
        ("runs = 10", "runs = \"10\"", &format!("1: {RUNS} the text \"10\"")),
        ("runs = 10", "runs = true", &format!("1: {RUNS} a value of type boolean")),
        ("[40, 80]", "[]", "2: `budgets` must name at least one budget"),
        ("[40, 80]", "40", "2: `budgets` must be a list, not 40"),
        ("[40, 80]", "[0, 80]", &format!("2: {BUDGETS} 0")),
        ("[40, 80]", "[-40]", &format!("2: {BUDGETS} -40")),
        ("[40, 80]", "[4e1]", &format!("2: {BUDGETS} 4e1")),
        ("[40, 80]", "[100_000_001]", &format!("2: {BUDGETS} 100000001")),
        ("[40, 80]", "[5_000_000_000]", &format!("2: {BUDGETS} 5000000000")),
        ("[40, 80]", "[80, 40]", "2: `budgets` must ascend, but 40 is not larger than the one before"),
        ("[40, 80]", "[40, 40]", "2: `budgets` must ascend, but 40 is not larger than the one before"),
        ("[40, 80]", "[\n40,\n80,\n60]", "5: `budgets` must ascend, but 60 is not larger than the one before"),
    ]);
}

#[test]
fn threshold_and_precision() {
    assert_refused(&[
        (
            "threshold = 0.0",
            "",
            "1: the file needs the key `threshold`; it has `runs`, `budgets`, `precision`, `noise`, `instance`, `algorithm`",
        ),
        (
            "threshold = 0.0",
            "threshold = \"mode\"",
            "3: `threshold` must be a finite number, \"mean\" or \"median\", not the text \"mode\"",
        ),
        (
            "threshold = 0.0",
            "threshold = \"me\\nan\"",
            "3: `threshold` must be a finite number, \"mean\" or \"median\", not the text \"me\\nan\"",
        ),
        ("threshold = 0.0", "threshold = nan", "3: `threshold` must be a finite number, not nan"),
        ("threshold = 0.0", "threshold = -inf", "3: `threshold` must be a finite number, not -inf"),
        ("threshold = 0.0", "threshold = 1e400", "3: `threshold` must be a finite number, not 1e400"),
        ("threshold = 0.0", "threshold = 0x10", "3: `threshold` must be a finite number, not 0x10"),
        ("threshold = 0.0", "threshold = []", "3: `threshold` must be a finite number, not a value of type array"),
        (
            "precision = 0.01",
            "precision = -0.1",
            "4: `precision` is refused: the precision must be a number between 0 and 1e150, not -0.1",
        ),
        ("precision = 0.01", "precision = nan", "4: `precision` must be a finite number, not nan"),
        ("precision = 0.01", "precision = inf", "4: `precision` must be a finite number, not inf"),
        ("precision = 0.01", "precision = \"0.01\"", "4: `precision` must be a finite number, not the text \"0.01\""),
    ]);
    let far = refusal(&common::changed("threshold = 0.0", "threshold = 1e151"), Path::new(""));
    assert!(far.starts_with("3: `threshold` is refused: the threshold must be a number between -1e150 and 1e150"));
}

#[test]
fn noise() {
    let kinds = "must be one of \"gaussian\", \"rademacher\", \"uniform\", \"bernoulli\", \"t\", \"lognormal\", not";
    assert_refused(&[
        ("noise = 1.0", "noise = 0", &format!("5: {SCALE} 0.0")),
        ("noise = 1.0", "noise = -1.5", &format!("5: {SCALE} -1.5")),
        ("noise = 1.0", "noise = nan", "5: `noise` must be a finite number, not nan"),
        (
            "noise = 1.0",
            "noise = \"bernoulli\"",
            "5: `noise` must be σ, a finite number, or a table such as `{ kind = \"bernoulli\" }`",
        ),
        ("noise = 1.0", "noise = { kind = \"rademacher\", scale = 0.0 }", &format!("5: {SCALE} 0.0")),
        ("noise = 1.0", "noise = { kind = \"cauchy\" }", &format!("5: `kind` {kinds} the text \"cauchy\"")),
        ("noise = 1.0", "noise = { kind = 1 }", &format!("5: `kind` {kinds} 1")),
        ("noise = 1.0", "noise = { scale = 1 }", "5: `noise` needs the key `kind`; it has `scale`"),
        ("noise = 1.0", "noise = {}", "5: `noise` needs the key `kind`; it has none"),
        (
            "noise = 1.0",
            "noise = { kind = \"uniform\", sd = 1 }",
            "5: unknown key `sd` in `noise`; allowed are `kind`, `scale`, `spread`",
        ),
        (
            "noise = 1.0",
            "noise = { kind = \"bernoulli\", scale = 1 }",
            "5: `scale` does not go with bernoulli noise: its spread follows from the mean",
        ),
    ]);
    assert_refused(&[
        (
            "noise = 1.0",
            "noise = { kind = \"t\", degrees_of_freedom = 2 }",
            "5: `noise` is refused: the degrees of freedom must be a number above 2 and at most 1e6, not 2.0",
        ),
        ("noise = 1.0", "noise = { kind = \"t\" }", "5: `noise` needs the key `degrees_of_freedom`; it has `kind`"),
        (
            "noise = 1.0",
            "noise = { kind = \"lognormal\", shape = 0 }",
            "5: `noise` is refused: the shape must be a number between 1e-6 and 5, not 0.0",
        ),
        (
            "noise = 1.0",
            "noise = { kind = \"gaussian\", shape = 1 }",
            "5: unknown key `shape` in `noise`; allowed are `kind`, `scale`, `spread`",
        ),
        (
            "noise = 1.0",
            "noise = { kind = \"gaussian\", scale = [1, 2] }",
            "5: `noise` is refused: run 0: there are 2 noise scales, but 20 arms",
        ),
        ("noise = 1.0", "noise = { kind = \"gaussian\", scale = [1, 0] }", &format!("5: {SCALE} 0.0")),
        (
            "noise = 1.0",
            "noise = { kind = \"gaussian\", scale = [1], spread = 2 }",
            "5: `spread` does not go with a list of scales",
        ),
        (
            "noise = 1.0",
            "noise = { kind = \"gaussian\", spread = 0.5 }",
            "5: `spread` is refused: the spread must be a number between 1 and 1e6, not 0.5",
        ),
        (
            "noise = 1.0",
            "noise = { kind = \"bernoulli\", spread = 2 }",
            "5: `spread` does not go with bernoulli noise: its spread follows from the mean",
        ),
    ]);
    let negative = refusal(&common::changed("noise = 1.0", "noise = { kind = \"bernoulli\" }"), Path::new(""));
    assert!(negative.starts_with("5: `noise` is refused: run 0: arm 0 has mean -0."), "{negative}");
    assert!(negative.ends_with("bernoulli noise needs means between 0 and 1"), "{negative}");
}

#[test]
fn names_and_unknown_keys() {
    let allowed = "`name`, `runs`, `seed`, `budgets`, `stop`, `threshold`, `precision`, `noise`, `baseline`, `instance`, `algorithm`, `published`, `variant`";
    let title = "must be one line of text, without control characters, not the text";
    assert_refused(&[
        ("runs = 10", "rums = 10", &format!("1: unknown key `rums` in the file; allowed are {allowed}")),
        ("runs = 10", "\"r\\nuns\" = 10", &format!("1: unknown key `r\\nuns` in the file; allowed are {allowed}")),
        ("runs = 10", "name = 3", "1: `name` must be a text in quotes, not 3"),
        ("runs = 10", "name = \"\"", &format!("1: `name` {title} \"\"")),
        ("runs = 10", "name = \"\\u001b[31mred\"", &format!("1: `name` {title} \"\\u{{1b}}[31mred\"")),
        ("runs = 10", "seed = -1", "1: `seed` must be a whole number between 0 and 18446744073709551615, not -1"),
        (
            "runs = 10",
            "baseline = \"apt\"",
            "1: `baseline` must be one of the algorithms \"linear-apt\", \"pivot\", not \"apt\"",
        ),
        ("runs = 10", "baseline = 0", "1: `baseline` must be a text in quotes, not 0"),
    ]);
}

#[test]
fn invalid_toml() {
    for (text, expected) in [
        ("runs = 1\nruns = 2\n", "2: duplicate key: `runs`"),
        ("runs = 1\n\n[instance\n", "3: unclosed table, expected `]`: `[instance`"),
        ("runs = yes\n", "1: string values must be quoted, expected literal string: `yes`"),
        ("name = \"a\nruns = b\nc\n", "1: invalid basic string, expected `\"`: `name = \"a`"),
        ("threshold = 0,5\n", "1: unexpected key or value, expected newline, `#`: `threshold = 0,5`"),
        ("", "1: the file needs the key `budgets`; it has none"),
    ] {
        assert_eq!(refusal(text, Path::new("")), expected);
    }
}

#[test]
fn published_curves() {
    let rates = "20: `success` must be 2 rates between 0 and 1, one per budget";
    for (keys, expected) in [
        ("curve = \"pivot\"\nruns = 9\nsuccess = [0.5]", rates),
        ("curve = \"pivot\"\nruns = 9\nsuccess = [0.5, 0.5, 0.5]", rates),
        ("curve = \"pivot\"\nruns = 9\nsuccess = [0.5, 1.5]", rates),
        ("curve = \"pivot\"\nruns = 9\nsuccess = [0.5, nan]", "20: `success` must be a finite number, not nan"),
        ("curve = \"pivot\"\nruns = 0\nsuccess = [0.5, 0.5]", &format!("19: {RUNS} 0")),
        (
            "curve = \"a\"\nruns = 9\nsuccess = [0.5, 0.5]",
            "18: `curve` must be one of the algorithms \"linear-apt\", \"pivot\", not \"a\"",
        ),
        (
            "curve = \"a\"\nruns = 9\nalgorithm = \"b\"\nsuccess = [1, 1]",
            "20: `algorithm` must be one of the algorithms \"linear-apt\", \"pivot\", not \"b\"",
        ),
        (
            "curve = \"pivot\"\nruns = 9\nsuccess = [1, 1]\nseed = 1",
            "21: unknown key `seed` in [[published]]; allowed are `curve`, `algorithm`, `values`, `runs`, `success`",
        ),
        ("runs = 9", "17: [[published]] needs the key `curve`; it has `runs`"),
        (
            "curve = \"pivot\"\nmetric = \"regret\"\nvalues = [1, 1]",
            "19: `metric` must be \"failure rate\", \"wrong arms\", \"pulls\", \"output 1\", \"output 2\", …, \"gamma\" or \"pulls of the bound\", not the text \"regret\"",
        ),
        (
            "curve = \"pivot\"\nmetric = \"output 0\"\nvalues = [1, 1]",
            "19: `metric` must be \"failure rate\", \"wrong arms\", \"pulls\", \"output 1\", \"output 2\", …, \"gamma\" or \"pulls of the bound\", not the text \"output 0\"",
        ),
        (
            "curve = \"pivot\"\nmetric = \"pulls\"\nvalues = [1, 1]",
            "20: `values` go with `errors`, with `deviations` and `runs`, or with `runs` alone",
        ),
        (
            "curve = \"pivot\"\nmetric = \"gamma\"\nvalues = [1, 1]\nerrors = [1, 1]",
            "20: `values` of \"gamma\": this metric is for algorithms with `gamma = \"optimal\"` where all runs have one instance",
        ),
        (
            "curve = \"pivot\"\nmetric = \"failure rate\"\nvalues = [1, 1]\nerrors = [1, 1]",
            "20: `values` of a failure rate go with `runs` alone",
        ),
        (
            "curve = \"pivot\"\nmetric = \"pulls\"\nvalues = [1, -1]\nruns = 9",
            "20: `values` must be 2 numbers of at least 0, one per budget",
        ),
        (
            "curve = \"pivot\"\nmetric = \"pulls\"\nvalues = [1, 1]\nerrors = [1, 0]",
            "21: `errors` must be 2 positive numbers, one per budget",
        ),
    ] {
        assert_eq!(refusal(&format!("{GOOD}[[published]]\n{keys}\n"), Path::new("")), expected);
    }
}

#[test]
fn stops() {
    let table = "must be \"budget\" or a table such as `{ confidence = 0.05, by = \"intervals\" }`, not";
    let level = "`confidence` is refused: delta must be a number above 0 and below 1, not";
    let cases = [
        ("\"sure\"", format!("`stop` {table} the text \"sure\"")),
        ("0.05", format!("`stop` {table} 0.05")),
        ("{}", "`stop` needs the key `confidence`; it has none".into()),
        ("{ confidence = 0.05 }", "`stop` needs the key `by`; it has `confidence`".into()),
        (
            "{ confidence = 0.05, by = \"feeling\" }",
            "`by` must be one of \"intervals\", \"evidence\", \"llr\", not the text \"feeling\"".into(),
        ),
        ("{ confidence = 0, by = \"evidence\" }", format!("{level} 0")),
        ("{ confidence = 1.0, by = \"evidence\" }", format!("{level} 1")),
        ("{ confidence = nan, by = \"evidence\" }", "`confidence` must be a finite number, not nan".into()),
        (
            "{ confidence = 0.1, by = \"evidence\", norm = -1 }",
            "`norm` is refused: the norm must be a number between 0 and 1e150, not -1".into(),
        ),
        (
            "{ confidence = 0.1, by = \"evidence\", sigma = 1 }",
            "unknown key `sigma` in `stop`; allowed are `confidence`, `by`, `norm`, `elimination`".into(),
        ),
    ];
    for (stop, expected) in cases {
        let stop = format!("stop = {stop}");
        assert_refused(&[("runs = 10", &stop, &format!("1: {expected}"))]);
        assert_refused(&[("\"linear-apt\"", &format!("\"linear-apt\"\n{stop}"), &format!("14: {expected}"))]);
    }
    assert_refused(&[(
        "\"linear-apt\"",
        "\"clucb\"\nstop = { confidence = 0.9, by = \"evidence\" }",
        "13: `name` is refused: `delta` must be a finite number between 1e-100 and 0.5, not 0.9",
    )]);
}
