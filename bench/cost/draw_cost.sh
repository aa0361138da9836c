#!/bin/bash
# draw_cost.sh [BUILD]: instructions that layers add to a draw, to a dispatch, to a bind, and to a frame of a hundred
# draws, on the null driver (slopes.sh). Prints a Markdown table.
#
# PM_KINDS="bind2 buffer…": others of the kinds that draw_cost.c does. PM_OTHERS=no: no other layers. PM_P="0.01 1":
# only these probabilities inside a window; empty: none. PM_STANDS: likewise, where a variant stands for each pipeline, and
# outside windows. PM_HELD: where recordings that are kept hold every call twice. PM_OWED: inside a window, with a variant
# for one of two pipelines that share a shader, so that it is owed calls (odraw). PM_FEW, PM_MANY: the two counts.
# BUILD is the build tree (build/release). Needs valgrind; layers that are not installed are left out.
program=draw_cost kinds="draw dispatch bind frame" few=20000 many=220000
# shellcheck source=slopes.sh
. "$(dirname "$0")/slopes.sh" "${1:-$(dirname "$0")/../../build/release}"

installed() {
    [ -e "/usr/share/vulkan/explicit_layer.d/$1" ] || [ -e "/usr/share/vulkan/implicit_layer.d/$1" ]
}

if [ -n "${PM_KINDS-}" ]; then
    # shellcheck disable=SC2086  # one word a kind
    heading $kinds
else
    heading "a draw" "a dispatch" "a bind" "a frame of 100 draws"
fi
row_without
row "Piecemeal, outside a window" "$few" "$many" "${ours[@]}" \
    PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1e-15
for p in ${PM_P-0.01 0.05 1}; do
    row "Piecemeal, in a window, p = $p" "$few" "$many" "${ours[@]}" \
        PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1 PIECEMEAL_SAMPLER_API_PROBABILITY=$p \
        PIECEMEAL_DEBUG_SYNCHRONOUS=true
done
if [ -n "${PM_HELD-}" ]; then
    row "Piecemeal, outside a window, calls held twice" "$few" "$many" "${ours[@]}" \
        PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1e-15 PIECEMEAL_SAMPLER_API_PROBABILITY=1 \
        PIECEMEAL_DEBUG_SYNCHRONOUS=true
    # What is chosen with 4 p is so too.
    row "Piecemeal, in a window, calls held twice, p = 0.25" "$few" "$many" "${ours[@]}" \
        PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1 PIECEMEAL_SAMPLER_API_PROBABILITY=0.25 \
        PIECEMEAL_DEBUG_SYNCHRONOUS=true
fi
for p in ${PM_OWED-}; do
    # The programs' own pipelines have the first two variants; without a limit each has one.
    for limit in 2 256; do
        row "Piecemeal, in a window, p = $p, variants for $limit pipelines" "$few" "$many" "${ours[@]}" \
            PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1 PIECEMEAL_SAMPLER_API_PROBABILITY=$p \
            PIECEMEAL_DEBUG_SYNCHRONOUS=true PIECEMEAL_SAMPLER_KINDS=block \
            PIECEMEAL_SAMPLER_BATCH=all PIECEMEAL_LIMITS_VARIANTS=$limit
    done
done
# Where each shader has a recipe's variant, which is used without a trial (debug.recipe).
if [ -n "${PM_STANDS-}" ]; then
    row "Piecemeal, outside a window, where variants stand" "$few" "$many" "${ours[@]}" \
        PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1e-15 PIECEMEAL_DEBUG_SYNCHRONOUS=true \
        PIECEMEAL_DEBUG_RECIPE=any
fi
for p in ${PM_STANDS-}; do
    row "Piecemeal, in a window, p = $p, where variants stand" "$few" "$many" "${ours[@]}" \
        PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1 PIECEMEAL_SAMPLER_API_PROBABILITY=$p \
        PIECEMEAL_DEBUG_SYNCHRONOUS=true PIECEMEAL_DEBUG_RECIPE=any
done
[ "${PM_OTHERS-yes}" = yes ] || exit 0
if installed VkLayer_MESA_overlay.json; then
    row "Mesa's overlay" 5000 25000 VK_INSTANCE_LAYERS=VK_LAYER_MESA_overlay
fi
if installed MangoHud.json; then
    row "MangoHud" 5000 25000 MANGOHUD=1
fi
if installed VkLayer_gfxreconstruct.json; then
    row "gfxreconstruct, idle" 5000 25000 VK_INSTANCE_LAYERS=VK_LAYER_LUNARG_gfxreconstruct \
        GFXRECON_CAPTURE_FRAMES=1000000000 "GFXRECON_CAPTURE_FILE=$scratch/capture.gfxr"
fi
if installed VkLayer_khronos_validation.json; then
    row "Validation" 2000 6000 VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation
fi
