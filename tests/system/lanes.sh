#!/bin/bash
# Lanes alone (sampler.uniformity=false) are those of the full count: a program's every frame once so and once so. Where
# sessions of both kinds come together, how often blocks run is of all, and the share of whole subgroups of those that
# counted it. usage: lanes.sh DRIVER PROGRAM SIZE
lanes_driver=$1 program=$PM_BUILD/examples/$2 size=$3
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"
need jq

quick_driver "$lanes_driver"
piecemeal=$PM_BUILD/tools/piecemeal
"$piecemeal" consent grant >/dev/null

every=(--set sampler.window_probability=1 --set sampler.api_probability=1 --set sampler.kinds=block
    --set debug.synchronous=true --set log.level=debug)

# profile NAME KEY=VALUE…: what is counted, into $scratch/NAME
profile() {
    local name=$1 sets=() one
    shift
    for one in "$@"; do
        sets+=(--set "$one")
    done
    rm -rf "$XDG_DATA_HOME/piecemeal/spool"
    run_quietly "$scratch/run" "$piecemeal" run --game lanes "${every[@]}" "${sets[@]}" --set log.file="$scratch/log-$name" -- \
        "$program" --frames 2 --size "$size" --quiet
    "$piecemeal" sync --dry-run --game lanes >"$scratch/dry" 2>/dev/null
    jq -S '[.. | objects | select(has("points"))] | sort_by(.key)' "$scratch/dry" >"$scratch/$name"
    ! grep -q 'contradict' "$scratch/log-$name" || fail "$(grep contradict "$scratch/log-$name")"
}
lanes='[.[] | {key, points: [.points[] | {point, lanes, entry_lanes}]}]'
# same NAME: has the lanes of the full count, and of subgroups nothing
same() {
    cmp -s <(jq "$lanes" "$scratch/full") <(jq "$lanes" "$scratch/$1") ||
        fail "$1: $(diff <(jq "$lanes" "$scratch/full") <(jq "$lanes" "$scratch/$1") | head -20)"
    jq -e '[.[].points[] | (.lanes_alone // 0) == .lanes and .uniform_lanes == 0 and .subgroups == 0 and .entry_subgroups == 0] | all' \
        "$scratch/$1" >/dev/null || fail "$1: of subgroups something is said"
}
profile full sampler.batch=all sampler.follow=false
profile follow sampler.batch=all sampler.uniformity=false
profile all sampler.batch=all sampler.follow=false sampler.uniformity=false
profile batches sampler.batch=8 sampler.uniformity=false
shaders=$(jq length "$scratch/full")
[ "$shaders" -gt 0 ] || fail "nothing was counted"
jq -e '[.[].points[].uniform_lanes] | add > 0' "$scratch/full" >/dev/null || fail "no subgroup was whole"
same follow
same all
# Of the batches, which take turns, not each has counted every call.
jq -e '[.[].points[] | (.lanes_alone // 0) == .lanes and .uniform_lanes == 0 and .entry_subgroups == 0] | all' \
    "$scratch/batches" >/dev/null || fail "batches: of subgroups something is said"
grep -q 'lanes alone are counted in .* follow, which saves [1-9][0-9]* counters' "$scratch/log-follow" ||
    fail "it does not say what is saved"

# One session that counts all, two of lanes alone, in one database: the shares of the first, the frequencies of all.
# show NAME: of each shader the blocks' measures
show() {
    "$piecemeal" db show --game "$1" --json --points >"$scratch/shown"
    jq -S '[.. | objects | select(.kind? == "block") | {key, points: [.points[] | {point, frequency, uniform, subgroups}]}] | sort_by(.key)' \
        "$scratch/shown" >"$scratch/$1"
}
session() {
    run_quietly "$scratch/run" "$piecemeal" run --local --game "$1" "${every[@]}" --set sampler.batch=all --set optimize.zero=false \
        --set optimize.blocks=false --set optimize.constants=false --set sampler.uniformity="$2" -- \
        "$program" --frames 2 --size "$size" --quiet
}
session first true
session mixed true
session mixed false
session mixed false
session alone false
show first
show mixed
show alone
[ "$(jq length "$scratch/mixed")" = "$shaders" ] || fail "$(jq length "$scratch/mixed") shaders, not $shaders"
for measure in uniform subgroups; do
    cmp -s <(jq "[.[].points[].$measure]" "$scratch/first") <(jq "[.[].points[].$measure]" "$scratch/mixed") ||
        fail "$measure: $(diff <(jq "[.[].points[].$measure]" "$scratch/first") <(jq "[.[].points[].$measure]" "$scratch/mixed") | head -20)"
    jq -e "[.[].points[].$measure.clusters] | all(. == 0)" "$scratch/alone" >/dev/null || fail "$measure is known of lanes alone"
done
jq -e '[.[].points[].frequency.clusters] | all(. == 3)' "$scratch/mixed" >/dev/null || fail "frequencies are not of all three"
ratios='[.[].points[].frequency | .ratio_of_sums | . * 1000000 | round]'
cmp -s <(jq "$ratios" "$scratch/first") <(jq "$ratios" "$scratch/mixed") || fail "frequencies differ"
cmp -s <(jq "$ratios" "$scratch/first") <(jq "$ratios" "$scratch/alone") || fail "frequencies of lanes alone differ"
saved=$(sed -n "s/.*lanes alone are counted in \([0-9]*\) of \([0-9]*\), .*/\1 \2/p" "$scratch/log-follow" |
    awk '{ counted += $1; all += $2 } END { print counted " of " all }')
echo "$shaders shaders; lanes alone, counted in $saved blocks"
