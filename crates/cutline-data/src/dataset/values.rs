//! The values of one Parquet column, of any stored type, as `f64` or text.

use super::table::Cells;
use half::f16;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

/// What a stored value means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ColumnKind {
    /// A number as it is stored.
    Plain,
    /// A whole number without a sign.
    Unsigned,
    /// A floating-point number of two bytes.
    Half,
    /// A whole number of 10⁻ⁿ.
    Decimal(i32),
    /// A name.
    Text,
    /// True or false.
    Flag,
    /// A whole number that serves as a name.
    Label {
        /// Whether it has a sign.
        is_signed: bool,
    },
}

impl ColumnKind {
    /// How a column of features is stored; as an error, the type that it has instead.
    pub(super) fn of_numbers(column: &ColumnDescriptor) -> std::result::Result<Self, String> {
        use ConvertedType as C;
        if is_nested(column) {
            return Err(described(column));
        }
        let is_unsigned = matches!(column.converted_type(), C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64);
        match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
            (Type::FLOAT | Type::DOUBLE, ..) => Ok(Self::Plain),
            (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16), _) if column.type_length() == 2 => Ok(Self::Half),
            (Type::INT32 | Type::INT64, Some(LogicalType::Integer(integer)), _) => {
                Ok(if integer.is_signed { Self::Plain } else { Self::Unsigned })
            }
            (Type::BOOLEAN | Type::INT96, ..) => Err(described(column)),
            (_, Some(LogicalType::Decimal(decimal)), _) => Ok(Self::Decimal(decimal.scale)),
            (_, None, C::DECIMAL) => Ok(Self::Decimal(column.type_scale())),
            (Type::INT32 | Type::INT64, None, C::NONE | C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64) => {
                Ok(Self::Plain)
            }
            (Type::INT32 | Type::INT64, None, _) if is_unsigned => Ok(Self::Unsigned),
            _ => Err(described(column)),
        }
    }

    /// How a column of names or of a category is stored, text, flags or whole numbers; as an error, the type that it has instead.
    pub(super) fn of_names(column: &ColumnDescriptor) -> std::result::Result<Self, String> {
        use ConvertedType as C;
        match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
            _ if is_nested(column) => Err(described(column)),
            (Type::BOOLEAN, ..) => Ok(Self::Flag),
            (Type::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum), _)
            | (Type::BYTE_ARRAY, None, C::NONE | C::UTF8 | C::ENUM) => Ok(Self::Text),
            (Type::INT32 | Type::INT64, ..) => match Self::of_numbers(column)? {
                Self::Plain => Ok(Self::Label { is_signed: true }),
                Self::Unsigned => Ok(Self::Label { is_signed: false }),
                _ => Err(described(column)),
            },
            _ => Err(described(column)),
        }
    }
}

/// Whether a column is part of a list or of a structure.
fn is_nested(column: &ColumnDescriptor) -> bool {
    column.max_rep_level() > 0 || column.path().parts().len() > 1
}

/// The type of a column in words.
fn described(column: &ColumnDescriptor) -> String {
    if column.max_rep_level() > 0 {
        return "list".into();
    }
    if is_nested(column) {
        return "struct".into();
    }
    match (column.logical_type_ref(), column.converted_type(), column.physical_type()) {
        (Some(LogicalType::String), ..) | (None, ConvertedType::UTF8, _) => "string".into(),
        (Some(LogicalType::Date), ..) | (None, ConvertedType::DATE, _) => "date".into(),
        (Some(LogicalType::Timestamp(_)), ..) | (None, _, Type::INT96) => "timestamp".into(),
        (Some(LogicalType::Time(_)), ..) => "time".into(),
        (Some(LogicalType::Decimal(_)), ..) | (None, ConvertedType::DECIMAL, _) => "decimal".into(),
        (Some(LogicalType::Unknown), ..) => "null".into(),
        (None, ConvertedType::NONE, physical) => match physical {
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => "binary".into(),
            _ => physical.to_string().to_lowercase(),
        },
        (None, converted, _) => converted.to_string().to_lowercase(),
        (Some(LogicalType::Integer(_)), _, physical) => physical.to_string().to_lowercase(),
        (Some(logical), ..) => format!("{logical:?}").to_lowercase(),
    }
}

/// Decodes a column, some rows at a time. The decoded values stay until the next call of [`Values::read`].
pub(super) struct Values {
    reader: ColumnReader,
    kind: ColumnKind,
    levels: Vec<i16>,
    numbers: Vec<f64>,
    names: Vec<String>,
    null: Option<usize>,
    not_text: Option<usize>,
}

impl Values {
    pub(super) fn new(reader: ColumnReader, kind: ColumnKind) -> Self {
        let (levels, numbers, names) = (Vec::new(), Vec::new(), Vec::new());
        Self { reader, kind, levels, numbers, names, null: None, not_text: None }
    }

