# shellcheck shell=bash
# What the scripts of this folder share; sourced by each (bash): programs in sessions of one machine's loop (piecemeal run
# --local), each with folders of its own, on a display without a screen. The driver is the caller's: VK_DRIVER_FILES.
#
# From the script: build, the build tree. KEEP=FOLDER keeps the sessions' logs and databases.
set -euo pipefail

: "${build:?the build tree}"
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
script=$(basename "$0" .sh)
piecemeal=$build/tools/piecemeal
loop=(--local)
scratch=${KEEP:-$(mktemp -d)}
mkdir -p "$scratch"
scratch=$(cd "$scratch" && pwd)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -n "${KEEP-}" ] || rm -rf "$scratch"
}
trap finish EXIT

for variable in $(compgen -e PIECEMEAL_) $(compgen -e VK_INSTANCE_LAYERS) WAYLAND_DISPLAY; do
    unset "$variable"
done
# What is named in the first session is what the second one meets: no shader comes from a driver's disk cache.
export MESA_SHADER_CACHE_DISABLE=true

need() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || {
            echo "$script: $program is not installed" >&2
            exit 1
        }
    done
}

start_display() {
    need Xvfb
    local number pipe=$scratch/display.$$ # others may begin in the same folder
    mkfifo "$pipe"
    Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp -noreset 3<>"$pipe" >"$scratch/xvfb.log" 2>&1 &
    server=$!
    read -r -t 30 number <>"$pipe"
    rm "$pipe"
    export DISPLAY=:$number
}

# take_folder NAME [GAME]: from here on, sessions in the folder of this name, $folder, of a game that is called so, too, or GAME
take_folder() {
    program=${2:-$1}
    folder=$scratch/$1
    mkdir -p "$folder/runtime" "$folder/home"
    chmod 0700 "$folder/runtime"
    export XDG_DATA_HOME=$folder/data XDG_CACHE_HOME=$folder/cache XDG_CONFIG_HOME=$folder/config
    export XDG_RUNTIME_DIR=$folder/runtime
}

# new_program NAME [GAME]: the same, and nothing is known
new_program() {
    rm -rf "${scratch:?}/$1"
    take_folder "$@"
}

# load_commands WORKLOAD: set_command of the file that knows how the game or program is started
load_commands() {
    case $1 in
    openarena | nexuiz | neverball | supertux | supertuxkart* | minetest | warzone2100 | quake3e* | ddnet)
        . "$source_folder/bench/gain/game_commands.sh"
        ;;
    *) . "$source_folder/bench/gain/program_commands.sh" ;;
    esac
}

# take_workloads WORKLOAD…: `workloads` are these; all scenes, if there are none
take_workloads() {
    workloads=("$@")
    [ $# -gt 0 ] || workloads=(terrain-0 terrain-1 terrain-2 deferred-0 deferred-1 deferred-2 postprocess)
}

# scene_command WORKLOAD SIZE: one of our scenes (terrain-0, deferred-1, postprocess), to `command`; 1: it is none
scene_command() {
    case $1 in
    terrain-* | deferred-*) command=("$build/examples/piecemeal-${1%-*}" --scene "${1#*-}" --size "$2" --quiet) ;;
    postprocess) command=("$build/examples/piecemeal-postprocess" --size "$2" --quiet) ;;
    *) return 1 ;;
    esac
}

# workload_command WORKLOAD SIZE FRAMES: a scene, a game or a program, to `command`; a game ends when it is told to
workload_command() {
    if scene_command "$1" "$2"; then
        command+=(--frames "$3")
        return
    fi
    frames=$3
    [ -n "$server" ] || start_display
    load_commands "$1"
    set_command "$1"
}

