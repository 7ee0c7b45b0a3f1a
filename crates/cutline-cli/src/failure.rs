//! Why a command failed: one line that describes the problem and says what to do about it.

use crate::print::shell;
use cutline::{LearnerError, SpecError, is_hidden, with_short_names};
use cutline_campaign::{CampaignError, ModelError, PilotError, PlanError, PriorError, TermsError};
use cutline_data::dataset::{DatasetError, Note};
use cutline_data::edges::EdgesError;
use cutline_data::input::InputError;
use cutline_data::rewards::RewardsError;
use cutline_lab::{CheckpointError, ExperimentError, RunError};
use cutline_server::ServerError;
use cutline_store::{Store, StoreError};
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The command line is wrong in a way that its parser cannot detect.
    #[error("{0}")]
    Usage(String),
    #[error("cannot read {}: {error}{hint}", path.display())]
    Read { path: PathBuf, error: std::io::Error, hint: &'static str },
    #[error("{}: {error}", path.display())]
    Csv { path: PathBuf, error: RewardsError },
    #[error("{}: {error}", path.display())]
    Edges { path: PathBuf, error: EdgesError },
    #[error("{}: {error}", path.display())]
    Pilot { path: PathBuf, error: PilotError },
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: std::io::Error },
    /// A file is to be written to a directory that does not exist.
    #[error("cannot write {}: there is no directory {}", path.display(), directory.display())]
    NoDirectory { path: PathBuf, directory: PathBuf },
    /// The campaign does not allow what a row of a file says.
    #[error("{}: row {row}: {error}", path.display())]
    Row { path: PathBuf, row: u64, error: CampaignError },
    #[error("{} is {error}", path.display())]
    Checkpoint { path: PathBuf, error: CheckpointError },
    /// The output would replace a file that must be kept.
    #[error("{} is {what} and would be overwritten", path.display())]
    Overwrite { path: PathBuf, what: &'static str },
    /// A file was to be written to `-`.
    #[error("this command writes files, and `-` is not the name of one; use `./-` if it is meant")]
    Stdout,
    /// The place that an option other than `--out` names cannot be written to.
    #[error("{failure}")]
    Place { failure: Box<Failure>, option: &'static str },
    #[error("cannot start {threads} threads: {error}")]
    Threads { threads: usize, error: rayon::ThreadPoolBuildError },
    /// The program needs a thread, and the system allows no more.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// Not even one measurement can be started.
    #[error("cannot start a measurement: {0}")]
    NoResources(std::io::Error),
    #[error("cannot draw {name}: {error}")]
    Figure { name: String, error: cutline_figure::PngError },
    #[error("cannot write the report: {0}")]
    Report(#[from] askama::Error),
    #[error("cannot print: {0}")]
    Print(std::io::Error),
    #[error("{missing} of {cells} cells do not match the published numbers")]
    Mismatch { missing: usize, cells: usize },
    #[error("{tickets} tickets failed in a row; the last one: {reason}")]
    GaveUp { tickets: u32, reason: String },
    /// The algorithm measures every candidate once first, and the budget is too small for those that are to be added.
    #[error(transparent)]
    BudgetForAll(LearnerError),
    #[error(transparent)]
    Server(ServerError),
    #[error("there is no candidate `{name}`")]
    NoCandidate { name: String, nearest: Option<String> },
    #[error("cannot start `{program}`: {error}")]
    NotStarted { program: String, error: std::io::Error },
    /// The reader of stdout has closed it, as `head` does. That is not an error.
    #[error("the reader of the output is gone")]
    ReaderGone,
}

impl Failure {
    /// The exit code of the program.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::ReaderGone => 0,
            Self::Place { failure, .. } => failure.code(),
            Self::Usage(_) | Self::Overwrite { .. } | Self::Stdout | Self::Store(StoreError::Model(_)) => 2,
            _ => 1,
        }
    }

    /// The same failure, if it is about a place that `option` names.
    pub(crate) fn at(self, option: &'static str) -> Self {
        match self {
            Self::Write { .. } | Self::Overwrite { .. } | Self::NoDirectory { .. } => {
                Self::Place { failure: Box::new(self), option }
            }
            other => other,
        }
    }

    /// The message, in which long names are cut, and the hint on one line, whatever they contain, and without the passwords of the command line.
    pub(crate) fn line(&self) -> String {
        let message = self.to_string();
        let message = with_short_names(&message);
        let message = match hint(self) {
            Some(hint) => format!("{message}; {hint}"),
            None => message.into(),
        };
        let escaped = |c: char| {
            if c.is_control() || is_hidden(c) { c.escape_default().collect() } else { String::from(c) }
        };
        without_passwords(message).chars().map(escaped).collect()
    }
}

