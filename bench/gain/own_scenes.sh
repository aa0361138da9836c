#!/bin/bash
# own_scenes.sh BUILD [TABLE…]: what the tables "Frames" and "Passes" of docs/results/gain.md are made of, for all ten
# workloads, on the driver of VK_DRIVER_FILES. TABLE is frames or passes (both). Wants an idle machine.
#
# SHARE=N draws an N-th of the frames, to see that it works.
: "${1:?usage: own_scenes.sh BUILD [frames] [passes]}"
build=$(cd "$1" && pwd)
shift
tables=("$@")
set --
[ ${#tables[@]} -gt 0 ] || tables=(frames passes)
. "$(dirname "$0")/local_sessions.sh"
share=${SHARE:-1}

# Name, frames of the first table, and the workload.
workloads=(
    "terrain, alpine|1200|terrain --scene 0 --size 160x90"
    "terrain, canyon|1200|terrain --scene 1 --size 160x90"
    "terrain, island|1200|terrain --scene 2 --size 160x90"
    "terrain, alpine, scalar code|1200|terrain --scene 0 --size 160x90 --scalar"
    "deferred, scene 0|500|deferred --scene 0 --size 320x180"
    "deferred, scene 1|500|deferred --scene 1 --size 320x180"
    "deferred, scene 2|500|deferred --scene 2 --size 320x180"
    "deferred, scene 0, scalar code|500|deferred --scene 0 --size 320x180 --scalar"
    "post-process|800|postprocess --size 320x180"
    "post-process, scalar code|800|postprocess --size 320x180 --scalar"
)

# Ten frames that are sampled whole; then original and specialized in turn in one process.
frames() {
    new_program scene
    "$piecemeal" run --local --set sampler.window_probability=1 --set sampler.api_probability=1 \
        --set sampler.batch=128 --set sampler.kinds=block,zero --set debug.synchronous=true -- \
        "${scene[@]}" --frames 10 --quiet >"$folder/first" 2>&1
    "$piecemeal" run --local --ab --ab-frames 8 --set sampler.window_probability=0 --set debug.synchronous=true \
        --set debug.trust_variants=true -- "${scene[@]}" --frames $((count / share)) --quiet
}

passes() {
    "$build/bench/zero_gain" --piecemeal "$piecemeal" --train-frames 10 --frames $((60 / share)) --skip $((12 / share)) \
        --block 4 --launches 4 -- "${scene[@]}" || [ $? = 1 ] # a pass is slower, as its row says
}

for table in "${tables[@]}"; do
    for workload in "${workloads[@]}"; do
        IFS='|' read -r name count arguments <<<"$workload"
        read -r -a scene <<<"$build/examples/piecemeal-$arguments"
        echo "== $table: $name"
        "$table"
    done
done
