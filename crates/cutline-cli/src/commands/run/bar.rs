//! The progress of a campaign: a bar on a terminal, nothing elsewhere.

use super::reconnecting::ReconnectingCampaign;
use cutline::Side;
use cutline_store::StoreError;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// How often the bar is redrawn.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// Computing verdicts may take one part in this many of the time.
const VERDICT_SHARE: u32 = 20;

pub(super) struct Bar {
    line: ProgressBar,
    /// When to read the campaign again, and when to compute the verdicts again.
    next: Instant,
    next_verdicts: Instant,
    undecided: String,
}

impl Bar {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let template = "{wide_bar} {human_pos} of {human_len} measured, {msg}, {elapsed} elapsed, {eta} left";
        bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        let now = Instant::now();
        Self { line: bar, next: now, next_verdicts: now, undecided: String::new() }
    }

    pub(super) fn is_visible(&self) -> bool {
        !self.line.is_hidden()
    }

    /// Redraws the bar if it is visible and due.
    pub(super) fn draw(&mut self, campaign: &mut ReconnectingCampaign<'_>, n_running: usize) -> Result<(), StoreError> {
        let now = Instant::now();
        if !self.is_visible() || now < self.next {
            return Ok(());
        }
        self.next = now + INTERVAL;
        if now >= self.next_verdicts {
            let undecided = campaign.verdicts()?.iter().filter(|verdict| verdict.side == Side::Undecided).count();
            self.undecided = format!("{undecided} arms undecided");
            // With very many arms verdicts take long, and measurements must not wait for them.
            self.next_verdicts = now + (now.elapsed() * VERDICT_SHARE).max(INTERVAL);
        }
        let progress = campaign.progress()?;
        let is_first = self.line.length() == Some(0);
        self.line.set_length(progress.budget.into());
        self.line.set_position(progress.counted.into());
        if is_first {
            self.line.reset_eta();
        }
        self.line.set_message(format!("{n_running} running, {}", self.undecided));
        Ok(())
    }

    /// Prints a message above the bar.
    pub(super) fn note(&self, message: &str) {
        self.line.suspend(|| crate::print::note(message));
    }

    pub(super) fn end(&self) {
        self.line.finish_and_clear();
    }
}
