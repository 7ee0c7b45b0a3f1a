//! `cutline rename`, `cutline delete` and `cutline copy`

use super::{open_host, token_of};
use crate::failure::Failure;
use crate::print::{cell, note};
use crate::{args, interrupt};
use cutline_store::{OpenOptions, StoreError};
use std::io::{BufRead, IsTerminal, Write};

pub(crate) fn rename(args: &args::Rename) -> Result<(), Failure> {
    let store = open_host(&args.address)?;
    let _guard = interrupt::hold_for(&args.address.store);
    store.rename(args.address.name.as_deref(), &args.new).map_err(refused)?;
    note(&format!("the campaign is called `{}`", args.new));
    Ok(())
}

pub(crate) fn copy(args: &args::Copy) -> Result<(), Failure> {
    let store = open_host(&args.address)?;
    let _guard = interrupt::hold_for(args.to.as_deref().unwrap_or(&args.address.store));
    let token = token_of(&args.address.token)?;
    let options = OpenOptions::new().create(true).interrupt(interrupt::waits()).token(token.as_deref());
    let target = args.to.as_deref().map(|to| options.host(to)).transpose()?;
    let mut copy = store.copy(args.address.name.as_deref(), target.as_deref(), &args.new).map_err(refused)?;
    let progress = copy.progress()?;
    note(&format!("copied the campaign to `{}`, with {} events", args.new, progress.events));
    Ok(())
}

pub(crate) fn delete(args: &args::Delete) -> Result<(), Failure> {
    let store = open_host(&args.address)?;
    let mut names: Vec<String> = store.campaigns()?.into_iter().map(|summary| summary.name).collect();
    let name = match &args.address.name {
        Some(name) => name.clone(),
        // With one campaign there is no doubt which one is meant, and it is still asked for.
        None if names.len() == 1 => names.remove(0),
        None => {
            return Err(store.campaign(None).err().map_or_else(|| Failure::Usage("no campaign".into()), Into::into));
        }
    };
    let repeated = match &args.yes {
        Some(repeated) => repeated.clone(),
        None => asked(&name)?,
    };
    if repeated != name {
        return Err(Failure::Usage(format!(
            "`{}` is not the name of the campaign, `{}`, so nothing was deleted",
            cell(&repeated),
            cell(&name)
        )));
    }
    let _guard = interrupt::hold_for(&args.address.store);
    store.delete(&name)?;
    note(&format!("deleted the campaign `{name}`"));
    Ok(())
}

/// A new name that is taken is not an option here, as it is with `cutline new`.
fn refused(error: StoreError) -> Failure {
    match error {
        StoreError::NameTaken(_) => Failure::Usage(format!("{error}; choose another name")),
        error => error.into(),
    }
}

/// Asks on the terminal for the name of the campaign to delete.
fn asked(name: &str) -> Result<String, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::Usage(format!(
            "this deletes the campaign `{}` with all its measurements; repeat its name with `--yes`",
            cell(name)
        )));
    }
    let mut err = std::io::stderr();
    write!(err, "this deletes the campaign `{}` with all its measurements; type its name: ", cell(name))?;
    err.flush()?;
    let mut line = String::new();
    stdin.lock().read_line(&mut line).map_err(|error| Failure::Read { path: "stdin".into(), error, hint: "" })?;
    Ok(line.trim_end_matches(['\r', '\n']).into())
}
