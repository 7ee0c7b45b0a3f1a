//! How wide a text is, and how to make it fit.
//!
//! Measured with the font that [`crate::png()`] draws with, plus a reserve for the widest font of [`FAMILY`].

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// The fonts asked for, best first; the embedded one stands in the list so that a PNG needs no system font.
pub(crate) const FAMILY: &str = "Helvetica, Arial, 'Noto Sans', 'DejaVu Sans', sans-serif";

/// The font inside the binary, free under the Apache licence.
pub(crate) const EMBEDDED: &[u8] = ttf_noto_sans::REGULAR;

/// `DejaVu` Sans, the widest of the family list, is about a tenth wider than the font we measure with.
const RESERVE: f64 = 1.1;

/// A character the font lacks is most likely a full-width one.
const UNKNOWN_EM: f64 = 1.0;

/// The width of a text at a font size, never too small for the fonts of [`FAMILY`].
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let Ok(font) = FontRef::new(EMBEDDED) else {
        return text.chars().map(|_| UNKNOWN_EM * size).sum();
    };
    let glyphs = font.charmap();
    let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
    let em = |character| {
        let glyph = glyphs.map(character)?;
        metrics.advance_width(glyph).map(f64::from)
    };
    let ems: f64 = text.chars().map(|c| em(c).unwrap_or(UNKNOWN_EM)).sum();
    ems * size * RESERVE
}

/// The text itself if it fits, otherwise its beginning and an ellipsis.
pub(crate) fn fit(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = width("…", size);
    for character in text.chars() {
        used += width(character.encode_utf8(&mut [0; 4]), size);
        if used > room {
            break;
        }
        kept.push(character);
    }
    format!("{}…", kept.trim_end())
}

/// The text itself if it fits, otherwise its beginning and its end around an ellipsis: names often differ in their ends.
pub(crate) fn fit_ends(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let half = (room - width("…", size)) / 2.0;
    let (mut left, mut right) = (0.0, 0.0);
    let fits = |used: &mut f64, character: char| {
        *used += width(character.encode_utf8(&mut [0; 4]), size);
        *used <= half
    };
    let start: String = text.chars().take_while(|c| fits(&mut left, *c)).collect();
    let end: Vec<char> = text.chars().rev().take_while(|c| fits(&mut right, *c)).collect();
    let end: String = end.into_iter().rev().collect();
    format!("{}…{}", start.trim_end(), end.trim_start())
}

/// Breaks a text at spaces into at most `lines` lines; what does not fit ends in an ellipsis.
pub(crate) fn wrap(text: &str, size: f64, room: f64, lines: usize) -> Vec<String> {
    let mut done: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        let last = done.len() + 1 >= lines;
        if line.is_empty() || last || width(&longer, size) <= room {
            line = longer;
        } else {
            done.push(std::mem::replace(&mut line, word.to_owned()));
        }
    }
    if !line.is_empty() {
        done.push(line);
    }
    done.iter().map(|line| fit(line, size, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_are_wider_than_narrow_ones() {
        assert!(width("mmm", 10.0) > 2.0 * width("iii", 10.0));
        assert!((width("ab", 20.0) - 2.0 * width("ab", 10.0)).abs() < 1e-9);
    }

    #[test]
    fn a_long_text_is_cut_to_its_room() {
        let long = "linear".repeat(50);
        let cut = fit(&long, 11.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 11.0) <= 100.0 && width(&cut, 11.0) > 85.0);
        assert_eq!(fit("short", 11.0, 100.0), "short");
    }

    #[test]
    fn a_long_name_keeps_both_ends() {
        let cut = |k: u32| fit_ends(&format!("a long name of an arm, number {k}"), 11.0, 140.0);
        assert!(cut(7).starts_with("a long") && cut(7).ends_with("number 7") && cut(7) != cut(8));
        assert!(width(&cut(7), 11.0) <= 140.0 && width(&cut(7), 11.0) > 110.0);
        assert_eq!(fit_ends("short", 11.0, 100.0), "short");
    }

    #[test]
    fn wrapped_lines_fit_and_lose_nothing_while_there_is_room() {
        let text = "each rate is the share of 10,000 runs that ended with a wrong verdict";
        let lines = wrap(text, 10.0, 150.0, 9);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 10.0) <= 150.0));
        assert_eq!(lines.join(" "), text);
        let cut = wrap(text, 10.0, 150.0, 2);
        assert!(cut.len() == 2 && cut[1].ends_with('…') && width(&cut[1], 10.0) <= 150.0);
        assert!(wrap("  ", 10.0, 150.0, 2).is_empty());
    }
}
