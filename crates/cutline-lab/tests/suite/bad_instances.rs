//! Errors in `[instance]` and in the files it names.

use crate::common::{UNIFORM, assert_refused, changed, experiment, refusal};
use std::path::Path;

#[test]
fn kinds_and_keys() {
    let kinds = "8: `kind` must be one of \"uniform\", \"iris\", \"wine\", \"soare\", \"csv\", \"linear\", \"means\", \"bernoulli\", \
                 \"monotone\", \"locatelli-1\", \"locatelli-2\", \"locatelli-3\", \"osi\", \"graph\", \"kernel\", not";
    assert_refused(&[
        (UNIFORM, "kind = \"gaussian\"\n", &format!("{kinds} the text \"gaussian\"")),
        (UNIFORM, "kind = 1\n", &format!("{kinds} 1")),
        (UNIFORM, "\n", "7: [instance] needs the key `kind`; it has none"),
        (UNIFORM, "kidn = \"iris\"\n", "7: [instance] needs the key `kind`; it has `kidn`"),
        (
            UNIFORM,
            "kind = \"iris\"\nn_arms = 3\n",
            "9: unknown key `n_arms` in [instance]; allowed are `kind`, `redraw`, `draw`, `offset`, `standardise`, `kernel`, `graph`",
        ),
        (UNIFORM, "kind = \"iris\"\noffset = inf\n", "9: `offset` must be a finite number, not inf"),
        (
            UNIFORM,
            "kind = \"means\"\nmeans = [1e308]\noffset = 1e308\n",
            "7: `instance` is refused: the mean of arm 0 is inf; means must be finite",
        ),
        (UNIFORM, "kind = \"iris\"\nstandardise = 1\n", "9: `standardise` must be true or false, not 1"),
        (
            UNIFORM,
            "kind = \"means\"\nmeans = [1]\nstandardise = true\n",
            "10: `standardise` = true does not go with arms without features",
        ),
        (UNIFORM, "kind = \"iris\"\nredraw = 1\n", "9: `redraw` must be true or false, not 1"),
        (UNIFORM, "kind = \"iris\"\ndraw = \"once\"\n", "9: `draw` must be \"published\", not the text \"once\""),
        (
            UNIFORM,
            "kind = \"iris\"\ndraw = \"published\"\nredraw = true\n",
            "9: `draw` = \"published\" is one instance for all runs; it does not go with `redraw = true`",
        ),
        (
            UNIFORM,
            "kind = \"means\"\nmeans = [1]\ndraw = \"published\"\n",
            "10: `draw` = \"published\" does not go with an instance of which nothing is drawn",
        ),
    ]);
    let whole = changed("threshold = 0.0", "threshold = 0.0\ninstance = 3").replace("[instance]", "[published]");
    assert_eq!(refusal(&whole, Path::new("")), "4: `instance` must be a table, not 3");
}

#[test]
fn sizes() {
    assert_refused(&[
        ("n_arms = 20", "n_arms = 0", "9: `n_arms` must be a whole number between 1 and 1000000000, not 0"),
        ("n_arms = 20", "n_arms = 20.0", "9: `n_arms` must be a whole number between 1 and 1000000000, not 20.0"),
        (
            "n_arms = 20",
            "n_arms = 99999999999999999999",
            "9: `n_arms` must be a whole number between 1 and 1000000000, not 99999999999999999999",
        ),
        ("n_arms = 20", "", "7: [instance] needs the key `n_arms`; it has `kind`, `dimension`"),
        ("n_arms = 20", "n_arms = 1_000_000_000", "9: `n_arms` times `dimension` must be at most 1000000000"),
        ("dimension = 5", "dimension = 0", "10: `dimension` must be a whole number between 1 and 10000, not 0"),
        (
            "dimension = 5",
            "dimension = 1_000_000_000",
            "10: `dimension` must be a whole number between 1 and 10000, not 1000000000",
        ),
        (
            UNIFORM,
            "kind = \"soare\"\ndimension = 1\nomega = 0.1\n",
            "9: `dimension` must be a whole number between 2 and 10000, not 1",
        ),
        (
            UNIFORM,
            "kind = \"soare\"\ndimension = 2\n",
            "7: [instance] needs the key `omega`; it has `kind`, `dimension`",
        ),
        (UNIFORM, "kind = \"soare\"\ndimension = 2\nomega = nan\n", "10: `omega` must be a finite number, not nan"),
    ]);
}

