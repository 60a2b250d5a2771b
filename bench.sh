#!/usr/bin/env bash
# Builds the program, runs its benchmark, and compares the number of nodes with what the newest
# commit says in its line "Bench: N". Another number means that the search or the weights changed, which a commit has to say:
# exit status 1.
set -euo pipefail
cd "$(dirname "$0")"

make --silent EXE=dyad-bench
./dyad-bench bench | tee target/bench.txt
nodes=$(sed -n 's/^\([0-9]*\) nodes [0-9]* nps$/\1/p' target/bench.txt)
nps=$(sed -n 's/^[0-9]* nodes \([0-9]*\) nps$/\1/p' target/bench.txt)
if [[ -z $nodes ]]; then
    echo "bench.sh: the benchmark did not end" >&2
    exit 1
fi

# In a shallow clone this is the last commit only; without git, nothing.
expected=$(git log --format=%B 2>/dev/null | sed -n '/^Bench: [1-9][0-9]*$/{s/^Bench: //p;q}' || true)
echo "Bench: $nodes ($nps nodes per second)"
if [[ -z $expected ]]; then
    echo "bench.sh: no commit here says a number, so there is nothing to compare with"
elif [[ $nodes != "$expected" ]]; then
    echo "bench.sh: the newest commit that says a number says $expected" >&2
    exit 1
fi
