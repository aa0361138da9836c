#!/bin/bash
# A game destroys a timeline semaphore once the fence of the submission that signals it is signaled. lavapipe may still
# write to it then (docs/results/drivers.md); with us it does not. usage: freed_semaphores.sh DRIVER
. "$(dirname "$0")/lib.sh"

driver "$1"
program=$PM_BUILD/tests/system/freed_semaphores rounds=4000
without_layer
run_quietly "$scratch/run-without" "$program" $rounds
echo "without us: $(cat "$scratch/run-without")"
with_layer
run_quietly "$scratch/run-with" "$program" $rounds
echo "with us: $(tail -n 1 "$scratch/run-with")"
grep -q 'sampling on' "$PIECEMEAL_LOG_FILE" || fail "the layer was not there"
grep -qx "0 of $rounds semaphores were written to after they were freed" "$scratch/run-with" ||
    fail "the driver writes to semaphores that the game has destroyed"
