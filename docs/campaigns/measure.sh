#!/bin/sh
# Measures the petal width of one flower: the value in row $1 of the file, counted from 0, plus noise of standard
# deviation 0.4. A real script would drive an instrument, run a program or ask somebody.
data="$(dirname "$0")/../../crates/cutline-lab/data/iris.csv"
sleep "${MEASURING_TAKES:-0.1}"
awk -F, -v row="$1" -v seed="$CUTLINE_TICKET" '
    NR == row + 2 {
        srand(seed); rand()
        print $4 + 0.4 * sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand())
    }' "$data"
