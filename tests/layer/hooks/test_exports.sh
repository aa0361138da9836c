#!/bin/sh
# test_exports.sh LIBRARY: what the layer shows to the process that it lives in.
set -eu
library=$1
found=$(nm --dynamic --defined-only "$library" | awk '{ print $3 }')
if [ "$found" != vkNegotiateLoaderLayerInterfaceVersion ]; then
    printf 'exported, but should not be:\n%s\n' "$found"
    exit 1
fi
# What it needs of others: of libc alone, which every container has, and of a glibc as old as the docs say. A game may
# define any other name: libm's too, which it asks a handle for (layer/hooks/libm.h), and one that is only looked for
# (weak).
imported=$("$(dirname "$0")/imports.sh" "$library")
oldest=$(sed -n 's/^The layer runs with glibc \([0-9.]*\) and newer.*/\1/p' "$(dirname "$0")/../../../docs/building.md")
newest=$(nm --dynamic --undefined-only "$library" | sed -n 's/.*@GLIBC_//p' | sort --version-sort | tail -1)
dynamic=$(readelf --dynamic "$library")
case $dynamic in
*lib*san.so*) ;; # a sanitizer's runtime is the program's
*)
    if [ -n "$imported" ]; then
        printf 'a game may define:\n%s\n' "$imported"
        exit 1
    fi
    if [ "$(printf '%s\n' "${oldest:?}" "${newest:?}" | sort --version-sort | tail -1)" != "$oldest" ]; then
        echo "needs glibc $newest, and docs/building.md says $oldest:"
        nm --dynamic --undefined-only "$library" | grep "@GLIBC_$newest"
        exit 1
    fi
    ;;
esac
needed=$(printf '%s\n' "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in ${needed:?}; do
    case $name in
    libc.so.* | libm.so.* | ld-linux-* | ld-linux.so.*) ;;
    libasan.so.* | libubsan.so.* | libtsan.so.*) ;; # only in builds with sanitizers
    *)
        echo "needs $name"
        exit 1
        ;;
    esac
done