    /// Decodes the next `n` rows.
    pub(super) fn read(&mut self, n: usize) -> Result<()> {
        use ColumnReader as R;
        let Self { reader, kind, levels, numbers, names, .. } = self;
        numbers.clear();
        names.clear();
        let kind = *kind;
        let mut not_text = None;
        match reader {
            R::DoubleColumnReader(reader) => decode(reader, n, levels, |value: f64| numbers.push(value)),
            R::FloatColumnReader(reader) => decode(reader, n, levels, |value: f32| numbers.push(value.into())),
            R::Int32ColumnReader(reader) => decode(reader, n, levels, |value: i32| {
                let is_unsigned = matches!(kind, ColumnKind::Unsigned | ColumnKind::Label { is_signed: false });
                let value = if is_unsigned { i64::from(value.cast_unsigned()) } else { value.into() };
                whole(value.into(), kind, numbers, names);
            }),
            R::Int64ColumnReader(reader) => decode(reader, n, levels, |value: i64| {
                let is_unsigned = matches!(kind, ColumnKind::Unsigned | ColumnKind::Label { is_signed: false });
                let value = if is_unsigned { i128::from(value.cast_unsigned()) } else { value.into() };
                whole(value, kind, numbers, names);
            }),
            R::ByteArrayColumnReader(reader) => decode(reader, n, levels, |value: ByteArray| match kind {
                ColumnKind::Text => {
                    let name = value.as_utf8();
                    if name.is_err() {
                        not_text.get_or_insert(names.len());
                    }
                    names.push(name.unwrap_or_default().trim().into());
                }
                _ => numbers.push(long(value.data(), kind)),
            }),
            R::FixedLenByteArrayColumnReader(reader) => {
                decode(reader, n, levels, |value| numbers.push(long(value.data(), kind)))
            }
            R::BoolColumnReader(reader) => decode(reader, n, levels, |value: bool| names.push(value.to_string())),
            R::Int96ColumnReader(_) => Ok(()),
        }?;
        self.null = self.levels.iter().position(|&level| level == 0);
        self.not_text = not_text;
        Ok(())
    }

    /// The numbers, if the column holds numbers.
    pub(super) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// The names, if the column holds names; the caller may take them.
    pub(super) fn names(&mut self) -> &mut Vec<String> {
        &mut self.names
    }

    /// Adds one cell per row to `cells`; a null is an empty cell.
    pub(super) fn cells(&mut self, cells: &mut Cells) {
        let is_text = matches!(self.kind, ColumnKind::Text | ColumnKind::Label { .. } | ColumnKind::Flag);
        let (mut numbers, mut texts) = (self.numbers.iter(), self.names.drain(..));
        let n_values = if is_text { texts.len() } else { numbers.len() };
        // Columns without nulls may have no levels.
        let n_rows = if self.levels.is_empty() { n_values } else { self.levels.len() };
        for row in 0..n_rows {
            match self.levels.get(row) {
                Some(0) => cells.push_text(String::new()),
                _ if is_text => cells.push_text(texts.next().unwrap_or_default()),
                _ => cells.push_number(numbers.next().copied().unwrap_or(f64::NAN)),
            }
        }
    }

    /// The first row without a value.
    pub(super) fn null(&self) -> Option<usize> {
        self.null
    }

    /// The first value that is a name and not UTF-8.
    pub(super) fn not_text(&self) -> Option<usize> {
        self.not_text
    }
}

/// Reads `n` rows and passes their values, without nulls, to `push`.
fn decode<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    n: usize,
    levels: &mut Vec<i16>,
    push: impl FnMut(T::T),
) -> Result<()> {
    let mut values = Vec::with_capacity(n);
    levels.clear();
    let (n_read, ..) = reader.read_records(n, Some(levels), None, &mut values)?;
    if n_read != n {
        return Err(ParquetError::EOF(format!("{n_read} rows of {n}")));
    }
    values.into_iter().for_each(push);
    Ok(())
}

/// A whole number of any kind, as a number or a name.
fn whole(value: i128, kind: ColumnKind, numbers: &mut Vec<f64>, names: &mut Vec<String>) {
    match kind {
        ColumnKind::Label { .. } => names.push(value.to_string()),
        ColumnKind::Decimal(scale) => numbers.push(decimal(value, scale)),
        _ => numbers.push(value as f64),
    }
}

/// A number that is stored as bytes.
fn long(bytes: &[u8], kind: ColumnKind) -> f64 {
    match (kind, bytes) {
        (ColumnKind::Half, &[low, high]) => f16::from_le_bytes([low, high]).to_f64(),
        (ColumnKind::Decimal(scale), [first, ..]) if bytes.len() <= 16 => {
            let sign = if first.cast_signed() < 0 { -1 } else { 0 };
            decimal(bytes.iter().fold(sign, |value: i128, &byte| value << 8 | i128::from(byte)), scale)
        }
        _ => f64::NAN,
    }
}

/// value·10⁻ˢᶜᵃˡᵉ, rounded once.
fn decimal(value: i128, scale: i32) -> f64 {
    if value.unsigned_abs() <= 1 << 53 && (0..=22).contains(&scale) {
        value as f64 / 10_f64.powi(scale)
    } else {
        format!("{value}e{}", -i64::from(scale)).parse().unwrap_or(f64::NAN)
    }
}
