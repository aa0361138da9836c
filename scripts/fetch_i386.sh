#!/bin/bash
# Makes what the 32-bit layer is built with and runs on (the preset release32, cmake/i386.cmake), never in the system:
#   build/i386/root          Debian 12's i386 packages of the list below, unpacked: a sysroot for the machine's own
#                            compiler, with libc, loader and test library to run with
#   build/khronos-i386       SPIRV-Tools' two libraries in 32 bits (scripts/fetch_khronos.sh; minutes, once)
#
# apt downloads and checks the signatures, with lists and cache of its own. What is there is kept. Ends with 3 and the
# reason where 32 bits cannot be had: no kernel for them, no i386 on the mirror.
#
# usage: scripts/fetch_i386.sh
set -euo pipefail

scripts=$(cd "$(dirname "$0")" && pwd)
. "$scripts/own_apt.sh"
open_folder i386
packages="libc6 libc6-dev linux-libc-dev libgcc-s1 libgcc-12-dev libstdc++-12-dev libstdc++6 libzstd-dev libb2-dev
    libprotobuf-c-dev libxxhash-dev uthash-dev libvulkan1 libvulkan-dev libcmocka-dev libcmocka0"

cannot() {
    echo "$(basename "$0" .sh): no 32 bits: $*" >&2
    exit 3
}

apt_i386() {
    apt_own -o APT::Architecture=i386 -o APT::Architectures=i386 "$@"
}

unpack_root() {
    local base deb
    base=$(debian_mirror)
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/root"
    source_line "$base" bookworm >"$work/sources.list"
    apt_i386 update --error-on=any || cannot "apt could not read Debian 12's package lists for i386"
    # shellcheck disable=SC2086  # one word a package
    (cd "$work/debs" && apt_i386 download $packages) || cannot "apt could not download the i386 packages"
    for deb in "$work/debs"/*.deb; do
        dpkg-deb -x "$deb" "$work/root"
    done
    # What names a file from the top means the one in here: libm.so is such a link.
    find "$work/root" -type l -lname '/*' | while read -r link; do
        ln -sfnr "$work/root$(readlink "$link")" "$link"
    done
    rm -rf "$folder/packages" "$folder/root"
    mv "$work/root" "$folder"
    echo $packages >"$folder/packages" # the last: whoever has it has the rest
}

[ "$(uname -m)" = x86_64 ] || cannot "this machine is $(uname -m)"
[ "$(cat "$folder/packages" 2>/dev/null)" = "$(echo $packages)" ] || unpack_root
"$folder/root/lib/ld-linux.so.2" --version >/dev/null 2>&1 || cannot "this kernel does not run such programs"
"$scripts/fetch_khronos.sh" "$scripts/../build" "$scripts/../cmake/i386.cmake"
