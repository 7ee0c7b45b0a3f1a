//! A drawing that grows element by element into SVG text.

use std::fmt::Write as _;

use crate::label::Label;
use crate::text::FAMILY;

/// Where a text's position lies in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    /// At its left end.
    Start,
    /// In its middle.
    Middle,
    /// At its right end.
    End,
}

/// SVG in the making; coordinates are user units from the top left corner.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    body: String,
}

impl Svg {
    /// One element with no content. Attribute values are ours and need no escaping.
    pub(crate) fn element(&mut self, name: &str, attributes: &[(&str, &str)]) {
        let _ = write!(self.body, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.body, " {key}=\"{value}\"");
        }
        self.body.push_str("/>\n");
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
        self.strokes(&path([from, to]), stroke, width);
    }

    /// A straight dashed line.
    pub(crate) fn dashed(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, dash: &str) {
        let d = path([from, to]);
        self.element(
            "path",
            &[("d", &d), ("stroke", stroke), ("stroke-width", "1.1"), ("stroke-dasharray", dash), ("fill", "none")],
        );
    }

    /// A shape without an edge, `opacity` from 0 to 1.
    pub(crate) fn shape(&mut self, d: &str, fill: &str, opacity: f64) {
        self.element("path", &[("d", d), ("fill", fill), ("fill-opacity", &number(opacity))]);
    }

    /// Lines without a filling, of one colour and width.
    pub(crate) fn strokes(&mut self, d: &str, stroke: &str, width: f64) {
        self.element("path", &[("d", d), ("stroke", stroke), ("stroke-width", &number(width)), ("fill", "none")]);
    }

    /// Lines as [`Svg::strokes`], `opacity` from 0 to 1.
    pub(crate) fn pale_strokes(&mut self, d: &str, stroke: &str, width: f64, opacity: f64) {
        let (width, opacity) = (number(width), number(opacity));
        self.element(
            "path",
            &[("d", d), ("stroke", stroke), ("stroke-width", &width), ("stroke-opacity", &opacity), ("fill", "none")],
        );
    }

    /// Opens a group with a class, so that a reader of the file and a test can find its parts.
    pub(crate) fn open(&mut self, class: &str) {
        let _ = writeln!(self.body, "<g class=\"{class}\">");
    }

    /// Closes the group opened last.
    pub(crate) fn close(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// What a browser shows when the pointer rests on the open group.
    pub(crate) fn tooltip(&mut self, text: &str) {
        let _ = writeln!(self.body, "<title>{}</title>", escape(text));
    }

    /// A line of text whose middle height is at y: `dominant-baseline` is not the same in all viewers.
    pub(crate) fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, text: &str) {
        let place = place(at, size, anchor);
        let _ = writeln!(self.body, "<text {place}>{}</text>", escape(text));
    }

    /// A line of text that reads upwards, centred at the position.
    pub(crate) fn upward_text(&mut self, at: (f64, f64), size: f64, text: &str) {
        let place = place((0.0, 0.0), size, Anchor::Middle);
        let (x, y) = (number(at.0), number(at.1));
        let _ =
            writeln!(self.body, "<text transform=\"translate({x} {y}) rotate(-90)\" {place}>{}</text>", escape(text));
    }

    /// The label of a tick.
    pub(crate) fn label(&mut self, at: (f64, f64), size: f64, anchor: Anchor, label: &Label) {
        let Some(exponent) = label.exponent_text() else {
            return self.text(at, size, anchor, &label.base);
        };
        let (up, small) = (number(-0.4 * size), number(0.75 * size));
        let base = escape(&label.base);
        let place = place(at, size, anchor);
        let _ = writeln!(
            self.body,
            "<text {place}>{base}<tspan dy=\"{up}\" font-size=\"{small}\">{exponent}</tspan></text>"
        );
    }

    /// The whole document on a white ground, named for those who cannot see it.
    pub(crate) fn finish(self, width: f64, height: f64, title: &str) -> String {
        let (w, h) = (number(width), number(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
             font-family=\"{FAMILY}\" fill=\"#222222\">\n<title>{}</title>\n\
             <rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escape(title),
            self.body
        )
    }
}

fn place(at: (f64, f64), size: f64, anchor: Anchor) -> String {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let (x, y) = (number(at.0), number(at.1 + 0.36 * size));
    format!("x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\"", number(size))
}

/// Path data through the places.
pub(crate) fn path(places: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    for (x, y) in places {
        let command = if d.is_empty() { 'M' } else { 'L' };
        let _ = write!(d, "{command}{} {}", number(x), number(y));
    }
    d
}

/// Path data of a rectangle between two corners.
pub(crate) fn rectangle((left, top): (f64, f64), (right, bottom): (f64, f64)) -> String {
    let (left, top, right, bottom) = (number(left), number(top), number(right), number(bottom));
    format!("M{left} {top}H{right}V{bottom}H{left}Z")
}

/// A coordinate to a hundredth of a unit; adding zero turns -0 into 0.
pub(crate) fn number(x: f64) -> String {
    format!("{}", (x * 100.0).round() / 100.0 + 0.0)
}

/// Text that XML accepts: markup escaped, white space single, characters that XML forbids replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nasty_text_survives_a_parser() {
        let nasty = "a<b>&\"c\"'d'\u{0}\u{b}\u{ffff}]]>";
        let mut svg = Svg::default();
        svg.text((1.0, 2.0), 10.0, Anchor::Start, nasty);
        let document = svg.finish(10.0, 10.0, nasty);
        let parsed = roxmltree::Document::parse(&document).expect("well-formed");
        let text = parsed.descendants().find(|n| n.has_tag_name("text")).and_then(|n| n.text());
        assert_eq!(text, Some("a<b>&\"c\"'d'\u{fffd}\u{fffd}\u{fffd}]]>"));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(-0.001), "0");
        assert_eq!(number(12.3456), "12.35");
        assert_eq!(number(3.0), "3");
    }
}
