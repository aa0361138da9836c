#!/bin/bash
# push_cost.sh [BUILD]: instructions that the layer adds to what is around push constants, on the null driver
# (slopes.sh): with no variant for values of them, and with one. Prints a Markdown table; the columns are push_cost.c's
# kinds.
#
# PM_KINDS: some of them. PM_FEW, PM_MANY: the two counts.
# BUILD is the build tree (build/release). Needs valgrind.
program=push_cost kinds="word words fits turns beside dispatch bind others buffer execute" few=2000 many=32000
# shellcheck source=slopes.sh
. "$(dirname "$0")/slopes.sh" "${1:-$(dirname "$0")/../../build/release}"

specialized=("${ours[@]}" PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1e-15 PIECEMEAL_DEBUG_SYNCHRONOUS=true
    PIECEMEAL_DEBUG_TRUST_VARIANTS=true PIECEMEAL_LOG_LEVEL=debug "PIECEMEAL_LOG_FILE=$scratch/piecemeal.log")

# What a machine has seen after a session, and that a variant is made for it.
learn() {
    "${clean[@]}" "${ours[@]}" PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1 PIECEMEAL_SAMPLER_API_PROBABILITY=1 \
        PIECEMEAL_DEBUG_SYNCHRONOUS=true "$build/bench/push_cost" learn 100 >"$scratch/log" 2>&1
    mv "$scratch/piecemeal" "$scratch/learned"
    learned=$scratch/learned
    cp -a "$learned" "$scratch/piecemeal"
    "${clean[@]}" "${specialized[@]}" "$build/bench/push_cost" fits 10 >"$scratch/log" 2>&1
    if ! grep -q 'a variant for known words is bound' "$scratch/piecemeal.log"; then
        echo "push_cost: no variant is bound: $(cat "$scratch/log" "$scratch/piecemeal.log")" >&2
        exit 1
    fi
    specialized+=(PIECEMEAL_LOG_LEVEL=warning)
}

# shellcheck disable=SC2086  # one word a kind
heading $kinds
row_without
row "Piecemeal, no variant" "$few" "$many" "${ours[@]}" PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1e-15
learn
row "Piecemeal, with a variant" "$few" "$many" "${specialized[@]}"
