#!/bin/bash
# A program that draws in secondary command buffers: what it records anew is tried in turn, by the render passes that
# execute them where draws cannot be timed one by one; where it keeps them sessions alternate. The pictures stay the same
# bit by bit whichever is bound, and the validation layer has nothing to say.
#
# usage: secondary_trials.sh DRIVER PROGRAM SIZE FRAMES
trial_driver=$1 program=$PM_BUILD/examples/$2 size=$3 frames=$4
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"
driver "$trial_driver"

# session LOG FRAMES OPTION... -- PROGRAM'S OPTION...: on this machine only
session() {
    local log=$1 count=$2 options=()
    shift 2
    while [ "$1" != -- ]; do
        options+=(--set "$1")
        shift
    done
    run_quietly "$scratch/run-$log" "$PM_BUILD/tools/piecemeal" run --local --set log.level=debug \
        --set log.file="$scratch/$log" --set limits.trial_share=1 "${options[@]}" -- \
        "$program" --frames "$count" --size "$size" --quiet --secondary --hash "$scratch/hash-$log" "${@:2}"
}

# play LOG SYNCHRONOUS OPTION...: a session that draws what it draws without us, with nothing new from the validation layer
play() {
    local log=$1 synchronous=$2
    shift 2
    session "$log" "$frames" debug.synchronous="$synchronous" sampler.window_probability=0 sampler.kinds=timing optimize.retry_share=0 \
        limits.proven_ms_per_pipeline=1000 limits.proven_ms_per_second=1000 -- "$@"
    same_file "$scratch/without" "$scratch/hash-$log" "in session $log"
    if grep -E ' (warning|error): ' "$scratch/$log" >&2; then
        fail "the layer complained"
    fi
}

without_layer
with_validation "$scratch/validation-without"
run_quietly "$scratch/log" "$program" --frames "$frames" --size "$size" --quiet --secondary --hash "$scratch/without"
with_validation "$scratch/validation-with"
session first 2 sampler.window_probability=1 sampler.api_probability=1 sampler.batch=all sampler.kinds=zero \
    debug.synchronous=true --

# Recorded once, sessions alternate. The variant is made while nothing is drawn, so that it is known to take less than it
# may with the pipeline.
play kept true --record-once
grep -q 'cannot be timed in turn: sessions are' "$scratch/kept" || fail "no session is to try anything"
for log in second third fourth; do
    play $log false --record-once
    grep -q 'timed a session' "$scratch/$log" || fail "session $log timed nothing: $(tail -n 20 "$scratch/$log")"
done
grep -q ' 1 pairs of sessions' "$scratch/second" "$scratch/third" "$scratch/fourth" || fail "no two sessions are a pair"

# Recorded anew, nothing of that is needed, whether the program says that it is or not.
for log in anew untold; do
    rm -rf "$XDG_DATA_HOME"/piecemeal/{journal,trials}
    [ $log = anew ] && option=() || option=(--no-one-time)
    play $log true "${option[@]}"
    grep -qE 'pairs of render passes|was not over after [1-9]' "$scratch/$log" ||
        fail "nothing is timed in turn: $(tail -n 20 "$scratch/$log")"
    if grep 'sessions are' "$scratch/$log" >&2; then
        fail "sessions are to try what is timed in turn"
    fi
done

said=$(new_messages "$scratch/validation-without" "$scratch/validation-with")
[ -z "$said" ] || fail "the validation layer says: $said"
grep -hE 'timed a session|pairs of render passes|was not over' "$scratch"/{kept,second,third,fourth,anew,untold}
