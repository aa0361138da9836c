#!/bin/bash
# A program that records its commands once and submits them every frame, with its compute shaders cut into passes that
# were not proven: nothing is tried of them, in this session or a later one, the log says so, and the frames are the
# same. Recorded anew for each frame they are tried.
#
# usage: untried_passes.sh DRIVER PROGRAM SIZE OPERATIONS     of the ALU, that a pass has room for
driver_name=$1 program=$PM_BUILD/examples/$2 size=$3 operations=$4
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"
driver "$driver_name"
frames=80

# draw NAME [OPTION]...: the frames' hashes to $scratch/NAME, what the layer logs to $scratch/log-NAME
draw() {
    local out=$scratch/$1
    export PIECEMEAL_LOG_FILE=$scratch/log-$1
    shift
    run_quietly "$scratch/said" "$program" --quiet --frames $frames --size "$size" --hash "$out" "$@"
}

without_layer
draw without --record-once

with_layer
export PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=0 PIECEMEAL_LOG_LEVEL=debug PIECEMEAL_DEBUG_SYNCHRONOUS=1
export PIECEMEAL_OPTIMIZE_PARTITION=1 PIECEMEAL_DEBUG_PARTITION_LIMITS=$operations
for session in first second; do
    log=$scratch/log-$session
    draw $session --record-once
    same_file "$scratch/without" "$scratch/$session" "recorded once, in the $session session"
    grep -q 'is cut into' "$log" || fail "nothing is cut: $(tail -n 20 "$log")"
    grep -q 'cannot be timed in turn, and stays untried' "$log" ||
        fail "the log does not say that nothing is tried: $(tail -n 20 "$log")"
    # Of a trial there, of one over sessions, of passes that are used.
    tried='tried a specialized|in turn: sessions are|timed a session|a dispatch runs in'
    if grep -E "$tried| (warning|error): " "$log" >&2; then
        fail "something is tried in a recording that is kept, or the layer complained"
    fi
done

draw anew
same_file "$scratch/without" "$scratch/anew" "recorded anew"
grep -E 'tried a specialized shader|was not over after [1-9]' "$scratch/log-anew" ||
    fail "nothing is tried in what is recorded anew: $(tail -n 20 "$scratch/log-anew")"
grep -c 'stays untried' "$scratch/log-first"
