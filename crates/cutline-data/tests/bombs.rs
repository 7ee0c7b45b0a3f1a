//! Small files that are large once they are read: refused before they fill the memory. The limit is one of the process, so this is a
//! program of its own with one test.

use cutline_data::dataset::{ReadOptions, Source, load};
use cutline_data::input::{DEFAULT_MAX_SIZE, set_max_size};
use parquet::data_type::DoubleType;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::Write;
use std::sync::Arc;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An Excel file whose only sheet has these rows of XML.
fn excel(rows: &str) -> Vec<u8> {
    let namespace = "http://schemas.openxmlformats.org";
    let kinds = format!(
        "<Types xmlns=\"{namespace}/package/2006/content-types\"><Default Extension=\"xml\" ContentType=\"application/xml\"/></Types>"
    );
    let relation = |kind: &str, target: &str| {
        format!(
            "<Relationships xmlns=\"{namespace}/package/2006/relationships\"><Relationship Id=\"r1\" \
             Type=\"{namespace}/officeDocument/2006/relationships/{kind}\" Target=\"{target}\"/></Relationships>"
        )
    };
    let main = format!("xmlns=\"{namespace}/spreadsheetml/2006/main\"");
    let book = format!(
        "<workbook {main} xmlns:r=\"{namespace}/officeDocument/2006/relationships\"><sheets>\
         <sheet name=\"s\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
    );
    let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in [
        ("[Content_Types].xml", kinds),
        ("_rels/.rels", relation("officeDocument", "xl/workbook.xml")),
        ("xl/_rels/workbook.xml.rels", relation("worksheet", "worksheets/sheet1.xml")),
        ("xl/workbook.xml", book),
        ("xl/worksheets/sheet1.xml", format!("<worksheet {main}><sheetData>{rows}</sheetData></worksheet>")),
    ] {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A cell of text or of a number.
fn cell(at: &str, value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) => format!("<c r=\"{at}\"><v>{number}</v></c>"),
        Err(_) => format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{value}</t></is></c>"),
    }
}

/// A Parquet file with one value, this many times.
fn parquet(n_rows: usize) -> Vec<u8> {
    let schema = Arc::new(parse_message_type("message t { required double x; }").unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::default())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(&vec![1.0; n_rows], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn bombs_are_refused() {
    let read = |bytes: Vec<u8>| {
        assert!(bytes.len() < 60_000, "a small file of {} bytes", bytes.len());
        let loaded = load(&Source::Bytes(bytes.into()), &ReadOptions::default());
        loaded.map(|loaded| loaded.candidates.n_arms()).map_err(|error| error.to_string())
    };
    let header = format!("<row r=\"1\">{}</row>", cell("A1", "x"));
    let second = format!("<row r=\"2\">{}</row>", cell("A2", "1"));
    assert_eq!(read(excel(&format!("{header}{second}"))), Ok(1));
    // Two cells in opposite corners of the largest sheet, which has 17,179,869,184 cells.
    let corner = format!("<row r=\"1048576\">{}</row>", cell("XFD1048576", "1"));
    assert_eq!(
        read(excel(&format!("{header}{corner}"))),
        Err("the Excel file cannot be read: its 2 cells lie 1048576 rows and 16384 columns apart".into())
    );
    // A megabyte of blanks that is a kilobyte in the archive.
    let blanks = " ".repeat(1 << 20);
    assert_eq!(read(excel(&format!("{header}{blanks}{second}"))), Ok(1));
    assert_eq!(read(parquet(100_000)), Ok(100_000));
    set_max_size(200 << 10);
    let refused = Err(String::from("it is larger than 200 KiB once decompressed"));
    assert_eq!(read(excel(&format!("{header}{blanks}{second}"))), refused);
    assert_eq!(read(parquet(100_000)), refused);
    set_max_size(DEFAULT_MAX_SIZE);
}
