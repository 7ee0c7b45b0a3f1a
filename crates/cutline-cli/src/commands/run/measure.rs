//! The command that measures an arm, and the input it gets.

use super::shell_split::{SplitError, split};
use cutline_campaign::Ticket;
use serde::{Serialize, Serializer};
use std::collections::HashMap;
use std::process::Command;
use thiserror::Error;

/// The placeholders and the environment variables with the same values.
const PLACEHOLDERS: [(&str, &str); 4] = [
    ("{name}", "CUTLINE_NAME"),
    ("{ticket}", "CUTLINE_TICKET"),
    ("{index}", "CUTLINE_INDEX"),
    ("{features}", "CUTLINE_FEATURES"),
];

/// The most bytes of a variable: systems refuse environments that are too large. Longer features are only on stdin.
const MAX_ENVIRONMENT: usize = 1 << 16;

/// How an arm is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MeasureCommand {
    /// A program and its arguments, with placeholders.
    Words(Vec<String>),
    /// A script for `sh`, passed on unchanged.
    Script(String),
}

/// Why a command was refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum MeasureError {
    #[error("`--measure`: {0}; give a command as in `--measure './measure.sh {{name}}'`")]
    Split(#[from] SplitError),
    #[error("`--measure`: the program cannot depend on the arm; use `{0}` only in its arguments")]
    Program(&'static str),
    #[error(
        "`--measure`: `{{{0}}}` is not a placeholder; use `{{name}}`, `{{ticket}}`, `{{index}}` or `{{features}}`, or `--shell` for a \
         command with other braces"
    )]
    Unknown(String),
    #[error("with `--shell`, placeholders are not replaced; write \"${1}\" instead of `{0}`")]
    Placeholder(&'static str, &'static str),
}

