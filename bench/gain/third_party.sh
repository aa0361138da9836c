#!/bin/bash
# third_party.sh [BUILD [PROGRAM…]]: shaders that nobody wrote for us: a fixed list of programs, each in two sessions with
# the loop of one machine (piecemeal run --local). The first profiles zeros; in the second the layer tries each
# specialized shader against the original, in pairs. Prints a Markdown table of every shader that was specialized,
# whatever it shows, and how many were not. The interval is the trial's own, wider than 95 % the fewer its pairs.
#
# BUILD is the build tree (build/release). The driver is the caller's: VK_DRIVER_FILES. PROGRAMs limit the list (their
# names are the table's). A session is over after so many frames (FRAMES_PROFILED, FRAMES_TRIED) and at the latest after
# so many seconds (SECONDS_PROFILED, SECONDS_TRIED); glmark2's scenes take half of these. KEEP=FOLDER keeps the sessions'
# logs and databases. Needs ffmpeg, mpv, glmark2, Xvfb, vulkaninfo and jq.
set -euo pipefail

source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$source_folder/build/release}" && pwd)
shift || true
profiled=${FRAMES_PROFILED:-25} tried=${FRAMES_TRIED:-1500}
seconds_profiled=${SECONDS_PROFILED:-60} seconds_tried=${SECONDS_TRIED:-30}
. "$source_folder/bench/gain/local_sessions.sh"
need jq
start_display
. "$source_folder/bench/gain/program_commands.sh"

# run_program NAME FRAMES SECONDS SETTING…: a session of the program
run_program() {
    local name=$1 frames=$2 seconds=$3 sets=() setting command
    shift 3
    for setting in "$@"; do
        sets+=(--set "$setting")
    done
    set_command "$program"
    session "$name" "$seconds" INT "${sets[@]}" -- "${command[@]}"
}

# ---- the table ----

# rows PROGRAM: one for each shader that was specialized
rows() {
    local key stage transforms as candidates result
    while read -r key transforms stage as; do
        candidates=$(jq -r --arg key "$key" \
            '[.shaders[] | select(.kind == "zero" and (.key | startswith($key)))][0].space // "?"' "$folder/db.json")
        # A shader that several pipelines use has a trial for each.
        result=$(sed -nE "s/.*tried a specialized shader $as: ([0-9.]+) % of the time \(([0-9.]+) to ([0-9.]+), ([0-9]+) pairs( of render passes)?\), (.*)/\1 \2 \3 \4 \6/p" \
            "$folder/tried.log" | awk '
                { printf "%s%.3f [%.3f, %.3f]", (NR > 1 ? "; " : ""), $1 / 100, $2 / 100, $3 / 100
                  pairs = pairs (NR > 1 ? "; " : "") $4
                  verdict = verdict (NR > 1 ? "; " : "") ($5 == "faster:" ? "used" : $2 > 101 ? "dropped: slower" : "dropped: not faster") }
                END { if (NR) printf " | %s | %s", pairs, verdict; else printf "– | 0 | not decided" }')
        echo "| $1 | $key | $stage | $candidates | $transforms | $result |"
    done < <(sed -nE 's/.*shader ([0-9a-f]+) is specialized: ([0-9]+) transforms, ([a-z]+), as ([0-9a-f]+)$/\1 \2 \3 \4/p' \
        "$folder/tried.log" | sort -u)
}

echo "| program | shader | stage | candidates | transforms | time, variant over original | pairs | verdict |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
[ $# -gt 0 ] || set -- "${programs[@]}"
summary=
for program in "$@"; do
    new_program "$program"
    run_program profiled "$profiled" "$seconds_profiled" sampler.kinds=zero sampler.window_probability=1 \
        sampler.api_probability=0.5 sampler.batch=128 debug.synchronous=true limits.variants=4096
    run_program tried "$tried" "$seconds_tried" sampler.kinds=timing sampler.window_probability=0
    show_database
    rows "$program"
    read -r shaders published whole timed < <(jq -r '[.shaders[] | select(.kind == "zero")] as $zero
        | [($zero | length), ([$zero[] | select(.published)] | length), ([$zero[] | select(.space == .covered)] | length),
           ([.shaders[] | select(.kind == "timing")] | length)] | @tsv' "$folder/db.json")
    summary+="| $program | $shaders | $whole | $published | $(shaders_that tried 'is specialized:') |"
    summary+=" $(shaders_that tried 'is not worth specializing') | $timed |"$'\n'
done
echo
echo "| program | shaders profiled | of them every candidate sampled | published | specialized | not worth specializing | timing profiles |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
printf '%s' "$summary"
