//! A panel without its data: heading, grid, axes, ticks and their labels.

use crate::axis::Axis;
use crate::label::Label;
use crate::layout::{Area, TEXT_SIZE, TICK_SIZE};
use crate::series::Series;
use crate::svg::{Anchor, Svg};
use crate::text;

pub(crate) const INK: &str = "#333333";
pub(crate) const GRID: &str = "#e4e4e4";
const MAJOR: f64 = 5.0;
const MINOR: f64 = 2.5;

/// The least distance of two labels on the lower axis.
const APART: f64 = 8.0;

/// The data area of one panel, its two axes and what they show.
#[derive(Debug)]
pub(crate) struct Panel<'a> {
    pub(crate) area: Area,
    pub(crate) across: &'a Axis,
    pub(crate) upright: &'a Axis,
    pub(crate) shows: &'static str,
    pub(crate) against: &'static str,
}

impl Panel<'_> {
    /// The height at which a value is drawn.
    pub(crate) fn y(&self, value: f64) -> f64 {
        self.area.bottom() - self.area.height * self.upright.scale.share(value)
    }

    /// The place across at which a value is drawn.
    pub(crate) fn x(&self, value: f64) -> f64 {
        self.area.left + self.area.width * self.across.scale.share(value)
    }

    /// Draws everything that lies under the data.
    pub(crate) fn draw(&self, svg: &mut Svg, heading: &str) {
        let area = self.area;
        self.draw_heading(svg, heading);
        self.draw_axes(svg);
        let middle = area.top + area.height / 2.0;
        let across = area.left - gutter(&[self.upright]) + TEXT_SIZE / 2.0 + 1.0;
        svg.upward_text((across, middle), TEXT_SIZE, self.shows);
        self.draw_against(svg);
    }

    /// A line of text above the panel.
    pub(crate) fn draw_heading(&self, svg: &mut Svg, heading: &str) {
        svg.text((self.area.left, self.area.top - 12.0), TEXT_SIZE, Anchor::Start, heading);
    }

    /// Both axes with their ticks, and the grid.
    pub(crate) fn draw_axes(&self, svg: &mut Svg) {
        let area = self.area;
        self.draw_upright_ticks(svg);
        self.draw_across_ticks(svg);
        svg.line((area.left, area.top), (area.left, area.bottom()), INK, 1.0);
        svg.line((area.left, area.bottom()), (area.right(), area.bottom()), INK, 1.0);
    }

    /// What the lower axis shows.
    pub(crate) fn draw_against(&self, svg: &mut Svg) {
        svg.text((self.area.middle(), self.area.bottom() + 33.0), TEXT_SIZE, Anchor::Middle, self.against);
    }

    /// Says so if there is nothing to show.
    pub(crate) fn draw_emptiness(&self, svg: &mut Svg, series: &[Series<'_>]) {
        if series.iter().all(|s| s.budgets().next().is_none()) {
            self.draw_no_data(svg);
        }
    }

    /// Says in the middle that there is nothing to show.
    pub(crate) fn draw_no_data(&self, svg: &mut Svg) {
        let centre = (self.area.middle(), self.area.top + self.area.height / 2.0);
        svg.text(centre, TEXT_SIZE, Anchor::Middle, "no data");
    }

    fn draw_upright_ticks(&self, svg: &mut Svg) {
        let area = self.area;
        for tick in &self.upright.ticks {
            let y = self.y(tick.value);
            let length = if tick.label.is_some() { MAJOR } else { MINOR };
            if let Some(label) = &tick.label {
                svg.line((area.left, y), (area.right(), y), GRID, 0.8);
                svg.label((area.left - MAJOR - 3.0, y), TICK_SIZE, Anchor::End, label);
            }
            svg.line((area.left - length, y), (area.left, y), INK, 0.8);
        }
    }

    /// A label that would touch the one before it is left out; its tick stays.
    fn draw_across_ticks(&self, svg: &mut Svg) {
        let bottom = self.area.bottom();
        let mut free_from = f64::NEG_INFINITY;
        for tick in &self.across.ticks {
            let x = self.x(tick.value);
            let length = if tick.label.is_some() { MAJOR } else { MINOR };
            svg.line((x, bottom), (x, bottom + length), INK, 0.8);
            let Some(label) = &tick.label else { continue };
            let half = label_width(label) / 2.0;
            if x - half >= free_from {
                svg.label((x, bottom + MAJOR + 10.0), TICK_SIZE, Anchor::Middle, label);
                free_from = x + half + APART;
            }
        }
    }
}

/// The room that the labels of these axes need at their left.
pub(crate) fn gutter(axes: &[&Axis]) -> f64 {
    let labels = axes.iter().flat_map(|axis| &axis.ticks).filter_map(|tick| tick.label.as_ref());
    labels.map(label_width).fold(0.0, f64::max) + MAJOR + 3.0 + 10.0 + TEXT_SIZE
}

fn label_width(label: &Label) -> f64 {
    let exponent = label.exponent_text().unwrap_or_default();
    text::width(&label.base, TICK_SIZE) + text::width(&exponent, 0.75 * TICK_SIZE)
}
