#!/bin/bash
# What counts of blocks make of shaders, on one machine: a first session counts, a second one uses it, draws the same bit
# by bit, and says so. usage: blocks.sh DRIVER PROGRAM SIZE
blocks_driver=$1 program=$PM_BUILD/examples/$2 size=$3 all=${4-} piecemeal=$PM_BUILD/tools/piecemeal
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"

quick_driver "$blocks_driver"
without_layer
run_quietly "$scratch/run-without" "$program" --frames 1 --size "$size" --quiet --hash "$scratch/without"

# session LOG SETTING...
session() {
    local log=$1 sets=() setting
    shift
    for setting in "$@"; do
        sets+=(--set "$setting")
    done
    run_quietly "$scratch/run-$log" "$piecemeal" run --local --set log.level=debug --set log.file="$scratch/$log" \
        --set debug.synchronous=true "${sets[@]}" -- \
        "$program" --frames 1 --size "$size" --quiet --hash "$scratch/hash-$log"
    same_file "$scratch/without" "$scratch/hash-$log" "$log"
    if grep -E ' (warning|error): ' "$scratch/$log" >&2; then
        fail "the layer complained in the $log session"
    fi
}
profiled=(sampler.window_probability=1 sampler.api_probability=1 sampler.batch=all)
used=(sampler.window_probability=0 debug.trust_variants=true)

# changed LOG: shaders that are used with changes by blocks
changed() {
    grep -c 'is specialized: [0-9]* transforms, [1-9][0-9]* changes by blocks' "$scratch/$1" || true
}

session first "${profiled[@]}" sampler.kinds=block
session second "${used[@]}"
worth=$(changed second)
[ "$worth" -gt 0 ] || fail "no shader was changed: $(tail -n 20 "$scratch/second")"
grep -q 'specialized, is used from now on' "$scratch/second" || fail "nothing was used"
grep -q " shaders\\? specialized ($worth by blocks)" "$scratch/run-second" ||
    fail "the run does not say so: $(cat "$scratch/run-second")"
"$piecemeal" status >"$scratch/status" 2>&1
grep -q "($worth by blocks)" "$scratch/status" || fail "status does not say so: $(cat "$scratch/status")"


# Each pass can be left out; the log says which did what.
by_pass() {
    sed -nE 's/.* changes by blocks \(([^)]*)\).*/\1/p' "$scratch/$1" | tr -s ', ' '\n' | grep '^[a-z]' | sort -u | paste -sd, -
}
passes=$(by_pass second)
[ -n "$passes" ] || fail "the log names no pass: $(grep 'by blocks' "$scratch/second")"
session one "${used[@]}" debug.specialize=all optimize.block_passes="${passes%%,*}"
[ "$(by_pass one)" = "${passes%%,*}" ] || fail "of ${passes%%,*} alone the log says: $(by_pass one)"
session none "${used[@]}" optimize.block_passes=
[ "$(changed none)" = 0 ] || fail "shaders are changed without passes"

echo "$worth shaders are worth it, by $passes"
[ "$all" = all ] || exit 0

session off "${used[@]}" optimize.blocks=false
[ "$(changed off)" = 0 ] || fail "shaders are changed though optimize.blocks is off"

# Whatever may be changed is, and together with zeros.
session everything "${used[@]}" debug.specialize=all
[ "$(changed everything)" -gt "$worth" ] || fail "weighing it left nothing out"
session zeros "${profiled[@]}" sampler.kinds=zero
session both "${used[@]}"
grep -q 'is specialized: [1-9][0-9]* transforms' "$scratch/both" || fail "no shader was specialized for zeros"
[ "$(changed both)" -gt 0 ] || fail "no shader was changed where zeros are known"
echo "$(changed everything) in all"
