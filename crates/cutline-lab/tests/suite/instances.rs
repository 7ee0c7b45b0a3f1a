//! The kinds of instances, and files of experiments and features.

use crate::common;

use crate::common::{all_cells, experiment};
use cutline::{Arms, ArmsError};
use cutline_lab::{
    DrawSchedule, Experiment, Instance, InstanceError, InstanceKind, InstanceSource, Overrides, Threshold,
};
use std::path::{Path, PathBuf};

const HEAD: &str = "budgets = [10, 40]\nthreshold = 0.3\nprecision = 0.05";
const BOTH: &str = "[[algorithm]]\nname = \"linear-apt\"\n[[algorithm]]\nname = \"pivot\"\n";

/// Writes an experiment and its features side by side.
fn write(directory: &Path, csv: &str, keys: &str) -> PathBuf {
    std::fs::write(directory.join("arms.csv"), csv).unwrap();
    let path = directory.join("mine.toml");
    let text = format!("{HEAD}\n[instance]\nkind = \"csv\"\nfile = \"arms.csv\"\n{keys}\n{BOTH}");
    std::fs::write(&path, text).unwrap();
    path
}

fn load(path: &Path) -> Experiment {
    Experiment::load(path, Overrides::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn instances_without_arms_or_features_are_refused() {
    let bare = Instance::linear(Arms::without_features(3).unwrap(), Vec::new(), Threshold::Mean, 0.0);
    assert_eq!(bare.unwrap_err(), InstanceError::NoFeatures);
    let none = InstanceKind::Uniform { n_arms: 0, dimension: 2 };
    let refused = InstanceSource::new(none, DrawSchedule::Once, 0, Threshold::Mean, 0.0).unwrap_err();
    assert_eq!(refused, InstanceError::Arms(ArmsError::Empty));
}

#[test]
fn the_name_column_is_found_in_any_case() {
    let directory = tempfile::tempdir().unwrap();
    let experiment = load(&write(directory.path(), "NAME,a\nfirst,1\nsecond,-2\n", "theta = [1]"));
    assert_eq!(experiment.source().fixed().unwrap().arms().dimension(), Some(1));
}

#[test]
fn csv_with_theta_is_the_instance_made_by_hand() {
    let directory = tempfile::tempdir().unwrap();
    let csv = "name,a,b\nfirst, 1, 0.5\nsecond,-2,0\nthird,0.25,1e-1\n";
    let experiment = load(&write(directory.path(), csv, "theta = [1, -2.5]"));
    let rows = [[1.0, 0.5], [-2.0, 0.0], [0.25, 0.1]];
    let by_hand =
        Instance::linear(Arms::from_rows(&rows).unwrap(), vec![1.0, -2.5], Threshold::Value(0.3), 0.05).unwrap();
    let instance = experiment.source().fixed().expect("nothing is drawn");
    assert_eq!((instance.means(), instance.theta()), (by_hand.means(), by_hand.theta()));
    assert_eq!(instance.question(), by_hand.question());
    for (arm, row) in rows.iter().enumerate() {
        assert_eq!(instance.arms().row(arm).unwrap(), row);
    }
    assert_eq!((experiment.name(), experiment.runs()), ("mine", 10_000), "the file's name, the default runs");
}

#[test]
fn csv_with_the_rows_of_soare_is_soare() {
    let directory = tempfile::tempdir().unwrap();
    let (cos, sin) = (0.5_f64.cos(), 0.5_f64.sin());
    let csv = format!("a,b,c\n1,0,0\n0,1,0\n0,0,1\n{cos},{sin},0\n");
    let from_file = load(&write(directory.path(), &csv, "theta = [2, 0, 0]"));
    let algorithms = ["name = \"linear-apt\"", "name = \"pivot\""];
    let soare = experiment(HEAD, "kind = \"soare\"\ndimension = 3\nomega = 0.5", &algorithms);
    assert_eq!(all_cells(&from_file, 200), all_cells(&soare, 200));
}

#[test]
fn csv_with_the_rows_of_iris_is_iris() {
    let directory = tempfile::tempdir().unwrap();
    let iris = include_str!("../../data/iris.csv");
    for draw in ["", "redraw = false", "draw = \"published\""] {
        let path = write(directory.path(), iris, draw);
        let text = std::fs::read_to_string(&path).unwrap().replace("[10, 40]", "[150]");
        std::fs::write(&path, &text).unwrap();
        let builtin = common::parse(&text.replace("kind = \"csv\"\nfile = \"arms.csv\"", "kind = \"iris\""));
        assert_eq!(all_cells(&load(&path), 20), all_cells(&builtin, 20), "{draw}");
    }
}

/// One column of the file holds the means: the other columns are the features, whatever the position of that column.
#[test]
fn csv_with_means_is_the_instance_made_by_hand() {
    let directory = tempfile::tempdir().unwrap();
    for csv in ["name,a,y,b\nfirst,1,7,0.5\nsecond,-2,9,0\n", "y,a,b\n7,1,0.5\n9,-2,0\n"] {
        let experiment = load(&write(directory.path(), csv, "means = \"y\""));
        let instance = experiment.source().fixed().expect("nothing is drawn");
        assert_eq!((instance.means(), instance.theta()), (&[7.0, 9.0][..], None), "{csv}");
        assert_eq!(instance.arms().row(0), Some(vec![1.0, 0.5]), "{csv}");
        assert_eq!(instance.arms().row(1), Some(vec![-2.0, 0.0]), "{csv}");
    }
}

/// A file with only a column of means makes arms without features, the same as a list of them.
#[test]
fn csv_with_only_means_equals_a_list_of_means() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("arms.csv"), "name,y\na,0.1\nb,0.9\n").unwrap();
    let text = |keys: &str| format!("{HEAD}\n[instance]\n{keys}\n[[algorithm]]\nname = \"apt\"\n");
    let file = text("kind = \"csv\"\nfile = \"arms.csv\"\nmeans = \"y\"");
    let file = Experiment::parse(&file, directory.path()).unwrap();
    let list = common::parse(&text("kind = \"means\"\nmeans = [0.1, 0.9]"));
    assert_eq!(all_cells(&file, 50), all_cells(&list, 50));
}

