#!/bin/bash
# A program that records its commands once binds a specialized shader that is known to be faster: it is made when the
# pipeline is, where there is as much time as the driver takes (limits.proven_ms_per_pipeline). With the default, 2 ms,
# it is said whether it was; on lavapipe 25, which says of everything that it has to be compiled, it is not
# (docs/specialized.md).
#
# usage: proven_at_once.sh DRIVER PROGRAM SIZE
driver_name=$1 program_name=$2 size=$3
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

# proven LOG SETTING...: a session that knows of each that it is faster; whether what it records once binds one
proven() {
    local log=$1
    shift
    awk -v now="$(date +%s)" '{ print } /^made/ { print "verdict faster calls 500000 450000 550000 40 " now }' \
        "$scratch/made" >"$verdicts"
    session "$log" 8 sampler.window_probability=0 optimize.agreeing_sessions=1 optimize.retry_share=0 "$@" -- --record-once
    grep -aq $'\tspecialized\tin use\t' "$scratch/trace-$log"
}

session first 2 debug.synchronous=true sampler.window_probability=1 sampler.api_probability=1 sampler.batch=all \
    sampler.kinds=zero --
session second 2 debug.synchronous=true sampler.window_probability=0 --
grep -q '^made ' "$verdicts" || fail "nothing was specialized"
cp "$verdicts" "$scratch/made"
proven given limits.proven_ms_per_pipeline=1000 limits.proven_ms_per_second=1000 ||
    fail "it is not bound: $(tail -n 20 "$scratch/given")"
if proven default; then
    echo "with the default it is bound"
else
    echo "with the default it is not bound"
fi
awk '/^made/ { printf "the driver took %.1f ms\n", $(NF - 1) / 1e6 }' "$scratch/made"
