#!/bin/bash
# The recipe for Arch names a package for every library that the programs need, and nothing of what is packaged has an
# address that nobody answers at.
#   test_recipe.sh PROGRAM...
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
recipe=$source/manifest/packages/arch/PKGBUILD
declare -A package=([libc]=- [libm]=- [libgcc_s]=- [libstdc++]=- [ld-linux-x86-64]=- [ld-linux]=- [libasan]=- [libubsan]=- [libtsan]=- [libz]=zlib [libb2]=libb2
    [libcurl]=curl [libgnutls]=gnutls [libmicrohttpd]=libmicrohttpd [libsqlite3]=sqlite [libpq]=postgresql-libs
    [libspirv-cross-c-shared]=spirv-cross [libvulkan]=vulkan-icd-loader [libzstd]=zstd [libprotobuf-c]=protobuf-c)
# shellcheck source=/dev/null
depends=$(. "$recipe" && echo " ${depends[*]} ")
failures=0
for library in $(readelf -d "$@" | sed -n 's/.*(NEEDED).*\[\([^]]*\)\.so.*\].*/\1/p' | sort -u); do
    name=${package[$library]-unknown}
    [ "$name" = - ] || [[ $depends == *" $name "* ]] ||
        { echo "FAILED: $library is needed, and the recipe for Arch depends on no $name"; failures=$((failures + 1)); }
done
if grep -rn '<[^ >]*@example\.' "$source/manifest/packages" "$source/scripts/packages" "$source/cmake"; then
    echo "FAILED: an address that is nobody's"
    failures=$((failures + 1))
fi
exit $((failures > 0))