/// Algorithms see standardised features; the means stay the same, drawn in every run, once, or not at all.
#[test]
fn standardised_features_leave_the_means() {
    for keys in [
        "kind = \"iris\"",
        "kind = \"iris\"\nredraw = false\noffset = 50",
        "kind = \"wine\"\ndraw = \"published\"",
        "kind = \"uniform\"\nn_arms = 20\ndimension = 5\noffset = 50",
        "kind = \"soare\"\ndimension = 3\nomega = 0.1",
    ] {
        let of = |keys: &str| experiment("budgets = [10]\nthreshold = \"median\"", keys, &["name = \"pivot\""]);
        let (plain, ours) = (of(&format!("{keys}\nstandardise = false")), of(&format!("{keys}\nstandardise = true")));
        for run in [0, 3] {
            let (plain, ours) = (plain.source().instance(run).unwrap(), ours.source().instance(run).unwrap());
            assert_eq!((plain.means(), plain.question()), (ours.means(), ours.question()), "{keys}");
            let standardised = plain.arms().clone().standardised();
            for arm in 0..plain.arms().n_arms() {
                assert_eq!(ours.arms().row(arm), standardised.row(arm), "{keys}, run {run}");
                assert_ne!(ours.arms().row(arm), plain.arms().row(arm), "{keys}, run {run}");
            }
            assert!(ours.theta().is_none(), "without an intercept the means are not linear in the features");
        }
    }
}

/// With standardised features, an intercept and a centre, the unit and the level of a feature do not matter.
#[test]
fn units_of_features_do_not_matter() {
    let directory = tempfile::tempdir().unwrap();
    let play = |unit: f64, level: f64| {
        let row = |(a, b, y): &(f64, f64, f64)| format!("{},{b},{y}\n", level + unit * a);
        let rows = [(1.0, 0.25, 0.5), (-2.0, 0.0, 0.0), (3.0, 1.0, 0.75), (0.5, 2.0, 0.25)];
        let csv = format!("a,b,y\n{}", rows.iter().map(row).collect::<String>());
        let path = write(directory.path(), &csv, "means = \"y\"\nstandardise = true");
        let text = std::fs::read_to_string(&path).unwrap().replace("name =", "centre = 1\nintercept = 1\nname =");
        std::fs::write(&path, text).unwrap();
        all_cells(&load(&path), 100)
    };
    let plain = play(1.0, 0.0);
    assert!(plain.iter().all(|cell| cell.errors > 0));
    assert_eq!(play(1024.0, 0.0), plain);
    assert_eq!(play(0.125, 4096.0), plain);
}

