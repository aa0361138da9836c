#!/bin/bash
# The layer's package for 32-bit games: of the right architecture, with what it needs of it, and beside the other one:
# files of both have the same bytes. Builds both; skipped where scripts/fetch_i386.sh has not been run.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
cd "$source"
fail() { echo "package32: $*" >&2; exit 1; }
if [ ! -e build/i386/packages ] || [ ! -e build/khronos-i386 ]; then
    echo "package32: skipped: scripts/fetch_i386.sh makes what it is built with"
    exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
make_packages() {
    rm -rf "build/$1/packages"
    cmake --preset "$1" && cmake --build --preset "$1" -j "$(nproc)" && cpack --config "build/$1/CPackConfig.cmake"
}
for preset in package package32; do
    if ! make_packages "$preset" >"$scratch/log" 2>&1; then
        tail -20 "$scratch/log" >&2
        fail "$preset was not built"
    fi
done
layers=(build/package32/packages/piecemeal-layer_*_i386.deb)
[ -e "${layers[0]}" ] || fail "no package of i386 in build/package32/packages"
layer=${layers[0]} other=(build/package/packages/piecemeal-layer_*_"$(dpkg --print-architecture)".deb)

# field NAME WANTED: as a regular expression
field() {
    local found
    found=$(dpkg-deb -f "$layer" "$1")
    [[ $found =~ ^$2$ ]] || fail "$1 is '$found'"
}
field Package piecemeal-layer
field Architecture i386
field Multi-Arch same
field Depends 'libc6 \(>= 2\.[0-9]+\)'

dpkg-deb -x "$layer" "$scratch/32"
dpkg-deb -x "${other[0]}" "$scratch/64"
file=$scratch/32/usr/lib/i386-linux-gnu/libVkLayer_piecemeal.so
[ "$(head -c 5 "$file" | od -An -tx1 | tr -d ' ')" = 7f454c4601 ] || fail "its library is not one of 32 bits"
needed=$(objdump -p "$file" | awk '$1 == "NEEDED" { print $2 }' | sort | tr '\n' ' ')
[[ $needed =~ ^(ld-linux\.so\.2\ )?libc\.so\.6\ (libm\.so\.6\ )?$ ]] || fail "its library needs $needed"
both=0
while read -r name; do
    [ -e "$scratch/64/$name" ] || continue
    cmp "$scratch/32/$name" "$scratch/64/$name" || fail "$name is of both packages, with other bytes"
    both=$((both + 1))
done < <(cd "$scratch/32" && find . -type f)
[ $both -gt 0 ] || fail "no file is of both packages"
echo "package32: all as expected"
