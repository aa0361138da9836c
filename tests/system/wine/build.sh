#!/bin/bash
# Builds vkcube of a checkout of KhronosGroup/Vulkan-Tools, as it stands, for Windows, with pictures.c around it.
#
# usage: build.sh VULKAN_TOOLS OUT     needs gcc-mingw-w64-x86-64
set -euo pipefail
[ $# = 2 ] || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What vkcube calls by name; the rest it looks up.
{
    echo "LIBRARY vulkan-1.dll"
    echo "EXPORTS"
    grep -oh '\bvk[A-Z][A-Za-z0-9]*' "$1/cube/cube.c" "$1/cube/cube_functions.h" | sort -u
} >"$work/vulkan-1.def"
x86_64-w64-mingw32-dlltool -d "$work/vulkan-1.def" -l "$work/libvulkan-1.a"

# pictures.c has included the functions already, and puts one of its own before one of them.
sed '/#include "cube_functions.h"/d' "$1/cube/cube.c" >"$work/cube_without_functions.c"
x86_64-w64-mingw32-gcc -O2 -w -mwindows -DVK_USE_PLATFORM_WIN32_KHR -I "$work" -I "$1/cube" \
    -I "$here/../../../build/khronos/include" "$here/pictures.c" -o "$2/vkcube.exe" -L "$work" -lvulkan-1 -lgdi32
