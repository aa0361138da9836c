#!/bin/bash
# What a profile says of a program that records its commands once, of whose calls inside windows some are sampled, anew in
# each submission, is what it says where the program records every frame anew and every call is sampled: how many lanes
# enter a shader in a call, and which share of them enters each of its blocks. The windows are the same. The calls that are
# sampled are by chance, from fixed seeds: one in 10^5 sets of these estimates differs by more than is allowed here.
#
# usage: kept_estimates.sh DRIVER PROGRAM SIZE FRAMES
driver_name=$1 program_name=$2 size=$3 frames=$4
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"
driver "$driver_name"

# count PROBABILITY FILE [OPTION]...: the estimates of each checkpoint to the file
count() {
    local probability=$1 out=$2
    shift 2
    with_layer
    sample_everything
    export PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=0.3 PIECEMEAL_SAMPLER_WINDOW_FRAMES=8 PIECEMEAL_SAMPLER_SEED=3
    export PIECEMEAL_SAMPLER_KINDS=block PIECEMEAL_SAMPLER_API_PROBABILITY=$probability
    run_quietly "$scratch/log" "$PM_BUILD/examples/$program_name" --quiet --frames "$frames" --size "$size" "$@"
    expect_sampled
    "$PM_BUILD/tests/system/spool_counts" "$XDG_DATA_HOME/piecemeal/spool" --each >"$out"
}

count 1 "$scratch/all"
count 0.3 "$scratch/some" --record-once

# By how much the sum over checkpoints may differ from what the ratio of all calls makes of it: the checkpoints' differences
# are independent and as likely above as below, so the sum is beyond b times the root of the sum of their squares with a
# probability of 2 exp(-b b / 2) at most (Hoeffding); of all estimates together that is to be 10^-5. Not so of a block that
# a few lanes enter in all, in one call or two: most likely none of these is sampled, and all differences are below.
awk '
    FNR == NR { above[$1] += $2; below[$1] += $3; next }
    !($1 in above) { print $1 " is sampled only where some calls are"; failed = 1; next }
    below[$1] > 0 {
        difference = $2 - $3 * above[$1] / below[$1]
        sum[$1] += difference; squares[$1] += difference * difference
        some_above[$1] += $2; some_below[$1] += $3
    }
    END {
        for (name in sum)
            if (above[name] < 100)
                delete sum[name]
        for (name in sum)
            if (squares[name] > 1e-9 * some_above[name] * some_above[name])
                count++
        bound = sqrt(2 * log(2 * count / 1e-5))
        for (name in sum) {
            if (squares[name] <= 1e-9 * some_above[name] * some_above[name])
                continue
            off = sum[name] / sqrt(squares[name])
            if (off < 0)
                off = -off
            if (off > most)
                most = off
            if (off > bound) {
                printf "%s: %g where all calls are sampled, %g where some are\n", name, above[name] / below[name],
                    some_above[name] / some_below[name]
                failed = 1
            }
        }
        printf "%d estimates that chance changes, off by %.2f at most of %.2f\n", count, most, bound
        exit failed || count < 20
    }' "$scratch/all" "$scratch/some" >"$scratch/compared" || fail "the estimates differ: $(cat "$scratch/compared")"
cat "$scratch/compared"
