#!/bin/bash
# Builds SPIRV-Tools' two libraries and unpacks the SPIR-V and Vulkan headers, in the versions of scripts/khronos.txt,
# into BUILD/khronos, never into the system:
#   lib/        libSPIRV-Tools.a and libSPIRV-Tools-opt.a, from Debian 13's source packages: its own libraries want a
#               newer libc. Static, hidden, without a sanitizer: every preset of ours links them.
#   include/    spirv-tools/, spirv/ (with the grammars), vulkan/, vk_video/
#   registry/   vk.xml
#   key         what they were made from: pins and compiler options
#
# apt downloads and checks the signatures, with lists and cache of its own in the build folder. What is there is kept,
# also in a copy of the folder: no path is in it. What was built is kept for other clones too, in the user's cache
# (XDG_CACHE_HOME or ~/.cache, piecemeal-build/khronos; 30 MB a version).
#
# With a toolchain file of cmake/, as cmake/i386.cmake, the same for that into BUILD/khronos-i386.
#
# usage: scripts/fetch_khronos.sh [BUILD [TOOLCHAIN]]   BUILD is the build folder, `build` beside scripts/ unless told
set -euo pipefail

scripts=$(cd "$(dirname "$0")" && pwd)
. "$scripts/own_apt.sh"
toolchain=${2:+$(realpath "$2")}
name=khronos${toolchain:+-$(basename "$toolchain" .cmake)}
open_folder "$name" "${1:-$scripts/../build}"
khronos=$folder

pins=$scripts/khronos.txt
recipe=$scripts/../cmake/spirv_tools
# shellcheck disable=SC2086  # no file where there is no toolchain
key=$(grep -hv '^#' "$pins" "$recipe/CMakeLists.txt" $toolchain | sha256sum | cut -d' ' -f1)

is_done() { # folder
    [ "$(cat "$1/key" 2>/dev/null)" = "$key" ]
}

# What was there goes first, its key before all: whoever has a key has the rest.
put_in_place() { # folder with lib, include and registry
    rm -rf "$khronos/key" "$khronos/lib" "$khronos/include" "$khronos/registry"
    mv "$1/lib" "$1/include" "$1/registry" "$khronos"
    echo "$key" >"$khronos/key"
}

# take FOLDER: copies what another one has, if it is of this key
take() {
    [ -n "$1" ] && is_done "$1" || return 1
    mkdir -p "$work"
    (cd "$1" && cp -r lib include registry "$work") || return 1
    put_in_place "$work"
    echo "fetch_khronos: copied from $1"
}

# A further worktree of the repository takes what the first one has, a further clone what the user's cache has.
first=$(git -C "$scripts" worktree list --porcelain 2>/dev/null | sed -n '1s/^worktree //p') || first=
cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
cache=${cache:+$cache/piecemeal-build/khronos/$key}

# Whole or not at all: another build may look meanwhile.
keep_in_cache() {
    [ -n "$cache" ] && [ ! -e "$cache" ] && mkdir -p "$(dirname "$cache")" || return 0
    local made=$cache.$$
    mkdir "$made" && cp -r "$khronos/lib" "$khronos/include" "$khronos/registry" "$khronos/key" "$made" &&
        mv -T "$made" "$cache" || rm -rf "$made"
}

if is_done "$khronos" || take "${first:+$first/build/$name}" || take "$cache"; then
    keep_in_cache 2>/dev/null || true
    exit 0
fi

unpack_vulkan() {
    (cd "$work/debs" && apt_own download libvulkan-dev) || fail "apt could not download libvulkan-dev"
    dpkg-deb -x "$work/debs"/libvulkan-dev_*.deb "$work/debs/tree"
    check libvulkan-dev "$work/debs/tree/usr/share/vulkan/registry/vk.xml"
    mkdir "$work/made/registry"
    cp -r "$work/debs/tree/usr/include/vulkan" "$work/debs/tree/usr/include/vk_video" "$work/made/include"
    cp "$work/debs/tree/usr/share/vulkan/registry/vk.xml" "$work/made/registry"
}

# The version's text has the tarball's name in it, not the state of the repository that the build folder is in.
build_libraries() {
    FORCED_BUILD_VERSION_DESCRIPTION=$(pinned spirv-tools 3)
    export FORCED_BUILD_VERSION_DESCRIPTION
    {
        cmake -G Ninja -S "$recipe" -B "$work/cmake" -DPM_SOURCES="$work/sources" -DCMAKE_BUILD_TYPE=Release \
            ${toolchain:+-DCMAKE_TOOLCHAIN_FILE="$toolchain"} &&
            cmake --build "$work/cmake" --target SPIRV-Tools-static SPIRV-Tools-opt -j "$(nproc)"
    } >"$work/log" 2>&1 || {
        tail -n 40 "$work/log" >&2
        fail "SPIRV-Tools could not be built"
    }
    mkdir "$work/made/lib"
    cp "$work/cmake/lib"/*.a "$work/made/lib"
}

echo "fetch_khronos: building SPIRV-Tools $(pinned spirv-tools 2), once for $khronos (minutes)"
began=$SECONDS
mkdir -p "$work/sources" "$work/made/include"
base=$(debian_mirror)
source_line "$base" trixie | sed 'p; s/^deb /deb-src /' | open_apt
unpack_source spirv-headers
unpack_source spirv-tools
cp -r "$work/sources/spirv-headers/include/spirv" "$work/sources/spirv-tools/include/spirv-tools" "$work/made/include"
unpack_vulkan
build_libraries

# New times, so that what was built with other headers is built again.
find "$work/made" -exec touch {} +
put_in_place "$work/made"
keep_in_cache 2>/dev/null || true
echo "fetch_khronos: done in $((SECONDS - began)) s"
