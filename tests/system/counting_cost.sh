#!/bin/bash
# A call that counts takes no longer than layer/predicated_rates assumes where it says that kept recordings take less than
# 0.5 % longer: by processor time, of post-processing, where counting takes the most of our scenes (docs/results/cost.md).
# usage: counting_cost.sh DRIVER
. "$(dirname "$0")/lib.sh"
need python3
driver "$1"
export PYTHONDONTWRITEBYTECODE=1
assumed=$(sed -n 's/^enum { COUNTING_COSTS = \([0-9]*\).*/\1/p' "$PM_SOURCE/tests/layer/frame/test_predicated_rates.c")
: "${assumed:?}"
run_quietly "$scratch/count" "$PM_SOURCE/bench/cost/count_processor.py" --ways window --batch 8 --settle 6 --frames 12 postprocess \
    64x36 "$PM_BUILD"
line=$(grep 'a window, p = 1, b = 8: [+-]' "$scratch/count") || { cat "$scratch/count"; fail "nothing was measured"; }
more=$(sed 's/.*b = 8: [+]*\(-*[0-9]*\)\..*/\1/' <<<"$line")
echo "$name: a frame in which every call counts takes $more % longer; $((assumed * 100 - 100)) % are allowed"
[ "$more" -gt 10 ] || fail "nothing counts: $line"
[ "$more" -lt $((assumed * 100 - 100)) ] || fail "it takes more than $assumed times as long: $line"
