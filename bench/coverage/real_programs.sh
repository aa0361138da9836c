#!/bin/bash
# real_programs.sh [BUILD [PROGRAM…]]: what comes of programs that nobody wrote for us where nothing is set: each is played in
# sessions one after the other, and what these leave behind is kept from one to the next, as on a player's machine. After each
# session a line says how many shaders the program has and how many have a sample, how many of their points, how many calls
# were sampled and variants made, and what kept the rest from it; what is known by then; and how many shaders are specialized,
# tried and faster. In the end all of it as a table (Markdown), and as JSON where JSON names a file.
#
# BUILD is the build tree (build/release), PROGRAMs those of bench/gain/game_commands.sh and program_commands.sh. The driver is
# the caller's: VK_DRIVER_FILES. Of each there are SESSIONS (3) of SESSION_SECONDS (100). LOOP=local (the default): `piecemeal
# run --local`, with all else as it is. LOOP=player: `piecemeal run` as a player has it who has agreed, with an aggregator on
# this machine (`serve --dev`, which like --local publishes what one session tells). KEEP=FOLDER keeps logs and databases.
#
# A window opens in one frame of 10,000, on average, and a machine that draws some ten frames a second has one in a quarter of
# an hour. So a session has a seed by which its first one opens with one of the frames 1 to 60 (window_seed); WINDOW=FIRST-LAST:
# one of those; WINDOW=any: no seed. Everything else is drawn by lot as ever, further windows too, and the config's values are
# the defaults. So what comes of a session is what comes of a player's from shortly before its first window on. PM_GAME_SIZE
# (160x120): of the programs' windows, so that there are more frames in a session.
#
# Needs Xvfb, jq, vulkaninfo, python3 and the programs.
set -euo pipefail

source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$source_folder/build/release}" && pwd)
shift || true
sessions=${SESSIONS:-3} seconds=${SESSION_SECONDS:-100} window=${WINDOW:-1-60}
export PM_GAME_SIZE=${PM_GAME_SIZE:-160x120}
. "$source_folder/bench/gain/local_sessions.sh"
need jq python3
start_display

# An aggregator of the program's own, to $aggregator, and a player who has agreed and whose config names it.
storage= aggregator=
start_aggregator() {
    local port
    storage=$folder/aggregator.sqlite
    "$piecemeal" serve --dev --storage "$storage" --port 0 --curate-seconds 1 >"$folder/serve" 2>"$folder/serve.log" &
    aggregator=$!
    for _ in $(seq 100); do
        port=$(sed -nE 's/^listening on .* port ([0-9]+)$/\1/p' "$folder/serve")
        [ -z "$port" ] || break
        sleep 0.1
    done
    "$piecemeal" consent grant >/dev/null
    mkdir -p "$XDG_CONFIG_HOME/piecemeal"
    echo "{\"aggregator\": {\"url\": \"http://127.0.0.1:${port:?the aggregator does not listen}\"}}" \
        >"$XDG_CONFIG_HOME/piecemeal/$program.json"
}

stop_aggregator() {
    [ -z "$aggregator" ] || kill "$aggregator"
    [ -z "$aggregator" ] || wait "$aggregator" || true
    aggregator=
}
trap 'stop_aggregator; finish' EXIT

case ${LOOP:-local} in
local) ;;
player) loop=() ;;
*) echo "$script: LOOP is local or player" >&2 && exit 2 ;;
esac

# take_session NUMBER: one, and a line of what came of it
take_session() {
    local seed=()
    [ "$window" = any ] ||
        seed=(--set "sampler.seed=$("$build/bench/window_seed" "${window%-*}" "${window#*-}")")
    session "played$1" "$seconds" TERM "${seed[@]}" -- "${command[@]}"
    [ -z "$aggregator" ] || sleep 3 # it curates once a second
    show_database "$storage"
    mv "$folder/db.json" "$folder/played$1.db"
    # The files of processes that are over go when the program is started again.
    { find "$XDG_DATA_HOME/piecemeal/status" -name '*.json' -exec cat {} + || true; } 2>/dev/null |
        jq -s . >"$folder/played$1.status"
    python3 "$source_folder/bench/coverage/real_programs.py" --line "$folder" "$1"
}

[ $# -gt 0 ] || set -- openarena supertux neverball nexuiz minetest glmark2-zink mpv-gpu-next vkcube
played=()
for one in "$@"; do
    new_program "$one"
    workload_command "$one" - 100000000 # more frames than a session has time for
    [ "${LOOP:-local}" = local ] || start_aggregator
    for number in $(seq "$sessions"); do
        take_session "$number"
    done
    stop_aggregator
    played+=("$folder")
done
echo
python3 "$source_folder/bench/coverage/real_programs.py" ${JSON:+--json "$JSON"} "${played[@]}"
