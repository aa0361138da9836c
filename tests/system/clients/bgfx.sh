# One of bgfx's examples, which nobody of ours wrote, by Direct3D 11 on DXVK, natively; three frames are compared. The
# argument names it, as 09-hdr. PM_BGFX: what bgfx/build.sh made. bgfx_frames: how many it draws.
client_needs="Xvfb"
client_validated=no # Debian's validation layer is older than what DXVK asks for
[ -x "${PM_BGFX:-}/bgfx_examples" ] || skip "no PM_BGFX with bgfx's examples (tests/system/bgfx/build.sh)"

client_prepare() {
    display
}

client_run() {
    local folder
    folder=$(cd "$1" && pwd)
    (
        export LD_LIBRARY_PATH=$PM_BGFX/lib DXVK_WSI_DRIVER=SDL2 DXVK_SHADER_CACHE=0 DXVK_LOG_PATH=none
        export SDL_VIDEODRIVER=x11 SDL_AUDIODRIVER=dummy PM_BGFX_FRAMES=${bgfx_frames:-24} PM_BGFX_PICTURES=$folder
        cd "$PM_BGFX/runtime"
        run_quietly "$scratch/log" "$PM_BGFX/bgfx_examples" --d3d11 "$client_argument"
    )
    [ "$(find "$1" -name '*.tga' | wc -l)" = 3 ] || fail "$client_argument took no pictures"
}
