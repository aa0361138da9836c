#!/bin/bash
# `piecemeal bisect` finds each part of what is done to a shader by itself, and what it leaves shows that part alone
# again: a program goes wrong as soon as one shader is built with the part. (Zeros and passes: bisect.sh.)
#   bisect_parts.sh words|pushed|blocks|recipe
. "$(dirname "$0")/lib.sh"
quick_driver lavapipe-25
piecemeal=$PM_BUILD/tools/piecemeal
part=$1
out=$scratch/out
export TMPDIR=$scratch/tmp
mkdir -p "$TMPDIR"
learning=(sampler.window_probability=1 sampler.api_probability=1 sampler.batch=all debug.synchronous=true)
using=(sampler.window_probability=0 debug.synchronous=true debug.trust_variants=true optimize.retry_share=0)
case $part in
words) program=("$PM_BUILD/tests/system/uniforms" "$out" 1) ;;
pushed) program=("$PM_BUILD/tests/system/pushes" "$out" 1) ;;
blocks)
    program=("$PM_BUILD/examples/piecemeal-deferred" --scene 0 --seed 1 --size 64x36 --frames 3)
    learning+=(sampler.kinds=block)
    ;;
recipe)
    export PIECEMEAL_OPTIMIZE_VARIANTS=true
    program=("$PM_BUILD/tests/system/contest" "$out" 20)
    ;;
esac
# session LOG SETTING... -- PROGRAM...
session() {
    local log=$1 sets=()
    shift
    while [ "$1" != -- ]; do
        sets+=(--set "$1")
        shift
    done
    run_quietly "$scratch/$log" "$piecemeal" run --local "${sets[@]}" "$@"
}
# built FILE: the shaders that were built with the part, by a session's trace
built() { sed -nE "s/.*specialized by ([a-z]+,)*$part(,[a-z]+)*	([0-9a-f]{48})	.*/\\3/p" "$1" | sort -u; }

if [ "$part" = recipe ]; then
    # A contest, until there is a variant that can be made again; its trial then said that it is faster.
    verdicts=$XDG_DATA_HOME/piecemeal/journal/pm_test_gpu/verdicts
    for _ in 1 2 3 4 5 6; do
        session learned sampler.kinds=timing sampler.window_probability=0 optimize.retry_share=0 -- "${program[@]::2}" 4000
        ! grep -qs '^made ' "$verdicts" || break
    done
    grep -q '^made ' "$verdicts" || fail "no variant was measured"
    grep -q '^verdict faster ' "$verdicts" ||
        awk '/^verdict/ { if (!done) next } { print } /^made/ && !done {
            print "verdict faster calls 500000 450000 550000 40 " systime(); done = 1 }' "$verdicts" >"$verdicts.new"
    [ ! -e "$verdicts.new" ] || mv "$verdicts.new" "$verdicts"
else
    session learned "${learning[@]}" -- "${program[@]}"
fi
PIECEMEAL_TRACE_FILE=$scratch/trace session used "${using[@]}" -- "${program[@]}"
shaders=$(built "$scratch/trace")
[ -n "$shaders" ] || { grep specialized "$scratch/trace" || true; fail "no shader is built with $part"; }
key=$(head -n 1 <<<"$shaders")

by="by ([a-z]+,)*$part(,[a-z]+)*	$key"
"$piecemeal" bisect --local -o "$scratch/reproduction" --check "! grep -qE '$by' \"\$PIECEMEAL_TRACE_FILE\"" -- \
    "${program[@]}" >"$scratch/found" 2>"$scratch/said" || { cat "$scratch/said"; fail "bisect failed"; }
[ "$(cat "$scratch/found")" = "$key $part" ] || { cat "$scratch/found" "$scratch/said"; fail "it is not $key $part"; }
[ -z "$(ls -A "$TMPDIR")" ] || fail "there is something left in TMPDIR: $(ls "$TMPDIR")"
kept=$scratch/reproduction/${key::12}-$part
grep -q 'makes these words again' "$kept/README.txt" || { cat "$kept/README.txt"; fail "the variant is not made again"; }

# That part of that shader alone. What trials have found comes along, a profile to where nothing is known; the words of
# uniforms and of A-Z testing's modules are this machine's own.
home=$XDG_DATA_HOME
[ "$part" != blocks ] || home=$scratch/elsewhere
[ "$part" != recipe ] || mv "$home/piecemeal/journal" "$scratch/journal"
unset PIECEMEAL_OPTIMIZE_VARIANTS
XDG_DATA_HOME=$home XDG_CACHE_HOME=$home PIECEMEAL=$piecemeal PIECEMEAL_TRACE_FILE=$scratch/shown \
    "$kept/reproduce.sh" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "reproduce.sh failed"; }
[ "$(grep -oE 'specialized by [a-z,]+	[0-9a-f]{48}' "$scratch/shown" | sort -u)" = "specialized by $part	$key" ] ||
    { grep specialized "$scratch/shown" || true; fail "reproduce.sh does not show $part alone"; }

# All the rest is done without it.
if [ "$part" = recipe ]; then
    export PIECEMEAL_OPTIMIZE_VARIANTS=true
    rm -rf "$home/piecemeal/journal"
    mv "$scratch/journal" "$home/piecemeal/journal"
fi
PIECEMEAL_TRACE_FILE=$scratch/trace-rest session rest "${using[@]}" optimize.withhold="$scratch/found" -- "${program[@]}"
[ "$(built "$scratch/trace-rest")" = "$(grep -v "$key" <<<"$shaders" || true)" ] || fail "not what is left without it"
echo "$name: all as expected"
