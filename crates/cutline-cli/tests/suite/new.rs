//! `cutline new`: what it understands, what it refuses, and that it leaves nothing half-done.

use crate::common::{ARMS, Place, screen};
use serde_json::Value;

const NEW: [&str; 7] = ["new", "screen.db", "arms.csv", "--threshold", "0.5", "--budget", "40"];

fn place() -> Place {
    let place = Place::new();
    place.write("arms.csv", ARMS);
    place
}

#[test]
fn it_says_what_it_understood_and_what_comes_next() {
    let place = place();
    place.write("rewards.csv", "arm,reward\n-e,0.25\n0,1\n");
    place.write("wide.csv", "name,x,same\na,1,2\nb,2,2\n");
    let ran = place.good(&[&NEW[..], &["--precision", "0.02", "--observed", "rewards.csv"]].concat());
    assert_eq!(ran.stdout, "");
    let found = place.json(&["status", "screen.db"])["finding"].as_str().unwrap().to_owned();
    assert!(found.starts_with("features explain ") && found.contains(" %), noise σ ≈ "), "{found}");
    assert_eq!(
        ran.stderr.replace(&found, "FOUND"),
        "began the campaign `arms`\n\
         \x20 arms       6: `a`, `b`, `c, d`, `-e`, `f \"g\"`, …\n\
         \x20 features   2: `x`, `y`\n\
         \x20 question   which means lie above 0.5, give or take 0.02?\n\
         \x20 budget     40 measurements\n\
         \x20 model      mixed: a linear, a smooth and an own part per arm, with weights learnt from the rewards\n\
         \x20 algorithm  pivot\n\
         \x20 noise      estimated from the rewards; set it with `--noise`\n\
         \x20 observed   2 earlier rewards, not counted towards the budget\n\
         \x20 found      FOUND\n\
         next: cutline ask screen.db, or cutline run screen.db --measure COMMAND\n"
    );
    let args = ["new", "screen.db", "wide.csv", "--threshold", "-1", "--budget", "9", "--name", "it's 2"];
    let others =
        ["--noise", "0.5", "--model", "linear", "--raw", "--parameter", "lambda=0.1", "--until-sure", "proved"];
    let said = place.good(&[&args[..], &others].concat()).stderr;
    for line in [
        "began the campaign `it's 2`",
        "  constant   `same`: the same for all arms, so ignored",
        "  model      linear in the features; features and rewards are used as given",
        "  question   which means lie above -1?",
        "  budget     9 measurements, or fewer once every verdict is proved, guaranteed",
        "  algorithm  easiest, lambda = 0.1",
        "  noise      0.5, as given",
        "next: cutline ask screen.db --name 'it'\\''s 2', or cutline run screen.db --name 'it'\\''s 2' --measure COMMAND",
    ] {
        assert!(said.lines().any(|said| said == line), "{line}: {said}");
    }
}

/// The verdicts after three measurements; `options` as to `new`.
fn verdicts(options: &[&str]) -> (Value, Value) {
    let place = place();
    place.write("rewards.csv", "arm,reward\na,0.25\na,1\n");
    place.good(&[&NEW[..], options].concat());
    let tickets = place.json(&["ask", "screen.db", "-n", "3"]);
    place.good(&["tell", "screen.db", "1", "0.75", "2", "0.25", "3", "0.5"]);
    (tickets, place.json(&["export", "screen.db", "--verdicts"]))
}

