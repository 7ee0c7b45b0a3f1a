//! A drawing that grows element by element into SVG, and its pixels as PNG.
//!
//! A PNG is drawn with the font inside the binary: no system font is needed or searched for.

use std::fmt::{self, Write as _};
use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::text::{EMBEDDED, FAMILY, Label};

/// Which part of a text is at its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

/// An SVG document under construction; coordinates are user units from the top left corner.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    body: String,
}

impl Svg {
    /// One element without content. Attribute values come from this crate and need no escaping.
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

    /// A filled shape without an edge, `opacity` from 0 to 1.
    pub(crate) fn shape(&mut self, d: &str, fill: &str, opacity: f64) {
        self.element("path", &[("d", d), ("fill", fill), ("fill-opacity", &number(opacity))]);
    }

    /// Unfilled lines of one colour and width.
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

    /// The text that a browser shows when the pointer rests on the open group.
    pub(crate) fn tooltip(&mut self, text: &str) {
        let _ = writeln!(self.body, "<title>{}</title>", escape(text));
    }

    /// A line of text, centred vertically at y by hand, as viewers disagree on `dominant-baseline`.
    pub(crate) fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, text: &str) {
        let position = position(at, size, anchor);
        let _ = writeln!(self.body, "<text {position}>{}</text>", escape(text));
    }

    /// A line of text that reads upwards, centred at the position.
    pub(crate) fn upward_text(&mut self, at: (f64, f64), size: f64, text: &str) {
        let position = position((0.0, 0.0), size, Anchor::Middle);
        let (x, y) = (number(at.0), number(at.1));
        let _ = writeln!(
            self.body,
            "<text transform=\"translate({x} {y}) rotate(-90)\" {position}>{}</text>",
            escape(text)
        );
    }

    /// The label of a tick.
    pub(crate) fn label(&mut self, at: (f64, f64), size: f64, anchor: Anchor, label: &Label) {
        let Some(exponent) = label.exponent_text() else {
            return self.text(at, size, anchor, &label.base);
        };
        let (up, small) = (number(-0.4 * size), number(0.75 * size));
        let base = escape(&label.base);
        let position = position(at, size, anchor);
        let _ = writeln!(
            self.body,
            "<text {position}>{base}<tspan dy=\"{up}\" font-size=\"{small}\">{exponent}</tspan></text>"
        );
    }

    /// The whole document on a white background, with a title for screen readers.
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

fn position(at: (f64, f64), size: f64, anchor: Anchor) -> String {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let (x, y) = (number(at.0), number(at.1 + 0.36 * size));
    format!("x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\"", number(size))
}

/// Path data through the points.
pub(crate) fn path(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    for (x, y) in points {
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

/// Text that XML accepts: markup escaped, white space as spaces, characters that XML forbids replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in cutline::shown(text).chars() {
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

/// Why a PNG could not be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PngError {
    /// The scale is not a positive number, or it makes the picture empty or larger than 16,384 pixels per side.
    Scale(f32),
    /// The text is not an SVG, with the parser's reason.
    Svg(String),
    /// The encoder failed, with its reason.
    Encode(String),
}

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale(scale) => {
                write!(f, "scale {scale} does not give a picture of 1 to {LARGEST_SIDE} pixels per side")
            }
            Self::Svg(reason) => write!(f, "not an SVG: {reason}"),
            Self::Encode(reason) => write!(f, "the PNG encoder failed: {reason}"),
        }
    }
}

impl std::error::Error for PngError {}

/// The most pixels per side: a picture then takes at most one gibibyte.
const LARGEST_SIDE: u32 = 16_384;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(EMBEDDED.to_vec());
    Arc::new(fonts)
});

/// A PNG of an SVG made by this crate, with `scale` pixels per unit.
///
/// A comparison of algorithms is 760 units wide: scale 1 suits a screen, 3 a slide, 4 prints at 400 dots per inch across a page.
///
/// # Errors
///
/// [`PngError::Scale`] when the picture would have no pixels or too many, [`PngError::Svg`] when the text is not an SVG.
///
/// ```
/// use cutline_figure::{FailureFigure, PngError, png};
///
/// let svg = FailureFigure { title: "Empty".into(), curves: Vec::new(), note: None }.to_svg();
/// assert!(png(&svg, 1.0)?.len() > 1000);
/// assert_eq!(png(&svg, 0.0), Err(PngError::Scale(0.0)));
/// # Ok::<(), PngError>(())
/// ```
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let tree = tree(svg)?;
    let to_pixels = |length: f32| pixels(length * scale).ok_or(PngError::Scale(scale));
    let size = (to_pixels(tree.size().width())?, to_pixels(tree.size().height())?);
    let mut pixmap = Pixmap::new(size.0, size.1).ok_or(PngError::Scale(scale))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| PngError::Encode(e.to_string()))
}

/// An SVG as a tree of shapes, with text in the embedded font.
pub(crate) fn tree(svg: &str) -> Result<Tree, PngError> {
    let options = Options { fontdb: Arc::clone(&FONTS), font_family: "Noto Sans".into(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|e| PngError::Svg(e.to_string()))
}

/// A length rounded up to whole pixels, if it is in range.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked first, and NaN fails the check"
)]
fn pixels(length: f32) -> Option<u32> {
    let whole = length.ceil();
    (whole >= 1.0 && f64::from(whole) <= f64::from(LARGEST_SIDE)).then_some(whole as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='30' height='20' font-family='Helvetica, \
        &apos;Noto Sans&apos;'><text x='2' y='15' font-size='14'>mmm</text></svg>";

    #[test]
    fn text_with_markup_and_forbidden_characters_survives_a_parser() {
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

    #[test]
    fn the_picture_has_the_scaled_size_and_the_embedded_font_draws_its_text() {
        let picture = Pixmap::decode_png(&png(SVG, 2.5).expect("a picture")).expect("a PNG");
        assert_eq!((picture.width(), picture.height()), (75, 50));
        assert!(picture.pixels().iter().filter(|p| p.alpha() > 0).count() > 200);
    }

    #[test]
    fn bad_scales_and_bad_text_are_errors() {
        for scale in [0.0, -1.0, f32::INFINITY, 1e6] {
            assert_eq!(png(SVG, scale), Err(PngError::Scale(scale)));
        }
        assert!(matches!(png(SVG, f32::NAN), Err(PngError::Scale(s)) if s.is_nan()));
        let error = png("not an svg", 1.0).expect_err("no picture");
        assert!(matches!(error, PngError::Svg(_)) && error.to_string().starts_with("not an SVG"));
    }
}
