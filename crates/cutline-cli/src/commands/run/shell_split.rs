//! Splits a command line into words as a POSIX shell does: at blanks, except in quotes and after backslashes. Nothing is expanded.
//!
//! The crates `shell-words` and `shlex` do almost the same, but where a word begins with `#` they drop it and all words after it without an
//! error; `shell-words` also accepts a trailing backslash.

use thiserror::Error;

/// Why a command line cannot be split.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(super) enum SplitError {
    #[error("the command is empty")]
    Empty,
    #[error("a quote {0} is not closed")]
    Unclosed(char),
    #[error("it ends in a backslash")]
    Backslash,
}

/// The words of a command line, at least one.
pub(super) fn split(text: &str) -> Result<Vec<String>, SplitError> {
    let mut words = Vec::new();
    // `None` between words; a word may be empty, as `''` is.
    let mut word: Option<String> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => single(&mut rest, word.get_or_insert_default())?,
            '"' => double(&mut rest, word.get_or_insert_default())?,
            '\\' => match rest.next().ok_or(SplitError::Backslash)? {
                '\n' => (),
                escaped => word.get_or_insert_default().push(escaped),
            },
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    if words.is_empty() { Err(SplitError::Empty) } else { Ok(words) }
}

/// Reads up to the closing quote, without escapes.
fn single(rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), SplitError> {
    for c in rest.by_ref() {
        match c {
            '\'' => return Ok(()),
            other => word.push(other),
        }
    }
    Err(SplitError::Unclosed('\''))
}

/// Reads up to the closing quote; a backslash escapes only the characters that are special between double quotes.
fn double(rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), SplitError> {
    while let Some(c) = rest.next() {
        match c {
            '"' => return Ok(()),
            '\\' => match rest.next().ok_or(SplitError::Unclosed('"'))? {
                '\n' => (),
                escaped @ ('$' | '`' | '"' | '\\') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            other => word.push(other),
        }
    }
    Err(SplitError::Unclosed('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_by_a_shell() {
        for (text, expected) in [
            ("a", &["a"][..]),
            ("  a\tb \n c ", &["a", "b", "c"]),
            ("a '' \"\" b", &["a", "", "", "b"]),
            ("'a b' \"c d\"e'f g'", &["a b", "c def g"]),
            (r"a\ b \'c \\", &["a b", "'c", r"\"]),
            (r#"'a\b' "a\b" "\"\\\$\`""#, &[r"a\b", r"a\b", r#""\$`"#]),
            ("\"it's\" 'say \"x\"'", &["it's", "say \"x\""]),
            ("a\\\nb \"c\\\nd\"", &["ab", "cd"]),
            ("a#b #c $x `y` *|;&", &["a#b", "#c", "$x", "`y`", "*|;&"]),
            ("αβ '𝒳 y'", &["αβ", "𝒳 y"]),
        ] {
            assert_eq!(split(text).unwrap(), expected, "{text}");
        }
    }

    /// Compares with `sh` itself.
    #[test]
    fn a_shell_splits_the_same_way() {
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
            assert_eq!(split(text).unwrap(), shell.split_terminator('\0').collect::<Vec<_>>(), "{text}");
        }
    }

    #[test]
    fn unfinished_command_lines_are_refused() {
        assert_eq!(split(" \t"), Err(SplitError::Empty));
        assert_eq!(split("a 'b"), Err(SplitError::Unclosed('\'')));
        assert_eq!(split("a \"b'"), Err(SplitError::Unclosed('"')));
        assert_eq!(split("a \"b\\"), Err(SplitError::Unclosed('"')));
        assert_eq!(split("a\\"), Err(SplitError::Backslash));
    }
}