#[test]
fn every_option_makes_a_difference() {
    let arms = |tickets: &Value| tickets.as_array().unwrap().iter().map(|t| t["arm"].clone()).collect::<Vec<_>>();
    let (tickets, base) = verdicts(&[]);
    let same = ["--confidence", "0.95", "--interval", "fixed", "--seed", "0", "--features", "x,y"];
    assert_eq!((arms(&tickets), &base), (arms(&verdicts(&same).0), &verdicts(&same).1), "the defaults");
    for options in [
        &["--noise", "0.1"][..],
        &["--model", "linear"],
        &["--model", "independent"],
        &["--algorithm", "apt"],
        &["--algorithm", "linear-apt"],
        &["--parameter", "linear=0"],
        &["--features", "y"],
        &["--features", "y,x"],
        &["--interval", "anytime"],
        &["--confidence", "0.9"],
        &["--observed", "rewards.csv"],
    ] {
        let is_order = options == ["--features", "y,x"];
        let (tickets, other) = verdicts(options);
        assert!(is_order || other != base, "{options:?} changes no verdict");
        let columns: Vec<&String> = tickets[0]["features"].as_object().unwrap().keys().collect();
        assert_eq!(columns.len(), if options == ["--features", "y"] { 1 } else { 2 });
    }
    let linear = |options: &[&str]| verdicts(&[&["--model", "linear"], options].concat()).1;
    for options in [
        &["--parameter", "lambda=0.01"][..],
        &["--raw"],
        &["--raw", "--standardise"],
        &["--prepare", "intercept,centre"],
        &["--prepare", "standardise,centre"],
        &["--prepare", "standardise,intercept"],
    ] {
        assert_ne!(linear(options), linear(&[]), "{options:?} changes no verdict");
    }
    assert_eq!(linear(&["--raw"]), linear(&["--prepare", "none"]));
    assert_eq!(linear(&["--raw", "--standardise"]), linear(&["--prepare", "standardise"]));
    assert_eq!(linear(&["--standardise"]), linear(&[]), "the default");
    assert_ne!(linear(&["--raw", "--standardise"]), linear(&["--raw"]));
    let named = |options: &[&str]| verdicts(&[&["--algorithm", "linear-apt"], options].concat()).1;
    assert_eq!(named(&[]), named(&["--model", "linear", "--raw"]), "alone it is the paper's model");
    assert_ne!(named(&[]), named(&["--model", "linear"]));
    assert_eq!(verdicts(&["--algorithm", "pivot"]).1, base, "alone it is the mixed model");
    assert_eq!(verdicts(&["--algorithm", "apt"]).1, verdicts(&["--model", "independent"]).1);
    let random = |seed: &str| {
        let place = screen(&["--budget", "40", "--algorithm", "random", "--seed", seed]);
        arms(&place.json(&["ask", "screen.db", "-n", "30"]))
    };
    assert_ne!(random("1"), random("2"));
    let status = |options: &[&str]| {
        let place = screen(&[&["--budget", "40", "--precision", "0.1"], options].concat());
        place.json(&["status", "screen.db"])
    };
    assert_eq!((&status(&[])["precision"], &status(&[])["told"]), (&0.1.into(), &0.into()));
}

#[test]
fn rewards_from_before_may_count() {
    let place = place();
    place.write("rewards.csv", "arm,reward\na,0.25\nb,1\n");
    let counted = ["--observed", "rewards.csv", "--count-observed"];
    place.good(&[&NEW[..], &counted].concat());
    let status = place.json(&["status", "screen.db"]);
    assert_eq!((&status["told"], &status["uncounted"]), (&2.into(), &0.into()));
    let few = ["new", "other.db", "arms.csv", "--threshold", "0", "--budget", "1"];
    let line = place.run(&[&few[..], &counted].concat()).failed(2);
    assert_eq!(
        line,
        "error: 2 earlier rewards cannot count towards a budget of 1; raise `--budget`, or leave out `--count-observed`"
    );
    assert!(!place.path("other.db").exists());
}

/// Every shape of candidates that makes sense begins and hands out a ticket.
#[test]
fn odd_shapes() {
    for (csv, algorithm) in [
        ("x\n1\n", "pivot"),
        ("name\nonly\n", "apt"),
        ("x\n1\n2\n3\n", "pivot"),
        ("a,b,c,d\n1,2,3,4\n4,3,2,1\n", "pivot"),
        ("name,x\na,0\nb,0\n", "pivot"),
    ] {
        let place = place();
        place.write("arms.csv", csv);
        place.good(&NEW);
        assert_eq!(place.json(&["status", "screen.db"])["algorithm"], algorithm, "{csv}");
        assert_eq!(place.json(&["ask", "screen.db"])[0]["ticket"], 1, "{csv}");
        place.good(&["tell", "screen.db", "1", "0.5"]);
        place.good(&["status", "screen.db"]);
    }
}

