//! What `run` says at its end.

use super::Run;
use super::unsaved::Reward;
use crate::args;
use crate::commands::reference;
use crate::commands::status_text::PLAN;
use crate::print::{note, shell};
use cutline::StopReason;
use cutline_report::{Summary, spending, words};
use cutline_store::StoreError;

impl Run<'_> {
    /// Says where the rewards are that could not be saved in the store, and how to save them, unless the campaign was deleted.
    pub(super) fn report_unsaved(&self, is_deleted: bool) {
        let (rewards, reference) = (self.unsaved.rewards(), self.reference());
        match (rewards.len(), self.unsaved.file()) {
            (0, _) => (),
            (n, Some(file)) => {
                let (noun, is_in, object) =
                    if n == 1 { ("reward was", "it is", "it") } else { ("rewards were", "they are", "them") };
                let word = shell(&file.to_string_lossy());
                let record =
                    format!("; once the store is back, record {object} with `cutline tell {reference} --file {word}`");
                let record = if is_deleted { "" } else { &record };
                note(&format!("{n} {noun} not saved in the store; {is_in} in {}{record}", file.display()));
            }
            (_, None) => {
                for Reward { ticket, value, .. } in rewards {
                    note(&format!("not saved: record it with `cutline tell {reference} {ticket} {value}`"));
                }
            }
        }
    }

    /// Prints the result.
    pub(super) fn sum_up(&mut self, reason: StopReason) -> Result<(), StoreError> {
        let summary = Summary::from(self.campaign.standing()?);
        let standing = &summary.standing;
        let (sides, reason) = (words::sides(standing), words::ending(reason));
        let (measured, failed) = (self.measured, self.failed);
        note(&format!(
            "{measured} measurements made, {failed} failed; {}{} in the store",
            spending::used(standing.told, standing.spent, standing.budget),
            if standing.spent.is_some() { "" } else { " rewards" }
        ));
        note(&format!("{sides}; ended because {reason}"));
        summary.finding.iter().for_each(|finding| note(finding));
        for (label, line) in words::lines(standing, PLAN) {
            note(&format!("{label}: {line}"));
        }
        note(&format!("see the result with `cutline report {}`", self.reference()));
        Ok(())
    }

    /// The arguments that name the campaign on a command line.
    fn reference(&self) -> String {
        let args::CampaignAddress { store, name, .. } = self.campaign.address();
        reference(store, name.as_deref())
    }
}
