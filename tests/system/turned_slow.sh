#!/bin/bash
# A variant that turns slow on a real driver is dropped, in a program that names no scene and shows no change: a session that
# uses it glances at it. Until then it is as fast as the original (debug.slow_from), and taken for proven; it turns before the
# first glance, which might find it slower by chance.
# usage: turned_slow.sh DRIVER
. "$(dirname "$0")/lib.sh"
driver "$1"
program=$PM_BUILD/tests/system/contest most=6 from=200 frames=4000
without_layer
run_quietly "$scratch/run-without" "$program" "$scratch/without" 1 2 masked.comp unnamed

# session NAME FRAMES OPTION…
session() {
    local one=$1 frames=$2 options=()
    shift 2
    for option in "$@"; do
        options+=(--set "$option")
    done
    run_quietly "$scratch/run-$one" "$PM_BUILD/tools/piecemeal" run --local --set debug.specialize=canonical \
        --set optimize.variants=false --set optimize.retry_share=0 --set optimize.agreeing_sessions=1 \
        --set log.level=debug --set log.file="$scratch/log-$one" "${options[@]}" -- \
        "$program" "$scratch/out-$one" "$frames" "$((frames + 1))" masked.comp unnamed
    if grep -E ' (warning|error): ' "$scratch/log-$one" >&2; then
        fail "the layer complained in session $one"
    fi
}

dropped='specialized, is not faster, and is dropped' timing=(sampler.kinds=timing sampler.window_probability=0)
session profiled 8 sampler.kinds=zero,block sampler.window_probability=1 sampler.api_probability=1 sampler.batch=all \
    debug.synchronous=true optimize.zero=false
sessions=0
until grep -qs "$dropped" "$scratch/log-$sessions"; do
    [ $sessions -lt $most ] || fail "nothing is dropped after $most sessions: $(tail -n 5 "$scratch/log-$sessions")"
    sessions=$((sessions + 1))
    session $sessions 1000 debug.slow_from=1 limits.trial_share=1 "${timing[@]}"
done
sed -i 's/^verdict slower /verdict faster /' "$XDG_DATA_HOME"/piecemeal/journal/*/verdicts

session turned $frames debug.slow_from=$from "${timing[@]}"
same_file "$scratch/without" "$scratch/out-turned" "what does its work twice"
says "$scratch/log-turned" 'specialized, is used from now on'
says "$scratch/log-turned" "heartbeat $from: variants do their work twice from now on"
sed "1,/ do their work twice from now on/d" "$scratch/log-turned" >"$scratch/log-behind"
says "$scratch/log-behind" 'since it seems to be slower'
says "$scratch/log-behind" "$dropped"
says "$scratch/log-behind" 'that turned slow is dropped'
grep -hE 'heartbeat|tried a|trials took' "$scratch/log-turned"
