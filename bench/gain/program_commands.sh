# shellcheck shell=bash
# Debian's programs that draw or filter with Vulkan, or with OpenGL through zink: how they are started, for so many frames;
# sourced (bash), after local_sessions.sh and once there is a display.
need ffmpeg mpv glmark2 vulkaninfo
device=$(vulkaninfo --summary 2>/dev/null | awk -F ' *= *' '/deviceName/ && !found { print $2; found = 1 }')

size=${PM_GAME_SIZE:-640x360}
clip=$scratch/clip.mkv
[ -e "$clip" ] || ffmpeg -nostdin -v error -f lavfi -i "testsrc2=size=320x180:rate=25:duration=4,format=yuv420p" -c:v ffv1 -y "$clip"

# ---- the programs: `command` is what to run, for `frames` frames ----

play() {
    command=(mpv --no-config --gpu-api=vulkan --gpu-context=x11vk --vulkan-device="$device" --no-audio --untimed
        --loop-file=inf --frames="$frames" --no-osc --no-osd-bar --osd-level=0 --geometry="$size+0+0" --hwdec=no --really-quiet
        --profile=gpu-hq --scale=ewa_lanczossharp --cscale=ewa_lanczossoft "$@" "$clip")
}

filter() {
    command=(ffmpeg -nostdin -v error -init_hw_device vulkan=vk:0 -filter_hw_device vk -filter_complex "$1"
        -frames:v "$frames" -f null -)
}

scenes() {
    local scene
    command=(env GALLIUM_DRIVER=zink MESA_LOADER_DRIVER_OVERRIDE=zink LIBGL_ALWAYS_SOFTWARE=true glmark2
        -s "${PM_GAME_SIZE:-480x270}")
    for scene in "$@"; do
        command+=(-b "$scene:duration=$(awk -v s="$seconds" -v n=$# 'BEGIN { print s / 2 / n }')")
    done
}

# shade WIDTH HEIGHT: a clip (PM_CLIP) scaled to this size with a user shader (PM_SHADER, mpv's format), over and over
shade() {
    local shader=$scratch/shader.glsl
    cp "${PM_SHADER:?the user shader}" "$shader" # a path that the filter's syntax has no say in
    command=(ffmpeg -nostdin -v error -init_hw_device vulkan=vk:0 -filter_hw_device vk -stream_loop -1
        -i "${PM_CLIP:-$clip}" -filter_complex
        "[0:v]$upload,libplacebo=w=$1:h=$2:custom_shader_path=$shader,$download" -frames:v "$frames" -f null -)
}

source=testsrc2=size=$size:rate=25
small=testsrc2=size=${PM_SMALL:-320x180}:rate=25
upload=format=yuv420p,hwupload
download=hwdownload,format=yuv420p
# What is run where none is named. Others are run by name alone: vkcube, those with a user shader, and ffmpeg-deband, which has
# the kinds of shaders that ffmpeg-libplacebo has, but cheaper ones, of which contests end sooner.
programs=(mpv-gpu-next mpv-gpu ffmpeg-libplacebo ffmpeg-gblur ffmpeg-chromaber ffmpeg-scale ffmpeg-overlay ffmpeg-blend
    glmark2-zink)
set_command() {
    case $1 in
    vkcube)
        command=(vkcube --c "$frames")
        [ -z "${PM_GAME_SIZE-}" ] || command+=(--width "${PM_GAME_SIZE%x*}" --height "${PM_GAME_SIZE#*x}")
        ;;
    mpv-gpu-next) play --vo=gpu-next ;;
    mpv-gpu) play --vo=gpu ;;
    mpv-shader)
        clip=${PM_CLIP:-$clip}
        play --vo=gpu-next --glsl-shaders="${PM_SHADER:?the user shader}"
        ;;
    ffmpeg-libplacebo)
        filter "$small,$upload,libplacebo=w=iw*2:h=ih*2:upscaler=ewa_lanczos:deband=true,$download" ;;
    ffmpeg-deband)
        filter "$small,$upload,libplacebo=w=iw*2:h=ih*2:upscaler=spline36:deband=true:deband_iterations=4,$download" ;;
    ffmpeg-shader) shade 'iw*2' 'ih*2' ;;
    ffmpeg-gblur) filter "$source,$upload,gblur_vulkan=sigma=3,$download" ;;
    ffmpeg-chromaber) filter "$source,$upload,chromaber_vulkan=dist_x=2:dist_y=-2,$download" ;;
    ffmpeg-scale) filter "$source,$upload,scale_vulkan=w=960:h=540,$download" ;;
    ffmpeg-overlay)
        filter "$source,${upload}[a];mandelbrot=size=160x90:rate=25,${upload}[b];[a][b]overlay_vulkan=x=40:y=30,$download" ;;
    ffmpeg-blend)
        filter "$source,${upload}[a];smptebars=size=$size:rate=25,${upload}[b];[a][b]blend_vulkan=all_mode=normal:all_opacity=0.4,$download" ;;
    glmark2-zink)
        scenes shading:shading=phong bump:bump-render=height refract shadow jellyfish terrain \
            effect2d:kernel='1,1,1;1,1,1;1,1,1' desktop:effect=blur:blur-radius=5 ;;
    *)
        echo "$script: no program $1" >&2
        exit 2
        ;;
    esac
}
