//! `cutline report STORE`

use crate::args::{self, Format};
use crate::clock::now;
use crate::failure::Failure;
use crate::output::write_file;
use crate::print::{self, json};
use crate::report::campaign::{self, Answer, View};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

pub(crate) fn report(args: &args::Report) -> Result<(), Failure> {
    if is_database(&args.out) {
        let path = args.out.display();
        return Err(Failure::Usage(format!("{path} is a store, and stays one; choose another place with `--out`")));
    }
    let mut view = View::new(&mut args.which.open()?)?;
    let answer = Answer::new(&mut view);
    let page = campaign::page(&view, &answer, now())?;
    let verb = if args.out.exists() { "replaced" } else { "wrote" };
    write_file(&args.out, |out| out.write_all(page.as_bytes()))?;
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Table => writeln!(out, "{}.", answer.sentence)?,
        Format::Json => json(&mut out, &answer)?,
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut out);
            writer.serialize(&answer).map_err(std::io::Error::from)?;
            writer.flush()?;
        }
    }
    out.flush()?;
    print::note(&format!("{verb} {}", args.out.display()));
    Ok(())
}

/// Whether there is a database at a path, as SQLite begins them. A page in its place would be the end of a campaign.
fn is_database(path: &Path) -> bool {
    const MAGIC: [u8; 16] = *b"SQLite format 3\0";
    let mut begins = [0; MAGIC.len()];
    path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut begins)).is_ok() && begins == MAGIC
}
