#!/bin/bash
# games.sh [BUILD [GAME…]]: what zeros and known words do for Debian's games, as a player starts them. Each is played in
# sessions of one machine's loop (piecemeal run --local): some that profile (KINDS: zero,constant), some in which the layer
# tries what the profile leads to, and some that use the game's own shaders and the faster ones in turn (--ab). Prints a
# Markdown table of frames, one of the shaders that were tried, one of what became of all shaders, one of the words of
# push constants and uniforms that were seen, and one of why each shader is specialized or not.
#
# BUILD is the build tree (build/release). The driver is the caller's: VK_DRIVER_FILES. Sessions that profile
# (SESSIONS_PROFILED) last SECONDS_PROFILED each, with one frame in ten sampled instead of one in ten thousand, since an
# evening's worth has to fit into minutes; one of SECONDS_TRIED (SESSIONS_TRIED), and three of SECONDS_COMPARED
# (SESSIONS_COMPARED), are as a player has them but for the sampling. TRIAL_SHARE: of the time that trials may take, if it
# is more than a player's (0.005). KEEP=FOLDER keeps the sessions' logs and databases.
#
# A GAME may also be a program of program_commands.sh that presents (mpv-gpu-next, glmark2-zink, …).
#
# Needs Xvfb, jq and the games: openarena, nexuiz, neverball, supertux, supertuxkart, minetest (OpenGL through zink),
# warzone2100, supertuxkart-vulkan (Vulkan); quake3e, quake3e-costly and ddnet (Vulkan) by what game_commands.sh says.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$source_folder/build/release}" && pwd)
shift || true
sessions_profiled=${SESSIONS_PROFILED:-2} seconds_profiled=${SECONDS_PROFILED:-90}
sessions_tried=${SESSIONS_TRIED:-1} seconds_tried=${SECONDS_TRIED:-90}
kinds=${KINDS:-zero,constant}
sessions_compared=${SESSIONS_COMPARED:-3} seconds_compared=${SECONDS_COMPARED:-90}
. "$source_folder/bench/gain/local_sessions.sh"
need jq
start_display

frames_table=
# compare NUMBER: a session of both in turn
compare() {
    local result shaders
    session "compared$1" "$seconds_compared" TERM --ab --ab-frames 16 --set sampler.window_probability=0 -- "${command[@]}"
    compared "compared$1"
    frames_table+="| $program | $1 | $shaders | $result |"$'\n'
}

trials_table=
# trials: what the trials of the session before said
trials() {
    local as key
    while read -r key transforms words stage as; do
        while read -r ratio low high pairs verdict; do
            trials_table+="| $program | $key | $stage | $transforms | $words | $ratio ($low to $high) | $pairs | $verdict |"$'\n'
        done < <(sed -nE "s/.*tried a specialized shader $as: ([0-9.]+) % of the time \(([0-9.]+) to ([0-9.]+), ([0-9]+) pairs( of render passes)?\), ([a-z]+).*/\1 \2 \3 \4 \6/p" \
            "$folder/tried.log")
    done < <(sed -nE 's/, [0-9]+ changes by blocks( \([^)]*\))?//
        s/(is specialized: [0-9]+ transforms?), ([a-z]+, as)/\1, 0 words of uniforms, \2/
        s/.*shader ([0-9a-f]+) is specialized: ([0-9]+) transforms?, ([0-9]+) words of [a-z ]+, ([a-z]+), as ([0-9a-f]+)$/\1 \2 \3 \4 \5/p' \
        "$folder/tried.log" | sort -u)
}

summary_table=
summary() {
    local shaders covered
    show_database
    read -r shaders covered < <(jq -r '[.shaders[] | select(.kind == "zero")] as $zero
        | [($zero | length), ([$zero[] | select(.space == .covered)] | length)] | @tsv' "$folder/db.json")
    summary_table+="| $program | $shaders | $covered | $(shaders_that tried 'is specialized:') |"
    summary_table+=" $(shaders_that tried 'is not worth specializing') |"$'\n'
}

words_table=
# words: what the sessions have seen of words of push constants and uniforms (profile/values_store.h)
words() {
    local file row
    for file in "$XDG_DATA_HOME"/piecemeal/values/*; do
        [ -e "$file" ] || return 0
        row=$(awk 'NR > 1 && $4 >= 16 {
            seen++; shaders[$1] = 1; most = 0
            for (i = 6; i <= NF; i++) { split($i, value, ":"); if (value[2] > most) most = value[2] }
            always += most == $4; nearly += most >= 0.95 * $4; zero += $5 >= 0.95 * $4
        } END { print length(shaders) " | " seen + 0 " | " always + 0 " | " nearly + 0 " | " zero + 0 }' "$file")
        words_table+="| $program | $row |"$'\n'
    done
}

reasons_table=
# reasons: what specialize_zero says of each shader's points (its --json), and the layer of its words
reasons() {
    local key row words
    for key in $(jq -r '[.shaders[] | select(.kind == "zero") | .key] | unique[]' "$folder/db.json"); do
        row=$("$piecemeal" shader specialize_zero "$key" --game "$program" --json 2>/dev/null | jq -r '
            ([.candidates[] | .reason // "taken"] | group_by(.) | map("\(length) × \(.[0])") | join("; ")) as $why
            | "\(.T_shader) | \(.candidates | length) | \(.transforms) | \($why)"') || row='– | – | – | –'
        words=$(sed -nE "s/.*shader ${key:0:12}: of ([0-9]+ words of uniforms.*)$/\1/p" "$folder/tried.log" | tail -n 1)
        reasons_table+="| $program | ${key:0:12} | $row | ${words:-–} |"$'\n'
    done
}

[ $# -gt 0 ] || set -- openarena nexuiz neverball warzone2100
for game in "$@"; do
    new_program "$game"
    workload_command "$game" - 100000000 # more frames than a session has time for
    for number in $(seq "$sessions_profiled"); do
        session "profiled$number" "$seconds_profiled" TERM --set "sampler.kinds=$kinds" --set sampler.window_probability=0.1 \
            --set sampler.api_probability=0.2 --set sampler.batch=32 --set limits.variants=4096 -- "${command[@]}"
    done
    for number in $(seq "$sessions_tried"); do
        session "tried$number" "$seconds_tried" TERM --set sampler.kinds=timing --set sampler.window_probability=0 \
            --set limits.trial_share="${TRIAL_SHARE:-0.005}" -- "${command[@]}"
    done
    for number in $(seq "$sessions_tried"); do cat "$folder/tried$number.log"; done >"$folder/tried.log"
    trials
    summary
    reasons
    words
    for number in $(seq "$sessions_compared"); do
        compare "$number"
    done
done

echo "| game | session | specialized shaders in use | original, ms | faster, ms | frames (95 % interval) |"
echo "| --- | --- | --- | --- | --- | --- |"
printf '%s' "$frames_table"
echo
echo "| game | shader | stage | transforms | known words | time, % of the original's (interval) | pairs | verdict |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
printf '%s' "$trials_table"
echo
echo "| game | shaders profiled | of them every point sampled | specialized | not worth specializing |"
echo "| --- | --- | --- | --- | --- |"
printf '%s' "$summary_table"
echo
echo "| game | shaders with words | words seen | of one value always | in 95 % of their loads | of them zero |"
echo "| --- | --- | --- | --- | --- | --- |"
printf '%s' "$words_table"
echo
echo "| game | shader | cycles by estimate | zero points | transforms | points, why | words, why |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
printf '%s' "$reasons_table"
