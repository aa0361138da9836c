#!/bin/bash
# The loop on one machine: a first session profiles, a second one uses specialized shaders, and its pictures are the
# same as without us, bit by bit. usage: specialized.sh DRIVER PROGRAM SIZE
loop_driver=$1 program=$PM_BUILD/examples/$2 size=$3
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"

driver "$loop_driver"
draw() {
    "$program" --frames 2 --size "$size" --quiet --hash "$1"
}

without_layer
draw "$scratch/without"
draw "$scratch/again"
same_file "$scratch/without" "$scratch/again" "without us"

# session LOG SETTING...: on this machine only
session() {
    local log=$1 sets=() setting
    shift
    for setting in "$@"; do
        sets+=(--set "$setting")
    done
    run_quietly "$scratch/run-$log" "$PM_BUILD/tools/piecemeal" run --local --set log.level=debug \
        --set log.file="$scratch/$log" --set debug.synchronous=true "${sets[@]}" -- \
        "$program" --frames 2 --size "$size" --quiet --hash "$scratch/hash-$log"
    same_file "$scratch/without" "$scratch/hash-$log" "$log"
}

session first sampler.window_probability=1 sampler.api_probability=1 sampler.batch=all sampler.kinds=zero
session second sampler.window_probability=0 debug.trust_variants=true
used=$(grep -c 'specialized, is used from now on' "$scratch/second" || true)
[ "$used" -gt 0 ] || fail "nothing was specialized: $(tail -n 20 "$scratch/second")"
session third sampler.window_probability=1 sampler.api_probability=0.3 sampler.batch=all sampler.kinds=block \
    debug.trust_variants=true
grep -q 'specialized, is used from now on' "$scratch/third" || fail "nothing was specialized in a window"
for log in first second third; do
    if grep -E ' (warning|error): ' "$scratch/$log" >&2; then
        fail "the layer complained in the $log session"
    fi
done
ls "$XDG_CACHE_HOME"/piecemeal/pipelines/*/*.cache >/dev/null || fail "no pipeline cache was kept"
echo "$used pipelines were specialized"

# Safe mode: what was new in a session that is killed is not used in the next.
rm -r "$XDG_DATA_HOME/piecemeal/journal"
"$PM_BUILD/tools/piecemeal" run --local --set log.level=debug --set log.file="$scratch/killed" \
    --set debug.synchronous=true --set debug.trust_variants=true --set sampler.window_probability=0 -- \
    "$program" --frames 1000000 --size "$size" --quiet --time "$scratch/times" >"$scratch/run-killed" 2>&1 &
game=$!
children+=("$game")
for _ in $(seq 600); do
    [ -s "$scratch/times" ] && break
    kill -0 "$game" 2>/dev/null || fail "the scene ended: $(cat "$scratch/run-killed")"
    sleep 0.2
done
grep -q 'specialized, is used from now on' "$scratch/killed" || fail "nothing was used in the session to be killed"
pkill -KILL -P "$game" || true
wait "$game" 2>/dev/null || true
grep -qE '^piecemeal run: .* did not end properly \(killed by signal 9, Killed\), so .* held back for a few sessions; ' \
    "$scratch/run-killed" || fail "nothing is said of it: $(cat "$scratch/run-killed")"
session held sampler.window_probability=0 debug.trust_variants=true
grep -q 'the last session did not end properly' "$scratch/held" || fail "safe mode noticed nothing"
if grep -q 'is used from now on' "$scratch/held"; then
    fail "a variant that was new in a killed session is used in the next"
fi
"$PM_BUILD/tools/piecemeal" doctor >"$scratch/doctor" 2>&1 || true
grep -q 'safe mode: .* are held back for a few sessions' "$scratch/doctor" || fail "doctor does not say so"
