//! The pages of figures and the panels on them.
//!
//! A [`WidePage`] compares algorithms: a title, two panels side by side, a legend and a note. A [`NarrowPage`] shows one
//! campaign: a title, panels below each other, keys and notes; its text can still be read when a phone scales it down.
//! A [`Panel`] is everything around the data: heading, grid, axes, ticks and their labels.

use crate::axis::Axis;
use crate::failure::Series;
use crate::legend::{Key, Legend};
use crate::svg::{Anchor, Svg};
use crate::text::Label;
use crate::{legend, text};

/// The width of a wide page, in units: a full page width at about a hundred units per inch.
pub(crate) const WIDE_WIDTH: f64 = 760.0;

/// The width of a narrow page: at 360 pixels, the width of a phone, its smallest text is nine pixels high.
pub(crate) const NARROW_WIDTH: f64 = 440.0;

/// The empty edge around a figure.
pub(crate) const MARGIN: f64 = 14.0;

/// The width between the margins of a narrow page.
pub(crate) const NARROW_ROOM: f64 = NARROW_WIDTH - 2.0 * MARGIN;

const TITLE_SIZE: f64 = 15.0;
pub(crate) const TEXT_SIZE: f64 = 12.0;
pub(crate) const TICK_SIZE: f64 = 11.0;
const NOTE_SIZE: f64 = 10.0;

/// The distance between two lines of a text, in font sizes.
const LEADING: f64 = 1.35;

/// Room above a panel, for its heading.
pub(crate) const HEADING_HEIGHT: f64 = 24.0;

/// Room below a panel, for tick labels and the axis label.
pub(crate) const FOOT_HEIGHT: f64 = 49.0;

/// The height of the panels of a wide page.
const PANEL_HEIGHT: f64 = 250.0;

/// The distance between the panels of a wide page.
const GAP: f64 = 20.0;

pub(crate) const INK: &str = "#333333";
pub(crate) const GRID: &str = "#e4e4e4";
const MAJOR_TICK: f64 = 5.0;
const MINOR_TICK: f64 = 2.5;

/// The least distance between two labels on the lower axis.
const APART: f64 = 8.0;

/// A count as a float, to compute lengths with.
pub(crate) fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(crate) fn middle(&self) -> f64 {
        self.left + self.width / 2.0
    }
}

/// The sizes of a wide page's parts.
#[derive(Clone, Copy, Debug)]
struct Content {
    title_lines: usize,
    /// The room left of each panel for tick labels and the axis label.
    gutter: f64,
    legend_height: f64,
    note_lines: usize,
}

/// Where the parts of a wide page are; none overlaps another.
#[derive(Clone, Copy, Debug)]
struct Layout {
    title: Area,
    panels: [Area; 2],
    legend: Area,
    note: Area,
    height: f64,
}

impl Layout {
    /// Places the parts from top to bottom.
    fn new(content: Content) -> Self {
        let full = |top, height| Area { left: MARGIN, top, width: WIDE_WIDTH - 2.0 * MARGIN, height };
        let title = full(MARGIN, lines_height(content.title_lines, TITLE_SIZE));
        let panel_top = title.bottom() + HEADING_HEIGHT;
        let panel_width = (title.width - GAP) / 2.0 - content.gutter;
        let panel = |left| Area { left, top: panel_top, width: panel_width, height: PANEL_HEIGHT };
        let first = panel(MARGIN + content.gutter);
        let second = panel(first.right() + GAP + content.gutter);
        let legend = full(first.bottom() + FOOT_HEIGHT, content.legend_height);
        let note = full(legend.bottom() + 4.0, lines_height(content.note_lines, NOTE_SIZE));
        Self { title, panels: [first, second], legend, note, height: note.bottom() + MARGIN - 4.0 }
    }
}

/// A page for a comparison, with its title; the data are drawn into `svg`, in the `panels`.
#[derive(Debug)]
pub(crate) struct WidePage<'a> {
    pub(crate) svg: Svg,
    pub(crate) panels: [Area; 2],
    title: &'a str,
    legend: Legend<'a>,
    note: Vec<String>,
    layout: Layout,
}

