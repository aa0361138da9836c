#!/bin/bash
# Lanes that follow from those of other blocks (sampler.follow) are those that are counted without: a program's every
# frame once so and once so, and the same profile. usage: follow.sh DRIVER PROGRAM SIZE
follow_driver=$1 program=$PM_BUILD/examples/$2 size=$3
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"
need jq

driver "$follow_driver"
piecemeal=$PM_BUILD/tools/piecemeal
"$piecemeal" consent grant >/dev/null

# profile FOLLOW: of each shader the points' lanes, into $scratch/FOLLOW
profile() {
    rm -rf "$XDG_DATA_HOME/piecemeal/spool"
    run_quietly "$scratch/run" "$piecemeal" run --game follow --set sampler.follow="$1" --set log.level=debug \
        --set log.file="$scratch/log-$1" --set sampler.window_probability=1 --set sampler.api_probability=1 \
        --set sampler.batch=all --set sampler.kinds=block --set debug.synchronous=true -- \
        "$program" --frames 2 --size "$size" --quiet
    "$piecemeal" sync --dry-run --game follow >"$scratch/dry" 2>/dev/null
    jq -S '[.. | objects | select(has("points")) | {key, points: [.points[] | {point, lanes, entry_lanes}]}] | sort_by(.key)' \
        "$scratch/dry" >"$scratch/$1"
    ! grep -q 'contradict' "$scratch/log-$1" || fail "$(grep contradict "$scratch/log-$1")"
}
profile true
profile false
shaders=$(jq length "$scratch/false")
[ "$shaders" -gt 0 ] || fail "nothing was counted"
cmp -s "$scratch/true" "$scratch/false" || fail "$(diff "$scratch/true" "$scratch/false" | head -20)"
grep -q 'follow, which saves [1-9][0-9]* counters, by its code up to' "$scratch/log-true" || fail "it does not say what is saved"

# The first session's profile says where the second has to count, and where that saves nothing.
for session in 1 2; do
    run_quietly "$scratch/run" "$piecemeal" run --local --game known --set log.level=info --set log.file="$scratch/log-$session" \
        --set sampler.window_probability=1 --set sampler.api_probability=1 --set sampler.batch=all \
        --set sampler.kinds=block --set debug.synchronous=true -- "$program" --frames 4 --size "$size" --quiet
done
! grep 'by its profile' "$scratch/log-1" || fail "a profile is known before there is one"
grep -q 'by its profile.* [0-9.e-]* atomics a subgroup' "$scratch/log-2" || fail "the profile does not say where to count"
saved=$(sed -n "s/.*lanes are counted in \([0-9]*\) of \([0-9]*\), .*/\1 \2/p" "$scratch/log-true" |
    awk '{ counted += $1; all += $2 } END { print counted " of " all }')
echo "$shaders shaders; lanes counted in $saved blocks"
