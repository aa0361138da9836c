#!/bin/sh
# test_exports.sh LIBRARY: what the layer shows to the process that it lives in.
set -eu
library=$1
found=$(nm --dynamic --defined-only "$library" | awk '{ print $3 }')
if [ "$found" != vkNegotiateLoaderLayerInterfaceVersion ]; then
    printf 'exported, but should not be:\n%s\n' "$found"
    exit 1
fi
# What it needs of others: of libc and libm alone, which every container has. A game may define any other name, also
# one that is only looked for (weak).
imported=$(nm --dynamic --undefined-only "$library" | awk '$NF !~ /@GLIBC/ { print $NF }')
case $(readelf --dynamic "$library") in
*lib*san.so*) ;; # a sanitizer's runtime is the program's
*)
    if [ -n "$imported" ]; then
        printf 'a game may define:\n%s\n' "$imported"
        exit 1
    fi
    ;;
esac
needed=$(readelf --dynamic "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in $needed; do
    case $name in
    libc.so.* | libm.so.* | ld-linux-* | ld-linux.so.*) ;;
    libasan.so.* | libubsan.so.* | libtsan.so.*) ;; # only in builds with sanitizers
    *)
        echo "needs $name"
        exit 1
        ;;
    esac
done
