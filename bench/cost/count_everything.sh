#!/bin/bash
# count_everything.sh [BUILD [SCENE…]]: frame time while every block of every draw and dispatch is counted, against no
# layer; the offload RFC has "about 30 %". Once with lanes counted in all blocks, once only in those from which the
# others' follow (sampler.follow). Prints rows of a Markdown table: scene and what is counted, p, b, frames, milliseconds
# without the layer, percent more with it (median of the blocks, their middle half, the mean with its 95 % interval),
# the same of none against none, frames at first uses, and what these cost.
#
# The scenes (deferred, terrain, postprocess) draw in turn, frame by frame (frame_cost). Every call is sampled, so the
# cost of copying counters out and of binding variants is in it; frames at variants' first uses stand apart.
#
# BUILD is the build tree (build/release). The driver is the caller's: VK_DRIVER_FILES. FRAMES, SKIP, BLOCK: as
# frame_cost has them. SIZE: of the scenes.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$source_folder/build/release}" && pwd)
shift || true
frames=${FRAMES:-600} skip=${SKIP:-200} block=${BLOCK:-20} size=${SIZE:-160x90}
scenes=("$@")
[ ${#scenes[@]} -gt 0 ] || scenes=(deferred terrain postprocess)
export PIECEMEAL_SAMPLER_KINDS=block PIECEMEAL_LIMITS_BACKGROUND_SHARE=1

# count SCENE NAME FOLLOW
count() {
    PIECEMEAL_SAMPLER_FOLLOW=$3 "$build/bench/frame_cost" --piecemeal "$build/tools/piecemeal" --name "$1, $2" --p 1 \
        --b all --frames "$frames" --skip "$skip" --block "$block" -- "$build/examples/piecemeal-$1" --size "$size"
}

status=0
for scene in "${scenes[@]}"; do
    count "$scene" "lanes of all blocks" false || status=1
    count "$scene" "lanes that others follow from" true || status=1
done
exit $status
