# Recordings that are kept: recorded once, submitted often, two of them at once. The argument is the way:
# - kept: with a pipeline
# - sampled: likewise, and calls of them are sampled
# - objects: with shader objects, which lavapipe 25 alone of these drivers has
# - watched: most of it is not to run in passes, and would be seen
# - queues: each on a queue of its own, of which a test's layer makes two of the driver's one
client_way=$client_argument
case $client_way in
objects)
    # Debian's validation layer (1.3.239) crashes with shader objects, without us too.
    client_validated=no
    ;;
sampled)
    client_way=kept
    client_window=1
    ;;
queues)
    client_logged="a recording has scratch memory from unit 1 on"
    client_layer=VK_LAYER_PIECEMEAL_test_two_queues
    client_layer_path=$PM_BUILD/tests/system/layers
    client_validated=no
    ;;
esac

client_run() {
    run_quietly "$scratch/log" "$PM_BUILD/tests/system/dispatches" "$1/values" "$client_way"
}