#[test]
fn what_is_wrong_with_the_candidates_is_one_line() {
    let refused: [(&[u8], &[&str], &str); 12] = [
        (b"", &[], "arms.csv: there are no arms: the file needs a header and one row per arm"),
        (b"name,x\n", &[], "arms.csv: there are no arms: the file needs a header and one row per arm"),
        (
            b"name,x\na,1\nb,NaN\n",
            &[],
            "arms.csv: row 3, column `x`: the value is missing; fill it in, or use `--missing mean`",
        ),
        (b"name,x\na,1\nb,\n", &[], "arms.csv: row 3, column `x`: the value is missing; fill it in"),
        (b"name,x\na,1\nb,2\na,3\n", &[], "arms.csv: rows 2 and 4 have the same name, `a`; names must differ"),
        (b"name,x\n,1\n", &[], "arms.csv: row 2: the name is empty"),
        (b"name,x\n\"a\nb\",1\n", &[], "arms.csv: row 2: the name \"a\\nb\" contains a control character"),
        (b"1,2\n3,4\n", &[], "arms.csv: row 1 must be a header, and it is all numbers"),
        (ARMS.as_bytes(), &["--features", "x,z"], "arms.csv: there is no column `z`; the columns are `x`, `y`"),
        (ARMS.as_bytes(), &["--observed", "no.csv"], "cannot read no.csv: No such file or directory"),
        (ARMS.as_bytes(), &["--name", "a\u{7}"], "`a\\u{7}` cannot be a name"),
        (
            b"name\na\nb\n",
            &["--model", "linear"],
            "`pivot` needs arms with features, and these have none; use `--model mixed` or `--model independent`",
        ),
    ];
    for (csv, options, expected) in refused {
        let place = place();
        place.write("arms.csv", csv);
        let line = place.refuses(&[&NEW[..], options].concat());
        assert!(line.starts_with(&format!("error: {expected}")), "{line}");
    }
    assert_eq!(
        Place::new().refuses(&NEW),
        "error: cannot read arms.csv: No such file or directory (os error 2)",
        "and no store is made"
    );
}

#[test]
fn settings_that_do_not_fit_are_one_line() {
    let few = ["new", "screen.db", "arms.csv", "--threshold", "0.5", "--budget", "5"];
    for (options, expected) in [
        (
            &["--algorithm", "linear-apt"][..],
            "a budget of 5 is too small for 6 arms: every arm is pulled once first; raise `--budget`, or \
             use `--algorithm pivot`",
        ),
        (&["--algorithm", "ucbe"], "`ucbe` needs the parameter `exploration`"),
        (
            &["--algorithm", "lingame"],
            "`lingame` cannot estimate the noise during a campaign; it needs a given `noise`; give it with `--noise`",
        ),
        (&["--parameter", "mu=1"], "`pivot` takes no parameter `mu`; it takes `noise`, `landmarks`"),
        (
            &["--model", "linear", "--parameter", "lambda=-1"],
            "`lambda` must be a finite number of at least 1e-12, not -1",
        ),
        (
            &["--model", "independent", "--algorithm", "pivot"],
            "the rule `pivot` needs variances, which the estimator `sample-mean` does not have; use `--algorithm apt`, or \
             `--model mixed` or `--model linear`",
        ),
        (
            &["--model", "linear", "--until-sure", "expected-errors 3"],
            "the stop `expected-errors` needs the estimator `mixed`, not `ridge`; use `--model mixed`, or `--until-sure proved`",
        ),
        (
            &["--until-sure", "intervals"],
            "new campaigns have no stop `intervals`: use `proved`, which needs no `noise` and fewer measurements",
        ),
        (
            &["--model", "mixed", "--algorithm", "lingame", "--noise", "1"],
            "the rule `lingame` needs a σ that does not change, and the estimator `mixed` learns σ from the rewards; use \
             `--model linear`",
        ),
    ] {
        let place = place();
        let line = place.refuses(&[&few[..], options].concat());
        assert!(line.starts_with(&format!("error: {expected}")), "{line}");
    }
}

