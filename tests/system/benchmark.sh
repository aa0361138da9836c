#!/bin/bash
# A program of bench/ at its smallest: it runs, prints the tables that it says it prints, and ends as it says. Its
# figures mean nothing here, and neither does its verdict on them, but for one: never_slower ends with 3 where frames are
# shown to take more than 1 % longer once slow variants were tried. usage: benchmark.sh NAME
benchmark=$1
. "$(dirname "$0")/lib.sh"

scene=("$PM_BUILD/examples/piecemeal-postprocess" --size 16x16)
piecemeal=$PM_BUILD/tools/piecemeal
number='-?[0-9]+\.[0-9]+'
interval="$number \($number to $number\)"

# measure ARGUMENT...: of a program that judges its figures, exit status 1 may be the verdict; an error says what it is,
# and what is said of "small", as the scene is called here, is none
judges=
measure() {
    local status=0
    timeout 3500 "$PM_BUILD/bench/$benchmark" "$@" >"$scratch/out" 2>"$scratch/errors" || status=$?
    if [ "$status" -gt "${judges:-0}" ] || grep "^$benchmark: " "$scratch/errors" | grep -qv "^$benchmark: small: "; then
        tail -n 20 "$scratch/out" "$scratch/errors" >&2
        fail "$benchmark $* ended with $status"
    fi
}

# prints COUNT PATTERN: so many lines are all as the extended regular expression says
prints() {
    local found
    found=$(grep -cxE -- "$2" "$scratch/out" || true)
    if [ "$found" != "$1" ]; then
        cat "$scratch/out" >&2
        fail "$found lines and not $1 are like $2"
    fi
}

# profile KIND FRAMES ARGUMENT...: a session of the scene in which everything is sampled, but for what arguments say
profile() {
    local kind=$1 frames=$2
    shift 2
    run_quietly "$scratch/profile" "$piecemeal" run --set sampler.window_probability=1 \
        --set sampler.api_probability=1 --set sampler.batch=all --set sampler.kinds="$kind" \
        --set debug.synchronous=true --set debug.checkpoint_heartbeats=1 "$@" \
        -- "${scene[@]}" --frames "$frames" --quiet
}

driver lavapipe-25
case $benchmark in
compile_time)
    judges=1
    profile zero 2 --local
    measure --repetitions 1
    grep -qE '^\| [0-9a-f]{12} \|( [0-9]+ \|){2}( [0-9.]+ \|){6}$' "$scratch/out" || fail "no shader: $(cat "$scratch/out")"
    prints 1 "[0-9]+ shaders, [0-9]+ left out; geometric means: a session $number, a machine $number"
    ;;
convergence) # 40 calls a frame of the shader, of which 500 must be sampled
    judges=1
    measure --piecemeal "$piecemeal" --frames 320 --seeds 1 -- "$PM_BUILD/examples/piecemeal-deferred" --size 64x36
    prints 1 "shader [0-9a-f]{12}: [0-9]+ blocks, $number calls a frame, 320 frames"
    blocks=$(sed -nE 's/^shader .*: ([0-9]+) blocks.*/\1/p' "$scratch/out")
    prints "$blocks" "\| block [0-9]+ \|( $number \|){4,}"
    prints 1 "seed 1: largest error at 500 sampled calls $number"
    prints 1 '[01] of 1 seeds within 0.05 .*'
    ;;
coverage)
    judges=1
    measure --trials 2
    prints 15 "\| [0-9]+ \| [128] \|( $number \|){3}"
    measure --windows --trials 1 --shape 20,10,5 --session 1
    prints 3 "\| 20 \| 10 \| 5 \| (1|8|128) \|( $number \|){4}"
    ;;
curation)
    measure --points 2850 --sessions 2 --seconds 1
    prints 2 "(nothing is|always) curated +[0-9]+ commits: median $number ms, 99 % $number ms, longest $number ms"
    prints 1 "[0-9]+ curations of 2850 points, $number s each \($number of the processor\), a body of $number MB"
    measure --points 2850 --sessions 2 --seconds 1 --local
    prints 1 "[0-9]+ curations of 2850 points, $number s each \($number of the processor\), a body of $number MB"
    ;;
draw_cost)
    with_layer
    sample_everything
    for kind in draw dispatch bind bind2 gbind2 occlusion pass rendering execute buffer reset object gobject2 frame; do
        rm -f "$PIECEMEAL_LOG_FILE"
        measure "$kind" 10
        grep -q 'made a variant' "$PIECEMEAL_LOG_FILE" || fail "the layer had no part in $kind"
    done
    ;;
