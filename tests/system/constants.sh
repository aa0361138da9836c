#!/bin/bash
# Words of push constants or of uniform buffers: a first session, in which everything is sampled, learns what they are,
# and the next ones bind what is folded for them, behind a guard where they are uniforms', also where most calls now have
# other values; the pictures are the same as without us, bit by bit. Words that are not loaded on every path are among
# them where all descriptors are bound, and not where some may not be (the driver's ability decides, unless there is a
# third argument). usage: constants.sh DRIVER pushes|uniforms [bound]
. "$(dirname "$0")/lib.sh"

driver "$1"
program=$PM_BUILD/tests/system/$2
words='words of push constants'
drawn_words='[1-4]'
without_layer
if [ "$2" = uniforms ]; then
    words='words of uniforms'
    # `taps` is loaded in one mode; behind it in its buffer is what always is.
    drawn_words=6
    [ -n "${3-}" ] || [ "$1" != lavapipe-25 ] || drawn_words=5
    [ "${3-}" != bound ] || export PM_ALL_BOUND=1
fi
for mode in 1 2; do
    run_quietly "$scratch/run-without" "$program" "$scratch/without-$mode" $mode
    # The control: what differs by itself says nothing about us. Quickly it is enough that nothing differs.
    if [ -n "${PM_ALL-}" ]; then
        run_quietly "$scratch/run-again" "$program" "$scratch/again" $mode
        same_file "$scratch/without-$mode" "$scratch/again" "without us"
    fi
done
if cmp -s "$scratch/without-1" "$scratch/without-2"; then
    fail "the words make no difference"
fi

# session LOG MODE SETTING...: on this machine only
session() {
    local log=$1 mode=$2 sets=() setting
    shift 2
    for setting in "$@"; do
        sets+=(--set "$setting")
    done
    run_quietly "$scratch/run-$log" "$PM_BUILD/tools/piecemeal" run --local --set log.level=debug \
        --set log.file="$scratch/$log" --set debug.synchronous=true "${sets[@]}" -- \
        "$program" "$scratch/drawn-$log" "$mode"
    same_file "$scratch/without-$mode" "$scratch/drawn-$log" "$log"
    if grep -E ' (warning|error): ' "$scratch/$log" >&2; then
        fail "the layer complained in the $log session"
    fi
}
bound='a variant for known words is bound'

session learned 1 sampler.window_probability=1 sampler.api_probability=1 sampler.batch=all sampler.kinds=constant
values=$(cat "$XDG_DATA_HOME"/piecemeal/values/*)
# The mode, which is 1 in nearly all calls.
grep -qE '^[0-9a-f]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+ .*1:' <<<"$values" || fail "no word is known to be 1: $values"
for mode in 1 2; do
    session "used-$mode" "$mode" sampler.window_probability=0 debug.trust_variants=true
    grep -qE " $drawn_words $words, fragment" "$scratch/used-$mode" || fail "no fragment shader was folded"
    grep -q "$words, compute" "$scratch/used-$mode" || fail "no compute shader was folded"
    count=$(grep -c "$bound" "$scratch/used-$mode" || true)
    [ "$count" -eq 2 ] || fail "$count variants were bound, not 2"
done
session withheld 1 sampler.window_probability=0 debug.trust_variants=true optimize.constants=false
if grep -q "$bound" "$scratch/withheld"; then
    fail "a variant was bound that optimize.constants withholds"
fi
