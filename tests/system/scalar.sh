#!/bin/bash
# The scalarized shaders of a program of examples/: spirv-val has nothing to say, no arithmetic on vectors is left, and
# they draw what the shaders draw that they were made from. On SwiftShader up to rounding (examples/scalarize/scalarize.h).
# usage: scalar.sh DRIVER PROGRAM SIZE
scalar_driver=$1 scalar_program=$2 size=$3
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"

need spirv-val spirv-dis ffmpeg
driver "$scalar_driver"
program=$PM_BUILD/examples/$scalar_program

modules=0
for module in "$program".shaders/*.scalar.spv; do
    spirv-val --target-env vulkan1.1 "$module" || fail "$module is not valid"
    # What gives a vector: loads, images, what is put together or taken out of a structure for those who need it whole.
    spirv-dis --raw-id "$module" | awk '
        / = OpTypeVector / { vectors[$1] = 1 }
        / = Op/ && $3 !~ /^OpType/ && vectors[$4] &&
            $3 !~ /^Op(Load|Image.*|CompositeConstruct|CompositeExtract|ConstantComposite|Undef)$/ { print; left = 1 }
        END { exit left }' >"$scratch/left" || fail "$module has arithmetic on vectors: $(head -n 3 "$scratch/left")"
    modules=$((modules + 1))
done
[ "$modules" -gt 2 ] || fail "no scalarized modules in $program.shaders"

run_quietly "$scratch/log" "$program" --frames 2 --size "$size" --hash "$scratch/vectors" --png "$scratch/vectors.png"
VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation run_quietly "$scratch/validation" \
    "$program" --scalar --quiet --frames 2 --size "$size" --hash "$scratch/scalars" --png "$scratch/scalars.png"
[ ! -s "$scratch/validation" ] || fail "validation: $(cat "$scratch/validation")"
if [ "$scalar_driver" != swiftshader ]; then
    same_file "$scratch/vectors" "$scratch/scalars" "scalarized"
else
    ffmpeg -nostdin -hide_banner -i "$scratch/vectors.png" -i "$scratch/scalars.png" -lavfi psnr -f null - 2>&1 |
        grep -oE 'average:(inf|[0-9]+)' >"$scratch/psnr" || fail "no comparison of pictures"
    decibels=$(cut -d: -f2 "$scratch/psnr")
    [ "$decibels" = inf ] || [ "$decibels" -ge 45 ] || fail "the pictures differ: $decibels dB"
fi
