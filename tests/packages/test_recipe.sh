#!/bin/bash
# The recipe for Arch names a package for every library that the programs need, and is of this version; it and the
# extension for Flatpak are read by their own tools, where those are installed (Debian has both). Nothing of what is
# packaged has an address that nobody answers at.
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
# shellcheck source=/dev/null
[ "$(. "$recipe" && echo "$pkgver")" = "$(cat "$source/VERSION")" ] ||
    { echo "FAILED: the recipe for Arch is of another version"; failures=$((failures + 1)); }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if command -v makepkg >/dev/null && command -v pacman >/dev/null; then
    cp "$recipe" "$work/"
    chmod 0777 "$work" # it writes nothing, and wants to be able to
    chmod a+r "$work/PKGBUILD"
    other=()
    [ "$(id -u)" != 0 ] || other=(setpriv --reuid=65534 --regid=65534 --clear-groups) # it refuses root
    (cd "$work" && "${other[@]}" env HOME="$work" makepkg --printsrcinfo) >"$work/info" 2>&1 || true
    grep -q '^pkgname = piecemeal$' "$work/info" ||
        { cat "$work/info"; echo "FAILED: makepkg does not read the recipe"; failures=$((failures + 1)); }
fi
extension=$source/manifest/packages/flatpak/org.freedesktop.Platform.VulkanLayer.Piecemeal.json
if command -v flatpak-builder >/dev/null; then
    (cd "$work" && flatpak-builder --show-manifest "$extension") >"$work/manifest" 2>&1 && grep -q PM_LAYER_ONLY=ON "$work/manifest" ||
        { cat "$work/manifest"; echo "FAILED: flatpak-builder does not read the extension"; failures=$((failures + 1)); }
fi
if grep -rn '<[^ >]*@example\.' "$source/manifest/packages" "$source/scripts/packages" "$source/cmake"; then
    echo "FAILED: an address that is nobody's"
    failures=$((failures + 1))
fi
exit $((failures > 0))
