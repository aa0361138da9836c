# glmark2 through zink: OpenGL on Vulkan. Its own validation of each scene's picture, and a picture of the window.
client_needs="glmark2 Xvfb"

client_prepare() {
    display
    export GALLIUM_DRIVER=zink MESA_LOADER_DRIVER_OVERRIDE=zink LIBGL_ALWAYS_SOFTWARE=true
}

client_run() {
    run_quietly "$scratch/log" glmark2 --validate -s 300x200
    grep -a 'Validation' "$scratch/log" | sed 's/FPS:.*Validation/Validation/' >"$1/results.txt"
    grep -aq 'GL_RENDERER: *zink' "$scratch/log" || fail "glmark2 did not run on zink"
    grep -q Success "$1/results.txt" || fail "glmark2 validated nothing"
}
