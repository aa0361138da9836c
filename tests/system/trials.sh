#!/bin/bash
# Specialized shaders are tried on a driver: the pictures stay the same bit by bit whichever is bound, the validation
# layer has nothing to say, and --ab says something. usage: trials.sh DRIVER PROGRAM SIZE FRAMES
trial_driver=$1 program=$PM_BUILD/examples/$2 size=$3 frames=$4
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"

driver "$trial_driver"
draw() {
    run_quietly "$scratch/log" "$program" --frames "$frames" --size "$size" --quiet --hash "$1"
}

# session LOG FRAMES OPTION...: on this machine only
session() {
    local log=$1 count=$2
    shift 2
    run_quietly "$scratch/run-$log" "$PM_BUILD/tools/piecemeal" run --local --set log.level=debug \
        --set log.file="$scratch/$log" --set debug.synchronous=true "$@" -- \
        "$program" --frames "$count" --size "$size" --quiet --hash "$scratch/hash-$log"
}

without_layer
with_validation "$scratch/validation-without"
draw "$scratch/without"
with_validation "$scratch/validation-with"
session first 2 --set sampler.window_probability=1 --set sampler.api_probability=1 --set sampler.batch=all \
    --set sampler.kinds=zero
session second "$frames" --ab --ab-frames 4 --set sampler.window_probability=0.001 --set sampler.api_probability=0.1
same_file "$scratch/without" "$scratch/hash-second" "while variants are tried"
said=$(new_messages "$scratch/validation-without" "$scratch/validation-with")
[ -z "$said" ] || fail "the validation layer says: $said"
tried=$(grep -cE 'tried a specialized shader|was not over after [1-9]' "$scratch/second" || true)
[ "$tried" -gt 0 ] || fail "nothing was tried: $(tail -n 20 "$scratch/second")"
grep -qE 'piecemeal run: (nothing was compared|[+-][0-9.]+ % frames)' "$scratch/run-second" ||
    fail "--ab says nothing: $(cat "$scratch/run-second")"
if grep -E ' (warning|error): ' "$scratch/first" "$scratch/second" >&2; then
    fail "the layer complained"
fi
grep -hE 'tried a specialized|was not over' "$scratch/second"
grep -h 'piecemeal run: ' "$scratch/run-second"

# Recorded once, nothing can alternate, and --ab says so.
run_quietly "$scratch/run-once" "$PM_BUILD/tools/piecemeal" run --local --ab --ab-frames 4 \
    --set sampler.window_probability=0 -- "$program" --frames 80 --size "$size" --quiet --record-once
grep -q 'records its command buffers once' "$scratch/run-once" || fail "of one recording --ab says: $(cat "$scratch/run-once")"