#[test]
fn means() {
    let features = "does not fit: `linear-apt` needs arms with features, and these have none";
    assert_refused(&[
        (UNIFORM, "kind = \"means\"\nmeans = []\n", "9: `means` must give the mean of at least one arm"),
        (UNIFORM, "kind = \"means\"\nmeans = 0.5\n", "9: `means` must be a list, not 0.5"),
        (UNIFORM, "kind = \"means\"\nmeans = [\n0.5,\ninf]\n", "11: `means` must be a finite number, not inf"),
        (UNIFORM, "kind = \"means\"\nmeans = [0.1, 0.9]\n", &format!("11: `algorithm` `linear-apt` {features}")),
    ]);
    for name in ["random", "ucbe", "pivot"] {
        let text = changed(UNIFORM, "kind = \"means\"\nmeans = [0.1, 0.9]\n").replace("\"linear-apt\"", "\"apt\"");
        let error = refusal(&text.replace("\"pivot\"", &format!("\"{name}\"")), Path::new(""));
        assert!(error.ends_with(&features.replace("linear-apt", name)), "{error}");
    }
    let experiment =
        experiment("budgets = [9]\nthreshold = 0.5", "kind = \"means\"\nmeans = [0.1, 0.9]", &["name = \"apt\""]);
    assert_eq!(experiment.source().fixed().unwrap().means(), [0.1, 0.9]);
}

#[test]
fn means_that_are_not_probabilities() {
    for (means, arm, mean) in [("[0.5, 1.5]", 1, "1.5"), ("[-0.25]", 0, "-0.25")] {
        let text = changed(UNIFORM, &format!("kind = \"means\"\nmeans = {means}\n"))
            .replace("noise = 1.0", "noise = { kind = \"bernoulli\" }");
        let expected = format!(
            "5: `noise` is refused: run 0: arm {arm} has mean {mean}; bernoulli noise needs means between 0 and 1"
        );
        assert_eq!(refusal(&text, Path::new("")), expected);
    }
}

#[test]
fn instances_of_the_literature() {
    let features = "does not fit: `linear-apt` needs arms with features, and these have none";
    let bernoulli = "`noise` must be { kind = \"bernoulli\" } or be left out: the instance says so";
    assert_refused(&[
        (UNIFORM, "kind = \"bernoulli\"\nmeans = [0.5]\n", &format!("5: {bernoulli}")),
        (
            "noise = 1.0\n\n[instance]\nkind = \"uniform\"\nn_arms = 20\ndimension = 5\n",
            "instance = { kind = \"bernoulli\", means = [0.5, 1.5] }\n",
            "5: `instance` is refused: run 0: arm 1 has mean 1.5; bernoulli noise needs means between 0 and 1",
        ),
        (UNIFORM, "kind = \"locatelli-1\"\n", &format!("10: `algorithm` `linear-apt` {features}")),
        (UNIFORM, "kind = \"monotone\"\nn_arms = 8\n", "7: [instance] needs the key `gap`; it has `kind`, `n_arms`"),
        (UNIFORM, "kind = \"monotone\"\nn_arms = 8\ngap = 0\n", "10: `gap` must be a positive number, not 0"),
        (
            UNIFORM,
            "kind = \"monotone\"\nmeans = [0, 0, 1, 0.5]\n",
            "9: `means` must not decrease, but arm 2 has 1 and the next one 0.5",
        ),
        (
            UNIFORM,
            "kind = \"osi\"\nd = 2\n",
            "9: unknown key `d` in [instance]; allowed are `kind`, `redraw`, `draw`, `offset`, `standardise`, `kernel`, `graph`",
        ),
        (
            UNIFORM,
            "kind = \"linear\"\narms = [[]]\n",
            "9: `arms` must give at least one arm, each as a list of at least one feature",
        ),
        (UNIFORM, "kind = \"linear\"\narms = [1, 2]\n", "9: `arms` must be a list, not 1"),
        (
            UNIFORM,
            "kind = \"linear\"\narms = [[1, 2]]\ntheta = [1]\n",
            "10: `theta` is refused: theta has 1 values, but the arms have 2 features",
        ),
    ]);
}