record_threads)
    with_layer
    sample_everything
    measure 8 4
    prints 1 "$number $number $number"
    grep -q 'made a variant' "$PIECEMEAL_LOG_FILE" || fail "the layer had no part in it"
    ;;
frame_cost)
    judges=1
    measure --piecemeal "$piecemeal" --frames 12 --skip 2 --block 2 -- "${scene[@]}"
    prints 2 "(layer|none) / none +$number, 95 % interval $number to $number"
    ;;
general)
    measure --piecemeal "$piecemeal" --frames 12 --skip 2 --block 2 --train-frames 2 -- \
        "$PM_BUILD/examples/piecemeal-terrain" --size 16x16
    prints 7 '\| P[P123+]* \|( [0-9]+ \([0-9]+\) \|){3}'
    prints 14 '\| P[P123+]* \|.* %.* \|.*'
    prints 1 '- Dilution: of 9 unions .*'
    ;;
ingest)
    measure --seconds 1 --connections 2 --shaders 150 --points 8 --folder "$scratch"
    prints 1 "  stored +[0-9]+ in $number s: [0-9]+ a second .*"
    prints 1 "  acknowledged  p50 $number ms, p99 $number ms, most $number ms"
    [ -z "$(ls -d "$scratch"/ingest-* 2>/dev/null)" ] || fail "its folder is left"
    # A build against itself; only an absurd difference is one here.
    python3 "$PM_SOURCE/bench/ingest/in_turn.py" "$PM_BUILD/bench/ingest" "$PM_BUILD/bench/ingest" --rounds 2 \
        --most 95 -- --seconds 1 --connections 2 --shaders 150 --points 8 --folder "$scratch" >"$scratch/out"
    prints 4 "\| [12] \| (before|after) \|( [0-9,]+ \|){5}"
    prints 1 "\| all \| after / before \|( $number \($number–$number\) \|){5}"
    ;;
constant_gain) # a shader of the tests', of which three words are known
    for way in original folded; do
        measure "$PM_BUILD/tests/system/shaders" uniforms.frag "$way" 2 0.0:0=1 0.0:4=3 0.0:12=0x3f800000
        [ "$way" = folded ] && guarded=3 || guarded=0
        prints 1 "$number [0-9a-f]{16} $guarded"
        awk '{ print $2 }' "$scratch/out" >"$scratch/hash-$way"
    done
    same_file "$scratch/hash-original" "$scratch/hash-folded" "what the folded version draws"
    ;;
constant_bound)
    for way in original fits other differs; do
        measure "$way" 2
        prints 1 "$number [0-9a-f]{16}"
        awk '{ print $2 }' "$scratch/out" >"$scratch/hash-$way"
    done
    same_file "$scratch/hash-original" "$scratch/hash-fits" "what the folded version computes"
    same_file "$scratch/hash-other" "$scratch/hash-differs" "what the folded version computes with other words"
    ;;
instruction_costs)
    measure --count 2 --repetitions 1
    prints 16 "\| .* \| $number \| $number \|"
    ;;
interval_coverage) # takes checkpoints with one call; a fast machine has many frames in one
    judges=1
    profile block 100 --set sampler.api_probability=0.05
    measure --sessions 2 --trials 2 --calls 4 --p 1 "$(ls "$XDG_DATA_HOME"/piecemeal/spool/*)"
    grep -qE "^\| [0-9a-f]{12} \| [0-9]+ \| [0-9]+ \| $number \| $number \| $number \|$" "$scratch/out" ||
        fail "no shader: $(cat "$scratch/out")"
    ;;
never_slower) # undecided ends with 1
    judges=1
    measure --piecemeal "$piecemeal" --name small --frames 24 --skip 4 --block 4 --tried-frames 4000 -- "${scene[@]}"
    more="( [+]?$number \([+]?$number to [+]?$number\) \|){2}"
    prints 1 "\| small \|( [0-9]+ \|){3} $number \|$more [0-9]+ of [0-9]+ \| $number \|$more"
    cat "$scratch/out"
    # Told to end while a scene is played, it ends, and is not told so by the scene alone.
    status=0
    timeout --preserve-status -k 300 60 "$PM_BUILD/bench/never_slower" --piecemeal "$piecemeal" --frames 24 --skip 4 \
        --block 4 --tried-frames 1000000 -- "${scene[@]}" >/dev/null 2>"$scratch/errors" || status=$?
    [ $status = 1 ] && grep -q 'was told to end' "$scratch/errors" || fail "told to end it ended with $status"
    ;;
