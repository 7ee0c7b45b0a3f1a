//! How far a campaign is, while it goes on: a bar on a terminal, nothing elsewhere.

use super::kept::Kept;
use cutline::Side;
use cutline_store::StoreError;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// How often it is drawn anew.
pub(super) const EVERY: Duration = Duration::from_secs(1);

/// Verdicts may take one part in so many of the time.
const SHARE: u32 = 20;

pub(super) struct Bar {
    line: ProgressBar,
    /// When to look at the campaign again, and when at the verdicts.
    next: Instant,
    next_verdicts: Instant,
    undecided: String,
}

impl Bar {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let template = "{wide_bar} {human_pos} of {human_len} measured, {msg}, {elapsed} so far, {eta} to go";
        bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        let now = Instant::now();
        Self { line: bar, next: now, next_verdicts: now, undecided: String::new() }
    }

    pub(super) fn is_seen(&self) -> bool {
        !self.line.is_hidden()
    }

    /// Draws the bar, if anybody can see it and it is time.
    pub(super) fn draw(&mut self, kept: &mut Kept<'_>, working: usize) -> Result<(), StoreError> {
        let now = Instant::now();
        if !self.is_seen() || now < self.next {
            return Ok(());
        }
        self.next = now + EVERY;
        if now >= self.next_verdicts {
            let undecided = kept.sides()?.into_iter().filter(|&side| side == Side::Undecided).count();
            self.undecided = format!("{undecided} arms undecided");
            // With very many arms verdicts take long, and measuring is not to wait for them.
            self.next_verdicts = now + (now.elapsed() * SHARE).max(EVERY);
        }
        let progress = kept.progress()?;
        let is_first = self.line.length() == Some(0);
        self.line.set_length(progress.budget.into());
        self.line.set_position(progress.counted.into());
        if is_first {
            self.line.reset_eta();
        }
        self.line.set_message(format!("{working} running, {}", self.undecided));
        Ok(())
    }

    /// Says something above the bar.
    pub(super) fn note(&self, message: &str) {
        self.line.suspend(|| crate::print::note(message));
    }

    pub(super) fn end(&self) {
        self.line.finish_and_clear();
    }
}
