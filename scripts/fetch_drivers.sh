#!/bin/bash
# Fetches the two software drivers that the tests want beside Debian 12's own lavapipe, and unpacks them into
# BUILD/drivers, never into the system:
#   lavapipe-25   mesa-vulkan-drivers of bookworm-backports
#   swiftshader   libvk_swiftshader.so out of Debian's chromium packages
# Each folder gets an icd.json with an absolute path, so that VK_DRIVER_FILES=.../icd.json is all it takes.
#
# apt downloads and checks the signatures (the system's keyring and mirror), with lists and cache of its own in
# the build folder. Nothing is installed and the system's apt state is left alone. What is there is kept.
#
# usage: scripts/fetch_drivers.sh [BUILD]      BUILD is the build folder, `build` beside scripts/ unless told
set -euo pipefail

. "$(dirname "$0")/own_apt.sh"
open_folder drivers "$@"
drivers=$folder

# The manifest is written each time: its path is absolute, and a build folder may have moved.
write_manifest() { # folder, library
    cat >"$drivers/$1/icd.json.new" <<JSON
{"file_format_version": "1.0.0", "ICD": {"library_path": "$drivers/$1/$2", "api_version": "1.3.0"}}
JSON
    mv "$drivers/$1/icd.json.new" "$drivers/$1/icd.json"
}

prepare_apt() {
    [ ! -d "$work/lists" ] || return 0
    local base security
    base=$(debian_mirror)
    security=$(mirror_of bookworm-security)
    {
        source_line "$base" bookworm
        source_line "$base" bookworm-backports
        [ -z "$security" ] || source_line "$security" bookworm-security
    } | open_apt
}

# Downloads a package and unpacks the one file of that name; false when the package does not have it.
unpack_file() { # package[/release], file name, target folder
    local package=${1%%/*} deb inside
    (cd "$work/debs" && apt_own download "$1") || fail "apt could not download $1"
    deb=$(echo "$work/debs/${package}"_*.deb)
    inside=$(dpkg-deb --fsys-tarfile "$deb" | tar -t | grep "/$2\$") || return 1
    mkdir -p "$work/tree" "$3"
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$work/tree" "$inside"
    dpkg-deb --show --showformat='${Package} ${Version}\n' "$deb" >"$3/package.txt"
    mv "$work/tree/$inside" "$3/$2"
}

check_libraries() { # library
    local missing
    missing=$(ldd -r "$1" 2>&1 | grep -E 'not found|undefined symbol' || true)
    if [ -n "$missing" ]; then
        rm -f "$1"
        fail "$(basename "$1") cannot be loaded (is mesa-vulkan-drivers installed?):"$'\n'"$missing"
    fi
}

if [ ! -s "$drivers/lavapipe-25/libvulkan_lvp.so" ]; then
    prepare_apt
    unpack_file mesa-vulkan-drivers/bookworm-backports libvulkan_lvp.so "$drivers/lavapipe-25" ||
        fail "mesa-vulkan-drivers of bookworm-backports has no libvulkan_lvp.so"
    check_libraries "$drivers/lavapipe-25/libvulkan_lvp.so"
    echo "fetched $(cat "$drivers/lavapipe-25/package.txt")"
fi
write_manifest lavapipe-25 libvulkan_lvp.so

# Which of chromium's packages carries it has changed over the years.
if [ ! -s "$drivers/swiftshader/libvk_swiftshader.so" ]; then
    prepare_apt
    unpack_file chromium-common libvk_swiftshader.so "$drivers/swiftshader" ||
        unpack_file chromium libvk_swiftshader.so "$drivers/swiftshader" ||
        fail "neither chromium-common nor chromium has libvk_swiftshader.so"
    check_libraries "$drivers/swiftshader/libvk_swiftshader.so"
    echo "fetched $(cat "$drivers/swiftshader/package.txt")"
fi
write_manifest swiftshader libvk_swiftshader.so
