#!/bin/bash
# A program of examples/, without the layer: in each scene the same frames every time, recorded once or for each frame,
# drawn by steps or not, and the validation layer has nothing to say. Quickly (without PM_ALL) in one scene, another one
# of each program. usage: scene.sh DRIVER PROGRAM SIZE
scene_driver=$1 scene_program=$2 size=$3
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"

quick_driver "$scene_driver"
program=$PM_BUILD/examples/$scene_program
frames=3
scenes="0 1 2"
if [ -z "${PM_ALL-}" ]; then
    case $scene_program in
    *-deferred) scenes=0 ;;
    *-terrain) scenes=1 ;;
    *) scenes=2 ;;
    esac
fi
for number in $scenes; do
    run_quietly "$scratch/log" "$program" --scene $number --frames $frames --size "$size" --hash "$scratch/first"
    printf '%*s' $frames | VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation run_quietly "$scratch/steps" \
        "$program" --scene $number --step --size "$size" --hash "$scratch/second" --quiet --record-once \
        --passes "$scratch/passes" --png "$scratch/last.png"
    same_file "$scratch/first" "$scratch/second" "scene $number"
    [ "$(sort -u "$scratch/first" | wc -l)" = $frames ] || fail "scene $number does not move"
    grep -qvE '^[0-9]+\.[0-9]+$' "$scratch/steps" && fail "not the times of steps: $(cat "$scratch/steps")"
    [ "$(wc -l <"$scratch/steps")" = $frames ] || fail "not $frames steps: $(cat "$scratch/steps")"
    awk 'NR == 1 { columns = NF } NF != columns || (NR > 1 && /[^0-9. ]/) { exit 1 } END { exit NR != 4 }' \
        "$scratch/passes" || fail "not the times of passes: $(cat "$scratch/passes")"
    [ -s "$scratch/last.png" ] || fail "no picture"
done
