#!/bin/bash
# slower_scene.sh BUILD [GAME…]: variants that are faster in one scene and slower in the next, as what is specialized for zeros
# of the one and does its work twice where none of these is zero (debug.slow_guards). How long does the layer take to notice, in
# a game that names its scenes and in one that does not, and what did frames take meanwhile and afterwards?
#
# For each two scenes of a game of ours (terrain and deferred, unless told): the first is profiled, then sessions in it try what
# is made of that, until one is used. Then the program goes from the first scene to the second, with a player's limits and what
# these sessions have kept (slower_scene.c, which says what its columns are). Where nothing is faster in the first scene there
# is no row.
#
# BUILD is the build tree. The driver is the caller's: VK_DRIVER_FILES. SIZE: of the scenes. PAIRS: of scenes ("01 02 10 …").
# TRIED_FRAMES, SESSIONS: of the sessions that try, at most. FROM, FRAMES: of the change, and in all. KEEP=FOLDER keeps logs.
: "${1:?usage: slower_scene.sh BUILD [GAME…]}"
build=$(cd "$1" && pwd)
shift
. "$(dirname "$0")/local_sessions.sh"
[ $# -gt 0 ] || set -- terrain deferred
size=${SIZE:-64x36} sessions=${SESSIONS:-3} tried_frames=${TRIED_FRAMES:-3000} from=${FROM:-1000} frames=${FRAMES:-3000}
slow=(--set debug.slow_guards=true --set optimize.blocks=false --set optimize.constants=false
    --set optimize.agreeing_sessions=1)

# try_in_first: until something is used; false: nothing is
try_in_first() {
    local number
    for number in $(seq "$sessions"); do
        session "tried-$number" 600 TERM "${slow[@]}" --set sampler.kinds=timing --set sampler.window_probability=0 \
            --set optimize.retry_share=0 --set limits.trial_share=1 -- "${command[@]}" --frames "$tried_frames"
        [ "$status" = 0 ] || exit 1
        ! grep -q 'is used from now on' "$folder/tried-$number.log" || return 0
    done
    return 1
}

echo "| game | frames until tried again | until dropped | trials, % of the time | before the change, % more (95 %) | until dropped, % more | afterwards, % more | none / none, % |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
for game in "$@"; do
    for pair in ${PAIRS:-01 02 10 12 20 21}; do
        new_program "$game-$pair"
        scene_command "$game-${pair:0:1}" "$size"
        session profiled 300 TERM --set sampler.kinds=zero,block --set sampler.window_probability=1 \
            --set sampler.api_probability=1 --set sampler.batch=128 --set debug.synchronous=true \
            --set optimize.zero=false -- "${command[@]}" --frames 10
        [ "$status" = 0 ] || exit 1
        try_in_first || continue
        kept=$(cat "$XDG_DATA_HOME"/piecemeal/journal/*/verdicts)
        for named in named unnamed; do
            printf '%s\n' "$kept" >"$(echo "$XDG_DATA_HOME"/piecemeal/journal/*/verdicts)"
            options=(--next "${pair:1:1}@$from")
            [ $named = named ] || options+=(--unnamed)
            "$build/bench/slower_scene" --piecemeal "$piecemeal" --game "$program" --log "$folder/$named.log" --from "$from" \
                --frames "$frames" --name "$game, ${pair:0:1} to ${pair:1:1}, $named" --set debug.slow_guards=true --set optimize.blocks=false \
                --set optimize.constants=false --set optimize.agreeing_sessions=1 -- "${command[@]}" "${options[@]}"
        done
    done
done
