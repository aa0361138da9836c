#!/bin/bash
# A program that records its commands once, while it loads, binds the specialized shaders that are known to be faster, with
# the limits that a player has: they are made when the pipelines are, although the driver says that it has to compile
# them, takes longer than limits.proven_ms_per_pipeline, and was found busy drawing when they were first made.
#
# usage: proven_at_once.sh DRIVER PROGRAM SIZE LEAST
#     LEAST  so many shaders are to be proven, and all that are must be bound
driver_name=$1 program_name=$2 size=$3 least=$4
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"
driver "$driver_name"
verdicts=$XDG_DATA_HOME/piecemeal/journal/$program_name/verdicts

# session LOG FRAMES OPTION... -- [OF THE PROGRAM]...
session() {
    local log=$1 frames=$2 options=()
    shift 2
    while [ "$1" != -- ]; do
        options+=(--set "$1")
        shift
    done
    shift
    PIECEMEAL_TRACE_FILE=$scratch/trace-$log run_quietly "$scratch/run-$log" "$PM_BUILD/tools/piecemeal" run --local \
        --set log.level=debug --set log.file="$scratch/$log" "${options[@]}" -- \
        "$PM_BUILD/examples/$program_name" --frames "$frames" --size "$size" --quiet "$@"
    if grep -aE ' (warning|error): ' "$scratch/$log" >&2; then
        fail "the layer complained in the $log session"
    fi
}

# proven LOG SETTING...: a session of a player who has what the two before it have left, and nothing of others; how many
# of the proven shaders it bound, to $bound
proven() {
    local log=$1
    shift
    rm -rf "$scratch/xdg"
    cp -a "$scratch/kept" "$scratch/xdg"
    session "$log" 8 optimize.retry_share=0 "$@" -- --record-once
    bound=$(awk -F '\t' '$6 == "specialized" && $7 == "in use" { print $8 }' "$scratch/trace-$log" | sort -u | wc -l)
    echo "$log: $bound of $count are bound"
}

session first 2 debug.synchronous=true sampler.window_probability=1 sampler.api_probability=1 sampler.batch=all \
    sampler.kinds=zero,block --
# They are made in the background, while the program draws.
count=0
for _ in 1 2 3 4 5; do
    session second 60 limits.background_share=1 sampler.window_probability=0 --
    count=$(grep -c '^made ' "$verdicts")
    [ "$count" -lt "$least" ] || break
done
[ "$count" -ge "$least" ] || fail "$count shaders are specialized"
awk '/^made/ { printf "the driver took %.1f ms\n", $7 / 1e6 }' "$verdicts"
# Two sessions agree on each of them.
awk -v now="$(date +%s)" '{ print }
    /^made/ { print "verdict faster calls 800000 790000 810000 40 " now "\ntried 1 800000 801000" }' \
    "$verdicts" >"$scratch/verdicts"
cp "$scratch/verdicts" "$verdicts"
cp -a "$scratch/xdg" "$scratch/kept"
# Where other programs have the processor, one may take longer than all of the time.
for _ in 1 2 3 4 5; do
    proven default
    [ "$bound" -lt "$count" ] || break
done
[ "$bound" -ge "$count" ] || fail "not all are bound: $(tail -n 20 "$scratch/default")"
# It is the time for loading that they are made in.
proven without limits.loading_ms=0 limits.proven_ms_per_pipeline=0
[ "$bound" -eq 0 ] || fail "without time some are bound"
