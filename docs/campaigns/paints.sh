#!/bin/sh
# Measures the gloss of one paint: a value that depends on its row of the table, plus noise of standard deviation 4. There is no sample of
# paint 6, so its measurement fails. The two tables are made up for this example.
[ "$1" = "paint 6" ] && { echo "no sample left" >&2; exit 1; }
cat "$(dirname "$0")"/paints.csv "$(dirname "$0")"/more-paints.csv | awk -F, -v name="$1" -v seed="$CUTLINE_TICKET" '
    $1 == name {
        split($1, words, " ")
        own = words[2] * 37 % 11 - 5
        solids = $3 == "" ? 50 : $3
        srand(seed); rand()
        gloss = 40 + ($2 == "oil" ? 14 : $2 == "alkyd" ? 7 : 0) + 0.3 * (solids - 30) - $4 + own
        print gloss + 4 * sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand())
    }'
