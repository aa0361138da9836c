#!/bin/bash
# compare_build_costs.sh BEFORE AFTER [ROUNDS]: what two source trees cost to build, in turn, and how large their layer is.
# A round configures and builds each tree once, tests too, into a fresh folder and without ccache. Prints a Markdown table;
# times are wall seconds and CPU seconds. Needs an idle machine for the former; BEFORE and AFTER are not written to.
set -euo pipefail

: "${2:?usage: compare_build_costs.sh BEFORE AFTER [ROUNDS]}"
trees=("$(cd "$1" && pwd)" "$(cd "$2" && pwd)") names=(before after) rounds=${3:-1}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
export CCACHE_DISABLE=1 TIMEFORMAT='%R | %U + %S'

echo "| tree | full build, wall s | CPU s, user + system | layer, bytes | stripped |"
echo "| --- | --- | --- | --- | --- |"
for _ in $(seq "$rounds"); do
    for side in 0 1; do
        build=$scratch/${names[side]}
        rm -rf "$build"
        (cd "${trees[side]}" && cmake --preset release -DBUILD_TESTING=ON -B "$build") >"$scratch/log" 2>&1 ||
            { tail -n 20 "$scratch/log" >&2; exit 1; }
        took=$({ time cmake --build "$build" -j "$(nproc)" >"$scratch/log" 2>&1; } 2>&1) ||
            { tail -n 20 "$scratch/log" >&2; exit 1; }
        layer=$(find "$build" -name libVkLayer_piecemeal.so)
        strip -o "$scratch/stripped" "$layer"
        echo "| ${names[side]} | $took | $(stat -c %s "$layer") | $(stat -c %s "$scratch/stripped") |"
    done
done
