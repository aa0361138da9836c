#!/bin/bash
# With every specialized shader in use that a profile of its own leads to, a program draws the same as without us, bit by
# bit, and the validation layer has nothing to say that it did not say without us. Some clients have no zeros that
# are of use; one with client_specialized=yes has, on each driver.
#
# usage: same_specialized.sh CLIENT DRIVER [ARGUMENT]     CLIENT is a file of clients/, as in invisible.sh
. "$(dirname "$0")/client.sh"
mkdir "$scratch/without" "$scratch/profiled" "$scratch/with"
client_run "$scratch/without"

with_layer
sample_everything
window=$PIECEMEAL_SAMPLER_WINDOW_PROBABILITY
export PIECEMEAL_SAMPLER_KINDS=zero PIECEMEAL_SAMPLER_BATCH=128 PIECEMEAL_LIMITS_VARIANTS=4096
export PIECEMEAL_SPOOL=$XDG_DATA_HOME/piecemeal/local/spool PIECEMEAL_DATABASES=$XDG_DATA_HOME/piecemeal/local/databases
# Of what is worth while, and then of whatever may be transformed, of which more is measured.
for which in profile all; do
    # Session one profiles; what it spooled becomes a database.
    rm -rf "$XDG_DATA_HOME/piecemeal" "$PIECEMEAL_LOG_FILE" "$scratch/profiled"
    mkdir "$scratch/profiled"
    export PIECEMEAL_DEBUG_SPECIALIZE=$which PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=$window
    unset PIECEMEAL_DEBUG_TRUST_VARIANTS
    client_run "$scratch/profiled"
    env -u VK_INSTANCE_LAYERS "$PM_BUILD/tools/piecemeal" run --local -- true >"$scratch/local.log" 2>&1 ||
        fail "the profile is not taken in: $(cat "$scratch/local.log")"

    # Session two runs what it leads to, untried.
    export PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=0 PIECEMEAL_DEBUG_TRUST_VARIANTS=1
    rm -f "$PIECEMEAL_LOG_FILE"
    rm -rf "$scratch/with"
    mkdir "$scratch/with"
    client_run "$scratch/with"
    diff -rq "$scratch/without" "$scratch/with" || fail "$client draws something else specialized ($which)"
    used=$(grep -ac ', specialized, ' "$PIECEMEAL_LOG_FILE") || true
    echo "$which: $used lines of specialized variants"
    if grep -aE ' (warning|error): ' "$PIECEMEAL_LOG_FILE" >&2; then
        fail "the layer complained"
    fi
done
grep -aqE ' is (not worth specializing|specialized: )' "$PIECEMEAL_LOG_FILE" || fail "no shader had a zero profile"
[ "$used" -gt 0 ] || [ -z "${client_specialized-}" ] || fail "nothing was specialized"
[ "${client_validated-yes}" = yes ] || exit 0

mkdir "$scratch/validated-without" "$scratch/validated-with"
layers=$VK_INSTANCE_LAYERS
unset VK_INSTANCE_LAYERS
validation_order=below
with_validation "$scratch/messages-without"
client_run "$scratch/validated-without"
export VK_INSTANCE_LAYERS=$layers
with_validation "$scratch/messages-with"
client_run "$scratch/validated-with"
new_messages "$scratch/messages-without" "$scratch/messages-with" >"$scratch/new-messages"
if [ -s "$scratch/new-messages" ]; then
    head -n 20 "$scratch/new-messages" >&2
    fail "the validation layer says what it did not say without us"
fi
