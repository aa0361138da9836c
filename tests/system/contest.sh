#!/bin/bash
# A-Z testing on a real driver: sessions go on with the contest of a shader that has a faster version until it ends, the
# winner is tried, in the next sessions once more, and when they agree it is used at once. All of them compute the same
# bits. usage: contest.sh DRIVER
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
# Sessions try the winner again, and nothing else, until they agree; on a busy machine more than one.
agreed=0
until [ $agreed -gt 1 ] && ! grep -q 'tried a specialized shader' "$scratch/log-last$agreed"; do
    [ $agreed -lt 8 ] || fail "eight sessions do not agree: $(grep -h 'tried a specialized' "$scratch"/log-*)"
    agreed=$((agreed + 1))
    session last$agreed $frames
done
grep -q 'tried a specialized shader' "$scratch/log-last1" || fail "the next session does not try the winner"
if grep -E 'of [0-9]+ variants ' "$scratch"/log-last* >&2; then
    fail "there is a contest again"
fi
grep -q 'specialized, is used from now on' "$scratch/log-last$agreed" || fail "the last session does not use the winner"
grep -q '1 shader specialized (1 by A-Z testing)' "$scratch/run-last$agreed" || fail "it does not say so: $(cat "$scratch/run-last$agreed")"
"$PM_BUILD/tools/piecemeal" status >"$scratch/status" 2>&1
grep -q '(1 by A-Z testing)' "$scratch/status" || fail "status does not say so: $(cat "$scratch/status")"
echo "over after $sessions sessions of $frames frames; sessions until they agreed: $agreed"
