# For tests in a bare Debian 12, which source it. As root; downloads from where this machine's own packages come.
#
# bare_make NAME LOG: a folder $root with a Debian 12 of debootstrap's smallest kind, which goes when the test ends.
# Ends with 77, as ctest's skipped, where that cannot be had. inside COMMAND...: runs it there. PM_BARE_ROOT=FOLDER: it
# is made there, and stays; one that is there is taken as it is, which is for trying out a test.

skip() { echo "$name: skipped: $*" >&2; exit 77; }
fail() { echo "$name: $*" >&2; exit 1; }

bare_end() {
    umount "$root/proc" 2>/dev/null || true
    [ -n "${PM_BARE_ROOT-}" ] || rm -rf --one-file-system "$root"
}

bare_make() {
    local mirror log=$2
    name=$1
    [ "$(id -u)" = 0 ] || skip "needs root, for a chroot"
    command -v debootstrap >/dev/null || skip "debootstrap is not installed"
    root=${PM_BARE_ROOT:-$(mktemp -d)}
    trap bare_end EXIT
    mkdir -p "$root"
    chmod 0755 "$root" # for users of its own
    if [ -e "$root/etc/debian_version" ]; then
        mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
        return
    fi
    # In whatever way this machine asks for its own packages.
    mirror=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) { print $i; exit } }
                  $1 == "URIs:" { print $2; exit }' /etc/apt/sources.list /etc/apt/sources.list.d/*debian* \
                  /etc/apt/sources.list.d/* 2>/dev/null || true)
    debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} >"$log" 2>&1 ||
        { tail -5 "$log"; skip "debootstrap failed"; }
    cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
    cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
    mount -t proc proc "$root/proc"
    inside apt-get update >>"$log" 2>&1 || skip "there is no network in the chroot"
}

inside() { chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
