//! A drawing as PDF. Text is drawn as outlines, so it looks as in the PNG and needs no font.

use crate::svg::{PngError, tree};
use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref};
use resvg::tiny_skia::{PathSegment, Transform};
use resvg::usvg::{Fill, FillRule, Group, LineCap, LineJoin, Node, Paint, Path, Stroke};

/// The length of an SVG's unit, 1/96 inch, in that of PDF, 1/72 inch.
const POINTS_PER_UNIT: f32 = 0.75;

/// A PDF of an SVG made by this crate: one page of its size. The same SVG always gives the same bytes.
///
/// # Errors
///
/// [`PngError::Svg`] when the text is not an SVG.
///
/// ```
/// use cutline_figure::{FailureFigure, PngError, pdf};
///
/// let svg = FailureFigure { title: "Empty".into(), curves: Vec::new(), note: None }.to_svg();
/// assert!(pdf(&svg)?.starts_with(b"%PDF-"));
/// assert!(pdf("not an svg").is_err());
/// # Ok::<(), PngError>(())
/// ```
pub fn pdf(svg: &str) -> Result<Vec<u8>, PngError> {
    let tree = tree(svg)?;
    let (width, height) = (tree.size().width() * POINTS_PER_UNIT, tree.size().height() * POINTS_PER_UNIT);
    let mut drawing = Drawing { content: Content::new(), opacities: Vec::new() };
    // The y axis of PDF points up.
    drawing.content.transform([POINTS_PER_UNIT, 0.0, 0.0, -POINTS_PER_UNIT, 0.0, height]);
    drawing.group(tree.root());

    let [catalog, pages, page, content] = [1, 2, 3, 4].map(Ref::new);
    let state = |position: usize| Ref::new(5 + i32::try_from(position).unwrap_or(i32::MAX - 5));
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut sheet = pdf.page(page);
    sheet.media_box(Rect::new(0.0, 0.0, width, height)).parent(pages).contents(content);
    let mut resources = sheet.resources();
    let mut states = resources.ext_g_states();
    for position in 0..drawing.opacities.len() {
        states.pair(Name(state_name(position).as_bytes()), state(position));
    }
    states.finish();
    resources.finish();
    sheet.finish();
    let compressed = miniz_oxide::deflate::compress_to_vec_zlib(&drawing.content.finish(), 6);
    pdf.stream(content, &compressed).filter(Filter::FlateDecode);
    for (position, &(fill, stroke)) in drawing.opacities.iter().enumerate() {
        pdf.ext_graphics(state(position)).non_stroking_alpha(fill).stroking_alpha(stroke);
    }
    Ok(pdf.finish())
}

fn state_name(position: usize) -> String {
    format!("G{position}")
}

/// The content of the page, and the pairs of opacities, of fills and strokes, that it uses.
struct Drawing {
    content: Content,
    opacities: Vec<(f32, f32)>,
}

impl Drawing {
    fn group(&mut self, group: &Group) {
        for node in group.children() {
            match node {
                Node::Group(group) => self.group(group),
                Node::Path(path) => self.path(path),
                Node::Text(text) => self.group(text.flattened()),
                // This crate draws no images.
                Node::Image(_) => (),
            }
        }
    }

    fn path(&mut self, path: &Path) {
        if !path.is_visible() || (path.fill().is_none() && path.stroke().is_none()) {
            return;
        }
        self.content.save_state();
        let Transform { sx, ky, kx, sy, tx, ty } = path.abs_transform();
        self.content.transform([sx, ky, kx, sy, tx, ty]);
        let opacity = |opacity: Option<f32>| opacity.unwrap_or(1.0);
        let opacities =
            (opacity(path.fill().map(|f| f.opacity().get())), opacity(path.stroke().map(|s| s.opacity().get())));
        self.opacity(opacities);
        if let Some(fill) = path.fill() {
            let [r, g, b] = colour(fill.paint());
            self.content.set_fill_rgb(r, g, b);
        }
        if let Some(stroke) = path.stroke() {
            self.stroke(stroke);
        }
        self.outline(path);
        self.paint(path.fill(), path.stroke().is_some());
        self.content.restore_state();
    }

    fn opacity(&mut self, opacities: (f32, f32)) {
        if opacities == (1.0, 1.0) {
            return;
        }
        let known = self.opacities.iter().position(|&known| known == opacities);
        let position = known.unwrap_or_else(|| {
            self.opacities.push(opacities);
            self.opacities.len() - 1
        });
        self.content.set_parameters(Name(state_name(position).as_bytes()));
    }

