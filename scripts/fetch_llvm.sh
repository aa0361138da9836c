#!/bin/bash
# Fetches the llvm-profdata that Debian 12 does not have, 17 and 18, out of Debian 13, and unpacks them with the
# libraries that they want into BUILD/llvm, never into the system. BUILD/llvm/llvm-profdata-17 and -18 then run them on
# Debian 13's own libc, and `ctest -R tools/export` holds exported profiles against these, too. Optional: 115 MB to
# download, 275 MB unpacked. What is there is kept.
#
# usage: scripts/fetch_llvm.sh [BUILD]      BUILD is the build folder, `build` beside scripts/ unless told
set -euo pipefail

. "$(dirname "$0")/own_apt.sh"
open_folder llvm "$@"
llvm=$folder

libraries="libllvm17t64 libllvm18 libc6 libstdc++6 libgcc-s1 zlib1g libzstd1 libtinfo6 libffi8 libedit2 libxml2 libz3-4
liblzma5 libbsd0 libmd0"

fetch() {
    local base deb
    mkdir -p "$work/root" "$work/files"
    base=$(debian_mirror)
    source_line "$base" trixie | open_apt
    # shellcheck disable=SC2086
    (cd "$work/debs" && apt_own download llvm-17 llvm-18 $libraries) || fail "apt could not download the packages"
    for deb in "$work/debs"/*.deb; do
        dpkg-deb -x "$deb" "$work/root"
        dpkg-deb --show --showformat='${Package} ${Version}\n' "$deb"
    done >"$work/files/packages.txt"
    local loader=$work/root/usr/lib64/ld-linux-x86-64.so.2 there=$work/root/usr/lib/x86_64-linux-gnu version tool
    cp -L "$loader" "$work/files"
    for version in 17 18; do
        tool=$work/root/usr/lib/llvm-$version/bin/llvm-profdata
        cp -L "$tool" "$work/files/profdata-$version"
        "$loader" --library-path "$there" --list "$tool" | awk '$2 == "=>" && $3 ~ "/usr/lib/x86_64" { print $3 }' |
            xargs -r cp -L -t "$work/files"
    done
    rm -rf "$llvm/files"
    mv "$work/files" "$llvm/files"
}

[ -s "$llvm/files/packages.txt" ] || fetch
# The wrappers are written each time: their paths are absolute, and a build folder may have moved.
for version in 17 18; do
    cat >"$llvm/llvm-profdata-$version" <<SH
#!/bin/sh
exec "$llvm/files/ld-linux-x86-64.so.2" --library-path "$llvm/files" "$llvm/files/profdata-$version" "\$@"
SH
    chmod +x "$llvm/llvm-profdata-$version"
    "$llvm/llvm-profdata-$version" --version | grep -m1 version || fail "llvm-profdata-$version does not run"
done
