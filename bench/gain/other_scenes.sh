#!/bin/bash
# other_scenes.sh BUILD [GAME…]: what is learned in one scene gains on others: the cooperative paper's Figure 11, with
# WAY=zeros its Figure 10 within processes, and with WAY=blocks the same of how often blocks run and loops turn. Learned in
# scenes 1, 2 and 3 of a game of ours (terrain and deferred, unless told) alone and together: by contests of A-Z testing one after the other, or by the profiles of ten frames each, of which all that
# they lead to is used. Then each scene is drawn with that and with its own shaders in turn (--ab), while next to nothing is
# tried (limits.trial_share=0.0001).
# Prints a Markdown table with a row for what was learned: how many contests ended and how many had a winner, and a column a
# scene: what frames gain, with the 95 % interval, and how many faster shaders were in use. The same for zeros and blocks with a
# process a profile, in lockstep: bench/gain/general.c.
#
# BUILD is the build tree. The driver is the caller's: VK_DRIVER_FILES. SIZE: of the scenes. TRIED, SECONDS_TRIED: sessions of
# contests in each scene that is learned from; their trials may take TRIAL_SHARE of the time (0.1). SECONDS_COMPARED: of each
# comparison. KEEP=FOLDER keeps the sessions' logs and databases. Wants an idle machine.
: "${1:?usage: other_scenes.sh BUILD [GAME…]}"
build=$(cd "$1" && pwd)
shift
. "$(dirname "$0")/local_sessions.sh"
[ $# -gt 0 ] || set -- terrain deferred
size=${SIZE:-64x36} tried=${TRIED:-2} seconds_tried=${SECONDS_TRIED:-60} seconds_compared=${SECONDS_COMPARED:-30}
way=${WAY:-variants}
case $way in
variants)
    settings=(--set optimize.zero=false --set optimize.variants=true --set optimize.agreeing_sessions=1
        --set optimize.retry_share=0 --set sampler.kinds=timing --set sampler.window_probability=0
        --set optimize.blocks=false)
    learned_from=("0" "1" "2" "0 1 2")
    ;;
zeros)
    settings=(--set optimize.zero=true --set optimize.variants=false --set sampler.kinds=block,zero,turns
        --set debug.trust_variants=true --set debug.synchronous=true --set optimize.blocks=false)
    learned_from=("0" "1" "2" "0 1" "0 2" "1 2" "0 1 2")
    ;;
blocks)
    settings=(--set optimize.blocks=true --set optimize.zero=false --set optimize.variants=false
        --set sampler.kinds=block,turns --set debug.trust_variants=true --set debug.synchronous=true)
    learned_from=("0" "1" "2" "0 1" "0 2" "1 2" "0 1 2")
    ;;
*)
    echo "$script: there is no way '$way'" >&2
    exit 1
    ;;
esac
settings+=(--set optimize.constants=false)

# in_scene NAME SCENE FRAMES SECONDS OPTION…
in_scene() {
    local name=$1 seconds=$4
    workload_command "$game-$2" "$size" "$3"
    shift 4
    session "$name" "$seconds" TERM "${settings[@]}" "$@" -- "${command[@]}"
    [ "$status" = 0 ] || exit 1
}

frames=100000000 # more than a session has time for

# learn SCENE…: contests in each, until their time is over, or ten frames of each that are sampled whole
learn() {
    local scene number
    for scene in "$@"; do
        if [ "$way" != variants ]; then
            in_scene "profiled-$scene" "$scene" 10 300 --set sampler.window_probability=1 \
                --set sampler.api_probability=1 --set sampler.batch=128
            continue
        fi
        for number in $(seq "$tried"); do
            in_scene "tried-$scene-$number" "$scene" "$frames" "$seconds_tried" \
                --set limits.trial_share="${TRIAL_SHARE:-0.1}"
        done
    done
}

for game in "$@"; do
    echo "| $game: learned in | contests won | scene 1 | scene 2 | scene 3 |"
    echo "| --- | --- | --- | --- | --- |"
    for learned in "${learned_from[@]}"; do
        new_program "$game-${learned// /}"
        read -r -a scenes <<<"$learned"
        learn "${scenes[@]}"
        won=– ended=
        [ "$way" != variants ] || contests
        row="| $(printf '%s' "$learned" | tr '012' '123') | $won${ended:+ of $ended} |"
        for scene in 0 1 2; do
            in_scene "compared-$scene" "$scene" "$frames" "$seconds_compared" --ab --ab-frames 8 \
                --set sampler.window_probability=0 --set limits.trial_share=0.0001
            compared "compared-$scene"
            row+=" ${result##*| } ($shaders) |"
        done
        echo "$row"
    done
    echo
done
