#!/bin/bash
# build.sh SOURCES OUT: builds bgfx's examples so that they draw by Direct3D 11 on DXVK, natively, for clients/bgfx.sh.
#
# SOURCES has a checkout of each of these, with its submodules: bgfx, bx, bimg (github.com/bkaradzic) and dxvk
# (github.com/doitsujin); revisions that fit are in docs/clients.md. Needs g++, meson, ninja, glslangValidator and SDL2
# (libsdl2-dev). Nothing of theirs is changed. OUT gets bgfx_examples, which has each example under its name, lib/ and a
# link to the folder that it has to run in.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$1" && pwd)
mkdir -p "$2/lib" "$2/objects"
out=$(cd "$2" && pwd)
compiler=${CXX:-g++}
examples=(00-helloworld 01-cubes 02-metaballs 03-raymarch 04-mesh 05-instancing 06-bump 08-update 09-hdr 12-lod 13-stencil
    14-shadowvolumes 15-shadowmaps-simple 16-shadowmaps 18-ibl 19-oit 20-nanovg 21-deferred 24-nbody 26-occlusion 27-terrain
    28-wireframe 29-debugdraw 31-rsm 32-particles 33-pom 36-sky 37-gpudrivenrendering 38-bloom 39-assao 43-denoise 44-sss
    45-bokeh 46-fsr 48-drawindirect 49-hextile)

[ -d "$out/dxvk" ] || meson setup --buildtype release -Denable_d3d8=false -Denable_d3d10=false "$out/dxvk" "$sources/dxvk"
ninja -C "$out/dxvk"
for library in d3d11 dxgi; do
    for name in "$library.so" "libdxvk_$library.so.0"; do # as bgfx calls it, and as DXVK does
        ln -sf "$(find "$out/dxvk/src/$library" -maxdepth 1 -name "libdxvk_$library.so.*.*" -type f | head -n 1)" "$out/lib/$name"
    done
done

bgfx=$sources/bgfx bx=$sources/bx bimg=$sources/bimg headers=$sources/bgfx/3rdparty/directx-headers/include
options=(-O1 -w -msse4.2 -DBX_CONFIG_DEBUG=0 -DENTRY_CONFIG_USE_SDL=1 -DUSE_ENTRY=1
    -DENTRY_DEFAULT_WIDTH=480 -DENTRY_DEFAULT_HEIGHT=270 -DBGFX_CONFIG_RENDERER_DIRECT3D11=1 -DASTCENC_F16C=0
    -DASTCENC_NEON=0 -DBIMG_CONFIG_PARSE_AVIF=0 -DBIMG_CONFIG_PARSE_HEIF=0 -D__STDC_LIMIT_MACROS -D__STDC_FORMAT_MACROS
    -D__STDC_CONSTANT_MACROS "-I$bgfx/include" "-I$bgfx/3rdparty" "-I$bgfx/examples/common" "-I$bx/include"
    "-I$bx/include/compat/linux" "-I$bx/3rdparty" "-I$bimg/include" "-I$bimg/3rdparty"
    "-I$bimg/3rdparty/astc-encoder/include" "-I$bimg/3rdparty/tinyexr/deps" "-I$headers/directx" "-I$headers"
    "-I$headers/wsl/stubs")
{
    echo "$here/glue.c"
    echo "$bx/src/amalgamated.cpp"
    echo "$bgfx/src/amalgamated.cpp"
    find "$bimg/src" -name 'image.cpp' -o -name 'image_decode*.cpp'
    find "$bimg/3rdparty/astc-encoder/source" "$bgfx/3rdparty/meshoptimizer/src" "$bgfx/3rdparty/dear-imgui" \
        "$bgfx/examples/common" "${examples[@]/#/$bgfx/examples/}" -name '*.cpp'
} | sort -u >"$out/sources"
compile() {
    local object language
    object=$out/objects/$(printf %s "$1" | tr / _).o
    case $1 in
    *.c) language=(-x c -std=c17) ;;
    *) language=(-x c++ -std=c++20) ;;
    esac
    [ "$object" -nt "$1" ] || $compiler "${language[@]}" "${options[@]}" -c -o "$object" "$1"
}
export -f compile
export out compiler
printf '%s\n' "${options[@]}" >"$out/options"
xargs -P "$(nproc)" -I SOURCE bash -c 'mapfile -t options <"$out/options"; compile SOURCE' <"$out/sources"
# shellcheck disable=SC2046
$compiler -o "$out/bgfx_examples" "$out"/objects/*.o $(printf -- '-Wl,--wrap=%s ' SDL_CreateWindow _ZN2bx12getHPCounterEv \
    _ZN4bgfx5frameEh _ZN5entry21getNativeWindowHandleENS_12WindowHandleE _Z17showExampleDialogPN5entry4AppIEPKc) \
    -lSDL2 -lX11 -lpthread -ldl
ln -sfn "$bgfx/examples/runtime" "$out/runtime"
