//! A command line in words, as a POSIX shell splits it: blanks part words, quotes and backslashes keep them together. Nothing is
//! expanded.

use thiserror::Error;

/// Why a text has no words.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(super) enum WordsError {
    #[error("it has no words")]
    Empty,
    #[error("a quote {0} is not closed")]
    Unclosed(char),
    #[error("it ends in a backslash")]
    Backslash,
}

/// The words of a text, at least one.
pub(super) fn words(text: &str) -> Result<Vec<String>, WordsError> {
    let mut words = Vec::new();
    // A word may be empty, as `''` is, so that none is not the same as an empty one.
    let mut word: Option<String> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => single(&mut rest, word.get_or_insert_default())?,
            '"' => double(&mut rest, word.get_or_insert_default())?,
            '\\' => match rest.next().ok_or(WordsError::Backslash)? {
                '\n' => (),
                escaped => word.get_or_insert_default().push(escaped),
            },
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    if words.is_empty() { Err(WordsError::Empty) } else { Ok(words) }
}

/// Up to the closing quote, all as it is.
fn single(rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), WordsError> {
    for c in rest.by_ref() {
        match c {
            '\'' => return Ok(()),
            other => word.push(other),
        }
    }
    Err(WordsError::Unclosed('\''))
}

/// Up to the closing quote; a backslash is one unless it escapes what could mean something here.
fn double(rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), WordsError> {
    while let Some(c) = rest.next() {
        match c {
            '"' => return Ok(()),
            '\\' => match rest.next().ok_or(WordsError::Unclosed('"'))? {
                '\n' => (),
                escaped @ ('$' | '`' | '"' | '\\') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            other => word.push(other),
        }
    }
    Err(WordsError::Unclosed('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        for (text, expected) in [
            ("a", &["a"][..]),
            ("  a\tb \n c ", &["a", "b", "c"]),
            ("a '' \"\" b", &["a", "", "", "b"]),
            ("'a b' \"c d\"e'f g'", &["a b", "c def g"]),
            (r"a\ b \'c \\", &["a b", "'c", r"\"]),
            (r#"'a\b' "a\b" "\"\\\$\`""#, &[r"a\b", r"a\b", r#""\$`"#]),
            ("\"it's\" 'say \"x\"'", &["it's", "say \"x\""]),
            ("a\\\nb \"c\\\nd\"", &["ab", "cd"]),
            ("a#b $x `y` *|;&", &["a#b", "$x", "`y`", "*|;&"]),
            ("αβ '𝒳 y'", &["αβ", "𝒳 y"]),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
    }

    /// What `sh` itself makes of the same texts.
    #[test]
    fn a_shell_agrees() {
        for text in [
            "a  b\tc",
            "'a b'\"c\"\\ d",
            r#""\a\\\"\`\$" '\a' \a \' "#,
            "'' x \"\" ''y",
            r#"a\"b 'c"d' "e'f""#,
            "x\\\ny 'p\\\nq' \"r\\\ns\"",
        ] {
            let shell = std::process::Command::new("sh").args(["-c", &format!("printf '%s\\0' {text}")]).output();
            let shell = String::from_utf8(shell.unwrap().stdout).unwrap();
            assert_eq!(words(text).unwrap(), shell.split_terminator('\0').collect::<Vec<_>>(), "{text}");
        }
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        assert_eq!(words(" \t"), Err(WordsError::Empty));
        assert_eq!(words("a 'b"), Err(WordsError::Unclosed('\'')));
        assert_eq!(words("a \"b'"), Err(WordsError::Unclosed('"')));
        assert_eq!(words("a \"b\\"), Err(WordsError::Unclosed('"')));
        assert_eq!(words("a\\"), Err(WordsError::Backslash));
    }
}
