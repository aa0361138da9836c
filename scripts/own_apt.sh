# Sourced by the scripts that fetch Debian packages of other suites into a folder of the build: the folder, and apt with
# a state of its own in $work, so that the system's is left alone. Whoever sources it opens its folder, and then apt with
# a line of source_line for each suite.

fail() {
    echo "$(basename "$0" .sh): $*" >&2
    exit 1
}

# Sets folder to the absolute path of BUILD/name, which is made, and work to a place in it that is gone at the end.
# One script at a time has the folder; a second waits and then finds everything there.
open_folder() { # name, what the script was called with: BUILD or nothing
    [ $# -le 2 ] || { echo "usage: $0 [BUILD]" >&2; exit 2; }
    local parent=${2:-$(dirname "$0")/../build}
    mkdir -p "$parent/$1"
    folder=$(cd "$parent/$1" && pwd)
    exec 9>"$folder/.lock"
    flock 9
    work=$folder/.fetch
    trap 'rm -rf "$work"' EXIT
    rm -rf "$work"
}

# The mirror of the machine's own sources that holds main of this release, in apt's own parse (both the .list
# and the .sources format).
mirror_of() { # release
    apt-get indextargets --format '$(REPO_URI)|$(RELEASE)|$(COMPONENT)' 'Created-By: Packages' |
        awk -F'|' -v release="$1" '$2 == release && $3 == "main" && !n++ { print $1 }'
}

# Debian's keyring signs for all of them; without the file apt falls back on the keys the machine trusts.
source_line() { # uri, release
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -r "$keyring" ] || keyring=
    echo "deb ${keyring:+[signed-by=$keyring] }$1 $2 main"
}

# apt with a state of its own. The downloads run as this user: the folders are not _apt's.
apt_own() {
    apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" \
        -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
        -o Dir::Cache="$work/cache" -o Dir::Cache::Archives="$work/cache/archives" \
        -o APT::Sandbox::User="$(id -un)" -o Acquire::AllowInsecureRepositories=false \
        -o Acquire::Retries=2 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@"
}

debian_mirror() {
    local base
    base=$(mirror_of bookworm)
    [ -n "$base" ] || fail "no apt source for Debian 12 (bookworm, main) on this machine"
    echo "$base"
}

# Reads the lists of the suites whose lines are on its input; makes $work/debs.
open_apt() {
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs"
    cat >"$work/sources.list"
    apt_own update --error-on=any ||
        fail "apt could not read the package lists (network away, or a suite is not on this mirror):
$(cat "$work/sources.list")"
}

# ---- source packages ----
# Of a file $pins, whose lines are package, version, a file of it and that file's SHA-256; into $work/sources.

pinned() { # package, column
    awk -v package="$1" -v column="$2" '$1 == package { print $column }' "$pins"
}

check() { # package, the file
    local sum
    sum=$(sha256sum "$2" | cut -d' ' -f1)
    [ "$sum" = "$(pinned "$1" 4)" ] || fail "$(basename "$2") of $1 is not the one of $pins ($sum)"
}

# Only the tarball: the mirror need not have the rest of a source package.
unpack_source() { # package
    local tarball
    tarball=$work/sources/$(pinned "$1" 3)
    (cd "$work/sources" && apt_own source --tar-only "$1") || fail "apt could not download the source of $1"
    [ -s "$tarball" ] || fail "Debian 13 has another $1 now: $(cd "$work/sources" && echo "$1"_*)"
    check "$1" "$tarball"
    mkdir "$work/sources/$1"
    tar -x -C "$work/sources/$1" --strip-components=1 -f "$tarball"
}
