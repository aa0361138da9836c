#!/bin/bash
# Deliberately bad variants on a real driver: what does its work twice is dropped by its trials, and the program computes
# the same. Prints what trials took of each session, which is not judged here: on a busy machine pairs that are under way
# when the half percent is through make it 1.3 % of a second's session. (Judged, and one that is slower in another scene
# alone: layer/contest_cost.) usage: bad_variants.sh DRIVER
. "$(dirname "$0")/lib.sh"
driver "$1"
program=$PM_BUILD/tests/system/contest most=6
without_layer
run_quietly "$scratch/run-without" "$program" "$scratch/without" 1 2 steady.comp

# session NAME OPTION… -- ARGUMENT…: of the program
session() {
    local one=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=(--set "$1")
        shift
    done
    shift
    run_quietly "$scratch/run-$one" "$PM_BUILD/tools/piecemeal" run --local --set optimize.variants=true \
        --set optimize.retry_share=0 --set sampler.kinds=timing --set sampler.window_probability=0 \
        --set log.level=debug --set log.file="$scratch/log-$one" "${options[@]}" -- "$program" "$scratch/out-$one" "$@"
    if grep -E ' (warning|error): ' "$scratch/log-$one" >&2; then
        fail "the layer complained in session $one"
    fi
    grep -q 'trials took' "$scratch/log-$one" || fail "session $one does not say what trials took"
}

# sessions_until PATTERN NAME OPTION… -- ARGUMENT…: until one's log has it; $last is its name
sessions_until() {
    local pattern=$1 name=$2 number
    shift 2
    for number in $(seq $most); do
        last=$name-$number
        session "$last" "$@"
        ! grep -qE "$pattern" "$scratch/log-$last" || return 0
    done
    fail "in $most sessions there was no '$pattern': $(tail -n 5 "$scratch/log-$last")"
}

# Twice as slow: all are dropped, and none is in use.
sessions_until 'of [0-9]+ variants none is faster' slow debug.slow_variants=true -- 4000 4001 steady.comp
same_file "$scratch/without" "$scratch/out-$last" "slow variants"
! grep -qE 'is used from now on' "$scratch"/log-slow-* || fail "a slow variant was used"

grep -h 'trials took' "$scratch"/log-* | sed 's/.*trials/trials/'
