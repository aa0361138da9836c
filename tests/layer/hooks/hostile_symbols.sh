#!/bin/sh
# hostile_symbols.sh LIBRARY OUTPUT.c: functions of the names that a library imports from others than libc, and of those
# that the libraries in it have. None of them is ever to be called.
set -eu
{
    # crt1.o's own _init calls __gmon_start__ where there is one.
    "$(dirname "$0")/imports.sh" "$1" | grep -vx __gmon_start__ || true
    nm "$1" | awk '$2 == "t" || $2 == "T" { print $3 }' |
        grep -E '^(cJSON|ZSTD|HUF|FSE|XXH|blake2|protobuf_c|spv)[A-Za-z0-9_]*$'
} | sort -u | {
    echo '#include "tests/layer/hooks/hostile.h"'
    while read -r name; do
        echo "HOSTILE($name)"
    done
} >"$2"
