//! `cutline completions SHELL` and `cutline man`: made from the definition of the command line.

use crate::args;
use crate::args::Cli;
use crate::failure::Failure;
use clap::CommandFactory;
use std::io::Write;

pub(crate) fn completions(args: &args::Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cutline", &mut script);
    print(&script)
}

/// One page: the program, and then every command with its options.
pub(crate) fn man() -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    // Not the section that refers to a page per command: all commands are on this one.
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        let man = clap_mangen::Man::new(subcommand.clone());
        writeln!(page, ".SH \"CUTLINE {}\"", subcommand.get_name().to_uppercase())?;
        man.render_description_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    print(&page)
}

fn print(text: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text)?;
    out.flush()?;
    Ok(())
}
