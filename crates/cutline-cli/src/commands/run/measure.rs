//! The command that measures an arm, and what it is told of it.

use super::words::{WordsError, words};
use cutline_store::Ticket;
use serde::{Serialize, Serializer};
use std::collections::HashMap;
use std::process::Command;
use thiserror::Error;

/// The placeholders, with the environment variables that say the same.
const PLACES: [(&str, &str); 4] = [
    ("{name}", "CUTLINE_NAME"),
    ("{ticket}", "CUTLINE_TICKET"),
    ("{index}", "CUTLINE_INDEX"),
    ("{features}", "CUTLINE_FEATURES"),
];

/// Systems refuse environments that are too large; longer features are on stdin alone.
const MOST_ENVIRONMENT: usize = 1 << 16;

/// How an arm is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// A program and its arguments, with places to fill.
    Words(Vec<String>),
    /// A script for `sh`, which is never changed.
    Script(String),
}

/// Why a command cannot measure.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum MeasureError {
    #[error("`--measure`: {0}; give a command, as in `--measure './measure.sh {{name}}'`")]
    Words(#[from] WordsError),
    #[error("`--measure` cannot take its program from an arm: `{0}` may stand in the words after it")]
    Program(&'static str),
    #[error("with `--shell`, names are not pasted into the script: write \"${1}\" instead of `{0}`")]
    Pasted(&'static str, &'static str),
}

impl Measure {
    pub(super) fn new(text: &str, is_script: bool) -> Result<Self, MeasureError> {
        if is_script {
            let is_pasted = |&&(place, _): &&(&'static str, &'static str)| {
                // `${name}` is a variable of the script's own.
                text.match_indices(place).any(|(at, _)| !text[..at].ends_with('$'))
            };
            return match PLACES.iter().find(is_pasted) {
                Some(&(place, variable)) => Err(MeasureError::Pasted(place, variable)),
                None if text.trim().is_empty() => Err(WordsError::Empty.into()),
                None => Ok(Self::Script(text.into())),
            };
        }
        let words = words(text)?;
        match PLACES.iter().find(|(place, _)| words[0].contains(place)) {
            Some(&(place, _)) => Err(MeasureError::Program(place)),
            None => Ok(Self::Words(words)),
        }
    }

    /// The program that is started.
    pub(super) fn program(&self) -> &str {
        match self {
            Self::Words(words) => &words[0],
            Self::Script(_) => "sh",
        }
    }

    /// What to start for a ticket.
    pub(super) fn command(&self, told: &Told) -> Command {
        let mut command = Command::new(self.program());
        match self {
            Self::Words(words) => command.args(words[1..].iter().map(|word| fill(word, &told.values))),
            Self::Script(script) => command.args(["-c", script]),
        };
        for ((_, variable), value) in PLACES.iter().zip(&told.values) {
            if value.len() <= MOST_ENVIRONMENT {
                command.env(variable, value);
            } else {
                command.env_remove(variable);
            }
        }
        command.envs(told.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Fills the places of a word, once: what stands in a value stays as it is.
fn fill(word: &str, values: &[String; 4]) -> String {
    let mut filled = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(number) = PLACES.iter().position(|(place, _)| rest.starts_with(place)) {
            filled.push_str(&values[number]);
            rest = &rest[PLACES[number].0.len()..];
        } else {
            filled.push('{');
            rest = &rest[1..];
        }
    }
    filled + rest
}

/// What a command is told of its ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// In the order of the places.
    values: [String; 4],
    /// A variable a feature.
    variables: Vec<(String, String)>,
    /// What is on stdin: one line of JSON.
    pub(super) input: String,
}

/// What is on stdin.
#[derive(Serialize)]
struct Input<'a> {
    ticket: u64,
    name: &'a str,
    index: usize,
    features: Features<'a>,
}

/// Features as an object, in the order of their columns.
struct Features<'a> {
    columns: &'a [String],
    values: &'a [f64],
}

impl Serialize for Features<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().zip(self.values))
    }
}