slower_scene) # nothing is in use
    measure --piecemeal "$piecemeal" --game small --log "$scratch/layer.log" --from 12 --name small --frames 24 --skip 4 \
        --block 4 -- "${scene[@]}" --next 1@12
    more="( [+-]$number \([+-]$number to [+-]$number\) \|)"
    prints 1 "\| small \| – \| – \| – \|$more$more – \|$more"
    # Where nothing is known of the game there is nothing to turn slow.
    profile zero 2 --local --game small
    measure --piecemeal "$piecemeal" --game small --log "$scratch/layer.log" --from 20 --turn-slow --name turned --frames 36 \
        --skip 4 --block 4 -- "${scene[@]}"
    prints 1 "\| turned \| – \| – \| (–|$number) \|$more$more – \|$more"
    ;;
partition_kernels)
    driver lavapipe-25
    measure kernels 250 1000 1000 polynomial
    prints 1 '\| polynomial \| 1000 \| [2-9] (\| [0-9.]+ )+\|'
    ;;
partition_shaders)
    need glslangValidator python3
    python3 -B "$PM_SOURCE/bench/cost/multipass_shaders.py" "$scratch/shaders"
    for shader in WOOD UBER WOODUBER1; do
        glslangValidator --quiet -V -o "$scratch/$shader.spv" "$scratch/shaders/$shader.frag"
    done
    measure "$scratch/WOOD.spv" "$scratch/UBER.spv" "$scratch/WOODUBER1.spv"
    prints 3 '\| [A-Z0-9]+ \| (10|36|46) \| [24] \| [134] \| (67|89|156) \|'
    prints 12 '\| [A-Z0-9]+ \| (RDS_h|Mio48|Mio64|ours) (\| [0-9.]+ )+\|'
    ;;
push_cost)
    with_layer
    sample_everything
    measure learn 20
    export PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=0 PIECEMEAL_DEBUG_TRUST_VARIANTS=true
    for kind in word words fits turns beside dispatch bind others buffer execute; do
        rm -f "$PIECEMEAL_LOG_FILE"
        measure "$kind" 10
        grep -q 'words of push constants' "$PIECEMEAL_LOG_FILE" || fail "there is no variant in $kind"
    done
    ;;
real_programs) # of which one is played, for a moment
    need Xvfb jq vkcube ffmpeg mpv glmark2 vulkaninfo
    JSON=$scratch/json SESSIONS=2 SESSION_SECONDS=10 run_quietly "$scratch/out" \
        "$PM_SOURCE/bench/coverage/real_programs.sh" "$PM_BUILD" vkcube
    prints 2 '\| vkcube \| [12] \| [0-9]+ \| [0-9]+ (\| [0-9,]+ of [0-9,]+ ){3}\| [0-9]+ (\| [0-9]+ of [0-9]+ ){2}(\| [0-9]+ ){4}\|'
    prints 2 '\| vkcube \| [12] \| [^|]+ (\| [0-9]+ ){5}\|'
    jq -e 'length == 2 and all(.[]; .frames > 0 and .shaders > 0 and .why != null)' "$scratch/json" >"$scratch/asked"
    ;;
window_seed) # a session that is given it has a window that opens so early
    measure 3 9
    prints 1 '[0-9]+'
    with_layer
    PIECEMEAL_SAMPLER_SEED=$(cat "$scratch/out") run_quietly "$scratch/session" "${scene[@]}" --frames 40 --quiet
    says "$PIECEMEAL_LOG_FILE" 'heartbeat [3-9]: a profiling window opens'
    ;;
zero_gain)
    measure --piecemeal "$piecemeal" --frames 6 --skip 2 --block 2 --launches 2 --train-frames 2 -- "${scene[@]}"
    prints 10 "\| [a-z, ]+ \| $number \| $interval \| $interval \| [+-]$number %.*\|"
    ;;
zero_instructions)
    need valgrind vgdb
    measure --piecemeal "$piecemeal" --frames 3 --skip 1 --train-frames 2 -- "${scene[@]}"
    prints 2 "\| (shaders|process) \|( $number \|){3}"
    ;;
*) fail "nothing is known of $benchmark" ;;
esac
