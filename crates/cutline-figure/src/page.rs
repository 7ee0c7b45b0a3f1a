//! The page of a figure that compares algorithms: a title, two panels side by side, a legend and small print.

use crate::axis::Axis;
use crate::layout::{Area, Content, LEADING, Layout, MARGIN, NOTE_SIZE, TITLE_SIZE, WIDTH};
use crate::legend::Legend;
use crate::panel::gutter;
use crate::svg::{Anchor, Svg};
use crate::text;

/// A page with its title; the data are drawn into `svg`, in the `panels`.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    pub(crate) svg: Svg,
    pub(crate) panels: [Area; 2],
    title: &'a str,
    legend: Legend<'a>,
    note: Vec<String>,
    layout: Layout,
}

impl<'a> Page<'a> {
    /// Places all parts and draws the title. The panels have room for the labels of their upright axes.
    pub(crate) fn new(title: &'a str, uprights: &[Axis; 2], legend: Legend<'a>, note: Vec<String>) -> Self {
        let lines = text::wrap(title, TITLE_SIZE, WIDTH - 2.0 * MARGIN, 2);
        let layout = Layout::new(Content {
            title_lines: lines.len(),
            gutter: gutter(&[&uprights[0], &uprights[1]]),
            legend_height: legend.height(),
            note_lines: note.len(),
        });
        let mut svg = Svg::default();
        draw_lines(&mut svg, &lines, TITLE_SIZE, (WIDTH / 2.0, layout.title.top));
        Self { svg, panels: layout.panels, title, legend, note, layout }
    }

    /// Draws what stands under the panels.
    pub(crate) fn finish(mut self) -> String {
        self.legend.draw(&mut self.svg, self.layout.legend);
        draw_lines(&mut self.svg, &self.note, NOTE_SIZE, (WIDTH / 2.0, self.layout.note.top));
        self.svg.finish(WIDTH, self.layout.height, self.title)
    }
}

/// Small print, broken into lines that fit.
pub(crate) fn note_lines(note: Option<&str>) -> Vec<String> {
    text::wrap(note.unwrap_or_default(), NOTE_SIZE, WIDTH - 2.0 * MARGIN, 4)
}

/// Lines of text under each other, centred.
pub(crate) fn draw_lines(svg: &mut Svg, lines: &[String], size: f64, (x, top): (f64, f64)) {
    let mut y = top + size * LEADING / 2.0;
    for line in lines {
        svg.text((x, y), size, Anchor::Middle, line);
        y += size * LEADING;
    }
}
