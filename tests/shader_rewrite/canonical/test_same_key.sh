#!/bin/sh
# Every shader of a folder compiled without and with debug information, and by another compiler, is one shader. Quickly
# (without PM_ALL) each is compiled in one of these ways, the next one in another.
# usage: test_same_key.sh PIECEMEAL FOLDER
set -eu
piecemeal=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

key() { # module
    "$piecemeal" shader canonicalize "$1" -o "$scratch/canonical.spv"
}

# compile_as WAY SHADER
compile_as() {
    compile="glslangValidator -V --quiet --target-env vulkan1.1"
    case $1 in
    names) $compile -g "$2" -o "$scratch/names.spv" ;;
    source) $compile -gVS "$2" -o "$scratch/source.spv" ;;
    glslc) glslc --target-env=vulkan1.1 "$2" -o "$scratch/glslc.spv" ;;
    *) $compile -g0 "$2" -o "$scratch/plain.spv" ;;
    esac
}

count=0
ways="names source glslc"
for shader in $(find "$folder" -name '*.frag' -o -name '*.comp' | sort); do
    compile_as plain "$shader"
    plain=$(key "$scratch/plain.spv")
    if [ -z "${PM_ALL-}" ]; then
        # shellcheck disable=SC2086 # words
        ways=$(printf '%s\n' names source glslc | sed -n "$((count % 3 + 1))p")
    fi
    for other in $ways; do
        compile_as "$other" "$shader"
        if [ "$(key "$scratch/$other.spv")" != "$plain" ]; then
            echo "$shader: $other is another shader"
            exit 1
        fi
    done
    count=$((count + 1))
done
echo "$count shaders"
[ "$count" -ge 20 ]