/// The threshold is halfway between the best arm and the one at angle ω: the closer the two, the harder; the larger the
/// budget, the easier; and no failure where they are far apart.
#[test]
fn soare_is_harder_the_smaller_the_angle() {
    let failures = |omega: f64| {
        let head = format!("budgets = [20, 200]\nthreshold = {}", 1.0 + omega.cos());
        let algorithms = ["name = \"linear-apt\"", "name = \"pivot\""];
        let experiment = experiment(&head, &format!("kind = \"soare\"\ndimension = 4\nomega = {omega}"), &algorithms);
        let cells = all_cells(&experiment, 400);
        [0, 1, 2, 3].map(|position| cells[position].failures)
    };
    let (hard, middle, easy) = (failures(0.5), failures(1.0), failures(1.5));
    for position in 0..4 {
        assert!(
            hard[position] > middle[position] && middle[position] >= easy[position],
            "{hard:?} {middle:?} {easy:?}"
        );
    }
    for failures in [hard, middle] {
        assert!(failures[1] < failures[0] && failures[3] < failures[2], "{failures:?}");
    }
    assert_eq!((easy[1], easy[3]), (0, 0));
}

#[test]
fn certain_bernoulli_rewards_never_fail() {
    let head = "budgets = [1, 2, 9]\nthreshold = 0.5\nnoise = { kind = \"bernoulli\" }";
    let experiment = experiment(head, "kind = \"means\"\nmeans = [1.0, 0.0]", &["name = \"apt\""]);
    let cells = all_cells(&experiment, 100);
    assert_eq!([0, 1, 2].map(|budget| cells[budget].failures), [0; 3], "an arm not pulled yet has mean 0");
}

#[test]
fn overrides_win_over_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "a\n1\n-1\n", "redraw = false");
    let overrides = Overrides { runs: Some(7), seed: Some(9), redraw: true };
    let experiment = Experiment::load(&path, overrides).unwrap();
    assert_eq!((experiment.name(), experiment.runs(), experiment.seed()), ("mine-redrawn", 7, 9));
    assert!(load(&path).source().fixed().is_some() && experiment.source().fixed().is_none());
}

#[test]
fn files_that_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let message = |path: &Path| Experiment::load(path, Overrides::default()).unwrap_err().to_string();
    let missing = directory.path().join("no.toml");
    assert_eq!(message(&missing), format!("cannot read {}: No such file or directory (os error 2)", missing.display()));
    assert!(message(directory.path()).starts_with(&format!("cannot read {}: ", directory.path().display())));
    let path = directory.path().join("latin.toml");
    std::fs::write(&path, b"runs = 1\nname = \"\xe4\"\n").unwrap();
    assert_eq!(message(&path), format!("{}:2: the file must be UTF-8, and this line is not", path.display()));
    std::fs::write(&path, "runs = 1\r\n\r\nrums = 2\r\n").unwrap();
    assert_eq!(
        message(&path),
        format!("{}:1: the file needs the key `budgets`; it has `runs`, `rums`", path.display())
    );
}

/// Noise of rewards follows from the kind of instance, unless the file says otherwise.
#[test]
fn locatellis_problems_have_bernoulli_rewards() {
    let of = |head: &str, keys: &str| experiment(head, keys, &["name = \"apt\""]);
    let head = "budgets = [100]\nthreshold = 0.5";
    let second = of(head, "kind = \"locatelli-2\"");
    let means = [0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.7, 0.75, 0.8];
    assert_eq!(second.source().fixed().unwrap().means(), means);
    assert_eq!((second.noise().kind_name(), second.noise().scale()), ("bernoulli", 0.5));
    let list = format!("kind = \"bernoulli\"\nmeans = {means:?}");
    assert_eq!(all_cells(&of(head, &list), 50), all_cells(&second, 50));
    let gaussian = of(&format!("{head}\nnoise = 0.25"), "kind = \"locatelli-2\"");
    assert_eq!((gaussian.noise().kind_name(), gaussian.noise().scale()), ("gaussian", 0.25));
}