impl Told {
    pub(super) fn new(ticket: &Ticket, columns: &[String]) -> Self {
        let Ticket { number, arm, name, features: values, .. } = ticket;
        let input = Input { ticket: *number, name, index: *arm, features: Features { columns, values } };
        let features = json(&input.features);
        let input = json(&input) + "\n";
        let variables = if features.len() <= MOST_ENVIRONMENT { variables(columns, values) } else { Vec::new() };
        Self { values: [name.clone(), number.to_string(), arm.to_string(), features], variables, input }
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("names and finite numbers")
}

/// A variable a feature: `CUTLINE_FEATURE_` and its column in capitals, with `_` for what a variable's name cannot have. Columns
/// that would share one have none.
fn variables(columns: &[String], values: &[f64]) -> Vec<(String, String)> {
    let capital = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name = |column: &String| format!("CUTLINE_FEATURE_{}", column.chars().map(capital).collect::<String>());
    let names: Vec<String> = columns.iter().map(name).collect();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for name in &names {
        *uses.entry(name).or_default() += 1;
    }
    let own = names.iter().zip(values).filter(|(name, _)| uses[name.as_str()] == 1);
    own.map(|(name, value)| (name.clone(), value.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutline_store::{Candidates, Settings, Store};
    use std::time::Duration;

    /// A ticket for an arm of that name.
    fn told(name: &str, columns: &[&str], features: &[f64]) -> Told {
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let candidates = Candidates::new(vec![name.into()], columns.clone(), features.to_vec()).unwrap();
        let mut settings = Settings::new(0.5, 1);
        settings.algorithm = Some("apt".into());
        let mut campaign = Store::memory().begin("c", &settings, candidates).unwrap();
        let tickets = campaign.ask(1, "w", Duration::from_secs(1)).unwrap();
        Told::new(&tickets[0], &columns)
    }

    fn arguments(measure: &str, told: &Told) -> Vec<String> {
        let command = Measure::new(measure, false).unwrap().command(told);
        command.get_args().map(|argument| argument.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn places_are_filled_within_words() {
        let told = told("a b", &["x", "y"], &[1.5, -2.0]);
        assert_eq!(
            arguments("m {name} --t={ticket}/{index} '{features}' {other} {{name}} {", &told),
            ["a b", "--t=1/0", r#"{"x":1.5,"y":-2.0}"#, "{other}", "{a b}", "{"]
        );
        assert_eq!(told.input, "{\"ticket\":1,\"name\":\"a b\",\"index\":0,\"features\":{\"x\":1.5,\"y\":-2.0}}\n");
    }

    #[test]
    fn a_name_is_one_word_whatever_it_says() {
        for name in ["; rm -rf x", "$(touch pwned)", "-rf", "'\"", "\\", "{ticket}", "{name}", "`x` | y > z &"] {
            let told = told(name, &[], &[]);
            assert_eq!(arguments("m {name} x{name}", &told), [name.to_owned(), format!("x{name}")]);
            let script = Measure::new("echo \"$CUTLINE_NAME\"", true).unwrap().command(&told);
            assert_eq!(script.get_args().collect::<Vec<_>>(), ["-c", "echo \"$CUTLINE_NAME\""]);
            let line: serde_json::Value = serde_json::from_str(&told.input).unwrap();
            assert_eq!((&line["name"], &line["features"]), (&name.into(), &serde_json::json!({})));
        }
    }

    #[test]
    fn features_have_variables_unless_two_would_share_one() {
        let told = told("a", &["Mol weight", "log-P", "log_p", "ph7"], &[180.16, 1.0, 2.0, -0.5]);
        let variables = [("CUTLINE_FEATURE_MOL_WEIGHT", "180.16"), ("CUTLINE_FEATURE_PH7", "-0.5")];
        assert_eq!(told.variables, variables.map(|(name, value)| (name.into(), value.into())));
    }

    #[test]
    fn many_features_are_on_stdin_alone() {
        let columns: Vec<String> = (0..10_000).map(|column| format!("x{column}")).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let told = told("a", &columns, &vec![0.1; 10_000]);
        let command = Measure::new("m", false).unwrap().command(&told);
        let variables: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_str().unwrap(), value.is_some())).collect();
        let expected =
            [("CUTLINE_FEATURES", false), ("CUTLINE_INDEX", true), ("CUTLINE_NAME", true), ("CUTLINE_TICKET", true)];
        assert_eq!(variables, expected);
        assert!(told.input.contains("\"x9999\":0.1}"));
    }

    #[test]
    fn names_cannot_become_code() {
        let message = |text, is_script| Measure::new(text, is_script).unwrap_err().to_string();
        assert_eq!(
            message("echo {name}", true),
            "with `--shell`, names are not pasted into the script: write \"$CUTLINE_NAME\" instead of `{name}`"
        );
        assert!(message("awk ${name} {features}", true).contains("$CUTLINE_FEATURES"));
        assert!(Measure::new("name=x; echo ${name}", true).is_ok());
        assert!(message("{name} x", false).contains("cannot take its program from an arm: `{name}`"));
        assert!(message("./m{index} x", false).contains("`{index}`"));
        assert!(message("m 'x", false).starts_with("`--measure`: a quote ' is not closed; give a command"));
        assert!(message(" ", false).contains("it has no words"));
        assert!(message(" ", true).contains("it has no words"));
    }
}