impl<'a> WidePage<'a> {
    /// Places all parts and draws the title. The panels have room for the labels of their y axes.
    pub(crate) fn new(title: &'a str, y_axes: &[Axis; 2], legend: Legend<'a>, note: Vec<String>) -> Self {
        let lines = text::wrap(title, TITLE_SIZE, WIDE_WIDTH - 2.0 * MARGIN, 2);
        let layout = Layout::new(Content {
            title_lines: lines.len(),
            gutter: gutter(&[&y_axes[0], &y_axes[1]]),
            legend_height: legend.height(),
            note_lines: note.len(),
        });
        let mut svg = Svg::default();
        draw_lines(&mut svg, &lines, TITLE_SIZE, (WIDE_WIDTH / 2.0, layout.title.top));
        Self { svg, panels: layout.panels, title, legend, note, layout }
    }

    /// Draws the legend and the note below the panels.
    pub(crate) fn finish(mut self) -> String {
        self.legend.draw(&mut self.svg, self.layout.legend);
        draw_lines(&mut self.svg, &self.note, NOTE_SIZE, (WIDE_WIDTH / 2.0, self.layout.note.top));
        self.svg.finish(WIDE_WIDTH, self.layout.height, self.title)
    }
}

/// A page for one campaign, with its title; the panels are drawn into `svg`, from `top` down.
#[derive(Debug)]
pub(crate) struct NarrowPage<'a> {
    pub(crate) svg: Svg,
    pub(crate) top: f64,
    title: &'a str,
}

impl<'a> NarrowPage<'a> {
    /// Draws the title.
    pub(crate) fn new(title: &'a str) -> Self {
        let lines = text::wrap(title, TITLE_SIZE, NARROW_ROOM, 3);
        let mut svg = Svg::default();
        draw_lines(&mut svg, &lines, TITLE_SIZE, (NARROW_WIDTH / 2.0, MARGIN));
        Self { svg, top: MARGIN + lines_height(lines.len(), TITLE_SIZE), title }
    }

    /// Draws keys and notes below the panels, which end at `bottom`.
    pub(crate) fn finish(mut self, bottom: f64, keys: &[Key], notes: &[String]) -> String {
        let bottom = legend::draw_keys(&mut self.svg, bottom, keys) + 4.0;
        let lines: Vec<String> = notes.iter().flat_map(|note| text::wrap(note, TICK_SIZE, NARROW_ROOM, 4)).collect();
        draw_lines(&mut self.svg, &lines, TICK_SIZE, (NARROW_WIDTH / 2.0, bottom));
        let height = bottom + lines_height(lines.len(), TICK_SIZE) + MARGIN - 4.0;
        self.svg.finish(NARROW_WIDTH, height, self.title)
    }
}

/// The note of a wide page, broken into lines that fit.
pub(crate) fn note_lines(note: Option<&str>) -> Vec<String> {
    text::wrap(note.unwrap_or_default(), NOTE_SIZE, WIDE_WIDTH - 2.0 * MARGIN, 4)
}

/// Centred lines of text below each other.
fn draw_lines(svg: &mut Svg, lines: &[String], size: f64, (x, top): (f64, f64)) {
    let mut y = top + size * LEADING / 2.0;
    for line in lines {
        svg.text((x, y), size, Anchor::Middle, line);
        y += size * LEADING;
    }
}

fn lines_height(lines: usize, size: f64) -> f64 {
    count(lines) * size * LEADING
}

/// The data area of one panel, its two axes and their labels.
#[derive(Debug)]
pub(crate) struct Panel<'a> {
    pub(crate) area: Area,
    pub(crate) x_axis: &'a Axis,
    pub(crate) y_axis: &'a Axis,
    pub(crate) x_label: &'static str,
    pub(crate) y_label: &'static str,
}