/// THR3+ of `LinBAI.jl`, `experiment_threshold2`: θ = e₁, the basis and (cos 30°, sin 30°, 0).
#[test]
fn arms_and_theta_in_the_file() {
    let keys = "kind = \"linear\"\ntheta = [1, 0, 0]\narms = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.75, 0.5, 0]]";
    let experiment = experiment(HEAD, keys, &["name = \"pivot\""]);
    let instance = experiment.source().fixed().unwrap();
    assert_eq!((instance.means(), instance.arms().row(3)), (&[1.0, 0.0, 0.0, 0.75][..], Some(vec![0.75, 0.5, 0.0])));
    let drawn = keys.replace("theta = [1, 0, 0]\n", "");
    assert!(common::experiment(HEAD, &drawn, &["name = \"pivot\""]).source().fixed().is_none());
}

#[test]
fn monotone_means() {
    let means = |keys: &str| {
        let experiment = experiment(HEAD, keys, &["name = \"apt\""]);
        experiment.source().fixed().unwrap().means().to_vec()
    };
    let expected = [-0.5, -0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
    assert_eq!(means("kind = \"monotone\"\nn_arms = 7\ngap = 0.5"), expected);
    assert_eq!(means("kind = \"monotone\"\nmeans = [0, 0, 2]\noffset = 1"), [1.0, 1.0, 3.0]);
}

/// The noise of an arm is wider where its σ is larger: with σ = 0.01 the first arm is never called wrong.
#[test]
fn unequal_noise() {
    let of = |noise: &str| {
        let head = format!("budgets = [20]\nthreshold = 0\nnoise = {{ kind = \"gaussian\", {noise} }}");
        let keys = "kind = \"means\"\nmeans = [0.1, 0.1]";
        experiment(&head, keys, &["name = \"ucbe\"\nestimator = \"sample-mean\"\nexploration = 1e40"])
    };
    let errors = |noise: &str| all_cells(&of(noise), 400)[0].errors;
    assert_eq!(errors("scale = [0.01, 0.01]"), 0);
    let (one, both) = (errors("scale = [0.01, 1]"), errors("scale = [1, 1]"));
    assert!(one > 100 && both > 3 * one / 2, "{one}, {both}: Φ(−0.316) = 0.376 per arm");
    assert_eq!(errors("scale = 1"), both);
    assert_eq!(errors("scale = 1, spread = 1"), both);
    assert_ne!(errors("scale = 1, spread = 1000"), both);
    assert_eq!(of("scale = 2, spread = 3").noise().scale(), 6.0);
}

/// An offset moves every mean and, where τ is their mean, the threshold; the draws stay the same.
#[test]
fn an_offset_raises_all_means() {
    for keys in ["kind = \"iris\"", "kind = \"iris\"\nredraw = false", "kind = \"iris\"\ndraw = \"published\""] {
        let of = |head: &str, keys: &str| experiment(head, keys, &["name = \"pivot\""]);
        let mean = "budgets = [10]\nthreshold = \"mean\"";
        let (plain, raised) = (of(mean, keys), of(mean, &format!("{keys}\noffset = 50")));
        for run in [0, 3] {
            let (plain, raised) = (plain.source().instance(run).unwrap(), raised.source().instance(run).unwrap());
            assert!(plain.means().iter().zip(raised.means()).all(|(plain, raised)| plain + 50.0 == *raised));
            assert!((raised.question().threshold() - plain.question().threshold() - 50.0).abs() < 1e-10);
            assert!(plain.theta().is_some() && raised.theta().is_none(), "the means are not linear in the features");
        }
        let value = of("budgets = [10]\nthreshold = 2.5", &format!("{keys}\noffset = 50"));
        assert_eq!(value.source().instance(0).unwrap().question().threshold(), 2.5);
    }
}

/// Every experiment that comes with the project is valid; a file without variants is named after its experiment.
#[test]
fn committed_experiments_are_good() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut n_experiments = 0;
    for directory in [root.clone(), root.join("prepare")] {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let experiments = Experiment::load_all(&path, Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
                if let [experiment] = &experiments[..] {
                    assert_eq!(Some(experiment.name()), path.file_stem().and_then(|stem| stem.to_str()));
                }
                n_experiments += experiments.len();
            }
        }
    }
    assert!(n_experiments >= 24, "{n_experiments}");
}
