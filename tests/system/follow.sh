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

every=(--set sampler.window_probability=1 --set sampler.api_probability=1 --set sampler.batch=all
    --set sampler.kinds=block --set debug.synchronous=true --set log.level=debug --set optimize.zero=false
    --set optimize.blocks=false --set optimize.constants=false)

# Before there is a profile nobody knows that anything is saved beside the subgroups.
run_quietly "$scratch/run" "$piecemeal" run --local --game follow "${every[@]}" --set log.file="$scratch/log-unknown" -- \
    "$program" --frames 2 --size "$size" --quiet
grep -q 'since no profile says how often parts' "$scratch/log-unknown" || fail "it does not say that there is no profile"
! grep ' follow, which saves' "$scratch/log-unknown" || fail "lanes follow before there is a profile"
PIECEMEAL_DATABASES=$(find "$scratch/xdg" -type d -path '*local/databases')
export PIECEMEAL_DATABASES

# profile FOLLOW: of each shader the points' lanes, into $scratch/FOLLOW
profile() {
    rm -rf "$XDG_DATA_HOME/piecemeal/spool"
    run_quietly "$scratch/run" "$piecemeal" run --game follow --set sampler.follow="$1" "${every[@]}" \
        --set log.file="$scratch/log-$1" -- "$program" --frames 2 --size "$size" --quiet
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
# Of each shader it says what is saved, or why it is not used; in the deferred renderer, whose lights end inside subgroups, it is.
used=$(grep -c 'follow, which saves [1-9][0-9]* counters, by its profile [0-9.e+-]* atomics a subgroup' "$scratch/log-true") || true
not_used=$(grep -c 'are counted in all [0-9]*, since by its profile following saves but' "$scratch/log-true") || true
[ "$used" -gt 0 ] || [ "${program##*/}" != piecemeal-deferred ] || fail "lanes follow in no shader"
[ $((used + not_used)) -ge "$shaders" ] || fail "it does not say of $shaders shaders: $(grep 'are counted in' "$scratch/log-true")"
grep 'are counted in all [0-9]*, since by its profile following saves but' "$scratch/log-true" | head -3
saved=$(sed -n "s/.*lanes are counted in \([0-9]*\) of \([0-9]*\), .*/\1 \2/p" "$scratch/log-true" |
    awk '{ counted += $1; all += $2 } END { print counted " of " all }')
echo "$shaders shaders; lanes counted in $saved blocks"
