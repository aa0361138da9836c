#!/bin/bash
# Deliberately bad variants on a real driver: what does its work twice is dropped by its trials, the program computes the
# same, and a frame takes no longer then. What the driver's and all other threads of the program use is compared, in turn with
# runs without the layer, and the least of several of each: it may be a fifth more, where a variant in use that does its work
# twice would be two thirds or more. That it would be found is shown by one such that is taken for proven.
# Prints what trials took of each session, which is not judged here: on a busy machine pairs that are under way
# when the half percent is through make it 1.3 % of a second's session. (Judged, and one that is slower in another scene
# alone: layer/contest_cost.) usage: bad_variants.sh DRIVER
. "$(dirname "$0")/lib.sh"
driver "$1"
program=$PM_BUILD/tests/system/contest most=6
without_layer
run_quietly "$scratch/run-without" "$program" "$scratch/without" 1 2 steady.comp

# session NAME OPTION… -- ARGUMENT…: of the program
session() {
    local one=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=(--set "$1")
        shift
    done
    shift
    run_quietly "$scratch/run-$one" "$PM_BUILD/tools/piecemeal" run --local --set optimize.variants=true \
        --set optimize.retry_share=0 --set sampler.kinds=timing --set sampler.window_probability=0 \
        --set log.level=debug --set log.file="$scratch/log-$one" "${options[@]}" -- "$program" "$scratch/out-$one" "$@"
    if grep -E ' (warning|error): ' "$scratch/log-$one" >&2; then
        fail "the layer complained in session $one"
    fi
}

# sessions_until PATTERN NAME OPTION… -- ARGUMENT…: until one's log has it; $last is its name
sessions_until() {
    local pattern=$1 name=$2 number
    shift 2
    for number in $(seq $most); do
        last=$name-$number
        session "$last" "$@"
        grep -q 'trials took' "$scratch/log-$last" || fail "session $last does not say what trials took"
        ! grep -qE "$pattern" "$scratch/log-$last" || return 0
    done
    fail "in $most sessions there was no '$pattern': $(tail -n 5 "$scratch/log-$last")"
}

# Twice as slow: all are dropped, and none is in use.
sessions_until 'of [0-9]+ variants none is faster' slow debug.slow_variants=true -- 4000 4001 steady.comp
same_file "$scratch/without" "$scratch/out-$last" "slow variants"
! grep -qE 'is used from now on' "$scratch"/log-slow-* || fail "a slow variant was used"

# frame_of RUN: microseconds of processor time
frame_of() {
    sed -nE 's/.*a frame took ([0-9.]+) us of processor time.*/\1/p' "$scratch/run-$1"
}

# ratio_of NAME FRAMES OPTION…: of a frame of sessions with these options over one without the layer, the least of `rounds` of each
ratio_of() {
    local name=$1 frames=$2 round none=() layer=()
    shift 2
    for round in $(seq $rounds); do
        run_quietly "$scratch/run-none" "$program" "$scratch/without" "$frames" "$((frames + 1))" steady.comp
        none+=("$(frame_of none)")
        session "$name-$round" "$@" -- "$frames" "$((frames + 1))" steady.comp
        layer+=("$(frame_of "$name-$round")")
    done
    printf '%s %s\n' "${none[*]}" "${layer[*]}" | awk -v n=$rounds '{
        for (i = 1; i <= n; i++) {
            if (i == 1 || $i + 0 < a) a = $i + 0
            if (i == 1 || $(n + i) + 0 < b) b = $(n + i) + 0
        }
        printf "%.3f\n", b / a }'
}

# is_slower RATIO
is_slower() {
    awk -v ratio="$1" -v most=$most_longer 'BEGIN { exit !(ratio > most) }'
}

rounds=3 most_longer=1.2
after=$(ratio_of after 4000 debug.slow_variants=true)
! grep -qE 'is used from now on' "$scratch"/log-after-* || fail "a slow variant was used after the trial"
! is_slower "$after" || fail "after the trial a frame takes $after times as long as without the layer"

# One that is taken for proven, in fewer frames than there are until the first glance.
verdicts=$(echo "$XDG_DATA_HOME"/piecemeal/journal/*/verdicts)
sed -i '0,/^verdict [a-z]* /s//verdict faster /' "$verdicts"
used=$(ratio_of used 240 debug.slow_variants=true optimize.agreeing_sessions=1 debug.synchronous=true)
grep -qE 'is used from now on' "$scratch"/log-used-* || fail "what is taken for proven is not used"
is_slower "$used" || fail "one that does its work twice is not told: $used"
echo "frames: $after times as long after the trial, $used with a slow variant"

grep -h 'trials took' "$scratch"/log-* | sed 's/.*trials/trials/'
