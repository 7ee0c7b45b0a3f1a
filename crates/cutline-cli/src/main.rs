//! The command line of Cutline. Data goes to stdout, everything else to stderr; the exit code is 0, 1 if the command failed, 2 if the
//! command line is wrong, 130 if it was interrupted.

mod args;
mod commands;
mod failure;
mod figure_files;
mod interrupt;
mod output;
mod per_run;
mod plan;
mod print;
mod progress;
mod results;
mod resume;
mod simulation_report;
mod table;
mod threads;

use args::{Cli, Command};
use clap::{CommandFactory, FromArgMatches};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let given = args::given(&matches);
    if let Err(failure) = interrupt::listen() {
        return exit_code(Err(failure));
    }
    if needs_threads(&cli.command) {
        threads::start();
    }
    print::set_plain(cli.plain);
    cutline_data::input::set_max_size(cli.max_input_size);
    silence_parquet_panics();
    let done = match cli.command {
        Command::Reproduce(args) => commands::reproduce(&args),
        Command::Simulate(args) => commands::simulate(&args),
        Command::Plan(args) => commands::plan(&args, &given),
        Command::Diagnose(args) => commands::diagnose(&args, &given),
        #[cfg(unix)]
        Command::Run(args) => return exit_code(commands::run(&args)),
        #[cfg(unix)]
        Command::Watchdog => commands::watchdog(),
        Command::Algorithms(args) => commands::algorithms(&args),
        Command::New(args) => commands::new(&args),
        Command::Ask(args) => return exit_code(commands::ask(&args)),
        Command::Tell(args) => commands::tell(&args),
        Command::Amend(args) => commands::amend(&args),
        Command::Withdraw(args) => commands::withdraw(&args),
        Command::Restore(args) => commands::restore(&args),
        Command::Add(args) => commands::add(&args),
        Command::Predict(args) => commands::predict(&args),
        Command::Extend(args) => commands::extend(&args),
        Command::Set(args) => commands::set(&args),
        Command::Status(args) => commands::status(&args),
        Command::Report(args) => commands::report(&args),
        Command::Export(args) => commands::export(&args),
        Command::Check(args) => return exit_code(commands::check(&args)),
        Command::List(args) => commands::list(&args),
        Command::Show(args) => commands::show(&args),
        Command::Rename(args) => commands::rename(&args),
        Command::Delete(args) => commands::delete(&args),
        Command::Copy(args) => commands::copy(&args),
        Command::Serve(args) => commands::serve(&args),
        Command::Mcp(args) => commands::mcp(&args),
        Command::Token { command } => commands::token(&command),
        Command::Completions(args) => commands::completions(&args),
        Command::Man => commands::man(),
    };
    exit_code(done.map(|()| ExitCode::SUCCESS))
}

/// Whether a command may compute on several threads. The companion of `run` does not, and there may be few threads to spare.
fn needs_threads(command: &Command) -> bool {
    #[cfg(unix)]
    return !matches!(command, Command::Watchdog | Command::Completions(_) | Command::Man);
    #[cfg(not(unix))]
    return !matches!(command, Command::Completions(_) | Command::Man);
}

/// Prints the error if the command failed, and returns the exit code.
fn exit_code(done: Result<ExitCode, Failure>) -> ExitCode {
    done.unwrap_or_else(|failure| {
        interrupt::end_if_interrupted();
        if !matches!(failure, Failure::ReaderGone) {
            print::note(&format!("error: {}", failure.line()));
        }
        failure.code().into()
    })
}

/// The crate `parquet` panics on some damaged files. `cutline-data` catches that, and it is reported as an error, in one line.
fn silence_parquet_panics() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_parquet = |place: &std::panic::Location<'_>| place.file().contains("/parquet-");
        if !panic.location().is_some_and(is_parquet) {
            report(panic);
        }
    }));
}
