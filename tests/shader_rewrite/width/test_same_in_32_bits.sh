#!/bin/bash
# Shaders have the same keys in the 32-bit layer, and become the same: one game's profiles and verdicts are the other's.
# Builds what says so in 32 bits; skipped where scripts/fetch_i386.sh has not been run.
# usage: test_same_in_32_bits.sh MADE_WORDS CORPUS
set -euo pipefail
made=$1 corpus=$2
cd "$(dirname "$0")/../../.."
if [ ! -e build/i386/packages ] || [ ! -e build/khronos-i386/key ]; then
    echo "same_in_32_bits: skipped: scripts/fetch_i386.sh makes what it is built with"
    exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! { cmake --preset release32 && cmake --build --preset release32 --target made_words -j "$(nproc)"; } >"$scratch/log" 2>&1; then
    tail -20 "$scratch/log" >&2
    exit 1
fi
made32=$PWD/build/release32/tests/shader_rewrite/width/made_words
[ "$(head -c 5 "$made32" | od -An -tx1 | tr -d ' ')" = 7f454c4601 ] || { echo "$made32 is not of 32 bits" >&2; exit 1; }
cd "$corpus"
"$made" >"$scratch/64"
"$made32" >"$scratch/32"
diff "$scratch/64" "$scratch/32" | head -20
cmp "$scratch/64" "$scratch/32"
words=$(grep -c ' words, ' "$scratch/32")
echo "$words of $(wc -l <"$scratch/32") made, all alike"
[ "$words" -ge 5000 ]
