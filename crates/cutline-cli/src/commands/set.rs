//! `cutline set STORE …` and `cutline extend STORE --budget N`

use super::open;
use super::tell::to_go;
use crate::args;
use crate::failure::Failure;
use crate::print::note;
use cutline_campaign::{AnyCampaign, Change, Event, changed_settings};

pub(crate) fn extend(args: &args::Extend) -> Result<(), Failure> {
    change(&mut *open(&args.address)?, &Change::new().with("budget", args.budget))
}

pub(crate) fn set(args: &args::Set) -> Result<(), Failure> {
    let new = args.change();
    if new.is_empty() {
        return Err(Failure::Usage("no setting to change: give at least one, as in `--threshold 0.5`".into()));
    }
    change(&mut *open(&args.address)?, &new)
}

fn change(campaign: &mut dyn AnyCampaign, change: &Change) -> Result<(), Failure> {
    let before = campaign.state()?.n_events();
    if !campaign.change(change)? {
        note("nothing to change: the campaign has these settings already");
        return Ok(());
    }
    let changed = campaign.events(before)?.into_iter().rev().find_map(|record| match record.event {
        Event::Changed { change, .. } => Some(changed_settings(&change)),
        _ => None,
    });
    let words: Vec<String> =
        changed.unwrap_or_default().into_iter().map(|(key, value)| format!("{} = {value}", in_words(&key))).collect();
    note(&format!("changed: {}; {}", words.join(", "), to_go(campaign)?));
    Ok(())
}

/// A key of the settings as a word.
fn in_words(key: &str) -> String {
    key.replace('_', " ")
}