impl MeasureCommand {
    pub(super) fn new(text: &str, is_script: bool) -> Result<Self, MeasureError> {
        if is_script {
            let is_used = |&&(placeholder, _): &&(&'static str, &'static str)| {
                // `${name}` is a variable of the script itself.
                text.match_indices(placeholder).any(|(at, _)| !text[..at].ends_with('$'))
            };
            return match PLACEHOLDERS.iter().find(is_used) {
                Some(&(placeholder, variable)) => Err(MeasureError::Placeholder(placeholder, variable)),
                None if text.trim().is_empty() => Err(SplitError::Empty.into()),
                None => Ok(Self::Script(text.into())),
            };
        }
        let words = split(text)?;
        if let Some(&(placeholder, _)) = PLACEHOLDERS.iter().find(|(placeholder, _)| words[0].contains(placeholder)) {
            return Err(MeasureError::Program(placeholder));
        }
        match words.iter().find_map(|word| unknown_placeholder(word)) {
            Some(name) => Err(MeasureError::Unknown(name.into())),
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

    /// The command for a ticket.
    pub(super) fn command(&self, input: &TicketInput) -> Command {
        let mut command = Command::new(self.program());
        match self {
            Self::Words(words) => command.args(words[1..].iter().map(|word| fill(word, &input.values))),
            Self::Script(script) => command.args(["-c", script]),
        };
        for ((_, variable), value) in PLACEHOLDERS.iter().zip(&input.values) {
            if value.len() <= MAX_ENVIRONMENT {
                command.env(variable, value);
            } else {
                command.env_remove(variable);
            }
        }
        command.envs(input.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// The first name in braces that is not a placeholder. A misspelt one would otherwise reach the command as it is.
fn unknown_placeholder(word: &str) -> Option<&str> {
    let names = word.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name);
    let is_name = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let is_known = |name: &str| PLACEHOLDERS.iter().any(|(known, _)| known.trim_matches(['{', '}']) == name);
    names.filter(is_name).find(|name| !is_known(name))
}

/// Replaces the placeholders of a word; the values themselves are not searched for placeholders.
fn fill(word: &str, values: &[String; 4]) -> String {
    let mut filled = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(number) = PLACEHOLDERS.iter().position(|(placeholder, _)| rest.starts_with(placeholder)) {
            filled.push_str(&values[number]);
            rest = &rest[PLACEHOLDERS[number].0.len()..];
        } else {
            filled.push('{');
            rest = &rest[1..];
        }
    }
    filled + rest
}

/// The input of a command: everything about its ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TicketInput {
    /// The values of the placeholders, in their order.
    values: [String; 4],
    /// One environment variable per feature.
    variables: Vec<(String, String)>,
    /// One line of JSON for stdin.
    pub(super) stdin: String,
}

/// The JSON object on stdin.
#[derive(Serialize)]
struct StdinObject<'a> {
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

impl TicketInput {
    pub(super) fn new(ticket: &Ticket, columns: &[String]) -> Self {
        let Ticket { number, arm, name, features: values, .. } = ticket;
        let object = StdinObject { ticket: *number, name, index: *arm, features: Features { columns, values } };
        let features = json(&object.features);
        let stdin = json(&object) + "\n";
        let variables = if features.len() <= MAX_ENVIRONMENT { variables(columns, values) } else { Vec::new() };
        Self { values: [name.clone(), number.to_string(), arm.to_string(), features], variables, stdin }
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("names and finite numbers")
}

/// One environment variable per feature: `CUTLINE_FEATURE_` and its column in capitals, with `_` for characters that the name of a
/// variable cannot have. Columns that would share a variable get none.
fn variables(columns: &[String], values: &[f64]) -> Vec<(String, String)> {
    let capital = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name = |column: &String| format!("CUTLINE_FEATURE_{}", column.chars().map(capital).collect::<String>());
    let names: Vec<String> = columns.iter().map(name).collect();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for name in &names {
        *uses.entry(name).or_default() += 1;
    }
    let unique = names.iter().zip(values).filter(|(name, _)| uses[name.as_str()] == 1);
    unique.map(|(name, value)| (name.clone(), value.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutline_campaign::{AnyCampaign, Candidates, Settings};
    use cutline_store::Store;
    use std::time::Duration;

    /// The input for a ticket of an arm with this name.
    fn input(name: &str, columns: &[&str], features: &[f64]) -> TicketInput {
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let candidates = Candidates::new(vec![name.into()], columns.clone(), features.to_vec()).unwrap();
        let mut settings = Settings::new(0.5, 1);
        settings.algorithm = Some("apt".into());
        let mut campaign = Store::memory().begin("c", &settings, candidates).unwrap();
        let tickets = campaign.ask(1, "w", Duration::from_secs(1)).unwrap();
        TicketInput::new(&tickets[0], &columns)
    }

    fn arguments(measure: &str, input: &TicketInput) -> Vec<String> {
        let command = MeasureCommand::new(measure, false).unwrap().command(input);
        command.get_args().map(|argument| argument.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn placeholders_are_replaced_within_words() {
        let input = input("a b", &["x", "y"], &[1.5, -2.0]);
        assert_eq!(
            arguments("m {name} --t={ticket}/{index} '{features}' '{other words}' {{name}} {", &input),
            ["a b", "--t=1/0", r#"{"x":1.5,"y":-2.0}"#, "{other words}", "{a b}", "{"]
        );
        assert_eq!(input.stdin, "{\"ticket\":1,\"name\":\"a b\",\"index\":0,\"features\":{\"x\":1.5,\"y\":-2.0}}\n");
    }

    #[test]
    fn a_name_is_one_word_whatever_it_contains() {
        for name in ["; rm -rf x", "$(touch pwned)", "-rf", "'\"", "\\", "{ticket}", "{name}", "`x` | y > z &"] {
            let input = input(name, &[], &[]);
            assert_eq!(arguments("m {name} x{name}", &input), [name.to_owned(), format!("x{name}")]);
            let script = MeasureCommand::new("echo \"$CUTLINE_NAME\"", true).unwrap().command(&input);
            assert_eq!(script.get_args().collect::<Vec<_>>(), ["-c", "echo \"$CUTLINE_NAME\""]);
            let line: serde_json::Value = serde_json::from_str(&input.stdin).unwrap();
            assert_eq!((&line["name"], &line["features"]), (&name.into(), &serde_json::json!({})));
        }
    }

    #[test]
    fn features_have_variables_unless_two_would_share_one() {
        let input = input("a", &["Mol weight", "log-P", "log_p", "ph7"], &[180.16, 1.0, 2.0, -0.5]);
        let variables = [("CUTLINE_FEATURE_MOL_WEIGHT", "180.16"), ("CUTLINE_FEATURE_PH7", "-0.5")];
        assert_eq!(input.variables, variables.map(|(name, value)| (name.into(), value.into())));
    }

    #[test]
    fn many_features_are_only_on_stdin() {
        let columns: Vec<String> = (0..10_000).map(|column| format!("x{column}")).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let input = input("a", &columns, &vec![0.1; 10_000]);
        let command = MeasureCommand::new("m", false).unwrap().command(&input);
        let variables: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_str().unwrap(), value.is_some())).collect();
        let expected =
            [("CUTLINE_FEATURES", false), ("CUTLINE_INDEX", true), ("CUTLINE_NAME", true), ("CUTLINE_TICKET", true)];
        assert_eq!(variables, expected);
        assert!(input.stdin.contains("\"x9999\":0.1}"));
    }

    #[test]
    fn names_cannot_become_code() {
        let message = |text, is_script| MeasureCommand::new(text, is_script).unwrap_err().to_string();
        assert_eq!(
            message("echo {name}", true),
            "with `--shell`, placeholders are not replaced; write \"$CUTLINE_NAME\" instead of `{name}`"
        );
        assert!(message("awk ${name} {features}", true).contains("$CUTLINE_FEATURES"));
        assert!(MeasureCommand::new("name=x; echo ${name}", true).is_ok());
        assert!(message("{name} x", false).contains("the program cannot depend on the arm; use `{name}` only"));
        assert!(message("./m{index} x", false).contains("`{index}`"));
        for (measure, name) in [("m {nmae}", "nmae"), ("m {name} --x={Ticket}", "Ticket"), ("m {{feature}}", "feature")]
        {
            let expected = format!("`--measure`: `{{{name}}}` is not a placeholder; use `{{name}}`, ");
            assert!(message(measure, false).starts_with(&expected), "{measure}");
        }
        assert!(message("m 'x", false).starts_with("`--measure`: a quote ' is not closed; give a command"));
        assert!(message(" ", false).contains("the command is empty"));
        assert!(message(" ", true).contains("the command is empty"));
    }
}
