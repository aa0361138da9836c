# ffmpeg's Vulkan filters, each frame by its MD5. An argument names one filter. ffmpeg_source is the picture.
client_needs=ffmpeg
case $client_argument in
scale)
    client_specialized=yes
    client_recipes=14
    ;;
gblur) client_operations="12 256" ;; # its loop has no room in 8
libplacebo)
    client_specialized=yes
    [ "$client_driver" = swiftshader ] || client_folded=yes
    client_operations="400 700 1500"
    ;;
esac

filter() {
    local source=${ffmpeg_source:-testsrc2=size=640x360:rate=25:duration=0.4}
    # SwiftShader's planar pictures differ from run to run without us too.
    local format=yuv420p
    [ "$client_driver" != swiftshader ] || format=rgba
    local before="format=$format,hwupload" after="hwdownload,format=$format"
    case $1 in
    gblur) echo "$source,$before,gblur_vulkan=sigma=3,$after" ;;
    avgblur) echo "$source,$before,avgblur_vulkan=sizeX=5,$after" ;;
    chromaber) echo "$source,$before,chromaber_vulkan=dist_x=2:dist_y=-2,$after" ;;
    scale) echo "$source,$before,scale_vulkan=w=320:h=180,$after" ;;
    flip) echo "$source,$before,flip_vulkan,$after" ;;
    hflip) echo "$source,$before,hflip_vulkan,$after" ;;
    transpose) echo "$source,$before,transpose_vulkan=dir=clock,$after" ;;
    overlay)
        echo "$source,$before[a];mandelbrot=size=160x90:rate=25:end_pts=400,trim=end_frame=10,$before[b];[a][b]overlay_vulkan=x=40:y=30,$after" ;;
    blend)
        echo "$source,$before[a];smptebars=size=640x360:rate=25:duration=0.4,$before[b];[a][b]blend_vulkan=all_mode=normal:all_opacity=0.4,$after" ;;
    libplacebo) echo "$source,$before,libplacebo=w=320:h=180:upscaler=ewa_lanczos:deband=true,$after" ;;
    *) fail "no filter $1" ;;
    esac
}

client_run() {
    local one
    for one in ${client_argument//,/ }; do
        run_quietly "$scratch/log" ffmpeg -nostdin -v error -init_hw_device vulkan=vk:0 -filter_hw_device vk \
            -filter_complex "$(filter "$one")" -f framemd5 -y "$1/$one.txt"
    done
}
