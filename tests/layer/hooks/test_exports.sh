#!/bin/sh
# test_exports.sh LIBRARY: what the layer shows to the process that it lives in.
set -eu
library=$1
found=$(nm --dynamic --defined-only "$library" | awk '{ print $3 }')
if [ "$found" != vkNegotiateLoaderLayerInterfaceVersion ]; then
    printf 'exported, but should not be:\n%s\n' "$found"
    exit 1
fi
# What it needs of others: no C++ runtime, no SPIRV-Tools, no compressor, no network.
needed=$(readelf --dynamic "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in $needed; do
    case $name in
    libc.so.* | libm.so.* | libcjson.so.* | ld-linux-*) ;;
    libasan.so.* | libubsan.so.* | libtsan.so.*) ;; # only in builds with sanitizers
    *)
        echo "needs $name"
        exit 1
        ;;
    esac
done