#[test]
fn a_budget_is_a_whole_number() {
    let place = place();
    let new = |budget: &str, name: &str| {
        place.run(&["new", "screen.db", "arms.csv", "--threshold", "0.5", "--name", name, "--budget", budget])
    };
    for bad in ["-5", "0", "1.5", "many", "1e10"] {
        let ran = new(bad, "x");
        let expected = format!(
            "error: invalid value '{bad}' for '--budget <T>': a budget is a whole number of measurements, or of units of `--cost`, from 1 to 4294967295\n"
        );
        assert!(ran.code == Some(2) && ran.stderr.starts_with(&expected), "{}", ran.stderr);
    }
    assert!(new("1e3", "thousand").stderr.contains("\n  budget     1000 measurements\n"));
    assert!(new("1", "one").stderr.contains("\n  budget     1 measurement\n"));
}

/// Options of the linear model are refused by the others, in one line and with exit code 2.
#[test]
fn models_and_options_that_contradict_each_other() {
    let mixed = "a preparation of the features, `raw` included, does not apply to the mixed model, which standardises them and \
                 learns the level itself; leave it out, or use `--model linear`";
    let means = "a preparation of the features does not apply to sample means, which do not use the features; leave it out, or use \
                 `--model linear`";
    let lambda = "`lambda` does not apply to the mixed model, which learns its variances and the level from the rewards; use \
                  `--model linear`";
    for (options, expected) in [
        (&["--model", "mixed", "--raw"][..], mixed),
        (&["--model", "mixed", "--prepare", "centre"], mixed),
        (&["--model", "mixed", "--standardise"], mixed),
        (&["--raw"], mixed),
        (&["--algorithm", "pivot", "--prepare", "none"], mixed),
        (&["--model", "independent", "--prepare", "intercept"], means),
        (&["--algorithm", "apt", "--standardise"], means),
        (&["--parameter", "lambda=1"], lambda),
    ] {
        let place = place();
        assert_eq!(place.run(&[&NEW[..], options].concat()).failed(2), format!("error: {expected}"), "{options:?}");
        assert!(!place.path("screen.db").exists());
    }
}

#[test]
fn wrong_command_lines() {
    for (options, expected) in [
        (&["--budget", "0"][..], "a budget is a whole number of measurements"),
        (&["--budget", "x"], "a budget is a whole number of measurements"),
        (&["--threshold", "nan"], "the threshold must be a number between -1e80 and 1e80, not NaN"),
        (&["--precision", "-1"], "the precision must be a number between 0 and 1e80, not -1"),
        (&["--algorithm", "best"], "[possible values: linear-apt, apt"),
        (&["--model", "magic"], "[possible values: mixed, linear, independent]"),
        (&["--parameter", "known_noise=1"], "the noise is given with `--noise`"),
        (&["--interval", "wide"], "[possible values: fixed, anytime]"),
        (&["--until-sure", "hope"], "unknown stopping criterion `hope`; use `proved`, `evidence` or `expected-errors`"),
        (&["--until-sure", "expected-errors"], "needs a number above 0, as in `expected-errors 3`"),
        (&["--until-sure", "expected-errors -1"], "needs a number above 0, as in `expected-errors 3`"),
        (&["--confidence", "95"], "a number above 0 and below 1"),
        (&["--parameter", "lambda"], "as in `lambda=0.1`"),
        (&["--parameter", "noise=1"], "the noise is given with `--noise`"),
        (&["--parameter", "lambda=1", "--parameter", "lambda=2"], "the parameter `lambda` is given twice"),
        (&["--prepare", "scale"], "some of `standardise`, `intercept` and `centre`"),
        (&["--count-observed"], "--observed <REWARDS.csv>"),
        (&["--seed", "-1"], "'-1'"),
        (&["--noise", "0"], "between 1e-100 and 1e100, not 0"),
        (&["--noise", "-2"], "between 1e-100 and 1e100, not -2"),
    ] {
        let place = place();
        let base: Vec<&str> = ["new", "screen.db", "arms.csv"].to_vec();
        let defaults = [["--threshold", "0.5"], ["--budget", "9"]];
        let rest = defaults.iter().filter(|pair| !options.contains(&pair[0])).flatten();
        let args: Vec<&str> = base.into_iter().chain(rest.copied()).chain(options.iter().copied()).collect();
        let ran = place.run(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(expected), "{}", ran.stderr);
        assert_eq!(place.names(""), ["arms.csv", "small.toml"]);
    }
}

