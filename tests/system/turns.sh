#!/bin/bash
# Turns of loops add up to what the blocks that lead back count: a program's every frame with blocks counted and with
# turns. usage: turns.sh DRIVER PROGRAM SIZE
turns_driver=$1 program=$PM_BUILD/examples/$2 size=$3
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"
need jq

driver "$turns_driver"
piecemeal=$PM_BUILD/tools/piecemeal
"$piecemeal" consent grant >/dev/null
run_quietly "$scratch/run" "$piecemeal" run --game turns --set sampler.window_probability=1 \
    --set sampler.api_probability=1 --set sampler.batch=all --set sampler.kinds=block,turns \
    --set debug.synchronous=true -- "$program" --frames 4 --size "$size" --quiet
"$piecemeal" sync --dry-run --game turns >"$scratch/dry" 2>/dev/null

# lanes KIND KEY: POINT LANES ENTRY_LANES, a line each, of one shader
lanes() {
    jq -r --arg kind "$1" --arg key "$2" '[.. | objects | select(.kind? == $kind and .key? == $key) | .points[]]
        | group_by(.point)[] | "\(.[0].point) \(map(.lanes) | add) \(map(.entry_lanes) | add)"' "$scratch/dry"
}
loops=0 shaders=0
for key in $(jq -r '.. | objects | select(.kind? == "turns") | .key' "$scratch/dry" | sort -u); do
    "$piecemeal" shader points_turns "$key" --game turns --json >"$scratch/turns"
    "$piecemeal" shader points_blocks "$key" --game turns --json >"$scratch/blocks"
    jq -n -r --slurpfile turns "$scratch/turns" --slurpfile blocks "$scratch/blocks" '$turns[0][] as $loop |
        [$loop.first, ($blocks[0] | map(.label) | index($loop.latch))] | join(" ")' >"$scratch/loops"
    lanes turns "$key" >"$scratch/of_turns"
    lanes block "$key" >"$scratch/of_blocks"
    # Sampled calls count some of the points each, so shares of the shader's lanes are compared, which frames move a
    # little. Of a loop with more turns than have points the sum is less.
    awk -v key="$key" 'FILENAME ~ /of_turns$/ { turns[$1] = $2 / $3; next }
        FILENAME ~ /of_blocks$/ { blocks[$1] = $2 / $3; next }
        {
            sum = 0
            for (t = 1; t < 18; t++) {
                sum += turns[$1 + t]
                if (turns[$1 + t] > 1.05 * turns[$1 + t - 1] + 1e-9) {
                    print key ": the loop of point " $1 ": turn " t " is made by " turns[$1 + t] " of the lanes, the " \
                        "one before by " turns[$1 + t - 1]
                    bad = 1
                }
            }
            off = sum - blocks[$2]
            if (turns[$1 + 17] == 0 ? off > 0.05 * sum + 1e-9 || off < -0.05 * sum - 1e-9 : off > 0.05 * sum) {
                print key ": the loop of point " $1 ": its turns are " sum ", its latch counts " blocks[$2]; bad = 1
            }
        }
        END { exit bad }' "$scratch/of_turns" "$scratch/of_blocks" "$scratch/loops" || fail "turns and blocks differ"
    loops=$((loops + $(wc -l <"$scratch/loops"))) shaders=$((shaders + 1))
done
[ "$loops" -gt 0 ] || fail "no turns were counted"
echo "$loops loops in $shaders shaders"
