//! The command line: what can be given and how it is parsed. Nothing here reads files or stores.

mod campaign;
mod changeable;
mod diagnose;
mod duration;
mod life;
mod new;
mod number;
mod plan;
mod reading;
mod report;
#[cfg(unix)]
mod run;
mod serve;
mod simulation;
mod store;

pub(crate) use campaign::{Ask, CampaignAddress, Export, FileFormat, Status, Tell, TokenFile};
use changeable::Changeable;
pub(crate) use diagnose::Diagnose;
pub(crate) use duration::duration;
pub(crate) use life::{Add, Amend, Extend, Predict, Restore, Set, Withdraw};
pub(crate) use new::{CampaignOptions, New};
use number::size;
pub(crate) use number::{finite, ticket_number};
pub(crate) use plan::Plan;
pub(crate) use reading::{Decimal, Reading};
pub(crate) use report::Report;
#[cfg(unix)]
pub(crate) use run::Run;
pub(crate) use serve::{Mcp, Serve, TokenCommand, TokenCreate, TokenList};
pub(crate) use simulation::{Instances, Reproduce, Simulate, Simulation};
pub(crate) use store::{Check, Completions, Copy, Delete, List, Rename, Show};

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, Parser, Subcommand, ValueEnum};

const NEW: &str = "\
Example:
  cutline new screen.db molecules.csv --threshold 0.5 --budget 400
  cutline ask screen.db -n 4
  cutline tell screen.db 1 0.71 2 0.34";

const ASK: &str = "\
Exit codes:
  0  tickets were printed, or there is nothing to measure
  1  the command failed
  2  the command line is wrong
  3  with --exit-code: the campaign has ended; the budget is used up or every verdict is certain
  4  with --exit-code: nothing for now; the remaining budget is assigned to open tickets, ask again later";

const TELL: &str = "\
Examples:
  cutline tell screen.db 3 0.71 4 -0.2
  cutline tell screen.db 7 0.71 0.69 0.74     (three replicates, see `ask --replicates`)
  cutline tell screen.db --file rewards.csv
  cutline tell screen.db --fail 5 --reason 'sample lost'";

const AMEND: &str = "\
Examples:
  cutline amend screen.db 3 0.17 --reason 'digits swapped'
  cutline amend screen.db 5 --void --reason 'wrong sample'";

const CHECK: &str = "\
Exit codes:
  0  every candidate is proved to be above the bar (with --below: below it); without --exit-code, also if not
  1  with --exit-code: a candidate is proved to be below (with --below: above); or the command failed
  2  the command line is wrong
  3  with --exit-code: not known yet; no candidate is proved to be below, but some are not proved to be above

A candidate is proved to be above or below by its own measurements alone, whatever the model, at the confidence of the campaign or that of
--confidence. That confidence is for all candidates together unless the campaign has another `--guarantee`, and it holds at all times: you
may check after every measurement.

With --likely, verdicts that only the model makes likely count too. They need fewer measurements and rest on the model; each holds by
itself, at one moment. If a linear model does not fit the rewards, they pass no check.

Examples:
  cutline check screen.db --exit-code
  cutline check screen.db --exit-code --only aspirin ibuprofen --confidence 0.99";

const COMPLETIONS: &str = "\
Examples:
  cutline completions bash > ~/.local/share/bash-completion/completions/cutline
  cutline completions fish > ~/.config/fish/completions/cutline.fish";

/// Finds which candidates clear the bar, on a budget of noisy measurements.
#[derive(Debug, Parser)]
#[command(name = "cutline", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Write names and other text in CSV as they are, for programs. By default text that a spreadsheet would take for a formula has an
    /// apostrophe in front
    #[arg(long, global = true, help_heading = "Options of every command")]
    pub(crate) plain: bool,
    /// The largest file to read, as in `16GiB`; what a compressed file decompresses to counts
    #[arg(long, global = true, help_heading = "Options of every command", value_name = "SIZE", default_value = "8GiB", value_parser = size)]
    pub(crate) max_input_size: u64,
}

