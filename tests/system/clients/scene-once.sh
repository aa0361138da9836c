# The deferred scene with its commands recorded once.
client_expects="calls 240 lanes $((160 * 90 * 6))"
client_near=yes
client_specialized=yes

client_run() {
    run_quietly "$scratch/log" "$PM_BUILD/examples/piecemeal-deferred" --quiet --record-once --frames 6 \
        --size 160x90 --hash "$1/scene.txt" --png "$1/scene.png"
}