#[test]
fn stores_that_cannot_be_begun() {
    let place = place();
    place.write("foreign.db", "not a store, but something that is needed");
    let new = |store: &str| {
        let mut args = NEW;
        args[1] = store;
        place.refuses(&args)
    };
    assert_eq!(new("foreign.db"), "error: foreign.db is not a Cutline store; it was left as it is");
    assert_eq!(place.text("foreign.db"), "not a store, but something that is needed");
    assert!(new("no/such/screen.db").starts_with("error: no/such/screen.db: "));
    assert!(new("mysql://host/db").starts_with("error: unsupported store scheme `mysql://`"));
    assert!(new("").contains("has no path"));
    place.good(&NEW);
    assert_eq!(place.refuses(&NEW), "error: there is already a campaign `arms`; choose another name with `--name`");
    let wrong = place.refuses(&["ask", "screen.db", "--name", "other"]);
    assert_eq!(wrong, "error: there is no campaign `other`; the store has `arms`");
    place.good(&[&NEW[..], &["--name=-second ü"]].concat());
    let which = place.refuses(&["ask", "screen.db"]);
    assert_eq!(which, "error: the store has 2 campaigns: `arms`, `-second ü`; choose one with `--name`");
    assert_eq!(place.json(&["ask", "sqlite:///screen.db", "--name=-second ü"])[0]["ticket"], 1);
}

/// A kernel and a graph are options of `new`; status and report work, and wrong ones are refused in one line.
#[test]
fn kernels_and_graphs() {
    let place = place();
    place.write("edges.csv", "from,to,weight\na,b,1\nb,\"c, d\",0.5\n");
    let kernel = place.good(&[&NEW[..], &["--kernel", "rbf", "--length", "0.5"]].concat()).stderr;
    let model = "  model      a smooth function of the features, by the kernel rbf of length 0.5; features standardised, an intercept added, \
                 rewards measured from the threshold\n  algorithm  pivot\n";
    assert!(kernel.contains(model), "{kernel}");
    let graph =
        place.good(&[&NEW[..], &["--graph", "edges.csv", "--name", "graph", "--algorithm", "grapl"]].concat()).stderr;
    assert!(
        graph.contains("  model      similar along the 2 edges of a graph; rewards measured from the threshold\n"),
        "{graph}"
    );
    for name in ["arms", "graph"] {
        place.good(&["ask", "screen.db", "--name", name]);
        place.good(&["tell", "screen.db", "--name", name, "1", "0.7"]);
        assert_eq!(place.json(&["status", "screen.db", "--name", name])["told"], 1);
    }
    place.write("loop.csv", "from,to\na,a\n");
    for (options, message) in [
        (&["--kernel", "rbf", "--length", "0"][..], "it must be a number between 1e-100 and 1e100"),
        (&["--kernel", "rbf"], "--length"),
        (&["--length", "1"], "--kernel"),
        (&["--kernel", "rbf", "--length", "1", "--graph", "edges.csv"], "cannot be used with"),
        (&["--graph", "loop.csv"], "loop.csv: row 2: an edge leads from node 0 to itself"),
        (&["--graph", "none.csv"], "cannot read none.csv"),
        (
            &["--graph", "edges.csv", "--model", "mixed"],
            "a kernel or a graph goes with the estimator `ridge` only, not with `mixed`; leave out `--model`, or use `--model linear`",
        ),
        (
            &["--algorithm", "straddle", "--until-sure", "evidence"],
            "takes no confidence stop; use `--algorithm pivot`, or leave out `--until-sure`",
        ),
    ] {
        let ran = place.run(&[&NEW[..], options, &["--name", "bad"]].concat());
        let refused = ran.stderr.clone();
        assert!(ran.code == Some(1) || ran.code == Some(2), "{options:?}: {:?}", ran.code);
        assert!(refused.contains(message), "{options:?}: {refused}");
    }
}

