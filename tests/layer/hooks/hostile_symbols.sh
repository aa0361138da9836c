#!/bin/sh
# hostile_symbols.sh LIBRARY OUTPUT.c: functions of the names that a library imports from others than libc, and of those
# that the libraries in it have. None of them is ever to be called.
set -eu
least=100 # there are some 900: a test of fewer has next to nothing to find
imported=$("$(dirname "$0")/imports.sh" "$1")
symbols=$(nm "$1")
names=$({
    # crt1.o's own _init calls __gmon_start__ where there is one.
    printf '%s\n' "$imported" | grep -vxE '__gmon_start__|' || true
    printf '%s\n' "$symbols" | awk '$2 == "t" || $2 == "T" { print $3 }' |
        grep -E '^(cJSON|ZSTD|HUF|FSE|XXH|blake2|protobuf_c|spv)[A-Za-z0-9_]*$' || true
} | sort -u)
count=$(printf '%s' "$names" | grep -c '' || true)
if [ "$count" -lt $least ]; then
    echo "hostile_symbols: $1 has $count such names, which is too few to test anything: was it stripped?" >&2
    exit 1
fi
{
    echo '#include "tests/layer/hooks/hostile.h"'
    printf '%s\n' "$names" | while read -r name; do
        echo "HOSTILE($name)"
    done
} >"$2"
