//! Where the parts of a figure are: title, two panels side by side, legend, note, from top to bottom.

/// The width of every figure, in units: a full page width at about a hundred units an inch.
pub(crate) const WIDTH: f64 = 760.0;

/// The empty edge around a figure.
pub(crate) const MARGIN: f64 = 14.0;

pub(crate) const TITLE_SIZE: f64 = 15.0;
pub(crate) const TEXT_SIZE: f64 = 12.0;
pub(crate) const TICK_SIZE: f64 = 11.0;
pub(crate) const NOTE_SIZE: f64 = 10.0;

/// The distance of two lines of a text, in font sizes.
pub(crate) const LEADING: f64 = 1.35;

const PANEL_HEIGHT: f64 = 250.0;
/// The heading of a panel.
const HEADING_HEIGHT: f64 = 24.0;
/// Tick labels and the axis label under a panel.
const FOOT_HEIGHT: f64 = 49.0;
/// Between the panels.
const GAP: f64 = 20.0;

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

/// What must be known of the content to place it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    pub(crate) title_lines: usize,
    /// The room left of each panel for tick labels and the axis label.
    pub(crate) gutter: f64,
    pub(crate) legend_height: f64,
    pub(crate) note_lines: usize,
}

/// The places of all parts; none overlaps another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) title: Area,
    pub(crate) panels: [Area; 2],
    pub(crate) legend: Area,
    pub(crate) note: Area,
    pub(crate) height: f64,
}

impl Layout {
    /// Stacks the parts.
    pub(crate) fn new(content: Content) -> Self {
        let full = |top, height| Area { left: MARGIN, top, width: WIDTH - 2.0 * MARGIN, height };
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

fn lines_height(lines: usize, size: f64) -> f64 {
    count(lines) * size * LEADING
}

/// How many there are, as a number to reckon lengths with.
pub(crate) fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
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
                assert!(part.left >= 0.0 && part.right() <= WIDTH && part.bottom() <= layout.height);
            }
            assert!(layout.panels[1].left - layout.panels[0].right() >= gutter);
        }
    }
}
