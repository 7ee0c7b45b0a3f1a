//! The progress of a campaign: a bar on a terminal, and elsewhere, as in a log, a line every so often.

use super::reconnecting::ReconnectingCampaign;
use cutline::Side;
use cutline_report::spending::used_so_far;
use cutline_store::StoreError;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// How often the bar is redrawn.
const INTERVAL: Duration = Duration::from_secs(1);

/// How often a line is printed where there is no bar.
const LINE_INTERVAL: Duration = Duration::from_secs(30);

/// Computing verdicts may take one part in this many of the time.
const VERDICT_SHARE: u32 = 20;

pub(super) struct Bar {
    line: ProgressBar,
    /// When to read the campaign again, and when to compute the verdicts again.
    next: Instant,
    next_verdicts: Instant,
    undecided: String,
}

/// A bar of which so much is measured, or spent.
fn style(done: &str) -> ProgressStyle {
    let template =
        format!("{{wide_bar}} {{human_pos}} of {{human_len}} {done}, {{msg}}, {{elapsed}} elapsed, {{eta}} left");
    ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Bar {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        bar.set_style(style("measured"));
        let now = Instant::now();
        // The first line comes after the first interval: a short run needs none.
        let next = if bar.is_hidden() { now + LINE_INTERVAL } else { now };
        Self { line: bar, next, next_verdicts: now, undecided: String::new() }
    }

    /// How often the progress is shown.
    pub(super) fn interval(&self) -> Duration {
        if self.line.is_hidden() { LINE_INTERVAL } else { INTERVAL }
    }

    /// Redraws the bar, or prints a line, if it is due.
    pub(super) fn draw(&mut self, campaign: &mut ReconnectingCampaign<'_>, n_running: usize) -> Result<(), StoreError> {
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next = now + self.interval();
        if now >= self.next_verdicts {
            let undecided = campaign.verdicts()?.iter().filter(|verdict| verdict.side == Side::Undecided).count();
            self.undecided = format!("{undecided} arms undecided");
            // With very many arms verdicts take long, and measurements must not wait for them.
            self.next_verdicts = now + (now.elapsed() * VERDICT_SHARE).max(INTERVAL);
        }
        let progress = campaign.progress()?;
        if self.line.is_hidden() {
            let (used, undecided) = (used_so_far(&progress), &self.undecided);
            let measured = if progress.spending.is_some() { "" } else { " measured" };
            crate::print::note(&format!("{used}{measured}, {n_running} running, {undecided}"));
            return Ok(());
        }
        let is_first = self.line.length() == Some(0);
        if is_first && progress.spending.is_some() {
            self.line.set_style(style("spent"));
        }
        self.line.set_length(progress.budget.into());
        self.line.set_position(progress.spent().whole_units().into());
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