    fn stroke(&mut self, stroke: &Stroke) {
        let [r, g, b] = colour(stroke.paint());
        self.content.set_stroke_rgb(r, g, b).set_line_width(stroke.width().get());
        self.content.set_line_cap(match stroke.linecap() {
            LineCap::Butt => LineCapStyle::ButtCap,
            LineCap::Round => LineCapStyle::RoundCap,
            LineCap::Square => LineCapStyle::ProjectingSquareCap,
        });
        self.content.set_line_join(match stroke.linejoin() {
            LineJoin::Round => LineJoinStyle::RoundJoin,
            LineJoin::Bevel => LineJoinStyle::BevelJoin,
            _ => LineJoinStyle::MiterJoin,
        });
        if let Some(dashes) = stroke.dasharray() {
            self.content.set_dash_pattern(dashes.iter().copied(), stroke.dashoffset());
        }
    }

    fn outline(&mut self, path: &Path) {
        let mut last = (0.0, 0.0);
        for segment in path.data().segments() {
            match segment {
                PathSegment::MoveTo(p) => {
                    self.content.move_to(p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::LineTo(p) => {
                    self.content.line_to(p.x, p.y);
                    last = (p.x, p.y);
                }
                // PDF has cubic curves alone.
                PathSegment::QuadTo(q, p) => {
                    let towards = |from: f32, control: f32| (control - from).mul_add(2.0 / 3.0, from);
                    self.content.cubic_to(
                        towards(last.0, q.x),
                        towards(last.1, q.y),
                        towards(p.x, q.x),
                        towards(p.y, q.y),
                        p.x,
                        p.y,
                    );
                    last = (p.x, p.y);
                }
                PathSegment::CubicTo(a, b, p) => {
                    self.content.cubic_to(a.x, a.y, b.x, b.y, p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::Close => {
                    self.content.close_path();
                }
            }
        }
    }

    fn paint(&mut self, fill: Option<&Fill>, is_stroked: bool) {
        match (fill.map(Fill::rule), is_stroked) {
            (Some(FillRule::NonZero), true) => self.content.fill_nonzero_and_stroke(),
            (Some(FillRule::EvenOdd), true) => self.content.fill_even_odd_and_stroke(),
            (Some(FillRule::NonZero), false) => self.content.fill_nonzero(),
            (Some(FillRule::EvenOdd), false) => self.content.fill_even_odd(),
            (None, true) => self.content.stroke(),
            (None, false) => self.content.end_path(),
        };
    }
}

/// The parts of a colour, from 0 to 1. This crate draws with plain colours alone; anything else becomes black.
fn colour(paint: &Paint) -> [f32; 3] {
    match paint {
        Paint::Color(colour) => [colour.red, colour.green, colour.blue].map(|part| f32::from(part) / 255.0),
        _ => [0.0; 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The content of the page: what is between `stream` and `endstream`, decompressed.
    fn content(svg: &str) -> String {
        let bytes = pdf(svg).expect("a PDF");
        let find = |word: &[u8]| bytes.windows(word.len()).position(|at| at == word).expect("a stream");
        let compressed = &bytes[find(b"stream\n") + 7..find(b"\nendstream")];
        String::from_utf8(miniz_oxide::inflate::decompress_to_vec_zlib(compressed).expect("zlib")).expect("text")
    }

    #[test]
    fn shapes_keep_their_colours_opacities_and_dashes() {
        let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'>\
            <path d='M0 0H4V2Z' fill='#ff0000' fill-opacity='0.5'/>\
            <path d='M1 1L9 5' fill='none' stroke='#00f' stroke-width='2' stroke-dasharray='3 1' transform='translate(5 6)'/></svg>";
        let content = content(svg);
        let lines: Vec<&str> = content.lines().collect();
        let expected = [
            "0.75 0 0 -0.75 0 15 cm",
            "q",
            "1 0 0 1 0 0 cm",
            "/G0 gs",
            "1 0 0 rg",
            "0 0 m",
            "4 0 l",
            "4 2 l",
            "h",
            "f",
            "Q",
            "q",
            "1 0 0 1 5 6 cm",
            "0 0 1 RG",
            "2 w",
            "0 J",
            "0 j",
            "[3 1] 0 d",
            "1 1 m",
            "9 5 l",
            "S",
            "Q",
        ];
        assert_eq!(lines, expected);
        let document = pdf(svg).expect("a PDF");
        let has = |text: &str| String::from_utf8_lossy(&document).contains(text);
        assert!(has("/MediaBox [0 0 30 15]") && has("/ca 0.5") && has("/CA 1"));
    }

    #[test]
    fn text_becomes_outlines() {
        let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='30' height='20' font-family='Noto Sans'><text x='2' y='15'>m</text></svg>";
        let content = content(svg);
        assert!(content.lines().filter(|line| line.ends_with(" c") || line.ends_with(" l")).count() > 10, "{content}");
        assert_eq!(pdf(svg), pdf(svg), "the same bytes every time");
    }

    /// A parabola as a cubic: from (0, 0) by (3, 6) to (6, 0) the controls are (2, 4) and (4, 4).
    #[test]
    fn quadratic_curves_become_cubic() {
        let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><path d='M0 0Q3 6 6 0'/></svg>";
        assert!(content(svg).contains("2 4 4 4 6 0 c"), "{}", content(svg));
    }
}