# session NAME SECONDS SIGNAL OPTION… -- COMMAND…: the program with these options of `piecemeal run --local`, or of what `loop`
# has in its place, ended by the signal when the time is over; its output in $folder/NAME.output, the layer's log in $folder/NAME.log, how it ended in
# $status, which is 0 if it ended well
session() {
    local one=$1 seconds=$2 signal=$3 options=()
    status=0
    shift 3
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    : >"$folder/$one.log"
    "$piecemeal" run "${loop[@]}" --game "$program" --set log.level=debug --set log.file="$folder/$one.log" "${options[@]}" -- \
        timeout --foreground -s "$signal" -k 120 "$seconds" "$@" >"$folder/$one.output" 2>&1 || status=$?
    # timeout says 124: the time was over.
    case $status in
    0 | 124) status=0 ;;
    *) echo "$script: $program ended with $status: $(tail -n 3 "$folder/$one.output")" >&2 ;;
    esac
}

# count PATTERN LOG…: of how many shaders a line of the logs says so
count() {
    local pattern=$1
    shift
    { grep -hoE "shader [0-9a-f]+,? $pattern" "$@" || true; } | sort -u | wc -l
}

# share LOG…: the largest that trials took
share() {
    sed -nE 's/.*trials took (-?[0-9.]+) % of the time.*/\1/p' "$@" | sort -g | tail -n 1
}

# try_all NAME OPTION…: sessions of `seconds_tried` with these options, `sessions` of them at most, until all variants that were
# made are dropped; `logs` are theirs, and how many there were is $made, and $dropped
try_all() {
    local one=$1 number
    shift
    logs=()
    for number in $(seq "$sessions"); do
        session "$one$number" "$seconds_tried" TERM "$@" --set optimize.retry_share=0 -- "${command[@]}"
        [ "$status" = 0 ] || exit 1
        logs+=("$folder/$one$number.log")
        made=$(count 'is specialized:' "${logs[@]}") dropped=$(count 'specialized, is not faster, and is dropped' "${logs[@]}")
        [ "$made" = 0 ] || [ "$dropped" -lt "$made" ] || break
    done
}

# show_database [STORAGE]: what is known of the program, to $folder/db.json
show_database() {
    "$piecemeal" db show --json --storage "${1:-$XDG_DATA_HOME/piecemeal/local/aggregator.sqlite}" --game "$program" \
        >"$folder/db.json" || echo '{"shaders": []}' >"$folder/db.json"
}

# compared SESSION: what a session with --ab says: how many shaders were in use, to $shaders, and both frame times with
# the gain, as columns of a table, to $result
compared() {
    local output=$folder/$1.output
    result=$(sed -nE 's/^piecemeal run: ([+-][0-9.]+ % frames) \(95 % interval ([+-][0-9.]+ to [+-][0-9.]+) %\): ([0-9.]+) ms original, ([0-9.]+) ms optimized$/\3 | \4 | \1 (\2)/p' "$output")
    [ -n "$result" ] || result="– | – | $(sed -nE 's/^piecemeal run: (nothing was compared: .*)/\1/p' "$output")"
    shaders=$(sed -nE 's/^piecemeal run: ([0-9]+) specialized shaders? in use:.*/\1/p' "$output")
    shaders=${shaders:-0}
}

# shaders_that SESSION PATTERN: how many shaders a line of the session's log that begins so was said of
shaders_that() {
    sed -nE "s/.*shader ([0-9a-f]+) $2.*/\1/p" "$folder/$1.log" | sort -u | wc -l
}

# contests_that PATTERN: how many shaders have such a line in the sessions that tried
contests_that() {
    { grep -hoE "$1" "$folder"/tried*.log || true; } | cut -d: -f1 | sort -u | wc -l
}

# contests: how many shaders' contests ended in the sessions that tried, and how many had a winner, to $ended and $won
contests() {
    ended=$(contests_that 'shader [0-9a-f]+: of [1-9][0-9]* variants')
    won=$(contests_that 'shader [0-9a-f]+: of [1-9][0-9]* variants the fastest')
}
