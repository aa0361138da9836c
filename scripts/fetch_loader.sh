#!/bin/bash
# Unpacks Debian 13's Vulkan loader and validation layer into BUILD/loader-13, never into the system, with the C and C++
# libraries that they want, which are newer than Debian 12's:
#   root/            the packages
#   run              runs a program of the machine on them: BUILD/loader-13/run PROGRAM…
#   package.txt      their versions
#
# apt downloads and checks the signatures, with lists and cache of its own in the build folder. What is there is kept.
#
# usage: scripts/fetch_loader.sh [BUILD]      BUILD is the build folder, `build` beside scripts/ unless told
set -euo pipefail

. "$(dirname "$0")/own_apt.sh"
open_folder loader-13 "$@"
packages="libvulkan1 vulkan-validationlayers libc6 libstdc++6 libgcc-s1"

unpack() {
    local base deb
    base=$(debian_mirror)
    source_line "$base" trixie | open_apt
    # shellcheck disable=SC2086  # one word a package
    (cd "$work/debs" && apt_own download $packages) || fail "apt could not download Debian 13's $packages"
    mkdir "$work/root"
    for deb in "$work/debs"/*.deb; do
        dpkg-deb -x "$deb" "$work/root"
        dpkg-deb --show --showformat='${Package} ${Version}\n' "$deb"
    done >"$work/package.txt"
    # What asks for the loader by the name that it has for developers shall not find the machine's.
    ln -s libvulkan.so.1 "$work/root/usr/lib/$(gcc -print-multiarch)/libvulkan.so"
    rm -rf "$folder/root" "$folder/package.txt"
    mv "$work/root" "$folder"
    mv "$work/package.txt" "$folder" # the last: whoever has it has the rest
}

[ -s "$folder/package.txt" ] || unpack

# Written each time: its paths are absolute, and a build folder may have moved.
library=$folder/root/usr/lib/$(gcc -print-multiarch)
cat >"$folder/run.new" <<RUN
#!/bin/bash
# Programs that this one starts are on the machine's own again.
program=\$(command -v "\$1") || { echo "run: no program \$1" >&2; exit 127; }
exec "$library/ld-linux-x86-64.so.2" --argv0 "\$1" --library-path "$library" "\$program" "\${@:2}"
RUN
chmod +x "$folder/run.new"
mv "$folder/run.new" "$folder/run"
