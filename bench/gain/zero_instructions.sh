#!/bin/bash
# zero_instructions.sh [BUILD]: executed instructions beside the times of docs/results/gain.md: what
# the program zero_instructions counts of its ten workloads on lavapipe 25, at 160x90. Prints a Markdown table.
#
# BUILD is the build tree (build/release). Needs valgrind, and ptrace for its vgdb. Some minutes of one core a workload;
# busy cores do not change what is counted.
set -euo pipefail

source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$source_folder/build/release}" && pwd)
manifest=$source_folder/build/drivers/lavapipe-25/icd.json
export VK_DRIVER_FILES=$manifest VK_ICD_FILENAMES=$manifest
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT

# count FILE PROGRAM ARGUMENT...: becomes what writes the program's rows into the file
count() {
    local file=$1 program=$2
    shift 2
    exec "$build/bench/zero_instructions" --piecemeal "$build/tools/piecemeal" -- \
        "$build/examples/piecemeal-$program" --size 160x90 "$@" >"$file" 2>"$file.errors"
}

names=()
# row NAME PROGRAM ARGUMENT...: starts a workload once a core is free
row() {
    names+=("$1")
    shift
    if [ ${#names[@]} -gt "$(nproc)" ]; then
        wait -n || true # what failed has no rows
    fi
    count "$scratch/${#names[@]}" "$@" &
}

row "terrain, alpine" terrain
row "terrain, canyon" terrain --scene 1
row "terrain, island" terrain --scene 2
row "terrain, alpine, scalar code" terrain --scalar
row "deferred, scene 0" deferred
row "deferred, scene 1" deferred --scene 1
row "deferred, scene 2" deferred --scene 2
row "deferred, scene 0, scalar code" deferred --scalar
row "post-process" postprocess
row "post-process, scalar code" postprocess --scalar
wait

echo "| workload | instructions | original, millions a frame | canonical / original | specialized / original |"
echo "| --- | --- | --- | --- | --- |"
status=0
for i in "${!names[@]}"; do
    file=$scratch/$((i + 1))
    if ! grep -q '^| process ' "$file"; then
        echo "zero_instructions with ${names[i]} failed:" >&2
        tail -n 20 "$file.errors" >&2
        status=1
    fi
    sed -n "s/^| \(shaders\|process\) /| ${names[i]} &/p" "$file"
done
exit $status
