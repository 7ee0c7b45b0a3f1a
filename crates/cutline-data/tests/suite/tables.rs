//! Tables as people have them: categories, missing values, separators, compressed and foreign files; and what is wrong with them.

use cutline_campaign::{ColumnValues, Encoding};
use cutline_data::dataset::{DatasetError, Loaded, Note, ReadOptions, Source, load, load_encoded, load_with_labels};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Six penguins: a category with repeated values, and missing values of three kinds.
const PENGUINS: &str = "name,species,mass,sex\nann,Adelie,3750,f\nbob,Gentoo,NA,m\ncid,Adelie,3800,\ndot,Gentoo,5000,f\n\
                        eve,Chinstrap,,f\nfay,Adelie,3450,m\n";

fn bytes(text: impl Into<Vec<u8>>) -> Source {
    Source::Bytes(text.into().into())
}

fn plain(text: &str) -> Result<Loaded, DatasetError> {
    load(&bytes(text), &ReadOptions::default())
}

fn refusal(text: &str, options: &ReadOptions) -> String {
    load(&bytes(text), options).expect_err("it must be refused").to_string()
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

fn filled() -> ReadOptions {
    ReadOptions { fills_missing: true, ..ReadOptions::default() }
}

#[test]
fn text_becomes_indicators_with_a_note() {
    let loaded = plain("name,species,mass\na,Adelie,1\nb,Gentoo,2\nc,Adelie,3\n").unwrap();
    assert_eq!(loaded.candidates.columns(), ["species=Adelie", "species=Gentoo", "mass"]);
    assert_eq!(loaded.candidates.features(), [1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 3.0]);
    assert_eq!(loaded.candidates.names(), ["a", "b", "c"]);
    let note = Note::Category { column: "species".into(), levels: strings(&["Adelie", "Gentoo"]) };
    assert_eq!(loaded.notes, [note]);
    assert_eq!(loaded.notes[0].to_string(), "column `species` is text: a category with the levels `Adelie`, `Gentoo`");
}

/// Numbers can be categories, too, and then nothing needs to be noted.
#[test]
fn chosen_categories() {
    let options = ReadOptions { categories: strings(&["plate"]), ..ReadOptions::default() };
    let loaded = load(&bytes("plate,x\n10,1\n9,2\n10,3\n"), &options).unwrap();
    assert_eq!(loaded.candidates.columns(), ["plate=10", "plate=9", "x"]);
    assert_eq!(loaded.candidates.row(1), [0.0, 1.0, 2.0]);
    assert_eq!(loaded.notes, []);
    let refused = |categories: &[&str], features: Option<&[&str]>| {
        let features = features.map(strings);
        refusal(
            "name,plate,x\na,1,1\n",
            &ReadOptions { categories: strings(categories), features, ..ReadOptions::default() },
        )
    };
    assert_eq!(refused(&["dish"], None), "there is no column `dish`; the columns are `plate`, `x`");
    assert_eq!(refused(&["name"], None), "the column `name` holds the names, and cannot be a feature");
    assert_eq!(refused(&["plate"], Some(&["x"])), "the category `plate` is not one of the chosen features");
    let clash = "c,c=a,x\na,1,1\nb,2,2\na,3,3\n";
    assert_eq!(refusal(clash, &ReadOptions::default()), "two features would be called `c=a`; rename a column");
}

#[test]
fn text_that_is_no_category_is_refused() {
    let message = "column `smiles` is text, with a different value in every row; the first is `CCO`";
    assert_eq!(refusal("smiles,x\nCCO,1\nCC,2\n", &ReadOptions::default()), message);
    let rows: Vec<String> = (0..120).map(|row| format!("t{},1", row % 60)).collect();
    let many = format!("text,x\n{}\n", rows.join("\n"));
    assert_eq!(
        refusal(&many, &ReadOptions::default()),
        "column `text` is text, with 60 different values; the first is `t0`"
    );
    let chosen = ReadOptions { categories: strings(&["text"]), ..ReadOptions::default() };
    assert_eq!(load(&bytes(many), &chosen).unwrap().candidates.columns().len(), 61);
    assert_eq!(refusal("a,b\n,1\nNA,2\n", &ReadOptions::default()), "column `a` has no values");
}

#[test]
fn missing_values_are_refused_with_their_places() {
    let message = refusal(PENGUINS, &ReadOptions::default());
    assert_eq!(
        message,
        "3 values are missing, in 3 rows and 2 columns: row 3, column `mass`, row 4, column `sex`, row 6, column `mass`"
    );
    assert_eq!(refusal("a,b\n1,2\n3,\n", &ReadOptions::default()), "row 3, column `b`: the value is missing");
    let rows: Vec<String> = (0..30).map(|row| if row % 3 == 0 { ",1".into() } else { format!("{row},1") }).collect();
    assert_eq!(
        refusal(&format!("a,b\n{}\n", rows.join("\n")), &ReadOptions::default()),
        "10 values are missing, in 10 rows and 1 column: row 2, column `a`, row 5, column `a`, row 8, column `a`, row 11, column `a`, \
         row 14, column `a`, …"
    );
}

#[test]
fn missing_values_become_the_mean_and_an_indicator() {
    let loaded = load(&bytes(PENGUINS), &filled()).unwrap();
    let columns = [
        "species=Adelie",
        "species=Chinstrap",
        "species=Gentoo",
        "mass",
        "mass missing",
        "sex=f",
        "sex=m",
        "sex missing",
    ];
    assert_eq!(loaded.candidates.columns(), columns);
    assert_eq!(loaded.candidates.row(1), [0.0, 0.0, 1.0, 4000.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(loaded.candidates.row(2), [1.0, 0.0, 0.0, 3800.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(loaded.encoding.unwrap().features(), columns);
    let notes: Vec<String> = loaded.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes[1..],
        [
            "2 missing values in column `mass` became its mean, 4000; `mass missing` marks where",
            "column `sex` is text: a category with the levels `f`, `m`",
            "1 missing value in column `sex` became a level of its own, `sex missing`"
        ]
    );
}

/// A later table has the columns of the first, in whatever order it is written.
#[test]
fn a_later_table_is_read_as_the_first_one() {
    let first = load(&bytes(PENGUINS), &filled()).unwrap();
    let encoding = first.encoding.unwrap();
    let later = "sex;extra;mass;species;name\nm;?;4100,5;Gentoo;gus\n;?;;Emperor;hal\n";
    let options = ReadOptions { decimal_comma: true, ..ReadOptions::default() };
    let loaded = load_encoded(&bytes(later), &encoding, &options).unwrap();
    assert_eq!(loaded.candidates.columns(), first.candidates.columns());
    assert_eq!(loaded.candidates.row(0), [0.0, 0.0, 1.0, 4100.5, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(loaded.candidates.row(1), [0.0, 0.0, 0.0, 4000.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!((loaded.candidates.names(), loaded.has_names), (&strings(&["gus", "hal"])[..], true));
    assert_eq!(
        loaded.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["1 row with a value of `species` that the campaign does not know, `Emperor`: no level is set"]
    );
    // The first table again gives the same candidates.
    let again = load_encoded(&bytes(PENGUINS), &encoding, &ReadOptions::default()).unwrap();
    assert_eq!((again.candidates, again.notes), (first.candidates, vec![]));
    let refused = |text: &str| load_encoded(&bytes(text), &encoding, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(
        refused("name,species,mass,sex\ngus,,4000,m\n"),
        "row 2, column `species`: the value is missing; the campaign began without missing values there"
    );
    assert_eq!(
        refused("name,species,mass\ngus,Gentoo,4000\n"),
        "there is no column `sex`; the columns are `species`, `mass`"
    );
    assert_eq!(
        refused("name,species,mass,sex\ngus,Gentoo,heavy,m\n"),
        "row 2, column `mass`: `heavy` is not a finite number"
    );
}

#[test]
fn plain_numbers_have_a_plain_encoding() {
    let loaded = plain("name,x,y\na,1,2\nb,3,4\n").unwrap();
    assert_eq!((loaded.encoding, loaded.notes, loaded.has_names), (None, vec![], true));
    let encoding = Encoding::numbers(loaded.candidates.columns());
    assert!(encoding.columns.iter().all(|column| column.values == ColumnValues::Number));
    let later = load_encoded(&bytes("y,x\n1,2\n"), &encoding, &ReadOptions::default()).unwrap();
    assert_eq!((later.candidates.row(0), later.has_names, later.encoding), (&[2.0, 1.0][..], false, None));
}

#[test]
fn a_column_of_names_can_be_chosen() {
    let text = "code,name,x\n007,any,1\n7,any,2\n";
    let options = ReadOptions { id: Some("code".into()), ..ReadOptions::default() };
    let loaded = load(&bytes(text), &options).unwrap();
    assert_eq!(
        (loaded.candidates.names(), loaded.candidates.columns()),
        (&strings(&["007", "7"])[..], &strings(&["x"])[..])
    );
    let encoding = loaded.encoding.expect("the column of names is remembered");
    let later = load_encoded(&bytes("x,code\n3,9\n"), &encoding, &ReadOptions::default()).unwrap();
    assert_eq!(later.candidates.names(), ["9"]);
    let missing = ReadOptions { id: Some("nr".into()), ..ReadOptions::default() };
    assert_eq!(refusal(text, &missing), "there is no column `nr`; the columns are `code`, `x`");
    // Names that repeat, beside a column that is called `id`.
    let error = load(&bytes("ID,name,x\n1,a,1\n2,a,2\n"), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "rows 2 and 3 have the same name, `a`; names must differ");
    assert!(matches!(error, DatasetError::NamesBesideId { column, .. } if column == "ID"));
    let feature = plain("id,x\n10,1\n20,2\n").unwrap();
    assert_eq!(feature.notes, [Note::IdIsFeature { column: "id".into() }]);
    let (loaded, labels) = load_with_labels(&bytes("name,x\na,1\na,2\n"), &ReadOptions::default()).unwrap();
    assert_eq!((loaded.candidates.names(), labels), (&strings(&["0", "1"])[..], strings(&["a", "a"])));
}

#[test]
fn a_first_column_that_counts_the_rows_is_left_out() {
    for (text, column) in [
        (",x,y\n0,5,6\n1,7,8\n", ""),
        ("\"\",x,y\n\"1\",5,6\n\"2\",7,8\n", ""),
        ("Unnamed: 0,x,y\n0,5,6\n1,7,8\n", "Unnamed: 0"),
    ] {
        let loaded = plain(text).unwrap();
        assert_eq!(
            (loaded.candidates.columns(), loaded.candidates.features()),
            (&strings(&["x", "y"])[..], &[5.0, 6.0, 7.0, 8.0][..])
        );
        assert_eq!(loaded.notes, [Note::RowNumbers { column: column.into() }]);
    }
    let with_text = plain(",c,x\n0,a,6\n1,b,8\n2,a,9\n").unwrap();
    assert_eq!(with_text.candidates.columns(), ["c=a", "c=b", "x"]);
    assert_eq!(with_text.notes[0], Note::RowNumbers { column: String::new() });
    let behind_names = plain("name,,x\na,0,6\nb,1,8\n").unwrap();
    assert_eq!(behind_names.candidates.columns(), ["x"]);
    assert_eq!(behind_names.notes[0].to_string(), "a column without a name counts the rows; it is left out");
    for kept in [",x\n0,5\n2,7\n", ",x\n0.5,5\n1.5,7\n", "k,x\n0,5\n1,7\n"] {
        let loaded = plain(kept).unwrap();
        assert_eq!((loaded.candidates.columns().len(), loaded.notes), (2, vec![]), "{kept}");
    }
}

#[test]
fn separators_and_decimal_marks() {
    let expected = plain("name,x,y\na,1.5,2\nb,-3e2,4\n").unwrap();
    for separator in [";", "\t"] {
        let text = "name,x,y\r\na,1.5,2\r\nb,-3e2,4\r\n".replace(',', separator);
        assert_eq!(plain(&text).unwrap(), expected, "{separator:?}");
    }
    let comma = ReadOptions { decimal_comma: true, ..ReadOptions::default() };
    for text in [
        "name;x;y\na;1,5;2\nb;-3e2;4,0\n",
        "name,x,y\na,\"1,5\",2\nb,-3e2,4\n",
        "name;\"x\";y\n\"a\";\"1,5\";2\nb;-3e2;4\n",
    ] {
        assert_eq!(load(&bytes(text), &comma).unwrap(), expected, "{text}");
    }
    // A separator inside quotes, and a header with both: the rows decide.
    assert_eq!(plain("\"a;b;c\",d\n1,2\n").unwrap().candidates.columns(), ["a;b;c", "d"]);
    assert_eq!(plain("a;b;c,d\n1,2\n").unwrap().candidates.columns(), ["a;b;c", "d"]);
    assert_eq!(plain("a;b,c\n1;2\n").unwrap().candidates.columns(), ["a", "b,c"]);
    assert_eq!(
        refusal("x;y\n1,5;2\n2,5;3\n", &ReadOptions::default()),
        "not finite numbers: `1,5` in row 2, column `x`, `2,5` in row 3, column `x`"
    );
    assert_eq!(refusal("x;y\n1.234,5;2\n", &comma), "row 2, column `x`: `1.234,5` is not a finite number");
    assert!(refusal("x|y\n1|2\n", &ReadOptions::default()).starts_with("the header is one field, `x|y`"));
}

#[test]
fn all_problems_are_reported() {
    let text = "name,x,y\na,1,2\nb,Adelie,3\nc,4\nd,,inf\na,5,6\n";
    assert_eq!(
        refusal(text, &ReadOptions::default()),
        "row 4 has 2 fields, but the header has 3; row 5, column `x`: the value is missing; not finite numbers: `Adelie` in row 3, column \
         `x`, `inf` in row 5, column `y`"
    );
    let mut rows: Vec<String> = (0..50).map(|row| format!("{row},x{row}")).collect();
    rows.push("1,1".into());
    let message = refusal(&format!("a,b\n{}\n", rows.join("\n")), &ReadOptions::default());
    assert_eq!(message.matches("column `b`").count(), 20);
    assert!(
        message.contains("`x19` in row 21, column `b`;") && message.ends_with("; and 30 more problems"),
        "{message}"
    );
    assert_eq!(
        refusal("name,x\na,1\na,2\n,3\na,4\n", &ReadOptions::default()),
        "row 4: the name is empty; names that are there twice: `a` in rows 2 and 3, `a` in rows 3 and 5"
    );
    let broken = "x,y\n1,a b\n2,3\n\"4,5\n";
    assert_eq!(
        refusal(broken, &ReadOptions::default()),
        "row 2, column `y`: `a b` is not a finite number; row 4: a quote is opened and never closed"
    );
}

#[test]
fn compressed_files_are_read() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(PENGUINS.as_bytes()).unwrap();
    let compressed = encoder.finish().unwrap();
    assert_eq!(load(&bytes(compressed.clone()), &filled()).unwrap(), load(&bytes(PENGUINS), &filled()).unwrap());
    let half = &compressed[..compressed.len() / 2];
    assert!(matches!(load(&bytes(half), &filled()), Err(DatasetError::Read(_))));
}

#[test]
fn excel_files_are_read() {
    // Made with openpyxl: the penguins from row 3 on, numbers as numbers, a date, and a second sheet.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/penguins.xlsx");
    let loaded = load(&Source::File(path.into()), &filled()).unwrap();
    let expected = load(&bytes(PENGUINS), &filled()).unwrap();
    let n = expected.candidates.columns().len();
    assert_eq!(loaded.candidates.columns()[..n], *expected.candidates.columns());
    assert_eq!(loaded.candidates.columns()[n..], ["date"]);
    for arm in 0..6 {
        assert_eq!(loaded.candidates.row(arm)[..n], *expected.candidates.row(arm));
    }
    assert_eq!(loaded.candidates.row(0)[n], 45_000.0, "15 March 2023");
    assert_eq!(loaded.notes[0], Note::Sheet { sheet: "birds".into(), n_sheets: 2 });
    let refused = load(&Source::File(path.into()), &ReadOptions::default()).unwrap_err().to_string();
    assert!(refused.starts_with("3 values are missing, in 3 rows and 2 columns: row 5, column `mass`"), "{refused}");
}

#[test]
fn other_files_are_named() {
    let zip = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0";
    let ods = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0mimetypeapplication/vnd.oasis.opendocument.spreadsheet";
    for (start, what) in [
        (&b"%PDF-1.7\n"[..], "a PDF file"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "an Excel file of the old kind (.xls)"),
        (b"\x89PNG\r\n", "a PNG image"),
        (b"\xff\xfea\0,\0", "text in UTF-16 instead of UTF-8"),
        (b"[{\"a\": 1}]", "JSON"),
        (b"<!doctype html><html>", "a web page (HTML)"),
        (zip, "a zip archive"),
        (ods, "an OpenDocument spreadsheet (.ods)"),
    ] {
        let message =
            format!("this is {what}, not a table; candidates are read from CSV, Excel (.xlsx) and Parquet files");
        assert_eq!(load(&bytes(start), &ReadOptions::default()).unwrap_err().to_string(), message);
    }
}

/// Files without numbers in the way of the fast reader are read as it reads them.
#[test]
fn both_readers_agree() {
    let text = "a,name,b\n 1 ,x,2.5e-3\n\n\"3\",\"y, z\",.5\n-0,w,7.\n";
    let fast = plain(text).unwrap();
    let other = load(&bytes(text), &filled()).unwrap();
    assert_eq!((&fast.candidates, fast.has_names), (&other.candidates, other.has_names));
    assert_eq!((fast.encoding, other.encoding), (None, None));
}