/// Rewards outside a range, and numbers that are not counts, are refused in one line, wherever they come from.
#[test]
fn rewards_are_of_their_kind_and_in_their_range() {
    let place = Place::new();
    place.write("arms.csv", "name,x\na,1\nb,2\n");
    place.write("observed.csv", "arm,reward\na,0.5\nb,7\n");
    let begin = |store: &str, options: &[&str]| {
        let new = ["new", store, "arms.csv", "--threshold", "0.6", "--budget", "9"];
        place.run(&[&new[..], options].concat())
    };
    let range = ["--min", "0", "--max", "5"];
    let line = begin("no.db", &[&range[..], &["--observed", "observed.csv"]].concat()).failed(1);
    assert!(line.ends_with("the reward 7 is above 5, the `max` of this campaign"), "{line}");
    let line = begin("no.db", &["--rewards", "count", "--observed", "observed.csv"]).failed(1);
    assert!(line.ends_with("the rewards of this campaign are counts, 0, 1, 2 and so on, not 0.5"), "{line}");
    let plan = ["plan", "arms.csv", "--threshold", "0.6", "--pilot", "observed.csv", "--runs", "2", "--out", "plan"];
    let line = place.run(&[&plan[..], &range].concat()).failed(1);
    assert!(line.contains("the reward 7 is above 5, the `max` of this campaign"), "{line}");
    for (options, reason) in [
        (&["--min", "1", "--max", "1"][..], "`min` must be below `max`"),
        (&["--min", "0.6"], "the threshold 0.6 must lie between `min` and `max`"),
        (&["--max", "0.5"], "the threshold 0.6 must lie between `min` and `max`"),
        (&["--rewards", "bernoulli", "--max", "2"], "bernoulli rewards take no `min` and no `max`"),
        (&["--rewards", "count", "--noise", "1"], "count rewards take no `noise`"),
    ] {
        let line = begin("no.db", options).failed(1);
        assert!(line.contains(reason), "{options:?}: {line}");
    }
    assert!(!place.path("no.db").exists());
    let said = begin("range.db", &range).stderr;
    assert!(said.contains("  rewards    numbers with noise, between 0 and 5\n"), "{said}");
    place.good(&["ask", "range.db", "-n", "2"]);
    let line = place.run(&["tell", "range.db", "1", "-0.25"]).failed(1);
    assert!(line.ends_with("the reward -0.25 is below 0, the `min` of this campaign"), "{line}");
    place.good(&["tell", "range.db", "1", "5", "2", "0"]);
    let line = place.run(&["amend", "range.db", "1", "5.5"]).failed(1);
    assert!(line.ends_with("the reward 5.5 is above 5, the `max` of this campaign"), "{line}");
    assert!(
        begin("count.db", &["--rewards", "count", "--guarantee", "fdr"]).stderr.contains("counts: 0, 1, 2 and so on")
    );
    let shown = place.good(&["show", "count.db"]).stdout;
    assert!(shown.contains("fdr: at most 5 % of the candidates that are proved to be above"), "{shown}");
    place.good(&["set", "count.db", "--guarantee", "all", "--confidence", "0.99"]);
    let shown = place.good(&["show", "count.db"]).stdout;
    assert!(
        shown.contains("all: the probability that any proved verdict of the campaign is wrong is at most 1 %"),
        "{shown}"
    );
}
