#!/bin/bash
# What scripts/bootstrap.sh brings to a bare Debian 12, in MB of 10^6 bytes: of each of its groups, with all that its
# packages need, what is downloaded and what lies on the disk then; and what is beside this build already. Installs
# nothing; asks apt, as if nothing but Debian's essential packages and apt were there, so `apt-get update` comes first.
#
#   scripts/bootstrap_sizes.sh
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
table=$root/scripts/packages.txt
command -v apt-get >/dev/null || { echo "bootstrap_sizes: this is not Debian" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/status"

# All that apt would install of these, as package=version lines.
wanted() {
    apt-get -o Dir::State::status="$work/status" -o Debug::NoLocking=1 -s --no-install-recommends install "$@" |
        sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1=\2/p' | sort -u
}

# The bytes of package=version lines: downloaded, and installed.
sizes() {
    xargs -r apt-cache show --no-all-versions 2>/dev/null |
        awk '$1 == "Size:" { down += $2 } $1 == "Installed-Size:" { on += 1024 * $2 } END { printf "%.0f %.0f\n", down, on }'
}

mapfile -t essential < <(apt-cache dumpavail | awk '$1 == "Package:" { name = $2 }
    $1 == "Essential:" && $2 == "yes" { print name }' | sort -u)
wanted apt "${essential[@]}" >"$work/bare"
for groups in build 'build demo' 'build test demo' 'build test demo slow'; do
    mapfile -t packages < <(awk -v groups=" $groups " \
        '!/^#/ && NF && index(groups, " " $1 " ") { print $2 }' "$table" | sort -u)
    wanted apt "${essential[@]}" "${packages[@]}" | comm -23 - "$work/bare" >"$work/all"
    [ -s "$work/all" ] || { echo "bootstrap_sizes: apt knows no way to install: $groups" >&2; exit 1; }
    read -r down on < <(sizes <"$work/all")
    printf '%-22s %4d packages  %5d MB to download  %5d MB installed\n' "$groups" "$(wc -l <"$work/all")" \
        $((down / 1000000)) $((on / 1000000))
done
for folder in khronos cjson drivers loader-13; do
    [ ! -d "$root/build/$folder" ] ||
        printf '%-22s %43s %5d MB unpacked\n' "build/$folder" '' $(($(du -sk "$root/build/$folder" | cut -f 1) * 1024 / 1000000))
done