/// A message without the passwords in the addresses on the command line: an address may have been taken for something else.
fn without_passwords(message: String) -> String {
    let arguments = std::env::args_os().skip(1).filter_map(|argument| argument.into_string().ok());
    arguments.fold(message, |message, argument| {
        let value = argument.strip_prefix("--").and_then(|option| option.split_once('=')).map(|(_, value)| value);
        let value = value.unwrap_or(&argument);
        Store::redacted(value).map_or(message.clone(), |shown| message.replace(value, &shown))
    })
}

/// What a user of the command line can do about a failure. The libraries describe the problem; only this module names flags and commands.
pub(crate) fn hint(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Store(error) => store_hint(error),
        Failure::Plan(error) => plan_hint(error),
        Failure::Row { error: CampaignError::Failed { .. }, .. } => {
            Some("ask for another one with `cutline ask`".into())
        }
        Failure::Csv { error: RewardsError::Csv(DatasetError::Read(error)), .. }
        | Failure::Experiment(ExperimentError::Read { error, .. })
        | Failure::Read { error, .. } => input_hint(error),
        Failure::Csv { error: RewardsError::Csv(error), .. } => dataset_hint(error),
        Failure::Write { .. } | Failure::Overwrite { .. } => Some("choose another place with `--out`".into()),
        Failure::NoDirectory { .. } => Some("create it, or choose another place with `--out`".into()),
        Failure::Place { failure, option } if matches!(**failure, Failure::NoDirectory { .. }) => {
            Some(format!("create it, or choose another place with `{option}`"))
        }
        Failure::Place { option, .. } => Some(format!("choose another place with `{option}`")),
        Failure::Checkpoint { error: CheckpointError::Runs { .. }, .. } => {
            Some("raise `--runs`, or name another file with `--resume`".into())
        }
        Failure::Checkpoint { .. } => Some("name another file with `--resume`".into()),
        Failure::Threads { .. } => Some("ask for fewer with `--threads`".into()),
        Failure::Thread(_) | Failure::NoResources(_) => {
            Some("raise the limits on processes, memory and open files, or end other programs".into())
        }
        Failure::GaveUp { .. } => Some("check the command and run it again".into()),
        Failure::BudgetForAll(_) => Some("raise it first with `cutline extend`".into()),
        Failure::NoCandidate { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
        Failure::NoCandidate { .. } => {
            Some("candidates are given by name, as `cutline export --verdicts` lists them".into())
        }
        Failure::Server(ServerError::NoTokens(_)) => {
            Some("make one with `cutline token create`, or with `--token-file`, or use `--bind 127.0.0.1:8080`".into())
        }
        Failure::Server(ServerError::Bind { .. }) => Some("choose another address with `--bind`".into()),
        Failure::NotStarted { .. } => Some("name an executable program with `--measure`".into()),
        _ => None,
    }
}

/// What to do about an input that was refused.
fn input_hint(error: &std::io::Error) -> Option<String> {
    match InputError::of(error)? {
        InputError::TooLarge { .. } => Some("raise the limit with `--max-input-size`".into()),
        _ => Some("copy it to a file, or give `-` and pass it on stdin".into()),
    }
}

/// Whether a number may have commas between thousands: `1,000`, `-12,345,678.5`.
fn has_thousands(field: &str) -> bool {
    let whole = field.split('.').next().unwrap_or_default().trim_start_matches(['+', '-']);
    let mut groups = whole.split(',');
    let is_digits = |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().is_some_and(|first| is_digits(first) && first.len() <= 3 && first != "0");
    let rest: Vec<&str> = groups.collect();
    first && !rest.is_empty() && rest.iter().all(|group| group.len() == 3 && is_digits(group))
}

