#!/bin/bash
# Everything sampled, a program draws the same as without us, bit by bit, and the validation layer has nothing to say
# that it did not say without us.
#
# usage: invisible.sh CLIENT DRIVER [ARGUMENT]     CLIENT is a file of clients/
#
# A client defines client_run FOLDER, which runs the program once and leaves in the folder what it drew (hashes,
# pictures, results); may define client_prepare; and may set client_needs (the programs it needs) and
# client_validated=no (the validation layer is left out), client_near=yes (it leaves PNG pictures besides: see below) and
# client_calls=few (so few calls that chance may count all of them for blocks: blocks and zeros are counted in turn).
. "$(dirname "$0")/client.sh"

mkdir "$scratch/without" "$scratch/with"
client_run "$scratch/without"
# The control: what differs by itself says nothing about us. Quickly it is enough that nothing differs.
if [ -n "${PM_ALL-}" ]; then
    mkdir "$scratch/again"
    client_run "$scratch/again"
    diff -rq "$scratch/without" "$scratch/again" || fail "$client differs from run to run without us"
fi

# Counting blocks looks at no value and changes no bit. What a client expects to be counted is counted so.
if [ -n "${client_expects-}${client_calls-}" ]; then
    mkdir "$scratch/with-blocks"
    with_layer
    sample_everything
    export PIECEMEAL_SAMPLER_KINDS=block
    client_run "$scratch/with-blocks"
    diff -rq "$scratch/without" "$scratch/with-blocks" || fail "$client draws something else while blocks are counted"
    expect_sampled
    unset PIECEMEAL_SAMPLER_KINDS client_expects
    [ "${client_calls-}" != few ] || export PIECEMEAL_SAMPLER_KINDS=zero
fi

with_layer
sample_everything
client_run "$scratch/with"
expect_sampled
if ! diff -rq "$scratch/without" "$scratch/with"; then
    # What is looked at for zeros has one use more, and a driver may round otherwise what is used once (HAZARDS 3; seen
    # on lavapipe 22): by a unit, in few pixels.
    [ "${client_near-}" = yes ] && "$(dirname "$0")/near.py" "$scratch/without" "$scratch/with" ||
        fail "$client draws something else with us"
fi
[ "${client_validated-yes}" = yes ] || exit 0

for order in below above; do
    [ "$order" = below ] || [ -n "${PM_ALL-}" ] || continue
    mkdir "$scratch/validated-with-$order"
    with_layer $order
    sample_everything
    with_validation "$scratch/messages-with-$order"
    client_run "$scratch/validated-with-$order"
    expect_sampled
    [ -e "$scratch/messages-with-$order" ] || fail "the validation layer was not there"
    [ -s "$scratch/messages-with-$order" ] || continue
    mkdir "$scratch/validated-without"
    without_layer
    with_validation "$scratch/messages-without"
    client_run "$scratch/validated-without"
    new_messages "$scratch/messages-without" "$scratch/messages-with-$order" >"$scratch/new-messages-$order"
    if [ -s "$scratch/new-messages-$order" ]; then
        head -n 20 "$scratch/new-messages-$order" >&2
        fail "the validation layer $order us says what it did not say without us"
    fi
    rm -rf "$scratch/validated-without"
done
