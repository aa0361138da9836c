# The demos of Debian's vkd3d: Direct3D 12 in a program for Linux, translated to Vulkan. The argument is one of them. The
# triangle is drawn when its window is shown, and stands still: what the window shows. The gears turn with the clock: their
# run is captured by gfxreconstruct without us, and its replay shows four frames. SwiftShader lacks an extension that vkd3d
# asks for.
client_needs="vkd3d-triangle vkd3d-gears Xvfb ffmpeg gfxrecon-replay"

# The triangle covers 12,800 pixels, and is drawn once; the gears are three draws a frame.
case $client_argument in
triangle) client_expects="calls 1 lanes 12800" ;;
gears) client_expects="calls 180" ;;
esac

client_prepare() {
    display
    [ "$client_argument" = gears ] || return 0
    # It goes on until it is told to stop; the capture is closed after its last frame.
    VK_INSTANCE_LAYERS=VK_LAYER_LUNARG_gfxreconstruct GFXRECON_CAPTURE_FILE=$scratch/gears.gfxr \
        GFXRECON_CAPTURE_FRAMES=1-60 GFXRECON_CAPTURE_FILE_TIMESTAMP=false GFXRECON_LOG_LEVEL=info timeout 600 vkd3d-gears >"$scratch/log" 2>&1 &
    children+=($!)
    wait_for 300 grep -q 'Finished recording' "$scratch/log" || fail "no capture: $(tail -n 3 "$scratch/log")"
    end_last
}

# wait_for TENTHS COMMAND...
wait_for() {
    local tenths=$1
    shift
    until "$@"; do
        tenths=$((tenths - 1))
        [ $tenths -gt 0 ] && kill -0 "${children[-1]}" 2>/dev/null || return 1
        sleep 0.1
    done
}

end_last() {
    kill "${children[-1]}"
    wait "${children[-1]}" 2>/dev/null || true
    unset 'children[-1]'
}

# An empty window, or none, packs to a tenth of the triangle. It is shown piece by piece: two looks must see the same.
triangle_stands() {
    local picture=$1
    mv -f "$picture" "$picture.before" 2>/dev/null || true
    run_quietly "$scratch/grab.log" ffmpeg -nostdin -v error -f x11grab -draw_mouse 0 -video_size 640x480 -i "$DISPLAY" \
        -frames:v 1 -y -f image2 -c:v png "$picture"
    [ "$(stat -c %s "$picture")" -gt 20000 ] && cmp -s "$picture" "$picture.before"
}

client_run() {
    if [ "$client_argument" = gears ]; then
        run_quietly "$scratch/log" gfxrecon-replay --screenshots 1,20,40,60 --screenshot-dir "$1" \
            "$scratch/gears_frames_1_through_60.gfxr"
        [ "$(find "$1" -name '*.bmp' | wc -l)" = 4 ] || fail "the replay took no pictures"
        return
    fi
    timeout 600 vkd3d-triangle >"$scratch/log" 2>&1 &
    children+=($!)
    wait_for 600 triangle_stands "$1/triangle.png" || fail "no triangle: $(tail -n 3 "$scratch/log")"
    end_last
    rm -f "$1/triangle.png.before"
}
