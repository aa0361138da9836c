#!/bin/sh
# Installs what Piecemeal needs on Debian 12, and makes what Debian 12 itself lacks: for `build` SPIRV-Tools and headers
# of Debian 13 (scripts/fetch_khronos.sh, minutes, once) and cJSON's source (scripts/fetch_cjson.sh), for `test` and
# `demo` two software drivers, for `test` Debian 13's loader.
#
#   scripts/bootstrap.sh [GROUP…]     groups of scripts/packages.txt; default: build test demo
#   scripts/bootstrap.sh --list       prints the packages that are missing, installs nothing
#
# Quick when nothing is missing. Works as root, or with sudo.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
table=$root/scripts/packages.txt

list=no
groups=
for argument in "$@"; do
    case $argument in
    --list) list=yes ;;
    -*) echo "usage: scripts/bootstrap.sh [--list] [GROUP...]" >&2; exit 2 ;;
    *) groups="$groups $argument" ;;
    esac
done
groups=${groups:-build test demo}

wanted=$(awk -v groups=" $groups " \
    '!/^#/ && NF && index(groups, " " $1 " ") { print $2 }' "$table" | sort -u)
if [ -z "$wanted" ]; then
    echo "bootstrap: no such group:$groups" >&2
    exit 2
fi

if ! command -v dpkg-query >/dev/null; then
    echo "bootstrap: this is not Debian; install the counterparts of scripts/packages.txt by hand" >&2
    exit 1
fi
# shellcheck disable=SC2086  # one word a package
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
    awk '$1 == "installed" { print $2 }' | sort -u)
missing=$(printf '%s\n' "$wanted" | grep -vxF "${installed:-none}" || true)

if [ "$list" = yes ]; then
    [ -z "$missing" ] || printf '%s\n' "$missing"
    exit 0
fi

if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif command -v sudo >/dev/null; then
        as_root=sudo
    else
        echo "bootstrap: not root and no sudo; please install:" $missing >&2
        exit 1
    fi
    echo "bootstrap: installing" $missing
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive sh -eu -c '
        apt-get update -q
        apt-get install -q -y --no-install-recommends "$@"' sh $missing
fi

case " $groups " in
*" build "*)
    "$root/scripts/fetch_khronos.sh" "$root/build"
    "$root/scripts/fetch_cjson.sh" "$root/build"
    ;;
esac
case " $groups " in
*" test "* | *" demo "*) "$root/scripts/fetch_drivers.sh" "$root/build" ;;
esac
case " $groups " in
*" test "*) "$root/scripts/fetch_loader.sh" "$root/build" ;;
esac