/// What to change in a file of candidates, or in the options that say how it is read.
fn dataset_hint(error: &DatasetError) -> Option<String> {
    Some(match error {
        DatasetError::Missing { is_later: false, n_missing: 1, .. } => "fill it in, or use `--missing mean`".into(),
        DatasetError::Missing { is_later: false, .. } => "fill them in, or use `--missing mean`".into(),
        DatasetError::TextColumn { column, is_distinct: true, .. } => {
            let column = shell(column);
            format!(
                "use `--id {column}` if it names the candidates, `--category {column}` if it is a category, or choose other columns with \
                 `--features`"
            )
        }
        DatasetError::TextColumn { column, .. } => {
            format!("use `--category {}` if it is a category, or choose other columns with `--features`", shell(column))
        }
        DatasetError::NoValues { .. } => "leave it out with `--features`".into(),
        DatasetError::NotANumber { column, field, .. } => {
            let is_finite = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
            if is_finite(field) {
                "leave out `--decimal ,` if numbers are written with a decimal point".into()
            } else if has_thousands(field) {
                "write numbers without separators of thousands; or use `--decimal ,` if it is a decimal comma".into()
            } else if is_finite(&field.replacen(',', ".", 1)) {
                "use `--decimal ,` for numbers with a decimal comma".into()
            } else if field.parse::<f64>().is_err() && !column.eq_ignore_ascii_case("reward") {
                format!("use `--category {}` if the column is a category", shell(column))
            } else {
                return None;
            }
        }
        DatasetError::Several { problems, .. } => {
            let mut hints: Vec<String> = problems.iter().filter_map(dataset_hint).collect();
            hints.dedup();
            hints.truncate(2);
            return Some(hints.join("; ")).filter(|hints| !hints.is_empty());
        }
        DatasetError::NamesBesideId { column, .. } => {
            format!("name them by another column with `--id {}`", shell(column))
        }
        DatasetError::SameName { .. } | DatasetError::EmptyName { .. } => {
            "name them by another column with `--id`".into()
        }
        DatasetError::WrongKind(kind) => match *kind {
            "an Excel file of the old kind (.xls)" | "an OpenDocument spreadsheet (.ods)" => {
                "save it as .xlsx or CSV".into()
            }
            "text in UTF-16 instead of UTF-8" => "save it as CSV in UTF-8".into(),
            _ => return None,
        },
        _ => return None,
    })
}

/// What a user of the command line can do about a note.
pub(crate) fn note_hint(note: &Note) -> Option<String> {
    match note {
        Note::IdIsFeature { column } => Some(format!("use `--id {}` if it names the candidates", shell(column))),
        _ => None,
    }
}

fn store_hint(error: &StoreError) -> Option<String> {
    Some(match error {
        StoreError::Missing(_) | StoreError::NoCampaigns(_) => "begin a campaign with `cutline new`".into(),
        StoreError::Unconfirmed { .. } => {
            "see with `cutline status` what it has before you repeat the command; a reward told twice counts once"
                .into()
        }
        StoreError::Unauthorized { .. } => {
            "give a token of `cutline token create` in the environment variable `CUTLINE_TOKEN` or with `--token-file`"
                .into()
        }
        StoreError::NotOverHttp => "run the command on the store of the server".into(),
        StoreError::OtherName { .. } => {
            "leave out `--name`, or give the address of the server, as in `http://HOST:PORT`".into()
        }
        StoreError::NameTaken(_) => "choose another name with `--name`".into(),
        StoreError::WhichCampaign(_) => "choose one with `--name`".into(),
        StoreError::CustomRuleMissing(_) => "open it from Python with `cutline.open(…, algorithm=…)`".into(),
        StoreError::Model(error) => return model_hint(error),
        StoreError::Terms(TermsError::NeedsNoise(_)) => "give it with `--noise`".into(),
        StoreError::Terms(TermsError::BernoulliNoise | TermsError::CountNoise) => "leave out `--noise`".into(),
        StoreError::Terms(TermsError::RangeOfKind(_)) => "leave out `--min` and `--max`".into(),
        StoreError::Terms(TermsError::ExpectedErrorsNeedMixed(_)) => {
            "use `--model mixed`, or `--until-sure proved`".into()
        }
        StoreError::Terms(TermsError::Spec(error)) => return new_hint(error),
        StoreError::CampaignError(CampaignError::OtherReward { .. }) => "correct it with `cutline amend`".into(),
        StoreError::CampaignError(CampaignError::NotTold { .. }) => "record its reward with `cutline tell`".into(),
        StoreError::CampaignError(CampaignError::BudgetUsed { .. } | CampaignError::BudgetBelowCost { .. }) => {
            "raise it with `cutline extend`".into()
        }
        StoreError::CampaignError(CampaignError::Failed { .. }) => "ask for another one with `cutline ask`".into(),
        _ => return None,
    })
}

