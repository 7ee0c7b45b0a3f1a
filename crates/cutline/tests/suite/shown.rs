//! Names as people see them.

use cutline::{shown, with_short_names};

#[test]
fn hidden_characters_are_escaped() {
    for hidden in
        ['\u{200b}', '\u{200d}', '\u{200e}', '\u{202e}', '\u{2066}', '\u{2028}', '\u{2029}', '\u{feff}', '\u{ad}']
    {
        assert_eq!(shown(&format!("a{hidden}b")), format!("a\\u{{{:x}}}b", u32::from(hidden)));
    }
    for plain in ["", "a b\tc\n", "żółw ‘h’ – 漢字 😀 עברית"] {
        assert_eq!(shown(plain), plain);
    }
}

#[test]
fn long_names_are_cut_and_the_rest_is_kept() {
    let (long, cut) = ("é".repeat(100), format!("{}…", "é".repeat(80)));
    let message = |name: &str| format!("rows 2 and 3 are `{name}` and \"{name}\", `b`; {}", "use others ".repeat(20));
    assert_eq!(with_short_names(&message(&long)), message(&cut));
    assert_eq!(with_short_names(&message("x")), message("x"));
    let open = format!("a quote ` is opened {}", "x".repeat(100));
    assert_eq!(with_short_names(&open), open);
}
