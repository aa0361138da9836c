#!/bin/sh
# test_hostile_symbols.sh LIBRARY: the names that layer/hostile exports are looked for in a library that has them, and
# one that was stripped of them is refused, so that the test never passes for want of names.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
symbols=$(dirname "$0")/hostile_symbols.sh
"$symbols" "$1" "$folder/names.c"
grep -q '^HOSTILE(cJSON_Parse)$' "$folder/names.c"
strip -o "$folder/stripped.so" "$1"
if "$symbols" "$folder/stripped.so" "$folder/none.c" 2>"$folder/said"; then
    echo "hostile_symbols: a stripped library is taken" >&2
    exit 1
fi
grep -q 'too few' "$folder/said"
if [ -e "$folder/none.c" ]; then
    echo "hostile_symbols: something is written of a stripped library" >&2
    exit 1
fi
