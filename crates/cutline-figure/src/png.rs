//! Pixels from a drawing, with the font inside the binary: no system font is needed or looked for.

use std::fmt;
use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::text::EMBEDDED;

/// Why there is no PNG.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PngError {
    /// The scale is not a positive number, or it makes the picture empty or larger than 16,384 pixels a side.
    Scale(f32),
    /// The text is not an SVG; the reason is the parser's.
    Svg(String),
    /// The encoder refused; the reason is its own.
    Encode(String),
}

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale(scale) => write!(f, "scale {scale} gives no picture of 1 to {LARGEST} pixels a side"),
            Self::Svg(reason) => write!(f, "not an SVG: {reason}"),
            Self::Encode(reason) => write!(f, "the PNG encoder failed: {reason}"),
        }
    }
}

impl std::error::Error for PngError {}

/// A gibibyte of pixels is the most that one figure may take.
const LARGEST: u32 = 16_384;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(EMBEDDED.to_vec());
    Arc::new(fonts)
});

/// A PNG of an SVG made by this crate, `scale` pixels a unit.
///
/// A figure is 760 units wide: scale 1 suits a screen, 3 a slide, 4 prints at 400 dots an inch across a page.
///
/// # Errors
///
/// [`PngError::Scale`] when the picture would have no pixels or too many, [`PngError::Svg`] when the text is no SVG.
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
    let options = Options { fontdb: Arc::clone(&FONTS), font_family: "Noto Sans".into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|e| PngError::Svg(e.to_string()))?;
    let to_pixels = |length: f32| pixels(length * scale).ok_or(PngError::Scale(scale));
    let size = (to_pixels(tree.size().width())?, to_pixels(tree.size().height())?);
    let mut pixmap = Pixmap::new(size.0, size.1).ok_or(PngError::Scale(scale))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| PngError::Encode(e.to_string()))
}

/// The whole number of pixels that holds a length, if it is a sensible one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked first, and NaN fails the check"
)]
fn pixels(length: f32) -> Option<u32> {
    let whole = length.ceil();
    (whole >= 1.0 && f64::from(whole) <= f64::from(LARGEST)).then_some(whole as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='30' height='20' font-family='Helvetica, \
        &apos;Noto Sans&apos;'><text x='2' y='15' font-size='14'>mmm</text></svg>";

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
