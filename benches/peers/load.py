#!/usr/bin/env python3
"""Prints how many seconds polars and pandas take to load a CSV or Parquet file; `make bench WHAT=load` calls it."""
import sys
import time

import pandas
import polars

path = sys.argv[1]
kind = "parquet" if path.endswith(".parquet") else "csv"
for module in (polars, pandas):
    read = getattr(module, f"read_{kind}")
    start = time.perf_counter()
    frame = read(path)
    seconds = time.perf_counter() - start
    assert frame.shape[1] == 65, frame.shape
    del frame
    print(f"{module.__name__} {seconds}")
