//! Graphs from CSV files: one row per edge.

use crate::dataset;
use crate::dataset::{Block, Blocks, DatasetError, Rows};
use crate::rewards::{Lookup, RewardsError};
use cutline::{CovarianceError, Edge, Graph};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;
use thiserror::Error;

/// The number of bytes read at once.
const BLOCK: usize = 1 << 20;

/// Why a file of edges was refused. Rows count from 1, the header being row 1.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EdgesError {
    /// The file is not valid CSV, or a weight is not a number.
    #[error(transparent)]
    Csv(#[from] DatasetError),
    /// The header does not have two or three columns.
    #[error("the header has {0} columns; two columns name the arms of an edge, and a third may give its weight")]
    Columns(usize),
    /// The first row is an edge.
    #[error("the first row must be a header, such as `from,to` or `from,to,weight`, and it is an edge")]
    NoHeader,
    /// There is no header.
    #[error(
        "there is no header; it must name two columns for the arms of an edge, and may name a third for its weight"
    )]
    Empty,
    /// An arm is given neither by a known name nor by a row number.
    #[error(transparent)]
    Arm(RewardsError),
    /// The edge was refused.
    #[error("row {row}: {error}")]
    Edge {
        /// The row of the file.
        row: u64,
        /// Why.
        error: CovarianceError,
    },
    /// The edges were refused together.
    #[error(transparent)]
    Graph(#[from] CovarianceError),
}

/// A graph from CSV with a header and two or three columns: the two arms of each edge and, if there is a third column, its weight, which is
/// 1 otherwise. An arm is given by one of `names`, which may be empty, or by its row number from 0, as in a file of rewards.
///
/// # Errors
/// If the file cannot be read, is ragged, lacks a header, or an edge names an unknown or ambiguous arm, leads from an arm to itself, is
/// listed twice or has a weight that is not a positive number.
pub fn graph(csv: impl Read, n_arms: usize, names: &[String]) -> Result<Graph, EdgesError> {
    let arms = Lookup::new(n_arms, names);
    let mut blocks = Blocks::new(csv, BLOCK)?;
    let mut header: Option<Vec<String>> = None;
    let mut edges: Vec<Edge> = Vec::new();
    let mut rows_of: HashMap<(usize, usize), u64> = HashMap::new();
    while let Some(block) = blocks.next() {
        let Block { text, line } = block?;
        let (mut rows, mut fields) = (Rows::new(&text, line), Vec::new());
        while let Some(row) = rows.next(&mut fields) {
            let Some(header) = &header else {
                let found = dataset::header(&fields, row)?;
                check_header(&found, &arms)?;
                header = Some(found);
                continue;
            };
            let edge = edge(&fields, row, header, &arms)?;
            Graph::new(n_arms, &[edge]).map_err(|error| EdgesError::Edge { row, error })?;
            let (one, other, _) = edge;
            if rows_of.insert((one.min(other), one.max(other)), row).is_some() {
                return Err(EdgesError::Edge { row, error: CovarianceError::Twice { one, other } });
            }
            edges.push(edge);
        }
    }
    if header.is_none() {
        return Err(EdgesError::Empty);
    }
    Ok(Graph::new(n_arms, &edges)?)
}

fn check_header(header: &[String], arms: &Lookup<'_>) -> Result<(), EdgesError> {
    if !(2..=3).contains(&header.len()) {
        return Err(EdgesError::Columns(header.len()));
    }
    let is_edge = header[..2].iter().all(|field| arms.find(field, 1, field).is_ok());
    if is_edge { Err(EdgesError::NoHeader) } else { Ok(()) }
}

fn edge(fields: &[Cow<'_, [u8]>], row: u64, header: &[String], arms: &Lookup<'_>) -> Result<Edge, EdgesError> {
    let (expected, found) = (header.len(), fields.len());
    if expected != found {
        return Err(DatasetError::Ragged { row, expected, found }.into());
    }
    let field = |column: usize| dataset::text(&fields[column], row, &header[column]);
    let arm = |column: usize| arms.find(field(column)?, row, &header[column]).map_err(EdgesError::Arm);
    let weight = if expected == 3 { dataset::number(field(2)?, row, &header[2], false)? } else { 1.0 };
    Ok((arm(0)?, arm(1)?, weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(csv: &str) -> Result<Graph, EdgesError> {
        graph(csv.as_bytes(), 3, &["a".into(), "b".into(), "c".into()])
    }

    #[test]
    fn arms_are_names_or_numbers() {
        assert_eq!(read("from,to\na,b\n2,1\n").unwrap().edges(), [(0, 1, 1.0), (2, 1, 1.0)]);
        assert_eq!(read("x,y,weight\nb,c,0.5\n").unwrap().edges(), [(1, 2, 0.5)]);
        assert_eq!(read("from,to\n").unwrap().edges(), []);
        assert_eq!(graph("from,to\n0,2\n".as_bytes(), 3, &[]).unwrap().edges(), [(0, 2, 1.0)]);
    }

    #[test]
    fn bad_files_are_refused_with_the_row() {
        for (csv, expected) in [
            (
                "",
                "there is no header; it must name two columns for the arms of an edge, and may name a third for its weight",
            ),
            ("a,b\n", "the first row must be a header, such as `from,to` or `from,to,weight`, and it is an edge"),
            (
                "from\n",
                "the header has 1 columns; two columns name the arms of an edge, and a third may give its weight",
            ),
            (
                "from,to,weight,note\n",
                "the header has 4 columns; two columns name the arms of an edge, and a third may give its weight",
            ),
            ("from,to\na\n", "row 2 has 1 fields, but the header has 2"),
            (
                "from,to\na,x\n",
                "row 2, column `to`: there is no arm `x`; give one of the names in the features file, or a row number from 0 to 2",
            ),
            ("from,to\na,a\n", "row 2: an edge leads from node 0 to itself"),
            ("from,to\na,b\nc,a\nb,a\n", "row 4: the edge between nodes 1 and 0 is listed twice"),
            (
                "from,to,w\na,b,-1\n",
                "row 2: the edge between nodes 0 and 1 has the weight -1; it must be a number between 1e-12 and 1000000000000",
            ),
            ("from,to,w\na,b,x\n", "row 2, column `w`: `x` is not a finite number"),
        ] {
            assert_eq!(read(csv).unwrap_err().to_string(), expected);
        }
    }
}
