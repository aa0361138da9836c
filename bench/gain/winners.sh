#!/bin/bash
# winners.sh BUILD [WORKLOAD…]: of how many shaders does A-Z testing find a variant that is faster, and is it the same one
# each time? Contests are held RUNS times (3), each from nothing, with trials at all times (limits.trial_share=1), in
# sessions of SECONDS_TRIED (60), SESSIONS (2) of them a run. Prints a Markdown table with a row for each shader whose contest
# ended in a run: its variants, and in each run the winner with what its trial said (its time over the original's; a winner
# that the trial does not confirm is not used). Below it: how many shaders had a winner that was confirmed in any run, in
# all of them, and the same one in all.
#
# A workload is what figure9.sh takes; all scenes, if none is named. BUILD is the build tree, the driver the caller's:
# VK_DRIVER_FILES. ONLY="KEY…": contests of these shaders alone (whole keys). SIZE: of the scenes; PM_SMALL: of the clip that
# ffmpeg scales up. KEEP=FOLDER keeps the sessions' logs. Wants an idle machine.
: "${1:?usage: winners.sh BUILD [WORKLOAD…]}"
build=$(cd "$1" && pwd)
shift
. "$(dirname "$0")/local_sessions.sh"
take_workloads "$@"
only=()
if [ -n "${ONLY-}" ]; then
    {
        echo '*'
        printf '!%s\n' $ONLY
    } >"$scratch/withheld"
    only=(--set "optimize.withhold=$scratch/withheld")
fi
runs=${RUNS:-3} sessions=${SESSIONS:-2} seconds_tried=${SECONDS_TRIED:-60} size=${SIZE:-64x36}

# winners_of RUN: of the sessions' logs a line for each shader whose contest ended: shader, variants, winner, its time
winners_of() {
    awk -v run="$1" '
        match($0, /shader [0-9a-f]+: of [1-9][0-9]* variants /) {
            split(substr($0, RSTART, RLENGTH), words, /[ :]+/)
            key = words[2]
            count[key] = words[4]
            won[key] = ""
            if (match($0, /the fastest is [^ ,]+/))
                won[key] = substr($0, RSTART + 15, RLENGTH - 15)
        }
        / tried a specialized shader / { last = "" }
        /tried a specialized shader [0-9a-f]+: .*, faster: used/ {
            match($0, /: [0-9.]+ % of the time/)
            split(substr($0, RSTART, RLENGTH), words, " ")
            last = words[2]
        }
        # The verdict of that trial follows at once, by the same thread.
        match($0, /shader [0-9a-f]+, specialized, is used from now on/) {
            split(substr($0, RSTART, RLENGTH), words, /[ ,]+/)
            used[words[2]] = 1
            if (last != "")
                time[words[2]] = last
            last = ""
        }
        END {
            for (key in count)
                print key, run, count[key], (won[key] == "" ? "–" : won[key]), (used[key] ? (key in time ? time[key] : "used") : "–")
        }' "$folder"/tried*.log
}

echo "| workload | shader | variants |$(for run in $(seq "$runs"); do printf ' run %s: winner, its time in percent |' "$run"; done)"
echo "| --- | --- | --- |$(for run in $(seq "$runs"); do printf ' --- |'; done)"
: >"$scratch/rows"
for workload in "${workloads[@]}"; do
    rm -f "$scratch/$workload".[0-9]*
    for run in $(seq "$runs"); do
        new_program "$workload-$run"
        workload_command "$workload" "$size" 100000000
        for number in $(seq "$sessions"); do
            session "tried$number" "$seconds_tried" TERM --set optimize.zero=false --set optimize.blocks=false \
                --set optimize.constants=false --set optimize.variants=true --set optimize.retry_share=0 \
                --set sampler.kinds=timing --set sampler.window_probability=0 --set limits.trial_share=1 \
                --set limits.background_share=1 "${only[@]}" -- "${command[@]}"
            [ "$status" = 0 ] || exit 1
        done
        winners_of "$run" >"$scratch/$workload.$run"
    done
    cat "$scratch/$workload".[0-9]* | sort | awk -v workload="$workload" -v runs="$runs" '
        { if (!($1 in variants)) keys[++n] = $1; variants[$1] = $3; cell[$1, $2] = $4 == "–" ? "none" : $5 == "–" ? $4 ", not confirmed" : $4 ", " $5 }
        END {
            for (i = 1; i <= n; i++) {
                row = "| " workload " | " keys[i] " | " variants[keys[i]] " |"
                for (run = 1; run <= runs; run++)
                    row = row " " ((keys[i], run) in cell ? cell[keys[i], run] : "not over") " |"
                print row
            }
        }' | tee -a "$scratch/rows"
done
awk -F ' *[|] *' -v runs="$runs" '
    {
        shaders++
        confirmed = 0; same = 1; name = ""
        for (i = 5; i < 5 + runs; i++) {
            if ($i !~ /^(none|not over)$/ && $i !~ /not confirmed/) confirmed++
            split($i, words, ",")
            if (name == "") name = words[1]
            if (words[1] != name) same = 0
        }
        any += confirmed > 0; all += confirmed == runs; stable += confirmed == runs && same
    }
    END { printf "\nOf %d shaders %d had a confirmed winner in a run, %d in every run, %d the same one in every run.\n", shaders, any, all, stable }
' "$scratch/rows"
