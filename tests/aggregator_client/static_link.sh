#!/bin/bash
# Usage: static_link.sh LIBRARY: exports one symbol, and needs none of the libraries it was linked from.
set -euo pipefail
symbols=$(nm -D --defined-only "$1" | awk '{print $3}')
if [ "$symbols" != pm_static_link_probe ]; then
    echo "exported: $symbols" >&2
    exit 1
fi
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $needed; do
    case $library in
    libc.so.6 | libm.so.6 | ld-linux-x86-64.so.2) ;;
    *)
        echo "needs $library" >&2
        exit 1
        ;;
    esac
done
