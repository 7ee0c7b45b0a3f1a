//! Errors in the variants of an experiment file, with the line and the message.

use crate::common::{GOOD, refusal};
use std::path::Path;

/// Checks the error of [`GOOD`], which has 16 lines, with these lines after it.
fn assert_refused(variants: &str, expected: &str) {
    assert_eq!(refusal(&format!("{GOOD}{variants}\n"), Path::new("")), expected, "{variants}");
}

#[test]
fn variants_are_a_list_of_tables() {
    for (value, expected) in [
        ("variant = 3", "1: `variant` must be a list, not 3"),
        ("variant = []", "1: `variant` must hold at least one variant"),
        ("variant = [3]", "1: `variant` must be a table, not 3"),
        ("variant = {}", "1: `variant` must be a list, [[variant]], not a value of type table"),
    ] {
        assert_eq!(refusal(&format!("{value}\n{GOOD}"), Path::new("")), expected);
    }
}

#[test]
fn names() {
    assert_refused("[[variant]]\nseed = 1", "17: [[variant]] needs the key `name`; it has `seed`");
    assert_refused("[[variant]]\nname = 1", "18: `name` must be a text in quotes, not 1");
    assert_refused(
        "[[variant]]\nname = \"\"",
        "18: `name` must be one line of text, without control characters, not the text \"\"",
    );
    assert_refused(
        "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n[[variant]]\nname = \"a\"",
        "22: `name` \"a\" names two variants; names must differ",
    );
}

#[test]
fn keys() {
    let allowed = "`name`, `runs`, `seed`, `budgets`, `stop`, `threshold`, `precision`, `noise`, `baseline`, `instance`, `algorithm`, `published`";
    assert_refused(
        "[[variant]]\nname = \"a\"\nrums = 1",
        &format!("19: unknown key `rums` in [[variant]]; allowed are {allowed}"),
    );
    assert_refused("[[variant]]\nname = \"a\"\nvariant = []", "19: `variant` cannot be in a variant");
    assert_refused(
        "[[variant]]\nname = \"a\"\nbudgets = [0]",
        "19: `budgets` must be a whole number between 1 and 100000000, not 0",
    );
    assert_refused(
        "[[variant]]\nname = \"a\"\ninstance = { n_arms = 0 }",
        "19: `n_arms` must be a whole number between 1 and 1000000000, not 0",
    );
    assert_refused("[[variant]]\nname = \"a\"\ninstance = 3", "19: `instance` must be a table, not 3");
    let instance = "`kind`, `n_arms`, `dimension`, `redraw`, `draw`, `offset`, `standardise`, `kernel`, `graph`";
    assert_refused(
        "[[variant]]\nname = \"a\"\ninstance = { arms = 9 }",
        &format!("19: unknown key `arms` in [variant.instance]; allowed are {instance}"),
    );
    // Keys of the file that do not fit the kind of a variant are errors of the file.
    assert_refused(
        "[[variant]]\nname = \"a\"\ninstance = { kind = \"iris\" }",
        "9: unknown key `n_arms` in [instance]; allowed are `kind`, `redraw`, `draw`, `offset`, `standardise`, `kernel`, `graph`",
    );
    assert_refused(
        "[[variant]]\nname = \"a\"\nalgorithm = [{ name = \"pivot\" }]",
        "19: `algorithm` `pivot` is listed twice; give one a `label`",
    );
    assert_refused("[[variant]]\nname = \"a\"\nalgorithm = 3", "19: `algorithm` must be a list, not 3");
    assert_refused(
        "[[variant]]\nname = \"a\"\nbaseline = \"apt\"",
        "19: `baseline` must be one of the algorithms \"linear-apt\", \"pivot\", not \"apt\"",
    );
}

/// What is missing in the file and in the variant, and what does not fit together.
#[test]
fn the_variant_with_the_error_is_named() {
    let without = |key: &str| GOOD.replace(key, "");
    let text = format!("{}[[variant]]\nname = \"a\"\n", without("threshold = 0.0"));
    assert_eq!(refusal(&text, Path::new("")), "17: [[variant]] needs the key `threshold`, which the file lacks too");
    let text = format!("{}[[variant]]\nname = \"a\"\ninstance = {{ offset = 1 }}\n", without("kind = \"uniform\""));
    let expected = "19: [variant.instance] needs the key `kind`, which [instance] lacks too";
    assert_eq!(refusal(&text, Path::new("")), expected);
    let text = format!("{GOOD}[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nbudgets = [10]\n");
    let error = refusal(&text, Path::new(""));
    assert!(error.starts_with("12: `algorithm` `linear-apt` does not fit: a budget of 10"), "{error}");
}
