//! Progress of simulations: a bar on a terminal, nothing elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A count of pulls whose total is not known.
pub(crate) fn count(message: &'static str) -> ProgressBar {
    let count = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg:<20} {spinner} {human_pos} pulls, {elapsed} elapsed");
    count.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    count.set_message(message);
    count
}

/// A bar over `total` pulls.
pub(crate) fn bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(
        "{msg:<20} {wide_bar} {percent:>3} %  {human_pos} of {human_len} pulls, {elapsed} elapsed, {eta} left",
    );
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
