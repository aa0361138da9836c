#!/bin/bash
# A program that records its commands once and submits them every frame, while windows open and close: its calls are
# recorded twice under opposite predicates (layer/frame/predicated.h). It draws the same, the validation layer below us
# has nothing to say, and with every call inside windows sampled exactly that is counted which is counted when the
# program records every frame anew, whose windows are the same. Where the driver has no VK_EXT_conditional_rendering it
# draws the same too.
#
# usage: kept.sh DRIVER PROGRAM SIZE [secondary]      each pass in a secondary command buffer
driver_name=$1 program_name=$2 size=$3 more=${4:+--$4}
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"
driver "$driver_name"
program=$PM_BUILD/examples/$program_name
frames=60

# draw NAME [OPTION]...: the frames' hashes to $scratch/NAME
draw() {
    local out=$scratch/$1
    shift
    run_quietly "$scratch/log" "$program" --quiet --frames $frames --size "$size" --hash "$out" $more "$@"
}

# Windows of 8 frames, about 18 frames apart, the same in each run.
windows() {
    with_layer
    sample_everything
    export PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=0.1 PIECEMEAL_SAMPLER_WINDOW_FRAMES=8 PIECEMEAL_SAMPLER_SEED=3
    export PIECEMEAL_SAMPLER_KINDS=block PIECEMEAL_SAMPLER_API_PROBABILITY=$1
}

without_layer
draw without --record-once

# The rate itself.
windows 1
draw anew
expect_sampled
mv "$scratch/counts" "$scratch/counts-anew"
same_file "$scratch/without" "$scratch/anew" "recorded anew"
windows 1
draw kept --record-once
expect_sampled
same_file "$scratch/without" "$scratch/kept" "recorded once"
grep -aq 'a profiling window opens' "$PIECEMEAL_LOG_FILE" || fail "no window opened"
if [ "$driver_name" != swiftshader ]; then
    diff "$scratch/counts-anew" "$scratch/counts" || fail "what is recorded once is counted otherwise"
fi

# Each submission takes others of the calls.
without_layer
with_validation "$scratch/messages-without"
draw validated-without --record-once
windows 0.3
with_validation "$scratch/messages"
draw some --record-once
expect_sampled
same_file "$scratch/without" "$scratch/some" "some calls sampled"
new_messages "$scratch/messages-without" "$scratch/messages" >"$scratch/new-messages"
if [ -s "$scratch/new-messages" ]; then
    head -n 20 "$scratch/new-messages" >&2
    fail "the validation layer says what it did not say without us"
fi
