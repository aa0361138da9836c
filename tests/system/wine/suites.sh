#!/bin/bash
# suites.sh WINE OUT KIND: builds Wine's own tests of Direct3D 8 to 11 for Windows, for suite_case.sh.
#
# WINE is Debian's source package, unpacked (apt-get source wine), KIND is x86_64 or i686; needs gcc-mingw-w64 of that kind.
# Of a file's tests those that PM_WINE_TEST names run, by the functions they are, or all: nothing else is changed. OUT/KIND
# gets DLL_test.exe; OUT/cases has all of their names, DLL.FILE.FUNCTION, and OUT/groups up to eight functions a line, of one
# file, DLL.FILE.FUNCTION+FUNCTION: where a process takes longer to begin than a test takes.
set -euo pipefail
[ $# = 3 ] || { echo "usage: suites.sh WINE OUT KIND" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
wine=$(cd "$1" && pwd) kind=$3
mkdir -p "$2/$kind"
out=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Of Wine's headers those that are no part of Windows' own.
mkdir "$work/wine"
cp "$wine"/include/wine/{test,debug,heap,list,wined3d}.h "$work/wine"

# The lines behind START_TEST that call a test: test_blend(); queue_test(test_map); run_on_d3d10(test_output).
plain='^    \([a-zA-Z0-9_]*\)();' told='^    \(\(queue\|run\)_[a-z0-9_]*\)(\([A-Z0-9_, ]*\)\([a-z][a-zA-Z0-9_]*\));'
for dll in d3d8 d3d9 d3d10core d3d11; do
    mkdir "$work/$dll"
    cp "$wine/dlls/$dll/tests"/*.[ch] "$here/suites.c" "$work/$dll"
    for file in "$wine/dlls/$dll/tests"/*.c; do
        name=$(basename "$file" .c)
        echo "TEST($name)" >>"$work/$dll/suites.h"
        sed -i -e "/^START_TEST/,\$ { /print_adapter_info\|run_queued_tests/b
            /^    \(queue\|run\)_.*,\$/ { N; s/\n */ /; }
            s/$plain/    if (pm_wanted(\"\1\")) \1();/
            s/$told/    if (pm_wanted(\"\4\")) \1(\3\4);/ }" -e '1i extern int pm_wanted(const char *name);' "$work/$dll/$name.c"
        sed -n 's/^    if (pm_wanted("\([^"]*\)")).*/\1/p' "$work/$dll/$name.c" | sort -u >"$work/names"
        sed "s/^/$dll.$name./" "$work/names" >>"$work/cases"
        paste -d + - - - - - - - - <"$work/names" | sed "s/+*$//; s/^/$dll.$name./" >>"$work/groups"
    done
    [ "$dll" != d3d8 ] || [ "$kind" = i686 ] || continue # mingw has no d3d8 of 64 bits
    imports=$(sed -n 's/^IMPORTS *= *//p' "$wine/dlls/$dll/tests/Makefile.in")
    # shellcheck disable=SC2046,SC2086  # one word a library
    "$kind-w64-mingw32-gcc" -O1 -w -DDECLSPEC_EXPORT= -Ddebugstr_w=wine_dbgstr_w -I "$work" -I "$work/$dll" \
        "$work/$dll"/*.c -o "$out/$kind/${dll}_test.exe" $(printf -- '-l%s ' $imports) -lntdll -luuid -ldxguid
done
mv "$work/cases" "$work/groups" "$out"
