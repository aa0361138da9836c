#!/bin/bash
# A-Z testing on a real driver: sessions go on with the contest of a shader that has a faster version until it ends, the
# winner is tried, and the next session uses it at once. All of them compute the same bits. usage: contest.sh DRIVER
. "$(dirname "$0")/lib.sh"
driver "$1"
program=$PM_BUILD/tests/system/contest frames=4000 most=12
without_layer
run_quietly "$scratch/run-without" "$program" "$scratch/without" 1

# session NAME FRAMES
session() {
    run_quietly "$scratch/run-$1" "$PM_BUILD/tools/piecemeal" run --local --set optimize.variants=true \
        --set optimize.retry_share=0 --set sampler.kinds=timing --set sampler.window_probability=0 \
        --set log.level=debug --set log.file="$scratch/log-$1" -- "$program" "$scratch/out-$1" "$2"
    same_file "$scratch/without" "$scratch/out-$1" "session $1"
    if grep -E ' (warning|error): ' "$scratch/log-$1" >&2; then
        fail "the layer complained in session $1"
    fi
}

sessions=0
until grep -hE 'of [0-9]+ variants ' "$scratch"/log-* 2>/dev/null; do
    [ $sessions -lt $most ] || fail "the contest did not end in $most sessions of $frames frames"
    sessions=$((sessions + 1))
    session $sessions $frames
done
grep -q 'the fastest is hoist$' "$scratch/log-$sessions" || fail "another one than what is faster has won"
session last 20
grep -q 'specialized, is used from now on' "$scratch/log-last" || fail "the next session does not use the winner"
grep -q '1 shader specialized (1 by A-Z testing)' "$scratch/run-last" || fail "it does not say so: $(cat "$scratch/run-last")"
"$PM_BUILD/tools/piecemeal" status >"$scratch/status" 2>&1
grep -q '(1 by A-Z testing)' "$scratch/status" || fail "status does not say so: $(cat "$scratch/status")"
echo "over after $sessions sessions of $frames frames"
