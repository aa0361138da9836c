# Shader objects in place of pipelines, which lavapipe 25 alone of these drivers has. Both draws are of one fragment
# shader, half a picture each.
frames=2
client_expects="calls $((2 * frames)) lanes $((64 * 64 * frames))"
client_specialized=yes
# Debian's validation layer (1.3.239) crashes at the first draw with shader objects, without us too.
client_validated=no

client_run() {
    run_quietly "$scratch/log" "$PM_BUILD/tests/system/shader_objects" "$1/pictures"
}
