#!/bin/sh
# Every shader of a folder compiled without and with debug information, and by another compiler, is one shader.
# usage: test_same_key.sh PIECEMEAL FOLDER
set -eu
piecemeal=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

key() { # module
    "$piecemeal" shader canonicalize "$1" -o "$scratch/canonical.spv"
}

count=0
for shader in $(find "$folder" -name '*.frag' -o -name '*.comp' | sort); do
    compile="glslangValidator -V --quiet --target-env vulkan1.1"
    $compile -g0 "$shader" -o "$scratch/plain.spv"
    $compile -g "$shader" -o "$scratch/names.spv"
    $compile -gVS "$shader" -o "$scratch/source.spv"
    glslc --target-env=vulkan1.1 "$shader" -o "$scratch/glslc.spv"
    plain=$(key "$scratch/plain.spv")
    for other in names source glslc; do
        if [ "$(key "$scratch/$other.spv")" != "$plain" ]; then
            echo "$shader: $other is another shader"
            exit 1
        fi
    done
    count=$((count + 1))
done
echo "$count shaders"
[ "$count" -ge 20 ]
