#!/bin/bash
# constant_words.sh [BUILD [PROGRAM…]]: how many words of push constants and uniform buffers real programs keep constant,
# over a session and over sessions. Each program runs in SESSIONS (2) sessions that know nothing of one another, in which
# its words alone are sampled. Prints two Markdown tables. Words are those that could matter (piecemeal shader
# points_constant) and were loaded 16 times or more.
#
# BUILD is the build tree (build/release). PROGRAMs are those of third_party.sh, vkcube, and the games of games.sh. The
# driver is the caller's: VK_DRIVER_FILES. A session is over after FRAMES (60) frames, and at the latest after SECONDS_EACH
# (40) seconds. All calls are sampled (PROBABILITY). KEEP=FOLDER keeps the sessions' logs, and in FOLDER/values what
# was seen. Needs what third_party.sh and games.sh need.
set -euo pipefail

source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$source_folder/build/release}" && pwd)
shift || true
sessions=${SESSIONS:-2} frames=${FRAMES:-60} seconds=${SECONDS_EACH:-40} probability=${PROBABILITY:-1}
. "$source_folder/bench/gain/local_sessions.sh"
start_display
. "$source_folder/bench/gain/program_commands.sh"
mkdir -p "$scratch/values"

# command_of PROGRAM: `command` is what to run
command_of() {
    load_commands "$1"
    set_command "$1"
}

# A line a word of a file of values (profile/values_store.h): shader and point, loads, loads of zero, the most frequent
# value and its loads
words_of() {
    awk 'NR > 1 && $4 >= 16 {
        most = 0; value = ""
        for (i = 6; i <= NF; i++) { split($i, one, ":"); if (one[2] > most) { most = one[2]; value = one[1] } }
        print $1 "." $3, $4, $5, value, most
    }' "$1"
}

[ $# -gt 0 ] || set -- vkcube "${programs[@]}" openarena
one_table='' all_table=''
for program in "$@"; do
    files=()
    for number in $(seq "$sessions"); do
        new_program "$program"
        command_of "$program"
        session seen "$seconds" INT --set sampler.kinds=constant --set sampler.window_probability=1 \
            --set "sampler.api_probability=$probability" --set sampler.batch=all --set debug.synchronous=true \
            --set limits.variants=4096 -- "${command[@]}"
        file=$scratch/values/$program-$number
        : >"$file"
        for kept in "$XDG_DATA_HOME"/piecemeal/values/*; do
            [ ! -e "$kept" ] || words_of "$kept" >"$file"
        done
        files+=("$file")
        one_table+="| $program | $number | $(sed -nE "s/.*a shader's constants: of ([0-9]+) words that it loads ([0-9]+) are watched/\1 \2/p" \
            "$folder/seen.log" | awk '{ shaders++; loaded += $1; watched += $2 } END { print shaders + 0 " | " loaded + 0 " | " watched + 0 }') | "
        one_table+="$(awk '{ seen++; always += $5 == $2; nearly += $5 >= 0.95 * $2; half += $5 >= 0.5 * $2; zero += $3 >= 0.95 * $2 }
            END { print seen + 0 " | " always + 0 " | " nearly + 0 " | " half + 0 " | " zero + 0 }' "$file") |"$'\n'
    done
    all_table+="| $program | $(awk -v sessions="$sessions" '
        { seen[$1]++; always[$1] += $5 == $2; loads[$1] += $2; of[$1, $4] += $5
          if (of[$1, $4] > most[$1]) most[$1] = of[$1, $4]
          if (!($1 in first)) first[$1] = $4
          same[$1] += $4 == first[$1] }
        END {
            for (word in seen) {
                if (seen[word] < sessions) continue
                all++; each += always[word] == sessions
                one += always[word] == sessions && same[word] == sessions
                nearly += most[word] >= 0.95 * loads[word]
            }
            print all + 0 " | " each + 0 " | " one + 0 " | " nearly + 0
        }' "${files[@]}") |"$'\n'
done

echo "| program | session | shaders | words loaded | that could matter | seen | of one value always | in 95 % of their loads | in half | zero in 95 % |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
printf '%s' "$one_table"
echo
echo "| program | words seen in all sessions | of one value in each session | of the same in all | of one value in 95 % of all loads |"
echo "| --- | --- | --- | --- | --- |"
printf '%s' "$all_table"
