# The deferred scene of examples/; the argument is the place.
frames=2
# The lighting shader runs in one draw for each of 40 tiles, once for every pixel.
client_expects="calls $((40 * frames)) lanes $((160 * 90 * frames))"
client_near=yes
client_specialized=yes
client_recipes=29

client_run() {
    run_quietly "$scratch/log" "$PM_BUILD/examples/piecemeal-deferred" --quiet --scene "$client_argument" \
        --frames $frames --size 160x90 --hash "$1/scene.txt" --png "$1/scene.png"
}
