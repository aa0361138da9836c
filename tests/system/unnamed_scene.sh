#!/bin/bash
# A variant that is faster in one scene and does its work twice in the next is dropped on a real driver, though nobody says that
# the scene is another: the session that uses it glances at it. usage: unnamed_scene.sh DRIVER
. "$(dirname "$0")/lib.sh"
driver "$1"
program=$PM_BUILD/tests/system/contest most=6 from=2000 frames=6000
without_layer
run_quietly "$scratch/run-without" "$program" "$scratch/without" 2 1 masked.comp unnamed

# session NAME FRAMES OTHER OPTION…
session() {
    local one=$1 frames=$2 other=$3 options=()
    shift 3
    for option in "$@"; do
        options+=(--set "$option")
    done
    run_quietly "$scratch/run-$one" "$PM_BUILD/tools/piecemeal" run --local --set debug.slow_guards=true \
        --set optimize.constants=false --set optimize.blocks=false --set optimize.retry_share=0 \
        --set optimize.agreeing_sessions=1 --set log.level=debug --set log.file="$scratch/log-$one" "${options[@]}" -- \
        "$program" "$scratch/out-$one" "$frames" "$other" masked.comp unnamed
    if grep -E ' (warning|error): ' "$scratch/log-$one" >&2; then
        fail "the layer complained in session $one"
    fi
}

used='specialized, is used from now on'
timing=(sampler.kinds=timing sampler.window_probability=0)
session profiled 8 9 sampler.kinds=zero,block sampler.window_probability=1 sampler.api_probability=1 sampler.batch=all \
    debug.synchronous=true optimize.zero=false
sessions=0
until grep -qs "$used" "$scratch/log-$sessions"; do
    [ $sessions -lt $most ] || fail "nothing is used after $most sessions: $(tail -n 5 "$scratch/log-$sessions")"
    sessions=$((sessions + 1))
    session $sessions 2000 2001 "${timing[@]}"
done
session kept 1500 1501 "${timing[@]}"
! grep -q 'is dropped' "$scratch/log-kept" || fail "it was dropped in the scene in which it is faster"
session turned $frames $from "${timing[@]}"
same_file "$scratch/without" "$scratch/out-turned" "the other scene"
grep -q "$used" "$scratch/log-turned" || fail "it was not used in the first scene"
grep -q 'since it seems to be slower' "$scratch/log-turned" ||
    fail "nobody saw that it is slower: $(tail -n 5 "$scratch/log-turned")"
grep -q 'is not faster, and is dropped' "$scratch/log-turned" || fail "it was not dropped: $(tail -n 5 "$scratch/log-turned")"
grep -hE 'tried a|trials took' "$scratch/log-turned"
