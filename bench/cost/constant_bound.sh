#!/bin/bash
# constant_bound.sh [BUILD]: what knowing words of a uniform buffer gains in a shader that was written for it, and what the
# guard costs where it turns away (constant_bound.c): processor time, and instructions by callgrind at two counts, the
# slope. Prints a Markdown table.
#
# BUILD is the build tree (build/release). The driver is the caller's: VK_DRIVER_FILES, one that runs shaders on the CPU.
# REPETITIONS (5) of COUNT (2000) dispatches, of which the shortest counts. Needs valgrind.
set -euo pipefail

build=$(cd "${1:-$(dirname "$0")/../../build/release}" && pwd)
repetitions=${REPETITIONS:-5} count=${COUNT:-2000} few=20 many=60
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# What an earlier run left in the driver's cache was generated for another CPU than valgrind's.
export MESA_SHADER_CACHE_DISABLE=true LP_NUM_THREADS=0

# instructions WAY COUNT: of all threads
instructions() {
    valgrind --tool=callgrind --callgrind-out-file="$scratch/callgrind" "$build/bench/constant_bound" "$1" "$2" \
        >"$scratch/log" 2>&1 || {
        tail -n 20 "$scratch/log" >&2
        return 1
    }
    awk '/^(summary|totals):/ { total = $2 } END { print total }' "$scratch/callgrind"
}

declare -A hash
echo "| words | shader | ms a dispatch | times the original's | instructions a dispatch | times the original's |"
echo "| --- | --- | --- | --- | --- | --- |"
# row WORDS SHADER WAY BASE
row() {
    local least hashes low high slope
    for _ in $(seq "$repetitions"); do
        "$build/bench/constant_bound" "$3" "$count"
    done >"$scratch/times"
    least=$(sort -g "$scratch/times" | awk 'NR == 1 { print $1 }')
    hashes=$(awk '{ print $2 }' "$scratch/times" | sort -u)
    hash[$3]=$hashes
    [ "${hash[$4]}" = "$hashes" ] || {
        echo "constant_bound: $3 computes something else than $4" >&2
        exit 1
    }
    low=$(instructions "$3" "$few")
    high=$(instructions "$3" "$many")
    slope=$(((high - low) / (many - few)))
    [ "$3" != "$4" ] || base_time=$least base_slope=$slope
    awk -v words="$1" -v shader="$2" -v t="$least" -v bt="$base_time" -v s="$slope" -v bs="$base_slope" 'BEGIN {
        printf "| %s | %s | %.4f | %.3f | %d | %.3f |\n", words, shader, t, t / bt, s, s / bs }'
}
row "the usual ones" "original" original original
row "the usual ones" "folded, the guard fits" fits original
row "others" "original" other other
row "others" "folded, the guard turns it away" differs other
