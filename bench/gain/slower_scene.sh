#!/bin/bash
# slower_scene.sh [--turn-slow] BUILD [GAME…]: variants that are faster in one scene and slower in the next, as what is
# specialized for zeros of the one and does its work twice where none of these is zero (debug.slow_guards). How long does the
# layer take to notice, in a game that names its scenes and in one that does not, and what did frames take meanwhile and
# afterwards?
#
# For each two scenes of a game of ours (terrain and deferred, unless told): the first is profiled, then sessions in it try what
# is made of that, until one is used. Then the program goes from the first scene to the second, with a player's limits and what
# these sessions have kept (slower_scene.c, which says what its columns are). Where nothing is faster in the first scene there
# is no row.
#
# With --turn-slow before BUILD it is any shader's variant that turns slow, as in a scene in which it is slower: from heartbeat
# FROM on it does its work twice (debug.slow_from). What follows are workloads: our scenes (terrain-0, deferred-1, postprocess,
# …; all of them unless told), and games and programs that figure9.sh knows. Sessions with variants that are slow from the
# start try them all, and what they dropped is taken for proven, so that the next session uses it at once; glances are to
# notice it. Until the change it is as fast as the original, and FROM comes before the first glance, which might find it slower
# by chance. Behind the columns of a scene: how many of the variants in use were dropped. A program's frames are not compared.
# It has a second table: how many of the variants in use were dropped; heartbeats from the change until the first and until the
# last was, and until the end (–: none was, or the program did not end by itself); and the share of the time that trials took.
#
# BUILD is the build tree. The driver is the caller's: VK_DRIVER_FILES. SIZE: of the scenes. PAIRS: of scenes ("01 02 10 …").
# TRIED_FRAMES, SESSIONS: of the sessions that try, at most. FROM, FRAMES: of the change, and in all. SECONDS_PROFILED,
# SECONDS_TRIED, SECONDS_PLAYED: of a program's sessions, the last one's with the change. KEEP=FOLDER keeps logs.
turn=
if [ "${1-}" = --turn-slow ]; then
    turn=yes
    shift
fi
: "${1:?usage: slower_scene.sh [--turn-slow] BUILD [GAME…]}"
build=$(cd "$1" && pwd)
shift
. "$(dirname "$0")/local_sessions.sh"
size=${SIZE:-64x36} sessions=${SESSIONS:-3} tried_frames=${TRIED_FRAMES:-3000} frames=${FRAMES:-3000}
from=${FROM:-${turn:+240}} from=${from:-1000}
seconds_profiled=${SECONDS_PROFILED:-60} seconds_tried=${SECONDS_TRIED:-60} seconds_played=${SECONDS_PLAYED:-180}
timing=(--set sampler.kinds=timing --set sampler.window_probability=0)
# What sessions go by that only try, and find at once what they are to find.
trying=("${timing[@]}" --set optimize.retry_share=0 --set limits.trial_share=1)
agreeing=(--set optimize.agreeing_sessions=1)

# profile_scene: the zeros and blocks of the scene that `command` is
profile_scene() {
    session profiled 300 TERM --set sampler.kinds=zero,block --set sampler.window_probability=1 \
        --set sampler.api_probability=1 --set sampler.batch=128 --set debug.synchronous=true \
        --set optimize.zero=false -- "${command[@]}" --frames 10
    [ "$status" = 0 ] || exit 1
}

# ---- from one scene to the next ----

slow=(--set debug.slow_guards=true --set optimize.blocks=false --set optimize.constants=false "${agreeing[@]}")

# try_in_first: until something is used; false: nothing is
try_in_first() {
    local number
    for number in $(seq "$sessions"); do
        session "tried-$number" 600 TERM "${slow[@]}" "${trying[@]}" -- "${command[@]}" --frames "$tried_frames"
        [ "$status" = 0 ] || exit 1
        ! grep -q 'is used from now on' "$folder/tried-$number.log" || return 0
    done
    return 1
}

# go_on GAME PAIR: from its first scene to the second, if there is something that is faster in the first
go_on() {
    local kept named options
    new_program "$1-$2"
    scene_command "$1-${2:0:1}" "$size"
    profile_scene
    try_in_first || return 0
    kept=$(cat "$XDG_DATA_HOME"/piecemeal/journal/*/verdicts)
    for named in named unnamed; do
        printf '%s\n' "$kept" >"$(echo "$XDG_DATA_HOME"/piecemeal/journal/*/verdicts)"
        options=(--next "${2:1:1}@$from")
        [ $named = named ] || options+=(--unnamed)
        "$build/bench/slower_scene" --piecemeal "$piecemeal" --game "$program" --log "$folder/$named.log" --from "$from" \
            --frames "$frames" --name "$1, ${2:0:1} to ${2:1:1}, $named" "${slow[@]}" -- "${command[@]}" "${options[@]}"
    done
}

