#!/bin/bash
# Debian 13's Vulkan loader and validation layer, which scripts/fetch_loader.sh unpacked beside the build: the layer is
# found as implicit and as explicit one and loaded once, everything sampled a program draws the same as without us, and
# the validation layer has nothing to say that it did not say without us.
#
# usage: loader_13.sh DRIVER
set -- "$1"
loader_driver=$1
. "$(dirname "$0")/lib.sh"

driver "$loader_driver"
debian_13=$PM_SOURCE/build/loader-13
[ -x "$debian_13/run" ] || skip "no Debian 13 loader (scripts/fetch_loader.sh)"
version=$(awk '$1 == "libvulkan1" { sub("-.*", "", $2); sub("[.][0-9]*$", "", $2); print $2 }' "$debian_13/package.txt")
validation=$debian_13/root/usr/share/vulkan/explicit_layer.d
export VK_LOADER_DEBUG=info,layer

# draw NAME: three frames' hashes into $scratch/NAME, what the loader says into $scratch/NAME.loader
draw() {
    timeout 900 "$debian_13/run" "$PM_BUILD/examples/piecemeal-deferred" --scene 0 --frames 3 --size 64x36 \
        --hash "$scratch/$1" --quiet 2>"$scratch/$1.loader" || fail "$1: $(tail -n 5 "$scratch/$1.loader")"
    grep -aq "Vulkan Loader Version $version" "$scratch/$1.loader" ||
        fail "not Debian 13's loader: $(grep -a 'Loader Version' "$scratch/$1.loader")"
}

# expect_loaded NAME: the layer, sampling, once
expect_loaded() {
    expect_sampled
    same_file "$scratch/without" "$scratch/$1" "$1"
    [ "$(grep -ac "Insert instance layer.*libVkLayer_piecemeal" "$scratch/$1.loader")" = 1 ] ||
        fail "$1: not loaded once: $(grep -a piecemeal "$scratch/$1.loader")"
}

# Every call; of the kinds of profile one, since this is about the loader.
sample_blocks() {
    sample_everything
    export PIECEMEAL_SAMPLER_KINDS=block
}

without_layer
draw without

with_layer
sample_blocks
draw explicit
expect_loaded explicit

# As installed: both manifests are found, and the variable turns the implicit one on.
as_implicit() {
    with_layer
    sample_blocks
    unset VK_INSTANCE_LAYERS
    mkdir -p "$XDG_DATA_HOME/vulkan"
    ln -sfn "$PM_BUILD/share/vulkan/implicit_layer.d" "$XDG_DATA_HOME/vulkan/implicit_layer.d"
    export PIECEMEAL_ENABLE=1
}
as_implicit
draw implicit
expect_loaded implicit
PIECEMEAL_DISABLE=1 draw disabled
grep -a "Insert instance layer.*libVkLayer_piecemeal" "$scratch/disabled.loader" && fail "loaded though disabled"
same_file "$scratch/without" "$scratch/disabled" disabled
as_implicit
export VK_INSTANCE_LAYERS=$piecemeal_layer
draw both
expect_loaded both
rm "$XDG_DATA_HOME/vulkan/implicit_layer.d"
unset PIECEMEAL_ENABLE

for order in below above; do
    without_layer
    export VK_ADD_LAYER_PATH=$validation
    with_validation "$scratch/messages-without"
    draw validated-without
    with_layer $order
    sample_blocks
    VK_ADD_LAYER_PATH=$VK_ADD_LAYER_PATH:$validation
    with_validation "$scratch/messages-$order"
    draw validated-$order
    grep -aq "Insert instance layer.*khronos_validation" "$scratch/validated-$order.loader" ||
        fail "no validation layer: $(grep -a validation "$scratch/validated-$order.loader")"
    expect_loaded validated-$order
    new_messages "$scratch/messages-without" "$scratch/messages-$order" >"$scratch/new-messages-$order"
    if [ -s "$scratch/new-messages-$order" ]; then
        head -n 20 "$scratch/new-messages-$order" >&2
        fail "the validation layer $order us says what it did not say without us"
    fi
done
