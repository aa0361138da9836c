#!/bin/bash
# other_scenes.sh BUILD [GAME…]: what A-Z testing in one scene gains on others (the cooperative paper's Figure 11). Contests
# are held in scenes 1, 2 and 3 of a game of ours (terrain and deferred, unless told) alone, and in all three one after the
# other; then each scene is drawn with what was found faster and with its own shaders in turn (--ab), while next to nothing is
# tried (limits.trial_share=0.0001).
# Prints a Markdown table with a row for what was learned: how many contests ended and how many had a winner, and a column a
# scene: what frames gain, with the 95 % interval, and how many faster shaders were in use. The same for zeros and blocks: bench/gain/general.c.
#
# BUILD is the build tree. The driver is the caller's: VK_DRIVER_FILES. SIZE: of the scenes. TRIED, SECONDS_TRIED: sessions
# in each scene that is learned from; their trials may take TRIAL_SHARE of the time (0.1). SECONDS_COMPARED: of each
# comparison. KEEP=FOLDER keeps the sessions' logs and databases. Wants an idle machine.
: "${1:?usage: other_scenes.sh BUILD [GAME…]}"
build=$(cd "$1" && pwd)
shift
. "$(dirname "$0")/local_sessions.sh"
[ $# -gt 0 ] || set -- terrain deferred
size=${SIZE:-64x36} tried=${TRIED:-2} seconds_tried=${SECONDS_TRIED:-60} seconds_compared=${SECONDS_COMPARED:-30}
settings=(--set optimize.zero=false --set optimize.blocks=false --set optimize.constants=false
    --set optimize.variants=true --set optimize.agreeing_sessions=1 --set optimize.retry_share=0
    --set sampler.kinds=timing --set sampler.window_probability=0)

# in_scene NAME SCENE SECONDS OPTION…
in_scene() {
    local name=$1 seconds=$3
    workload_command "$game-$2" "$size" 100000000
    shift 3
    session "$name" "$seconds" TERM "${settings[@]}" "$@" -- "${command[@]}"
    [ "$status" = 0 ] || exit 1
}

# learn SCENE…: contests in each, until their time is over
learn() {
    local scene number
    for scene in "$@"; do
        for number in $(seq "$tried"); do
            in_scene "tried-$scene-$number" "$scene" "$seconds_tried" --set limits.trial_share="${TRIAL_SHARE:-0.1}"
        done
    done
}

for game in "$@"; do
    echo "| $game: learned in | contests won | scene 1 | scene 2 | scene 3 |"
    echo "| --- | --- | --- | --- | --- |"
    for learned in "0" "1" "2" "0 1 2"; do
        new_program "$game-${learned// /}"
        read -r -a scenes <<<"$learned"
        learn "${scenes[@]}"
        contests
        row="| $(printf '%s' "$learned" | tr '012' '123') | $won of $ended |"
        for scene in 0 1 2; do
            in_scene "compared-$scene" "$scene" "$seconds_compared" --ab --ab-frames 8 --set limits.trial_share=0.0001
            compared "compared-$scene"
            row+=" ${result##*| } ($shaders) |"
        done
        echo "$row"
    done
    echo
done
