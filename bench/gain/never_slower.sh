#!/bin/bash
# never_slower.sh [--record-once] BUILD [WORKLOAD…]: deliberately bad variants over many workloads: of every shader that can do its work
# twice a variant that does (debug.slow_variants). Are all of them dropped, do trials keep to half a percent of the time,
# and do frames take longer afterwards?
#
# A workload is one of our scenes (terrain-0, deferred-1, postprocess, …; all of them unless told), of which frames are
# compared in turn as well (never_slower, which says what its columns are), or a game or program that figure9.sh knows, of
# which a second table says what became of the variants: in how many sessions they were tried, how many there were, how
# many were dropped and used, and the largest share of a session that trials took. The columns behind that say the same once
# what was dropped is taken for proven, as if it had turned slow only now.
#
# With --record-once before BUILD, scenes record their commands once and submit them every frame, so that trials are over
# sessions, and their table is another one: each session's frame time, the median, over that of a run without the layer
# before and one after it, and behind it how many untried variants the session drew with; over all sessions and the
# longest; how many variants there were, how many were dropped, and the largest share that trials took of a session.
#
# BUILD is the build tree. The driver is the caller's: VK_DRIVER_FILES. SIZE: of the scenes. FRAMES: that are compared.
# TRIED_FRAMES, SESSIONS: of a scene's sessions that try, at most; SECONDS_SCENE: how long a scene's profile may take, and
# all behind it once more (600), and what is undecided then is said. SECONDS_PROFILED, SECONDS_TRIED: of a program's session
# that profiles, and of each that tries. KEEP=FOLDER keeps the programs' logs. Ends with 1 if a scene is not as it should be.
once=
if [ "${1-}" = --record-once ]; then
    once=yes
    shift
fi
: "${1:?usage: never_slower.sh [--record-once] BUILD [WORKLOAD…]}"
build=$(cd "$1" && pwd)
shift
. "$(dirname "$0")/local_sessions.sh"
take_workloads "$@"
size=${SIZE:-64x36} sessions=${SESSIONS:-6} seconds_profiled=${SECONDS_PROFILED:-60} seconds_tried=${SECONDS_TRIED:-60}
slow=(--set debug.slow_variants=true --set debug.specialize=canonical --set sampler.kinds=timing
    --set sampler.window_probability=0)
scenes=() programs=()
for workload in "${workloads[@]}"; do
    if scene_command "$workload" "$size"; then scenes+=("$workload"); else programs+=("$workload"); fi
done

# median FILE: of the times, without the first tenth
median() {
    awk '{ t[NR] = $1 } END { for (i = int(NR / 10) + 1; i <= NR; i++) print t[i] }' "$1" | sort -g |
        awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'
}

# original: a run of `kept` without the layer; its median
original() {
    PIECEMEAL_DISABLE=1 "${kept[@]}" >/dev/null
    median "$folder/times"
}

# kept_row SCENE: of one that keeps its recordings
kept_row() {
    local number before after untried list= ratios=() kept
    new_program "$1"
    kept=("${command[@]}" --record-once --frames "${TRIED_FRAMES:-1500}" --time "$folder/times")
    session profiled "$seconds_profiled" TERM --set sampler.kinds=zero,block --set sampler.window_probability=0.5 \
        --set sampler.api_probability=0.5 -- "${command[@]}" --frames 1500
    [ "$status" = 0 ] || exit 1
    logs=()
    before=$(original)
    for number in $(seq "$sessions"); do
        session "kept$number" "$seconds_tried" TERM --set debug.slow_variants=true --set sampler.kinds=timing \
            --set sampler.window_probability=0 -- "${kept[@]}"
        [ "$status" = 0 ] || exit 1
        logs+=("$folder/kept$number.log")
        ratios+=("$(median "$folder/times")")
        after=$(original)
        untried=$(count 'specialized, is used in this session' "$folder/kept$number.log")
        ratios[-1]=$(awk -v t="${ratios[-1]}" -v b="$before" -v a="$after" 'BEGIN { printf "%+.1f", 100 * (2 * t / (a + b) - 1) }')
        list+="${list:+, }${ratios[-1]} ($untried)"
        before=$after
    done
    echo "| $1 | $list | $(printf '%s\n' "${ratios[@]}" |
        awk '{ sum += $1; most = NR == 1 || $1 > most ? $1 : most } END { printf "%+.1f | %+.1f", sum / NR, most }') |" \
        "$(count '.*dropped' "${logs[@]}") of $(count 'is specialized:' "${logs[@]}") | $(share "${logs[@]}") |"
}

program_row() {
    local row
    new_program "$1"
    workload_command "$1" "$size" 100000000
    session profiled "$seconds_profiled" TERM --set sampler.kinds=zero,block --set sampler.batch=128 \
        --set sampler.window_probability=0.1 --set sampler.api_probability=0.2 -- "${command[@]}"
    [ "$status" = 0 ] || exit 1
    try_all tried "${slow[@]}"
    row="| $1 | ${#logs[@]} | $made | $dropped | $(count 'specialized, is used from now on' "${logs[@]}") | $(share "${logs[@]}")"
    if [ "$dropped" = 0 ]; then
        echo "$row | – | – | – | – |"
        return
    fi
    sed -i 's/^verdict slower /verdict faster /' "$XDG_DATA_HOME"/piecemeal/journal/*/verdicts
    try_all again "${slow[@]}"
    echo "$row | ${#logs[@]} | $made | $dropped | $(share "${logs[@]}") |"
}

if [ -n "$once" ]; then
    echo "| scene | frames of each session, % more (untried variants) | all | longest | dropped | trials, % of the time |"
    echo "| --- | --- | --- | --- | --- | --- |"
    for workload in "${scenes[@]}"; do
        scene_command "$workload" "$size"
        kept_row "$workload"
    done
    exit 0
fi
result=0
if [ ${#scenes[@]} -gt 0 ]; then
    echo "| scene | bad variants | dropped | undecided | trials, % of the time | frames after, % more (95 %) | turned slow, % more | tried again and dropped | trials, % | frames after, % more | none / none, % |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
fi
for workload in "${scenes[@]}"; do
    scene_command "$workload" "$size"
    "$build/bench/never_slower" --piecemeal "$piecemeal" --name "$workload" --frames "${FRAMES:-900}" \
        --tried-frames "${TRIED_FRAMES:-5000}" --sessions "$sessions" --seconds "${SECONDS_SCENE:-600}" -- "${command[@]}" 2>"$scratch/$workload.errors" || {
        result=1
        grep -E '^(never_slower|piecemeal run):|: (warning|error): ' "$scratch/$workload.errors" | tail -n 8 >&2 || true
    }
done
if [ ${#programs[@]} -gt 0 ]; then
    echo
    echo "| program | sessions | bad variants | dropped | used | trials, % of the time | sessions once they turned slow | of them | dropped | trials, % |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
fi
for workload in "${programs[@]}"; do program_row "$workload"; done
exit $result
