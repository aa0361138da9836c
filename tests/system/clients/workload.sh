# The other programs of examples/, with their shaders as they are and as scalars; the argument is the program.
frames=2
# Their full-size compute passes run once a frame, in groups of 8x8.
client_expects="calls $frames lanes $((64 * 40 * frames))"
client_specialized=yes
[ "$client_argument" != piecemeal-postprocess ] || client_recipes=30
# Room for the loops of its compute shaders, which have too many operations for 8 and too few for 256.
[ "$client_argument" != piecemeal-deferred ] || client_operations="32 40 48"

client_run() {
    local form
    for form in "" --scalar; do
        # shellcheck disable=SC2086  # no argument, or one
        run_quietly "$scratch/log" "$PM_BUILD/examples/$client_argument" --quiet $form --frames $frames --size 64x36 \
            --hash "$1/frames$form.txt"
    done
}
