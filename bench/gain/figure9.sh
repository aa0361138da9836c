#!/bin/bash
# figure9.sh BUILD [WORKLOAD…]: the cooperative paper's Figure 9 for us: what frames gain by how often blocks run, by A-Z
# testing, by zeros, and by all of them together.
#
# A workload is one of our scenes (terrain-0, deferred-1, postprocess, …), a game of game_commands.sh (openarena, …) or a
# program of program_commands.sh that bench/common/step_frames.c can make wait (mpv-gpu-next, glmark2-zink, ffmpeg-deband,
# …); all scenes, if none is named. Of each one session counts whole frames. What it found all ways begin with, each in a
# folder of its own: TRIED sessions (2; piecemeal run --local) in which variants are tried. What at least two of them
# found faster is used. Then processes draw the same frames in turn: PROCESSES (3) without the layer, with it but nothing to use, and
# with what each way found, told by processor time (gain_processor.py, which says what its columns are).
#
# Prints a Markdown table with a row for each workload and way: how many contests of A-Z testing ended that had any variant to
# measure, and how many of them with one that is faster, and what gain_processor.py says. Below it the means over the
# workloads, and how many of all contests had a winner.
#
# BUILD is the build tree. The driver is the caller's: VK_DRIVER_FILES. WAYS: some of "blocks variants zeros all".
# SECONDS_TRIED: of each session that tries; SECONDS_PROFILED: of a program's that counts (a scene's has 10 frames). Trials
# may take TRIAL_SHARE of the time (0.1), so that a player's many evenings fit into minutes. FRAMES: that are measured (200;
# 0: none, sessions alone), behind SKIP (100). SIZE: of our scenes (64x36); PM_GAME_SIZE: of the others (320x240); PM_SMALL: of
# ffmpeg's clip. KEEP=FOLDER keeps the sessions' logs and databases, and rows. What is there of an earlier run is not done
# again: one that was ended goes on, one with a larger TRIED adds sessions, and what has no FOLDER/WORKLOAD.rows is measured.
: "${1:?usage: figure9.sh BUILD [WORKLOAD…]}"
build=$(cd "$1" && pwd)
shift
. "$(dirname "$0")/local_sessions.sh"
take_workloads "$@"
seconds_profiled=${SECONDS_PROFILED:-60} seconds_tried=${SECONDS_TRIED:-120}
tried=${TRIED:-2} measured=${FRAMES:-200} skipped=${SKIP:-100} scene_size=${SIZE:-64x36}
export PM_GAME_SIZE=${PM_GAME_SIZE:-320x240}
export LP_NUM_THREADS=0 # lavapipe draws on the thread that asks for it, as in the processes that are measured
endless=100000000 # more frames than a session has time for
contests_ended=0 contests_won=0 rows=()
read -r -a ways <<<"${WAYS:-blocks variants zeros all}"

# settings WAY: what of it is on, to $on
settings() {
    local blocks=false variants=false zeros=false
    case $1 in
    blocks) blocks=true ;;
    variants) variants=true ;;
    zeros) zeros=true ;;
    all) blocks=true variants=true zeros=true ;;
    *)
        echo "$script: there is no way '$1'" >&2
        exit 1
        ;;
    esac
    on=("optimize.blocks=$blocks" "optimize.variants=$variants" "optimize.zero=$zeros" optimize.constants=false)
}

# play_session NAME SECONDS SET…: a session of the workload with so many frames; one that fails ends the measurement
play_session() {
    local one=$1 seconds=$2 sets=() word
    shift 2
    for word in "$@"; do
        sets+=(--set "$word")
    done
    workload_command "$workload" "$scene_size" "$frames"
    session "$one" "$seconds" TERM "${sets[@]}" -- "${command[@]}"
    [ "$status" = 0 ] || exit 1
}

# play_once NAME SECONDS SET…: play_session, if an earlier run has not
play_once() {
    [ ! -e "$folder/$1.ended" ] || return 0
    play_session "$@"
    touch "$folder/$1.ended"
}

