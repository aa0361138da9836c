#!/bin/bash
# figure9.sh BUILD [WORKLOAD…]: the cooperative paper's Figure 9 for us: what frames gain by how often blocks run, by A-Z
# testing, by zeros, and by all of them together. Prints a Markdown table with a row for each workload and way: how many
# contests of A-Z testing ended that had any variant to measure, and how many of them with one that is faster; how many shaders were faster and in
# use; milliseconds of the original and with them; and the gain with its 95 % interval. Below it, how many of all
# contests had a winner.
#
# A workload is one of our scenes (terrain-0, deferred-1, postprocess, …), a game of game_commands.sh (openarena, …) or a
# program of program_commands.sh that presents (mpv-gpu-next, glmark2-zink, …); all scenes, if none is named. A way is one
# machine's loop (piecemeal run --local) from nothing: a session that counts whole frames (not for A-Z testing alone),
# TRIED sessions in which variants are tried, so that only what was found faster is used, and COMPARED of both in turn
# (--ab), of which each is a row.
#
# BUILD is the build tree. The driver is the caller's: VK_DRIVER_FILES. WAYS: some of "blocks variants zeros all".
# SECONDS_TRIED, SECONDS_COMPARED: of each such session; SECONDS_PROFILED: of a program's that counts (a scene's has 10
# frames). Trials may take TRIAL_SHARE of the time (0.1), so that a player's many evenings fit into minutes. KEEP=FOLDER
# keeps the sessions' logs and databases. Wants an idle machine, and hours: SIZE=64x36 TRIED=1 SECONDS_TRIED=10 COMPARED=1
# SECONDS_COMPARED=10 shows that it works.
: "${1:?usage: figure9.sh BUILD [WORKLOAD…]}"
build=$(cd "$1" && pwd)
shift
. "$(dirname "$0")/local_sessions.sh"
take_workloads "$@"
seconds_profiled=${SECONDS_PROFILED:-60} seconds_tried=${SECONDS_TRIED:-120} seconds_compared=${SECONDS_COMPARED:-60}
tried=${TRIED:-3} compared=${COMPARED:-3} scene_size=${SIZE:-320x180}
frames=100000000 # more than a session has time for
contests_ended=0 contests_won=0
read -r -a ways <<<"${WAYS:-blocks variants zeros all}"

# settings WAY: what of it is on, to $options, and what it is profiled for, to $kinds
settings() {
    local blocks=false variants=false zeros=false
    kinds=
    case $1 in
    blocks) blocks=true kinds=block,turns ;;
    variants) variants=true ;;
    zeros) zeros=true kinds=zero,block,turns ;;
    all) blocks=true variants=true zeros=true kinds=zero,block,turns ;;
    *)
        echo "$script: there is no way '$1'" >&2
        exit 1
        ;;
    esac
    options=(--set "optimize.blocks=$blocks" --set "optimize.variants=$variants" --set "optimize.zero=$zeros"
        --set optimize.constants=false)
}

# play_session NAME SECONDS OPTION…: a session of the workload; one that fails ends the measurement
play_session() {
    local one=$1 seconds=$2
    shift 2
    workload_command "$workload" "$scene_size" "$frames"
    session "$one" "$seconds" TERM "${options[@]}" "$@" -- "${command[@]}"
    [ "$status" = 0 ] || exit 1
}

# row WAY SESSION
row() {
    local result shaders
    compared "$2"
    echo "| $workload | $1 | $won of $ended | $shaders | $result |"
}

echo "| workload | by | contests won | faster shaders in use | original, ms | with them, ms | frames (95 % interval) |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
for workload in "${workloads[@]}"; do
    for way in "${ways[@]}"; do
        settings "$way"
        new_program "$workload-$way"
        if [ -n "$kinds" ]; then
            sampled=(--set sampler.window_probability=1 --set sampler.api_probability=1 --set debug.synchronous=true)
            counted=$frames
            case $workload in
            terrain-* | deferred-* | postprocess) counted=10 ;;
            *) sampled=(--set sampler.window_probability=0.1 --set sampler.api_probability=0.2) ;;
            esac
            frames=$counted play_session profiled "$seconds_profiled" --set "sampler.kinds=$kinds" --set sampler.batch=128 "${sampled[@]}"
        fi
        for number in $(seq "$tried"); do
            play_session "tried$number" "$seconds_tried" --set sampler.kinds=timing --set sampler.window_probability=0 \
                --set limits.trial_share="${TRIAL_SHARE:-0.1}"
        done
        contests
        contests_ended=$((contests_ended + ended)) contests_won=$((contests_won + won))
        for number in $(seq "$compared"); do
            play_session "compared$number" "$seconds_compared" --ab --ab-frames 8 --set sampler.kinds=timing \
                --set sampler.window_probability=0
            row "$way" "compared$number"
        done
    done
done
echo
echo "Contests with a winner: $contests_won of $contests_ended."
