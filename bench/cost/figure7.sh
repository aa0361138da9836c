#!/bin/bash
# figure7.sh [BUILD [PROGRAM…]]: the paper's Figure 7: frame time inside a profiling window against none, for p of
# 0.001, 0.01 and 0.05 and b of 1, 8 and 128, after variants' first uses; what first uses cost stands apart. Prints a
# Markdown table, from which bench/cost/draw_figure7.py draws the picture. The aim is below 0.5 % at p = 0.01 and b = 1.
#
# Programs: deferred, terrain, postprocess (examples/) and openarena (OpenGL through zink); all four unless told.
# The scenes draw in turn, frame by frame, without the layer, again without it, and inside a window with each p and b
# (frame_cost). A game cannot be stepped: it is played once for each p and b, with windows of WINDOW frames and pauses of
# as many on average between them, and each window is compared with the pauses before and after it; the noise is one
# pause against the next. WITHIN=1 does that with the scenes, too: what a driver makes may be faster in one process than in
# the next by more than a window costs, and a window and its pauses are of one process.
#
# BUILD is the build tree (build/release). The driver is the caller's: VK_DRIVER_FILES. FRAMES, SKIP, BLOCK: as frame_cost
# has them. SIZE: of the scenes. SECONDS_PLAYED: a game's session. PROBABILITIES, BATCHES: other p and b. VARIANTS: no more
# are made, so that soon none is compiled any more and what is left is what counting costs. SHARE: of a core that compiling may
# take (limits.background_share; 1); a player has 0.05. KEEP=FOLDER keeps the games' logs. VARIANTS and SHARE hold with games
# and WITHIN.
#
# Needs the game and Xvfb.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$source_folder/build/release}" && pwd)
shift || true
frames=${FRAMES:-1200} skip=${SKIP:-300} block=${BLOCK:-20} size=${SIZE:-64x36}
seconds_played=${SECONDS_PLAYED:-40} window=${WINDOW:-16}
probabilities=${PROBABILITIES:-0.001 0.01 0.05} batches=${BATCHES:-1 8 128}
. "$source_folder/bench/gain/local_sessions.sh"

scene() {
    "$build/bench/frame_cost" --piecemeal "$piecemeal" --name "$1" --p "${probabilities// /,}" --b "${batches// /,}" \
        --frames "$frames" --skip "$skip" --block "$block" -- "$build/examples/piecemeal-$1" --size "$size"
}

# row LOG P B: from what the layer says at a window's beginning and end
row() {
    awk -v name="$program" -v p="$2" -v b="$3" '
        function sort(values, n,   i, j, v) {
            for (i = 2; i <= n; i++) {
                v = values[i]
                for (j = i - 1; j > 0 && values[j] > v; j--)
                    values[j + 1] = values[j]
                values[j + 1] = v
            }
        }
        function percent(logarithm) { return sprintf("%+.2f", 100 * (exp(logarithm) - 1)) }
        # The mean of logarithms with its interval.
        function mean(values, n,   i, sum, squares, error) {
            if (n < 2)
                return "–"
            for (i = 1; i <= n; i++)
                sum += values[i]
            for (i = 1; i <= n; i++)
                squares += (values[i] - sum / n) ^ 2
            error = 1.96 * sqrt(squares / (n - 1) / n)
            return percent(sum / n) " (" percent(sum / n - error) " to " percent(sum / n + error) ")"
        }
        function middle(values, n) {
            sort(values, n)
            return n == 0 ? "–" : percent(values[int((n - 1) / 2) + 1]) " (" percent(values[int((n - 1) / 4) + 1]) \
                " to " percent(values[int((n - 1) * 3 / 4) + 1]) ")"
        }
        /first use of a variant/ { firsts++ }
        /: (a|the) profiling window (opens|closes), after / {
            match($0, /after [0-9]+ heartbeats in [0-9.]+ ms/)
            split(substr($0, RSTART, RLENGTH), words, " ")
            if ($0 ~ /opens/) { # a pause ends
                pauses++
                pause_frames[pauses] = words[2]
                pause_time[pauses] = words[5]
            } else {
                frames_in[pauses] = words[2]
                time_in[pauses] = words[5]
                firsts_in[pauses] = firsts
            }
            firsts = 0
        }
        END {
            # The first pauses are the game'"'"'s start; what variants in a window still wait for is over by the third.
            for (i = 4; i < pauses; i++) {
                before = pause_frames[i] + pause_frames[i + 1]
                if (before < 8 || !frames_in[i])
                    continue
                outside = (pause_time[i] + pause_time[i + 1]) / before
                inside = time_in[i] / frames_in[i]
                if (pause_frames[i] >= 4 && pause_frames[i + 1] >= 4)
                    noise[++noises] = log(pause_time[i + 1] / pause_frames[i + 1] / pause_time[i] * pause_frames[i])
                if (firsts_in[i]) {
                    uses += firsts_in[i]
                    more += time_in[i] - outside * frames_in[i]
                    continue
                }
                frames += frames_in[i]
                ratios[++n] = log(inside / outside)
                sum += outside
            }
            printf "| %s | %s | %s | %d | %s | %s | %s | %s | %d | %s |\n", name, p, b, frames,
                n ? sprintf("%.2f", sum / n) : "–", middle(ratios, n), mean(ratios, n), mean(noise, noises), uses,
                uses ? sprintf("%.2f", more / uses) : "–"
        }' "$1"
}

game() {
    local p b
    local name=$1
    case $name in deferred | terrain) name+=-0 ;; esac
    new_program "$1"
    workload_command "$name" "$size" 100000000
    more=()
    [ -z "${VARIANTS:-}" ] || more=(--set limits.variants="$VARIANTS")
    for p in $probabilities; do
        for b in $batches; do
            session "$p-$b" "$seconds_played" TERM --set sampler.api_probability="$p" --set sampler.batch="$b" \
                --set sampler.window_frames="$window" \
                --set sampler.window_probability="$(awk -v w="$window" 'BEGIN { print 1 / w }')" \
                --set optimize.zero=false --set optimize.blocks=false --set optimize.variants=false \
                --set limits.background_share="${SHARE:-1}" "${more[@]}" -- "${command[@]}"
            row "$folder/$p-$b.log" "$p" "$b"
        done
    done
}

[ $# -gt 0 ] || set -- deferred terrain postprocess openarena
echo "| program | p | b | frames | ms without | % more, median (middle half) | % more, mean (95 %) | none / none, % | first uses | ms more each |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
for one in "$@"; do
    case ${WITHIN:-0}$one in
    0deferred | 0terrain | 0postprocess) scene "$one" ;;
    *) game "$one" ;;
    esac
done
