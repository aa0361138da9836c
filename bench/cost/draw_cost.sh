#!/bin/bash
# draw_cost.sh [BUILD]: instructions that layers add to a draw, to a dispatch, to a bind, and to a frame of a hundred
# draws, on the null driver, by callgrind: the game's thread at two counts, the slope. Prints a Markdown table.
#
# PM_KINDS="bind2 buffer…": others of the kinds that draw_cost.c does. PM_OTHERS=no: no other layers. PM_FEW, PM_MANY:
# the two counts.
# BUILD is the build tree (build/release). Needs valgrind; layers that are not installed are left out.
set -euo pipefail

source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$source_folder/build/release}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/vulkan"
ln -s "$build/share/vulkan/explicit_layer.d" "$scratch/vulkan/explicit_layer.d"

# Only what is asked for: no layer of this machine's, no settings of its user's.
clean=(env -i "PATH=$PATH" "HOME=$scratch" "XDG_DATA_HOME=$scratch" "XDG_CONFIG_HOME=$scratch"
    "XDG_CACHE_HOME=$scratch" NODEVICE_SELECT=1)
ours=(VK_INSTANCE_LAYERS=VK_LAYER_PIECEMEAL_cooperative_pgo PIECEMEAL_SAMPLER_SEED=1)

# instructions KIND COUNT VARIABLE...: of the first thread
instructions() {
    local kind=$1 count=$2 out=$scratch/callgrind
    shift 2
    # The same start for both counts: no shader that an earlier run left canonicalized.
    rm -rf "$out"* "$scratch/piecemeal"
    if ! timeout 900 "${clean[@]}" "$@" valgrind --tool=callgrind --separate-threads=yes \
        --callgrind-out-file="$out" "$build/bench/draw_cost" "$kind" "$count" \
        >"$scratch/log" 2>&1; then
        echo "draw_cost $kind $count with $* failed:" >&2
        tail -n 20 "$scratch/log" >&2
        return 1
    fi
    awk '/^(summary|totals):/ { total = $2 } END { print total }' "$out-01"
}

# slope KIND FEW MANY VARIABLE...
slope() {
    local kind=$1 few=$2 many=$3 low high
    shift 3
    low=$(instructions "$kind" "$few" "$@")
    high=$(instructions "$kind" "$many" "$@")
    awk -v low="$low" -v high="$high" -v n="$((many - few))" 'BEGIN { printf "%.2f", (high - low) / n }'
}

installed() {
    [ -e "/usr/share/vulkan/explicit_layer.d/$1" ] || [ -e "/usr/share/vulkan/implicit_layer.d/$1" ]
}

declare -A base
# row NAME FEW MANY VARIABLE...: what the layer adds to each kind
row() {
    local name=$1 few=$2 many=$3 kind cell line
    shift 3
    line="| $name |"
    for kind in $kinds; do
        local from=$few to=$many
        if [ "$kind" = frame ]; then
            from=$((few / 100))
            to=$((many / 100))
        fi
        cell=$(slope "$kind" "$from" "$to" "$@")
        if [ "$name" = "no layer" ]; then
            base[$kind]=$cell
        else
            cell=$(awk -v a="$cell" -v b="${base[$kind]}" 'BEGIN { printf "%.2f", a - b }')
        fi
        line="$line $cell |"
    done
    echo "$line"
}

few=${PM_FEW-20000} many=${PM_MANY-220000}
kinds=${PM_KINDS-draw dispatch bind frame}
if [ -n "${PM_KINDS-}" ]; then
    # shellcheck disable=SC2086  # one word a kind
    echo "| |$(printf ' %s |' $kinds)"
else
    echo "| | a draw | a dispatch | a bind | a frame of 100 draws |"
fi
# shellcheck disable=SC2086
echo "| --- |$(printf ' %.0s--- |' $kinds)"
row "no layer" "$few" "$many" X=1
# shellcheck disable=SC2086
echo "| *added by:* |$(printf ' %.0s|' $kinds)"
row "Piecemeal, outside a window" "$few" "$many" "${ours[@]}" \
    PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1e-15
for p in 0.01 0.05 1; do
    row "Piecemeal, in a window, p = $p" "$few" "$many" "${ours[@]}" \
        PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1 PIECEMEAL_SAMPLER_API_PROBABILITY=$p \
        PIECEMEAL_DEBUG_SYNCHRONOUS=true
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
