#!/bin/sh
# Compares verdicts, the output of `cutline export screen.db --verdicts`, with the true petal widths of iris. A call is the side of the
# estimate; it is wrong if the true width is on the other side of 1.3 and more than 0.1 away. A real campaign cannot know this.
data="$(dirname "$0")/../../crates/cutline-lab/data/iris.csv"
awk -F, '
    NR == FNR { width[FNR - 2] = $4; next }
    FNR > 1 {
        true = width[$2]
        is_above = $4 >= 1.3
        if ((is_above && true < 1.2) || (!is_above && true >= 1.4)) wrong++
        if ($3 == "undecided") undecided++
        if ($5 <= true && true <= $6) inside++
        doubt += $8
        arms++
    }
    END { printf "%d of %d calls are wrong, %d undecided; %.1f wrong calls expected; %d of %d intervals hold the true width\n",
          wrong, arms, undecided, doubt, inside, arms }' "$data" -
