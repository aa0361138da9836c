#!/bin/bash
# With every compute shader in several passes that can be, untried, a program draws and computes the same as without us,
# bit by bit, and the validation layer has nothing to say that it did not say without us.
#
# usage: partitioned.sh CLIENT DRIVER [ARGUMENT]     CLIENT is a file of clients/, as in invisible.sh
. "$(dirname "$0")/client.sh"
mkdir "$scratch/without" "$scratch/validated-without" "$scratch/validated-with"
# A layer that the client wants below ours, and without us too.
if [ -n "${client_layer-}" ]; then
    export VK_INSTANCE_LAYERS=$client_layer VK_ADD_LAYER_PATH=$client_layer_path
fi
client_run "$scratch/without"

with_layer
if [ -n "${client_layer-}" ]; then
    export VK_INSTANCE_LAYERS=$VK_INSTANCE_LAYERS:$client_layer VK_ADD_LAYER_PATH=$VK_ADD_LAYER_PATH:$client_layer_path
fi
export PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=${client_window-0} PIECEMEAL_SAMPLER_API_PROBABILITY=0.05
export PIECEMEAL_DEBUG_SYNCHRONOUS=1 PIECEMEAL_DEBUG_TRUST_VARIANTS=1
export PIECEMEAL_OPTIMIZE_PARTITION=1 PIECEMEAL_LIMITS_SCRATCH_MIB=512
# ALU operations of a pass; the few do not have room for all that is never cut.
ran=0
for operations in ${client_operations-8 256}; do
    export PIECEMEAL_DEBUG_PARTITION_LIMITS=$operations
    rm -rf "$scratch/with" "$PIECEMEAL_LOG_FILE"
    mkdir "$scratch/with"
    client_run "$scratch/with"
    diff -rq "$scratch/without" "$scratch/with" || fail "$client draws something else in passes of $operations"
    if grep -aE ' (warning|error): ' "$PIECEMEAL_LOG_FILE" >&2; then
        fail "the layer complained"
    fi
    grep -aoE 'a dispatch runs in [0-9]+ passes' "$PIECEMEAL_LOG_FILE" | sort | uniq -c || true
    if [ -n "${client_logged-}" ] && ! grep -qa "$client_logged" "$PIECEMEAL_LOG_FILE"; then
        fail "the log does not say: $client_logged"
    fi
    ran=$((ran + $(grep -ac 'a dispatch runs in ' "$PIECEMEAL_LOG_FILE" || true)))
done
[ "$ran" -gt 0 ] || fail "nothing ran in several passes: $(grep -a ' shader ' "$PIECEMEAL_LOG_FILE" | tail -n 20)"
[ "${client_validated-yes}" = yes ] && [ -n "${PM_ALL-}" ] || exit 0

layers=$VK_INSTANCE_LAYERS
unset VK_INSTANCE_LAYERS
validation_order=below
with_validation "$scratch/messages-without"
client_run "$scratch/validated-without"
export VK_INSTANCE_LAYERS=$layers
with_validation "$scratch/messages-with"
client_run "$scratch/validated-with"
diff -rq "$scratch/without" "$scratch/validated-with" || fail "$client draws something else under the validation layer"
new_messages "$scratch/messages-without" "$scratch/messages-with" >"$scratch/new-messages"
if [ -s "$scratch/new-messages" ]; then
    head -n 20 "$scratch/new-messages" >&2
    fail "the validation layer says what it did not say without us"
fi