impl Panel<'_> {
    /// The x coordinate of a value.
    pub(crate) fn x(&self, value: f64) -> f64 {
        self.area.left + self.area.width * self.x_axis.scale.share(value)
    }

    /// The y coordinate of a value.
    pub(crate) fn y(&self, value: f64) -> f64 {
        self.area.bottom() - self.area.height * self.y_axis.scale.share(value)
    }

    /// Draws everything that lies under the data.
    pub(crate) fn draw(&self, svg: &mut Svg, heading: &str) {
        let area = self.area;
        self.draw_heading(svg, heading);
        self.draw_axes(svg);
        let middle = area.top + area.height / 2.0;
        let x = area.left - gutter(&[self.y_axis]) + TEXT_SIZE / 2.0 + 1.0;
        svg.upward_text((x, middle), TEXT_SIZE, self.y_label);
        self.draw_x_label(svg);
    }

    /// A line of text above the panel.
    pub(crate) fn draw_heading(&self, svg: &mut Svg, heading: &str) {
        svg.text((self.area.left, self.area.top - 12.0), TEXT_SIZE, Anchor::Start, heading);
    }

    /// Both axes with their ticks, and the grid.
    pub(crate) fn draw_axes(&self, svg: &mut Svg) {
        let area = self.area;
        self.draw_y_ticks(svg);
        self.draw_x_ticks(svg);
        svg.line((area.left, area.top), (area.left, area.bottom()), INK, 1.0);
        svg.line((area.left, area.bottom()), (area.right(), area.bottom()), INK, 1.0);
    }

    /// The label of the lower axis.
    pub(crate) fn draw_x_label(&self, svg: &mut Svg) {
        svg.text((self.area.middle(), self.area.bottom() + 33.0), TEXT_SIZE, Anchor::Middle, self.x_label);
    }

    /// Writes "no data" into the panel if no series has a point.
    pub(crate) fn draw_no_data_if_empty(&self, svg: &mut Svg, series: &[Series<'_>]) {
        if series.iter().all(|s| s.budgets().next().is_none()) {
            self.draw_no_data(svg);
        }
    }

    /// Writes "no data" into the middle of the panel.
    pub(crate) fn draw_no_data(&self, svg: &mut Svg) {
        let centre = (self.area.middle(), self.area.top + self.area.height / 2.0);
        svg.text(centre, TEXT_SIZE, Anchor::Middle, "no data");
    }

    fn draw_y_ticks(&self, svg: &mut Svg) {
        let area = self.area;
        for tick in &self.y_axis.ticks {
            let y = self.y(tick.value);
            let length = if tick.label.is_some() { MAJOR_TICK } else { MINOR_TICK };
            if let Some(label) = &tick.label {
                svg.line((area.left, y), (area.right(), y), GRID, 0.8);
                svg.label((area.left - MAJOR_TICK - 3.0, y), TICK_SIZE, Anchor::End, label);
            }
            svg.line((area.left - length, y), (area.left, y), INK, 0.8);
        }
    }

    /// A label that would touch the one before it is left out; its tick stays.
    fn draw_x_ticks(&self, svg: &mut Svg) {
        let bottom = self.area.bottom();
        let mut free_from = f64::NEG_INFINITY;
        for tick in &self.x_axis.ticks {
            let x = self.x(tick.value);
            let length = if tick.label.is_some() { MAJOR_TICK } else { MINOR_TICK };
            svg.line((x, bottom), (x, bottom + length), INK, 0.8);
            let Some(label) = &tick.label else { continue };
            let half = label_width(label) / 2.0;
            if x - half >= free_from {
                svg.label((x, bottom + MAJOR_TICK + 10.0), TICK_SIZE, Anchor::Middle, label);
                free_from = x + half + APART;
            }
        }
    }
}

/// The room that the labels of these axes need to the left of a panel.
pub(crate) fn gutter(axes: &[&Axis]) -> f64 {
    let labels = axes.iter().flat_map(|axis| &axis.ticks).filter_map(|tick| tick.label.as_ref());
    labels.map(label_width).fold(0.0, f64::max) + MAJOR_TICK + 3.0 + 10.0 + TEXT_SIZE
}

fn label_width(label: &Label) -> f64 {
    let exponent = label.exponent_text().unwrap_or_default();
    text::width(&label.base, TICK_SIZE) + text::width(&exponent, 0.75 * TICK_SIZE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(a: &Area, b: &Area) -> bool {
        a.left < b.right() && b.left < a.right() && a.top < b.bottom() && b.top < a.bottom()
    }

    #[test]
    fn no_part_overlaps_another_or_leaves_the_figure() {
        for (title_lines, gutter, legend_height, note_lines) in
            [(0, 40.0, 0.0, 0), (1, 60.0, 50.0, 1), (3, 90.0, 900.0, 4)]
        {
            let layout = Layout::new(Content { title_lines, gutter, legend_height, note_lines });
            let parts = [layout.title, layout.panels[0], layout.panels[1], layout.legend, layout.note];
            for (index, part) in parts.iter().enumerate() {
                assert!(parts[..index].iter().all(|other| !overlap(part, other)));
                assert!(part.left >= 0.0 && part.right() <= WIDE_WIDTH && part.bottom() <= layout.height);
            }
            assert!(layout.panels[1].left - layout.panels[0].right() >= gutter);
        }
    }
}
