//! The page of a campaign's figure: a title, panels under each other, keys and small print.
//!
//! It is narrow, so that its text can still be read when a phone scales it down.

use crate::key::{self, Key};
use crate::layout::{LEADING, MARGIN, TICK_SIZE, TITLE_SIZE, count};
use crate::page::draw_lines;
use crate::svg::Svg;
use crate::text;

/// The width of the page: at 360 pixels, the width of a phone, its smallest text has nine.
pub(crate) const WIDTH: f64 = 440.0;

/// The width between the margins.
pub(crate) const ROOM: f64 = WIDTH - 2.0 * MARGIN;

/// Above a panel, for its heading.
pub(crate) const HEADING_HEIGHT: f64 = 24.0;

/// Under a panel, for tick labels and what the axis shows.
pub(crate) const FOOT_HEIGHT: f64 = 49.0;

/// A page with its title; the panels are drawn into `svg`, from `top` down.
#[derive(Debug)]
pub(crate) struct Sheet<'a> {
    pub(crate) svg: Svg,
    pub(crate) top: f64,
    title: &'a str,
}

impl<'a> Sheet<'a> {
    /// Draws the title.
    pub(crate) fn new(title: &'a str) -> Self {
        let lines = text::wrap(title, TITLE_SIZE, ROOM, 3);
        let mut svg = Svg::default();
        draw_lines(&mut svg, &lines, TITLE_SIZE, (WIDTH / 2.0, MARGIN));
        Self { svg, top: MARGIN + count(lines.len()) * TITLE_SIZE * LEADING, title }
    }

    /// Draws keys and notes under the panels, which end at `bottom`.
    pub(crate) fn finish(mut self, bottom: f64, keys: &[Key], notes: &[String]) -> String {
        let bottom = key::draw(&mut self.svg, bottom, keys) + 4.0;
        let lines: Vec<String> = notes.iter().flat_map(|note| text::wrap(note, TICK_SIZE, ROOM, 4)).collect();
        draw_lines(&mut self.svg, &lines, TICK_SIZE, (WIDTH / 2.0, bottom));
        let height = bottom + count(lines.len()) * TICK_SIZE * LEADING + MARGIN - 4.0;
        self.svg.finish(WIDTH, height, self.title)
    }
}
