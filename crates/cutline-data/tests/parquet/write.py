"""Writes the Parquet files beside it, with pandas, polars, DuckDB and pyarrow: `python write.py`."""
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
columns = {
    "name": ["ant", "bee", "żółw", "ant-4", "🐢"],
    "f64": [0.1, -2.5, 1e300, -0.0, 5e-324],
    "f32": np.array([0.1, -2.5, 3.0, 4.0, 1e-40], dtype="float32"),
    "i8": np.array([-128, 0, 1, 2, 127], dtype="int8"),
    "i16": np.array([-(2**15), 0, 1, 2, 2**15 - 1], dtype="int16"),
    "i32": np.array([-(2**31), 0, 1, 2, 2**31 - 1], dtype="int32"),
    "i64": np.array([-(2**63), 0, 1, 2, 2**53], dtype="int64"),
    "u8": np.array([0, 1, 2, 3, 2**8 - 1], dtype="uint8"),
    "u16": np.array([0, 1, 2, 3, 2**16 - 1], dtype="uint16"),
    "u32": np.array([0, 1, 2, 3, 2**32 - 1], dtype="uint32"),
    "u64": np.array([0, 1, 2, 3, 2**64 - 1], dtype="uint64"),
}
frame = pd.DataFrame(columns)
frame.to_parquet(HERE / "pandas.parquet", row_group_size=2)
pl.DataFrame(columns).write_parquet(HERE / "polars.parquet", row_group_size=3)
duckdb.sql(f"copy (select * from frame) to '{HERE / 'duckdb.parquet'}' (format parquet)")

half = np.array([0.5, -2, 6e-8, 65504, 0], dtype="float16")
small = [Decimal(text) for text in ("0.01", "-1.23", "99.99", "0.00", "-99.99")]
large = [Decimal(text) for text in ("0.1", "-1234567890123456789012.3", "99.9", "0.0", "9007199254740993.0")]
table = pa.table(
    {
        "name": pa.array(columns["name"]).dictionary_encode(),
        "f64": pa.array(columns["f64"]),
        "f16": pa.array(half),
        "small": pa.array(small, type=pa.decimal128(4, 2)),
        "large": pa.array(large, type=pa.decimal128(30, 1)),
        "date": pa.array(range(5), type=pa.date32()),
        "flag": pa.array([True] * 5),
        "list": pa.array([[1.0]] * 5),
        "struct": pa.array([{"a": 1.0}] * 5),
        "when": pa.array([0] * 5, type=pa.timestamp("us")),
        "time": pa.array([0] * 5, type=pa.time64("us")),
        "text": pa.array(["x"] * 5),
        "blob": pa.array([b"x"] * 5),
        "nothing": pa.nulls(5),
    }
)
pq.write_table(table, HERE / "pyarrow.parquet", compression="gzip", row_group_size=2)
