# vkcube, which records its commands once. A run is captured by gfxreconstruct without us; its replay, with and without
# us, shows four frames. vkcube itself also runs to its end.
client_needs="vkcube Xvfb gfxrecon-replay"

client_prepare() {
    display
    VK_INSTANCE_LAYERS=VK_LAYER_LUNARG_gfxreconstruct GFXRECON_CAPTURE_FILE=$scratch/cube.gfxr \
        GFXRECON_CAPTURE_FILE_TIMESTAMP=false GFXRECON_LOG_LEVEL=error run_quietly "$scratch/log" vkcube --c 61
}

client_run() {
    run_quietly "$scratch/log" vkcube --c 61
    # What is recorded once is sampled for one kind of profile all along.
    local kind
    for kind in block zero; do
        mkdir "$1/$kind"
        PIECEMEAL_SAMPLER_KINDS=$kind run_quietly "$scratch/log" gfxrecon-replay --screenshots 1,20,40,60 \
            --screenshot-dir "$1/$kind" "$scratch/cube.gfxr"
        [ "$(find "$1/$kind" -name '*.bmp' | wc -l)" = 4 ] || fail "the replay took no pictures"
    done
}
