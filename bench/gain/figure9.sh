#!/bin/bash
# figure9.sh BUILD [WORKLOAD…]: the cooperative paper's Figure 9 for us: what frames gain by how often blocks run, by A-Z
# testing, by zeros, and by all of them together. Prints a Markdown table with a row for each workload and way: how many
# shaders were faster and in use, milliseconds of the original and with them, and the gain with its 95 % interval.
#
# A workload is one of our scenes (terrain-0, deferred-1, postprocess, …) or a game of games.sh (openarena, nexuiz, …);
# all scenes, if none is named. A way is one machine's loop (piecemeal run --local) from nothing: a session that counts
# whole frames (not for A-Z testing alone), TRIED sessions in which variants are tried, so that only what was found
# faster is used, and COMPARED of both in turn (--ab), of which each is a row.
#
# BUILD is the build tree. The driver is the caller's: VK_DRIVER_FILES. WAYS: some of "blocks variants zeros all".
# FRAMES of a scene, SECONDS of a game: of each session in which variants are tried or compared; contests of A-Z testing
# want many. KEEP=FOLDER keeps the sessions' logs and databases. Wants an idle machine, and hours: SIZE=64x36 FRAMES=300
# TRIED=1 COMPARED=1 shows that it works.
: "${1:?usage: figure9.sh BUILD [WORKLOAD…]}"
build=$(cd "$1" && pwd)
shift
workloads=("$@")
set --
. "$(dirname "$0")/local_sessions.sh"
. "$(dirname "$0")/game_commands.sh"
[ ${#workloads[@]} -gt 0 ] ||
    workloads=(terrain-0 terrain-1 terrain-2 deferred-0 deferred-1 deferred-2 postprocess)
frames=${FRAMES:-4000} seconds=${SECONDS_PLAYED:-300} tried=${TRIED:-3} compared=${COMPARED:-3} size=${SIZE:-320x180}
read -r -a ways <<<"${WAYS:-blocks variants zeros all}"

# settings WAY: what of it is on, to $options, and what it is profiled for, to $kinds
settings() {
    local blocks=false variants=false zeros=false
    kinds=
    case $1 in
    blocks) blocks=true kinds=block ;;
    variants) variants=true ;;
    zeros) zeros=true kinds=zero,block ;;
    all) blocks=true variants=true zeros=true kinds=zero,block ;;
    *)
        echo "$script: there is no way '$1'" >&2
        exit 1
        ;;
    esac
    options=(--set "optimize.blocks=$blocks" --set "optimize.variants=$variants" --set "optimize.zero=$zeros"
        --set optimize.constants=false)
}

# play NAME FRAMES OPTION…: a session of the workload; a scene ends by itself
play() {
    local one=$1 count=$2
    shift 2
    case $workload in
    terrain-* | deferred-*)
        session "$one" 86400 TERM "${options[@]}" "$@" -- "$build/examples/piecemeal-${workload%-*}" \
            --scene "${workload#*-}" --size "$size" --frames "$count" --quiet
        ;;
    postprocess)
        session "$one" 86400 TERM "${options[@]}" "$@" -- "$build/examples/piecemeal-postprocess" --size "$size" \
            --frames "$count" --quiet
        ;;
    *)
        [ -n "$server" ] || start_display
        set_command "$workload"
        session "$one" "$seconds" TERM "${options[@]}" "$@" -- "${command[@]}"
        ;;
    esac
}

# row WAY SESSION
row() {
    local output=$folder/$2.output result shaders
    result=$(sed -nE 's/^piecemeal run: ([+-][0-9.]+ % frames) \(95 % interval ([+-][0-9.]+ to [+-][0-9.]+) %\): ([0-9.]+) ms original, ([0-9.]+) ms optimized$/\3 | \4 | \1 (\2)/p' "$output")
    shaders=$(sed -nE 's/^piecemeal run: ([0-9]+) specialized shaders? in use:.*/\1/p' "$output")
    [ -n "$result" ] || result="– | – | $(sed -nE 's/^piecemeal run: (nothing was compared: .*)/\1/p' "$output")"
    echo "| $workload | $1 | ${shaders:-0} | $result |"
}

echo "| workload | by | faster shaders in use | original, ms | with them, ms | frames (95 % interval) |"
echo "| --- | --- | --- | --- | --- | --- |"
for workload in "${workloads[@]}"; do
    for way in "${ways[@]}"; do
        settings "$way"
        new_program "$workload-$way"
        if [ -n "$kinds" ]; then
            sampled=(--set sampler.window_probability=1 --set sampler.api_probability=1 --set debug.synchronous=true)
            case $workload in
            terrain-* | deferred-* | postprocess) ;;
            *) sampled=(--set sampler.window_probability=0.1 --set sampler.api_probability=0.2) ;;
            esac
            play profiled 10 --set "sampler.kinds=$kinds" --set sampler.batch=128 "${sampled[@]}"
        fi
        for number in $(seq "$tried"); do
            play "tried$number" "$frames" --set sampler.kinds=timing --set sampler.window_probability=0
        done
        for number in $(seq "$compared"); do
            play "compared$number" "$frames" --ab --ab-frames 8 --set sampler.kinds=timing --set sampler.window_probability=0
            row "$way" "compared$number"
        done
    done
done
