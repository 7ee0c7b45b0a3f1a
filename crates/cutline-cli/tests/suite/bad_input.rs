//! Invalid files: exit code 1, one line that names the place, nothing written.

use crate::common::{Place, SMALL};

#[test]
fn the_line_names_file_and_line() {
    let place = Place::new();
    for (from, to, expected) in [
        ("runs = 40", "rums = 40", "bad.toml:2: unknown key `rums` in the file; allowed are `name`, `runs`"),
        ("[12, 30]", "[30, 12]", "bad.toml:4: `budgets` must ascend"),
        (
            "[12, 30]",
            "[5, 30]",
            "bad.toml:18: `algorithm` `ucbe(-1)` does not fit: a budget of 5 is too small for 6 arms",
        ),
        ("precision = 0.02", "precision = nan", "bad.toml:6: `precision` must be a finite number, not nan"),
        ("\"pivot\"", "\"pivto\"", "bad.toml:23: `name` is refused: unknown algorithm `pivto`"),
        ("\"small\"", "\"sm\nall\"", "bad.toml:1: invalid basic string"),
        (
            "baseline = \"linear-apt\"",
            "baseline = \"a\\nb\"",
            "bad.toml:7: `baseline` must be one of the algorithms \"linear-apt\", \"ucbe(-1)\", \"pivot\", not \"a\\nb\"",
        ),
    ] {
        place.write("bad.toml", SMALL.replace(from, to));
        let line = place.refuses(&["simulate", "bad.toml"]);
        assert!(line.starts_with(&format!("error: {expected}")), "{line}");
    }
}

#[test]
fn files_that_cannot_be_read() {
    let place = Place::new();
    let line = place.refuses(&["simulate", "no.toml"]);
    assert_eq!(line, "error: cannot read no.toml: No such file or directory (os error 2)");
    assert_eq!(place.refuses(&["simulate", "/"]), "error: cannot read /: Is a directory (os error 21)");
    place.write("latin.toml", b"# one\n# \xe4\n");
    assert_eq!(
        place.refuses(&["simulate", "latin.toml"]),
        "error: latin.toml:2: the file must be UTF-8, and this line is not"
    );
    place.write("empty.toml", "");
    assert_eq!(
        place.refuses(&["simulate", "empty.toml"]),
        "error: empty.toml:1: the file needs the key `budgets`; it has none"
    );
}

/// A name with a line break does not break the line.
#[test]
fn odd_file_names() {
    let place = Place::new();
    assert!(place.refuses(&["simulate", "a\nb.toml"]).starts_with("error: cannot read a\\nb.toml: "));
    place.write("a\u{7}b.toml", SMALL.replace("name = \"small\"\n", ""));
    let ran = place.good(&["simulate", "a\u{7}b.toml"]);
    assert!(ran.stdout.starts_with("\na-b: 40 runs"), "{}", ran.stdout);
}

/// Whether a drawn mean is a probability is known only once it is drawn.
#[test]
fn instances_that_turn_bad_later() {
    let place = Place::new();
    place.write("arms.csv", "a\n0.5\n0.25\n");
    let text = "seed = SEED\nbudgets = [9]\nthreshold = 0.2\nnoise = { kind = \"bernoulli\" }\n[instance]\nkind = \"csv\"\nfile = \"arms.csv\"\n[[algorithm]]\nname = \"apt\"\n";
    let messages: Vec<String> = (0..10)
        .map(|seed| {
            place.write("drawn.toml", text.replace("SEED", &seed.to_string()));
            place.run(&["simulate", "drawn.toml", "--threads", "1"]).failed(1)
        })
        .collect();
    let at_once =
        |message: &&String| message.starts_with("error: drawn.toml:4: `noise` is refused: run 0: arm 0 has mean -0.");
    let later =
        |message: &&String| message.starts_with("error: run ") && message.ends_with("needs means between 0 and 1");
    assert_eq!(messages.iter().filter(at_once).count() + messages.iter().filter(later).count(), 10, "{messages:?}");
    assert!(messages.iter().any(|message| later(&message)), "θ is positive in one of the ten");
    assert_eq!(place.names("results"), [""; 0]);
}