profile() {
    local sampled=(sampler.window_probability=0.1 sampler.api_probability=0.2 limits.variants=4096) seconds=$seconds_profiled
    take_folder "$workload-profiled" "$workload"
    frames=$endless
    case $workload in
    terrain-* | deferred-* | postprocess)
        sampled=(sampler.window_probability=1 sampler.api_probability=1 debug.synchronous=true) frames=10 seconds=600
        ;;
    esac
    play_once profiled "$seconds" sampler.kinds=zero,block,turns sampler.batch=128 limits.background_share=1 \
        "${sampled[@]}"
}

# try_way WAY: begins with what was profiled
try_way() {
    local number
    take_folder "$workload-$1" "$workload"
    [ -e "$folder/data" ] || cp -a "$scratch/$workload-profiled/"{data,cache,config} "$folder" 2>/dev/null || true # some are not there
    frames=$endless
    for number in $(seq "$tried"); do
        play_once "tried$number" "$seconds_tried" "${on[@]}" sampler.kinds=timing sampler.window_probability=0 \
            "limits.trial_share=${TRIAL_SHARE:-0.1}" limits.background_share=1
        # Without A-Z testing what there is to try is made in the first session, and is tried again while it is faster.
        [ "$1" = variants ] || [ "$1" = all ] || grep -qE 'is used from now on|was not over' "$folder/tried$number.log" || break
    done
}

# measure_workload: all ways in turn
measure_workload() {
    local states=() way size=$PM_GAME_SIZE command=()
    local seconds=$(((measured + skipped + 150) / 25)) # of glmark2, which has 25 times as many frames then
    for way in "${ways[@]}"; do
        settings "$way"
        take_folder "$workload-$way" "$workload"
        contests
        # Contests that go on may cost something, also where they have found nothing.
        if [ "$way" = variants ] || [ "$way" = all ] || grep -qs 'specialized, is used from now on' "$folder"/tried*.log; then
            states+=(--state "$way" "$folder" "${on[*]}" "$won of $ended")
        else
            states+=(--nothing "$way" "$won of $ended")
        fi
    done
    if scene_command "$workload" "$scene_size"; then
        command=() size=$scene_size
    else
        take_folder "$workload-measured" "$workload"
        folder='{folder}' # each process has its own
        workload_command "$workload" - "$endless"
        command=(-- "${command[@]}")
    fi
    "$source_folder/bench/gain/gain_processor.py" --frames "$measured" --skip "$skipped" --processes "${PROCESSES:-3}" \
        "${states[@]}" "$workload" "$size" \
        "$build" "${command[@]}" >"$scratch/$workload.unfinished"
    mv "$scratch/$workload.unfinished" "$scratch/$workload.rows"
}

# means: of each way over the workloads, from the rows
means() {
    awk -F ' *[|] *' -v ways="${ways[*]}" '
        { gain = $7 + 0; count[$3]++; sum[$3] += gain; squares[$3] += gain * gain }
        END {
            for (i = 1; i <= split(ways, way, " "); i++) {
                n = count[way[i]]
                if (n < 2) continue
                mean = sum[way[i]] / n
                error = sqrt((squares[way[i]] - n * mean * mean) / (n - 1) / n)
                printf "Mean of %d workloads, %s: %+.2f %% (standard error %.2f).\n", n, way[i], mean, error
            }
        }' "$@"
}

echo "| workload | by | contests won | faster shaders in use | original, ms | more frames (95 % interval) | processes, % | frames of each |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
for workload in "${workloads[@]}"; do
    profile
    for way in "${ways[@]}"; do
        settings "$way"
        try_way "$way"
        contests
        contests_ended=$((contests_ended + ended)) contests_won=$((contests_won + won))
    done
    [ "$measured" != 0 ] || continue
    [ -e "$scratch/$workload.rows" ] || measure_workload
    cat "$scratch/$workload.rows"
    rows+=("$scratch/$workload.rows")
done
echo
[ ${#rows[@]} = 0 ] || means "${rows[@]}"
echo "Contests with a winner: $contests_won of $contests_ended."
