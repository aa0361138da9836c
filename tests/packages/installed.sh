#!/bin/bash
# The Debian packages, installed in a bare Debian 12, used, and removed again without a trace. As root; downloads.
#   installed.sh BUILD   BUILD: of the preset `package`, or its folder to be made
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$source/build/package}
fail() { echo "installed: $*" >&2; exit 1; }
skip() { echo "installed: skipped: $*" >&2; exit 77; }
[ "$(id -u)" = 0 ] || skip "needs root, for a chroot"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"

cd "$source"
cmake --preset package >/dev/null
cmake --build --preset package -j2 >"$build/build.log" 2>&1 || { tail -20 "$build/build.log"; fail "it does not build"; }
[ ! -e "$build/bench" ] || fail "benchmarks are built without tests"
rm -rf "$build/packages"
cpack --config "$build/CPackConfig.cmake" >"$build/cpack.log" 2>&1 || { cat "$build/cpack.log"; fail "cpack"; }
ls "$build"/packages/*.deb >/dev/null
if command -v lintian >/dev/null; then
    # What is justified stands in manifest/packages/lintian.
    lintian --allow-root --fail-on error,warning --suppress-tags-from-file "$source/manifest/packages/lintian" \
        "$build"/packages/*.deb || fail "lintian"
fi

root=$(mktemp -d)
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
# From where this machine's own packages come, in whatever way it asks for them.
mirror=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) { print $i; exit } }
              $1 == "URIs:" { print $2; exit }' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true)
debootstrap --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}" >"$build/debootstrap.log" 2>&1 ||
    { tail -5 "$build/debootstrap.log"; skip "debootstrap failed"; }
cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
mount -t proc proc "$root/proc"
mkdir "$root/packages"
cp "$build"/packages/*.deb "$root/packages/"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
inside apt-get update >"$build/apt.log" 2>&1 || skip "there is no network in the chroot"
inside find / -xdev -not -path '/proc*' -not -path '/var/*' -not -path '/packages*' | sort >"$build/before"
inside sh -c 'apt-get install -y --no-install-recommends /packages/piecemeal_*.deb /packages/piecemeal-*.deb' \
    >>"$build/apt.log" 2>&1 || { tail -20 "$build/apt.log"; fail "the packages cannot be installed"; }

inside piecemeal --version | grep -q "^piecemeal $(cat VERSION)\$" || fail "piecemeal --version"
inside piecemeal doctor >"$build/doctor" 2>&1 || true
grep -q 'ok .*implicit_layer.d/VkLayer_piecemeal.json (implicit), its library opens' "$build/doctor" ||
    { cat "$build/doctor"; fail "doctor does not find the layer"; }
grep -q 'BAD .*the loader finds no Vulkan driver' "$build/doctor" || fail "doctor does not say that there is no driver"
inside piecemeal serve --check --port 0 --storage /tmp/a.sqlite | grep -q '^ok: ' || fail "serve --check"
inside sh -c '. /usr/share/bash-completion/completions/piecemeal' 2>/dev/null ||
    inside bash -c '. /usr/share/bash-completion/completions/piecemeal' || fail "the completion"
grep -q "^Version: $(cat VERSION)\$" "$root/usr/share/pkgconfig/piecemeal.pc" || fail "pkg-config"

inside sh -c 'dpkg --purge piecemeal-aggregator piecemeal-dev piecemeal piecemeal-layer' >>"$build/apt.log" 2>&1 ||
    { tail "$build/apt.log"; fail "the packages cannot be removed"; }
left=$(inside find / -xdev -not -path '/proc*' -iname '*piecemeal*' -not -path '/packages*' -not -path '/var/log/*')
[ -z "$left" ] || fail "left behind: $left"
echo "installed: all as expected"
