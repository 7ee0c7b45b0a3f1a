//! Sentences on a page.

/// A sentence as HTML: escaped, with `words between backticks` as code. A single backtick stays as it is.
#[must_use]
pub fn with_code(sentence: &str) -> String {
    let mut html = String::new();
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, after)) = after.split_once('`') else { break };
        html.extend([&escaped(before), "<code>", &escaped(code), "</code>"]);
        rest = after;
    }
    html + &escaped(rest)
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&#38;").replace('<', "&#60;").replace('>', "&#62;");
    text.replace('"', "&#34;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_between_backticks_are_code_and_markup_is_escaped() {
        let expected = "<code>a</code> &#38; <code>&#60;b&#62;</code>, &#34;c&#34;.";
        assert_eq!(with_code("`a` & `<b>`, \"c\"."), expected);
        assert_eq!(with_code("one ` alone, it's"), "one ` alone, it&#39;s");
        assert_eq!(with_code(""), "");
    }
}
