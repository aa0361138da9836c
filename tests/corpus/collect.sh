#!/bin/bash
# collect.sh BUILD FOLDER [PROGRAM…]: the shaders of Debian's programs, as each gave them to Vulkan. Every program runs
# once with the layer, everything sampled; what the layer's shader store then holds goes to FOLDER/PROGRAM-DRIVER
# (store_contents.py). BUILD is a build tree; README.md says which programs there are and what they need.
#
# DRIVERS (lavapipe-25 swiftshader) are the drivers to run on: what OpenGL programs become on Vulkan depends on them.
: "${2:?usage: collect.sh BUILD FOLDER [PROGRAM…]}"
here=$(cd "$(dirname "$0")" && pwd)
PM_SOURCE=$(cd "$here/../.." && pwd)
PM_BUILD=$(cd "$1" && pwd)
mkdir -p "$2"
corpus=$(cd "$2" && pwd)
export PM_SOURCE PM_BUILD
shift 2
programs=("$@")
set --
. "$PM_SOURCE/tests/system/lib.sh"
[ ${#programs[@]} -gt 0 ] || programs=(vkcube ffmpeg libplacebo mpv mpv-hq glmark2 piglit)

# play OPTION…: mpv shows a clip
play() {
    timeout 600 mpv --no-config --gpu-api=vulkan --gpu-context=x11vk --vulkan-device="$device_name" --no-audio \
        --untimed --frames=4 --no-osc --no-osd-bar --osd-level=0 --geometry=320x180+0+0 --hwdec=no --really-quiet \
        "$@" "$scratch/clip.mkv"
}

prepare_clip() {
    timeout 60 ffmpeg -nostdin -v error -f lavfi \
        -i "testsrc2=size=160x90:rate=25:duration=1,format=yuv420p" -c:v ffv1 -y "$scratch/clip.mkv"
    device_name=$(vulkaninfo --summary 2>/dev/null | awk -F ' *= *' '/deviceName/ && !found { print $2; found = 1 }')
}

# filter GRAPH: a few small pictures through Vulkan filters of ffmpeg
filter() {
    timeout 600 ffmpeg -nostdin -v error -init_hw_device vulkan=vk:0 -filter_hw_device vk -filter_complex "$1" \
        -frames:v 3 -f null -
}

run_vkcube() {
    timeout 300 vkcube --c 20
}

run_ffmpeg() {
    local source=testsrc2=size=160x90:rate=25 other=smptebars=size=160x90:rate=25 one
    local format=yuv420p
    [ "$driver_name" != swiftshader ] || format=rgba
    local before="format=$format,hwupload" after="hwdownload,format=$format"
    for one in gblur_vulkan=sigma=3 avgblur_vulkan=sizeX=5 chromaber_vulkan=dist_x=2:dist_y=-2 \
        scale_vulkan=w=80:h=45 scale_vulkan=w=80:h=45:format=rgba flip_vulkan hflip_vulkan vflip_vulkan \
        transpose_vulkan=dir=clock; do
        # avgblur aborts on lavapipe 25 without us.
        [ "$driver_name:${one%%=*}" != lavapipe-25:avgblur_vulkan ] || continue
        filter "$source,$before,$one,$after"
    done
    for one in overlay_vulkan=x=40:y=30 blend_vulkan=all_mode=normal:all_opacity=0.4 \
        blend_vulkan=all_mode=multiply; do
        filter "$source,${before}[a];$other,${before}[b];[a][b]$one,$after"
    done
}

run_libplacebo() {
    local source=testsrc2=size=160x90:rate=25 before=format=yuv420p,hwupload after=hwdownload,format=yuv420p one
    for one in upscaler=ewa_lanczos:deband=true upscaler=bicubic upscaler=spline36:deband=true:dithering=blue \
        downscaler=mitchell:upscaler=nearest tonemapping=bt.2390:colorspace=bt2020nc:color_trc=smpte2084 \
        colorspace=bt709:color_primaries=bt2020:gamut_mode=clip dithering=ordered; do
        filter "$source,$before,libplacebo=w=240:h=136:$one,$after"
    done
}

run_mpv() {
    prepare_clip
    play --vo=gpu-next
    play --vo=gpu
}

run_mpv-hq() {
    prepare_clip
    local vo
    for vo in gpu-next gpu; do
        play --vo=$vo --profile=gpu-hq --scale=ewa_lanczossharp --cscale=ewa_lanczossoft
        play --vo=$vo --scale=bicubic --dscale=mitchell --correct-downscaling --sigmoid-upscaling --deband \
            --target-trc=pq --tone-mapping=bt.2390 --icc-profile=
    done
}

run_glmark2() {
    timeout 900 glmark2 --validate -s 160x120
}

run_piglit() {
    rm -rf "$scratch/piglit"
    timeout 1800 piglit run -p glx -j2 shader -o -x unroll-explosion \
        -t 'spec@glsl-1.[1-5]0@execution@(loops|switch|discard|derivatives|built-in-functions@fs-op-mod|fs-)' \
        "$scratch/piglit"
}

# What a program needs installed; 1: it cannot run on this driver.
prepare() {
    case $1 in
    vkcube) need vkcube Xvfb ;;
    ffmpeg | libplacebo) need ffmpeg ;;
    mpv*)
        need mpv ffmpeg Xvfb vulkaninfo
        [ "$driver_name" != swiftshader ] || return 1
        ;;
    glmark2)
        need glmark2 Xvfb
        export GALLIUM_DRIVER=zink MESA_LOADER_DRIVER_OVERRIDE=zink LIBGL_ALWAYS_SOFTWARE=true
        ;;
    piglit)
        need piglit Xvfb
        export GALLIUM_DRIVER=zink MESA_LOADER_DRIVER_OVERRIDE=zink LIBGL_ALWAYS_SOFTWARE=true PIGLIT_NO_FAST_SKIP=1
        ;;
    *) fail "no program $1" ;;
    esac
}

need zstd python3
display
for driver_name in ${DRIVERS:-lavapipe-25 swiftshader}; do
    for program in "${programs[@]}"; do
        (
            trap - EXIT # the display is still needed
            driver "$driver_name"
            prepare "$program" || exit 0
            with_layer
            sample_everything
            # One kind, and one variant of each shader: a shader is kept once it is looked at.
            export PIECEMEAL_SAMPLER_KINDS=block PIECEMEAL_LIMITS_SHADER_STORE_MIB=4096 PIECEMEAL_LIMITS_VARIANTS=4096
            # A program that ends badly has left its shaders all the same.
            "run_$program" >"$scratch/$program.log" 2>&1 || echo "$program on $driver_name: status $?" >&2
            "$here/store_contents.py" "$XDG_DATA_HOME/piecemeal/shaders" "$corpus/$program-$driver_name"
        )
    done
done
