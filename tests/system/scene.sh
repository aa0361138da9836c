#!/bin/bash
# The deferred scene, without the layer: the same frames every time, recorded once or for each frame, and the
# validation layer has nothing to say. usage: scene.sh DRIVER
. "$(dirname "$0")/lib.sh"

driver "$1"
scene=$PM_BUILD/examples/piecemeal-deferred
for number in 0 1 2; do
    run_quietly "$scratch/log" "$scene" --scene $number --frames 3 --size 160x90 --hash "$scratch/first"
    VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation run_quietly "$scratch/validation" \
        "$scene" --scene $number --frames 3 --size 160x90 --hash "$scratch/second" --quiet --record-once
    same_file "$scratch/first" "$scratch/second" "scene $number"
    [ "$(sort -u "$scratch/first" | wc -l)" = 3 ] || fail "scene $number does not move"
    [ ! -s "$scratch/validation" ] || fail "validation: $(cat "$scratch/validation")"
done
