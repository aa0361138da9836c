#!/bin/bash
# A game destroys a timeline semaphore once the fence of the submission that signals it, or waits for it, is signaled.
# lavapipe may still write to it then (docs/results/drivers.md); with us it does not. usage: freed_semaphores.sh DRIVER
. "$(dirname "$0")/lib.sh"

driver "$1"
program=$PM_BUILD/tests/system/freed_semaphores rounds=4000

with_us() {
    run_quietly "$scratch/run-$1" "$program" $rounds "$1"
    echo "$1, with us: $(tail -n 1 "$scratch/run-$1")"
    grep -q 'sampling on' "$PIECEMEAL_LOG_FILE" || fail "the layer was not there"
    grep -qx "0 of $rounds semaphores were written to after they were freed" "$scratch/run-$1" ||
        fail "the driver writes to semaphores that the game has destroyed"
}

without_layer
run_quietly "$scratch/run-without" "$program" $rounds signals
echo "signals, without us: $(cat "$scratch/run-without")"
with_layer
with_us signals
with_us waits # without us the driver may hang there
[ "$1" != lavapipe-25 ] || with_us binds # the others bind no sparse memory
