#!/bin/bash
# The Debian packages, installed in a bare Debian 12, used, and removed again without a trace. As root; downloads.
#   installed.sh BUILD   BUILD: of the preset `package`, or its folder to be made
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$source/build/package}
name=installed
. "$source/tests/packages/bare.sh"
[ "$(id -u)" = 0 ] || skip "needs root, for a chroot"

cd "$source"
cmake --preset package >/dev/null
cmake --build --preset package -j2 >"$build/build.log" 2>&1 || { tail -20 "$build/build.log"; fail "it does not build"; }
[ ! -e "$build/bench" ] || fail "benchmarks are built without tests"
rm -rf "$build/packages"
cpack --config "$build/CPackConfig.cmake" >"$build/cpack.log" 2>&1 || { cat "$build/cpack.log"; fail "cpack"; }
ls "$build"/packages/*.deb >/dev/null
if command -v lintian >/dev/null; then
    # What is justified stands in the packages' overrides, and nothing else.
    lintian --allow-root --display-info --fail-on error,warning "$build"/packages/*.deb >"$build/lintian" 2>&1 ||
        { grep -v '^I:' "$build/lintian"; fail "lintian"; }
    ! grep -E '(unused|mismatched)-override' "$build/lintian" || fail "an override is for nothing"
fi

bare_make installed "$build/debootstrap.log"
mkdir "$root/packages"
cp "$build"/packages/*.deb "$root/packages/"
inside find / -xdev -not -path '/proc*' -not -path '/var/*' -not -path '/packages*' | sort >"$build/before"
inside sh -c 'apt-get install -y --no-install-recommends /packages/piecemeal_*.deb /packages/piecemeal-*.deb' \
    >"$build/apt.log" 2>&1 || { tail -20 "$build/apt.log"; fail "the packages cannot be installed"; }

[ "$(inside piecemeal --version | head -n 1)" = "piecemeal $(cat VERSION)" ] || fail "piecemeal --version"
inside piecemeal doctor >"$build/doctor" 2>&1 || true
grep -q 'ok .*implicit_layer.d/VkLayer_piecemeal.json (implicit), its library opens' "$build/doctor" ||
    { cat "$build/doctor"; fail "doctor does not find the layer"; }
grep -q 'BAD .*the loader finds no Vulkan driver' "$build/doctor" || fail "doctor does not say that there is no driver"
grep -q '^ok: ' <<<"$(inside piecemeal serve --check --port 0 --storage /tmp/a.sqlite)" || fail "serve --check"
inside sh -c '. /usr/share/bash-completion/completions/piecemeal' 2>/dev/null ||
    inside bash -c '. /usr/share/bash-completion/completions/piecemeal' || fail "the completion"
grep -q "^Version: $(cat VERSION)\$" "$root/usr/share/pkgconfig/piecemeal.pc" || fail "pkg-config"

inside sh -c 'dpkg --purge piecemeal-aggregator piecemeal-dev piecemeal piecemeal-layer' >>"$build/apt.log" 2>&1 ||
    { tail "$build/apt.log"; fail "the packages cannot be removed"; }
left=$(inside find / -xdev -not -path '/proc*' -iname '*piecemeal*' -not -path '/packages*' -not -path '/var/log/*')
[ -z "$left" ] || fail "left behind: $left"
echo "installed: all as expected"