/// The error of an instance with these CSV bytes and more keys, without the path of the file.
fn csv_refusal(bytes: &[u8], keys: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("arms.csv"), bytes).unwrap();
    let text = changed(UNIFORM, &format!("kind = \"csv\"\nfile = \"arms.csv\"\n{keys}\n"));
    let path = format!("{}: ", directory.path().join("arms.csv").display());
    refusal(&text, directory.path()).replacen(&path, "", 1)
}

#[test]
fn csv_files() {
    let table: &[(&[u8], &str)] = &[
        (b"", "there are no arms: the file needs a header and one row per arm"),
        (b"a,b\n", "there are no arms: the file needs a header and one row per arm"),
        (b"1,2\n3,4\n", "row 1 must be a header, and it is all numbers"),
        (b"name\nx\n", "there are no features: all columns are names"),
        (b"a,b\n1,2\n3\n", "row 3 has 1 fields, but the header has 2"),
        (b"a,b\n1,2\n3,NaN\n", "row 3, column `b`: `NaN` is not a finite number"),
        (b"a,b\n1,1e999\n", "row 2, column `b`: `1e999` is not a finite number"),
        (b"a;b\n1;2\n", "the header is one field, `a;b`; fields must be separated by commas"),
        (b"a,b\n\"1\n2\",3\n", "row 2, column `a`: `1\\n2` is not a finite number"),
        (b"a\n\xff\n", "row 2, column `a`: the field is not UTF-8"),
    ];
    for &(bytes, expected) in table {
        assert_eq!(csv_refusal(bytes, ""), format!("9: `file` is refused: {expected}"));
    }
    assert!(
        csv_refusal(b"a\n1e60\n", "")
            .starts_with("12: `algorithm` `linear-apt` does not fit: the features are too large")
    );
}

#[test]
fn csv_keys() {
    let three = "10: `theta` is refused: theta has 3 values, but the arms have 2 features";
    assert_eq!(csv_refusal(b"a,b\n1,2\n", "theta = [1, 2, 3]"), three);
    assert_eq!(csv_refusal(b"a,b\n1,2\n", "theta = 1"), "10: `theta` must be a list, not 1");
    assert_eq!(csv_refusal(b"a,b\n1,2\n", "theta = [1, nan]"), "10: `theta` must be a finite number, not nan");
    assert_eq!(
        csv_refusal(b"a\n1e200\n", "theta = [1e200]"),
        "7: `instance` is refused: the mean of arm 0 is inf; means must be finite"
    );
    let column = "10: `means` must be a column of the file that holds numbers, not the text";
    for (header, asked) in [("a,b", "c"), ("a,b", "B"), ("name,b", "name"), ("Name,b", "Name")] {
        let refusal = csv_refusal(format!("{header}\n1,2\n").as_bytes(), &format!("means = \"{asked}\""));
        assert_eq!(refusal, format!("{column} \"{asked}\""), "{header}");
    }
    assert_eq!(csv_refusal(b"a,b\n1,2\n", "means = 2"), "10: `means` must be a text in quotes, not 2");
    assert_eq!(
        csv_refusal(b"a,b\n1,2\n", "means = \"b\"\ntheta = [1]"),
        "11: `theta` does not go with `means`: means are either xᵀθ or in a column"
    );
    assert_eq!(
        csv_refusal(b"a,b\n1,2\n", "means = \"b\"\ndraw = \"published\""),
        "11: `draw` = \"published\" does not go with an instance of which nothing is drawn"
    );
    assert_eq!(
        csv_refusal(b"b\n1\n", "means = \"b\"\nstandardise = true"),
        "11: `standardise` = true does not go with arms without features"
    );
    assert_refused(&[
        (UNIFORM, "kind = \"csv\"\nfile = 3\n", "9: `file` must be a text in quotes, not 3"),
        (UNIFORM, "kind = \"csv\"\n", "7: [instance] needs the key `file`; it has `kind`"),
        (
            UNIFORM,
            "kind = \"csv\"\nfile = \"no.csv\"\n",
            "9: `file` is refused: no.csv: No such file or directory (os error 2)",
        ),
    ]);
}