columns="frames until tried again | until dropped | trials, % of the time | before the change, % more (95 %) | until dropped, % more | afterwards, % more | none / none, % |"
lines="--- | --- | --- | --- | --- | --- | --- |"
if [ -z "$turn" ]; then
    [ $# -gt 0 ] || set -- terrain deferred
    echo "| game | $columns"
    echo "| --- | $lines"
    for game in "$@"; do
        for pair in ${PAIRS:-01 02 10 12 20 21}; do go_on "$game" "$pair"; done
    done
    exit 0
fi

# ---- one that turns slow ----

# The shaders' canonical modules are as fast as they are.
turning=(--set debug.specialize=canonical "${agreeing[@]}")

# prove_all COMMAND…: what does its work twice from the start is dropped, and then taken for proven; false: nothing was
prove_all() {
    local command=("$@")
    try_all tried --set debug.slow_from=1 "${turning[@]}" "${trying[@]}"
    [ "$dropped" != 0 ] || return 1
    sed -i 's/^verdict slower /verdict faster /' "$XDG_DATA_HOME"/piecemeal/journal/*/verdicts
}

# count_turned LOG: how many variants were in use, but for those that were dropped before the change, to $used, and how many were
# dropped behind it, to $turned
count_turned() {
    used=$(awk '
        / variants do their work twice from now on/ { turned = 1 }
        match($0, /: shader [0-9a-f]+, specialized, /) {
            key = substr($0, RSTART, RLENGTH)
            if (/ is used from now on/) used[key]
            else if (/ is not faster, and is dropped/ && !turned) delete used[key]
        }
        END { for (key in used) count++; print count + 0 }' "$1")
    turned=$(count 'that turned slow is dropped' "$1")
}

turned_scene() {
    local row
    new_program "$1"
    scene_command "$1" "$size"
    profile_scene
    seconds_tried=600
    prove_all "${command[@]}" --frames "$tried_frames" || return 0
    row=$("$build/bench/slower_scene" --piecemeal "$piecemeal" --game "$program" --log "$folder/turned.log" --turn-slow \
        --from "$from" --frames "$frames" --name "$1" "${turning[@]}" -- "${command[@]}")
    count_turned "$folder/turned.log"
    echo "$row $turned of $used |"
}

# since_turned LOG PATTERN: heartbeats from the change until the first and the last line that says so
since_turned() {
    awk -v pattern="$2" '
        match($0, /heartbeat [0-9]+: /) { beat = substr($0, RSTART + 10) + 0 }
        / variants do their work twice from now on/ { from = beat }
        from && $0 ~ pattern { if (!first) first = beat; last = beat }
        END { if (first) print first - from " | " last - from; else print "– | –" }' "$1"
}

turned_program() {
    local log ends
    new_program "$1"
    workload_command "$1" "$size" 100000000
    session profiled "$seconds_profiled" TERM --set sampler.kinds=zero,block --set sampler.batch=128 \
        --set sampler.window_probability=0.1 --set sampler.api_probability=0.2 -- "${command[@]}"
    [ "$status" = 0 ] || exit 1
    prove_all "${command[@]}" || return 0
    session turned "$seconds_played" TERM --set "debug.slow_from=$from" "${turning[@]}" "${timing[@]}" \
        --set optimize.retry_share=0 -- "${command[@]}"
    [ "$status" = 0 ] || exit 1
    log=$folder/turned.log
    count_turned "$log"
    ends=$(since_turned "$log" 'variants did their work twice until then')
    echo "| $1 | $turned of $used | $(since_turned "$log" 'that turned slow is dropped') | ${ends% |*} | $(share "$log") |"
}

take_workloads "$@"
scenes=() programs=()
for workload in "${workloads[@]}"; do
    if scene_command "$workload" "$size"; then scenes+=("$workload"); else programs+=("$workload"); fi
done
if [ ${#scenes[@]} -gt 0 ]; then
    echo "| scene | $columns dropped of those in use |"
    echo "| --- | $lines --- |"
fi
for workload in "${scenes[@]}"; do turned_scene "$workload"; done
if [ ${#programs[@]} -gt 0 ]; then
    echo
    echo "| program | dropped of those in use | heartbeats until the first was | until the last was | until the end | trials, % of the time |"
    echo "| --- | --- | --- | --- | --- | --- |"
fi
for workload in "${programs[@]}"; do turned_program "$workload"; done