/// What to change in a call of `cutline new` whose options contradict each other.
fn model_hint(error: &ModelError) -> Option<String> {
    match error {
        ModelError::MixedPreparation | ModelError::SampleMeanPreparation => {
            Some("leave it out, or use `--model linear`".into())
        }
        ModelError::MixedParameter(_) => Some("use `--model linear`".into()),
        ModelError::CovarianceEstimator(_) => Some("leave out `--model`, or use `--model linear`".into()),
        _ => None,
    }
}

/// What to change in a call of `cutline new` whose algorithm does not fit.
fn new_hint(error: &SpecError) -> Option<String> {
    Some(match error {
        SpecError::Learner(LearnerError::BudgetBelowCheapest { .. }) => "raise `--budget`".into(),
        SpecError::Learner(LearnerError::BudgetBelowArms { .. } | LearnerError::BudgetBelowCosts { .. }) => {
            "raise `--budget`, or use `--algorithm pivot`, which does not need to pull every arm".into()
        }
        SpecError::NeedsFeatures { .. } => "use `--model mixed` or `--model independent`, which work without".into(),
        SpecError::NeedsVariances { .. } => {
            "use `--algorithm apt`, or `--model mixed` or `--model linear`, which have variances".into()
        }
        SpecError::NeedsFixedNoise { .. } => "use `--model linear`, or another `--algorithm`".into(),
        SpecError::Starves { .. } => "use `--algorithm pivot`, or leave out `--until-sure`".into(),
        SpecError::Missing { parameter, .. } => format!("give it with `--parameter {}=VALUE`", parameter.name),
        _ => return None,
    })
}

/// What to change in a call of `cutline plan`.
fn plan_hint(error: &PlanError) -> Option<String> {
    Some(match error {
        PlanError::Campaign {
            error:
                TermsError::Spec(SpecError::Learner(
                    LearnerError::BudgetBelowArms { .. } | LearnerError::BudgetBelowCosts { .. },
                )),
            ..
        } => "raise `--budgets` or use `--algorithms pivot`".into(),
        PlanError::Campaign { error: TermsError::NeedsNoise(_), .. } => "give it with `--noise`".into(),
        PlanError::Prior(PriorError::NothingToDecide { .. }) => {
            "give `--spread` or `--noise`, or earlier rewards with `--pilot`".into()
        }
        PlanError::Prior(PriorError::NoFeatures) => "leave out `--prior`".into(),
        PlanError::Prior(PriorError::Overdetermined) => "`--noise`, `--noise-ratio` or `--spread`".into(),
        _ => return None,
    })
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if is_broken_pipe(&error) { Self::ReaderGone } else { Self::Print(error) }
    }
}

/// Whether the reader is gone. The crate `csv` wraps errors of the stream in its own.
fn is_broken_pipe(error: &std::io::Error) -> bool {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return true;
    }
    let wrapped = error.get_ref().and_then(|inner| match inner.downcast_ref::<csv::Error>() {
        Some(error) => match error.kind() {
            csv::ErrorKind::Io(error) => Some(error),
            _ => None,
        },
        None => inner.downcast_ref::<std::io::Error>(),
    });
    wrapped.is_some_and(is_broken_pipe)
}
