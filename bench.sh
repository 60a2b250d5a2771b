#!/usr/bin/env bash
# Guards against regressions of the search.
#
#   ./bench.sh                    Builds the program, runs its benchmark, and compares the number of nodes with what the
#                                 newest commit says in its line "Bench: N". Another number means that the search or the
#                                 weights changed, which a commit has to say: exit status 1.
#   PROGRAM=path ./bench.sh       The same with a program that is built already.
#   ./bench.sh REVISION [RUNS]    Builds that revision too, runs both benchmarks in turns (15 of each without RUNS), and
#                                 compares the speeds. Slower than 0.97 times the revision by the median of the pairs:
#                                 exit status 1. Wants a quiet machine.
set -euo pipefail
cd "$(dirname "$0")"

nps_of() {
    sed -n 's/^[0-9]* nodes \([0-9]*\) nps$/\1/p' "$1"
}

compare_speed() {
    local revision=$1 runs=$2
    # Not local: the trap is run outside of this function.
    tree=$(mktemp -d)
    trap 'git worktree remove --force "$tree/base" 2>/dev/null || true; rm -rf "$tree"' EXIT
    git worktree add --quiet --detach "$tree/base" "$revision"
    make --silent EXE=dyad-bench
    make --silent -C "$tree/base" EXE=dyad-bench
    local ratios=()
    for ((run = 1; run <= runs; run++)); do
        "$tree/base/dyad-bench" bench > "$tree/base.txt"
        ./dyad-bench bench > "$tree/new.txt"
        ratios+=("$(awk "BEGIN { printf \"%.4f\", $(nps_of "$tree/new.txt") / $(nps_of "$tree/base.txt") }")")
        printf '\r%d of %d pairs, the last %s' "$run" "$runs" "${ratios[${#ratios[@]} - 1]}" >&2
    done
    echo >&2
    printf '%s\n' "${ratios[@]}" | sort -n | awk -v revision="$revision" '
        { ratio[NR] = $1 }
        END {
            median = NR % 2 ? ratio[(NR + 1) / 2] : (ratio[NR / 2] + ratio[NR / 2 + 1]) / 2
            low = ratio[int(NR / 4) + 1]; high = ratio[NR - int(NR / 4)]
            printf "speed %.3f times that of %s (half of %d pairs between %.3f and %.3f)\n", median, revision, NR, low, high
            exit median < 0.97
        }'
}

if [[ $# -gt 0 ]]; then
    runs=${2:-15}
    if [[ $1 == -* || $# -gt 2 || ! $runs =~ ^[1-9][0-9]*$ ]]; then
        # What stands above.
        sed -n '/^# Guards/,/^set /{s/^# \{0,1\}//p;}' "$0"
        [[ $1 == -h || $1 == --help ]]
        exit
    fi
    if ! git rev-parse --quiet --verify "$1^{commit}" > /dev/null; then
        echo "bench.sh: there is no revision $1 here" >&2
        exit 1
    fi
    compare_speed "$1" "$runs"
    exit
fi

if [[ -z ${PROGRAM:-} ]]; then
    make --silent EXE=dyad-bench
    PROGRAM=./dyad-bench
fi
mkdir -p target
"$PROGRAM" bench | tee target/bench.txt
nodes=$(sed -n 's/^\([0-9]*\) nodes [0-9]* nps$/\1/p' target/bench.txt)
nps=$(nps_of target/bench.txt)
if [[ -z $nodes ]]; then
    echo "bench.sh: the benchmark did not end" >&2
    exit 1
fi

# In a shallow clone this is the last commit only; without git, nothing.
expected=$(git log --format=%B 2>/dev/null | sed -n '/^Bench: [1-9][0-9]*$/{s/^Bench: //p;q;}' || true)
echo "Bench: $nodes ($nps nodes per second)"
if [[ -z $expected ]]; then
    echo "bench.sh: no commit here says a number, so there is nothing to compare with"
elif [[ $nodes != "$expected" ]]; then
    echo "bench.sh: the newest commit that says a number says $expected" >&2
    exit 1
fi