/// The names of the arguments that were given to the command itself, and not left to their defaults.
pub(crate) fn given(matches: &ArgMatches) -> Vec<String> {
    let Some((name, matches)) = matches.subcommand() else { return Vec::new() };
    let cli = Cli::command();
    let arguments = cli.find_subcommand(name).into_iter().flat_map(clap::Command::get_arguments);
    let is_given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    arguments.map(|argument| argument.get_id().as_str()).filter(is_given).map(str::to_owned).collect()
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Begin a campaign: real measurements of these candidates, on a budget
    ///
    /// Nothing is measured yet. `cutline ask` hands out measurements, `cutline tell` records rewards, and `cutline status`
    /// shows the progress; any number of people and programs may use them at the same time, for days.
    #[command(after_help = NEW)]
    New(Box<New>),
    /// Measure with a command, once per ticket, until the budget is used up or every verdict is certain
    ///
    /// The command prints the reward as its last line. It gets the arm in its arguments, in environment variables and on
    /// stdin as JSON. `run` may be killed and started again at any time, and others may work on the same campaign.
    /// docs/run.md has the details.
    #[cfg(unix)]
    Run(Run),
    /// Get the next measurements to make, as tickets
    ///
    /// A ticket is one measurement of one arm: measure the arm and report its reward with `cutline tell`. Rewards may
    /// come in any order, from several workers at once. When there is nothing to measure, the reason is on stderr and no
    /// ticket is printed; that is not a failure, and the exit code is 0 unless `--exit-code` is given.
    #[command(after_help = ASK)]
    Ask(Ask),
    /// Record rewards for tickets, or report that a ticket failed
    ///
    /// Either all rewards are recorded or none: if one is refused, the message says which and why. Giving the same reward
    /// again changes nothing, so it is safe to repeat; a different reward for the same ticket is refused.
    #[command(after_help = TELL)]
    Tell(Tell),
    /// Correct the reward of a ticket, or take it out
    ///
    /// Both rewards stay in the journal. From then on the campaign is as if the right reward had been told in the first place.
    #[command(after_help = AMEND)]
    Amend(Amend),
    /// Withdraw candidates that cannot be measured: they are not asked for again
    ///
    /// Their verdicts stay, say that the candidate is withdrawn, and follow what is learnt about others. The campaign does not wait for them
    /// to be certain. `cutline restore` makes them available again.
    Withdraw(Withdraw),
    /// Make withdrawn candidates available again
    Restore(Restore),
    /// Add candidates to a campaign
    ///
    /// They have a verdict at once, by what the model has learnt from the others. Candidates that the campaign has already, with the same
    /// features, are not added again, so it is safe to repeat, unless they have no names.
    Add(Add),
    /// Print the verdicts of candidates that are not in the campaign, which does not change
    Predict(Predict),
    /// Raise or lower the budget of a campaign
    Extend(Extend),
    /// Change the question or the method of a campaign from here on
    ///
    /// Everything measured so far counts as if the campaign had begun with the new settings. The journal and the report say what was changed
    /// and when.
    Set(Box<Set>),
    /// Show the progress of a campaign: budget, tickets, verdicts, noise, pace
    Status(Status),
    /// Write the report of a campaign: a page with the answer, the verdicts and how they were reached
    ///
    /// Prints the answer in one sentence and writes `report.html`, which needs no other file, fits a phone and prints
    /// well. docs/report.md describes the page.
    Report(Report),
    /// Write events or verdicts as CSV, JSON or Parquet
    ///
    /// Numbers are written with all digits, so that they are read back exactly. Arms are given by name and, as `index`,
    /// by row number from 0. In JSON, numbers that are not finite are null, such as the bounds of unbounded intervals.
    Export(Export),
    /// Say which candidates are not above the bar: a gate for continuous integration
    ///
    /// Prints one line per candidate that is not above the threshold, and how many there are. With `--exit-code` the exit code says it.
    #[command(after_help = CHECK)]
    Check(Check),
    /// List the campaigns in a store
    List(List),
    /// Show the settings of a campaign
    Show(Show),
    /// Give a campaign another name
    Rename(Rename),
    /// Delete a campaign with all its candidates and events
    ///
    /// Asks for the name of the campaign on the terminal; elsewhere, repeat the name with `--yes`. A process that uses the campaign at
    /// the moment gets an error with its next operation.
    Delete(Delete),
    /// Copy a campaign with all its events, to another name or another store
    Copy(Copy),
    /// Serve the campaigns of a store over HTTP: to many workers in any language, and to people
    ///
    /// On the default address only programs on this machine can reach it, and they need no token as long as the store has none. For any other
    /// address the store needs a token. docs/service.md describes the API.
    Serve(Serve),
    /// Make, list and revoke the tokens by which a server knows its users
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// Offer the campaigns of a store to an assistant or a controller, by the Model Context Protocol on stdin and stdout
    ///
    /// A client starts this command, and uses campaigns as tools: it lists them, asks, tells, and reads verdicts. docs/mcp.md shows how a client
    /// is configured.
    Mcp(Mcp),
    /// Plan a budget before the first measurement: how many measurements these features need
    ///
    /// Simulates the campaign that `cutline new` would begin, many times, with true means drawn as you expect them, and finds the
    /// smallest budget that is enough. On a STORE it simulates the rest of the campaign, with true means drawn from what the rewards so
    /// far say, and says what the remaining budget would bring. Prints the wrong calls to expect at each budget and writes `report.html`, `results.csv` and a
    /// figure as SVG and PNG. A plan is only as good as what you expect of the arms. docs/planning.md describes the method.
    Plan(Box<Plan>),
    /// Say how much the features explain of the differences between the arms, how noisy rewards are, and whether a line would do
    ///
    /// Fits the mixed model, as a campaign would, and tests the linear one: replicates against the fit, for all arms together and for
    /// each arm. Ends with what follows from it. docs/diagnostics.md explains each number.
    Diagnose(Box<Diagnose>),
    /// List every algorithm with its rule, estimator, stop, parameters and paper
    Algorithms(Algorithms),
    /// Run an experiment from a TOML file
    ///
    /// Prints its results and writes `report.html`, `results.csv` and a figure as SVG and PNG. docs/experiments.md
    /// describes the file.
    Simulate(Simulate),
    /// Run the experiments of the LinearAPT paper, or of others, and compare with their published numbers
    ///
    /// Prints one table per experiment and writes `report.html`, `results.csv` and one figure per experiment as SVG and PNG.
    Reproduce(Reproduce),
    /// Print a script that completes commands and options in a shell
    #[command(after_help = COMPLETIONS)]
    Completions(Completions),
    /// Print the manual page, in the format of `man`
    Man,
    /// End the measurements of a `run` that was killed
    #[cfg(unix)]
    #[command(hide = true)]
    Watchdog,
}

#[derive(Debug, Args)]
pub(crate) struct Algorithms {
    /// How to print the list
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Json,
    Csv,
}
