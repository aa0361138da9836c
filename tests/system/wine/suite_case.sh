#!/bin/bash
# suite_case.sh DLL.FILE.FUNCTION[+FUNCTION…]: runs tests of Wine's, built by suites.sh into PM_WINE_SUITES/KIND, and ends with
# 0 if they came to their end: that some fail is no matter of ours, but which is. For tests/cts/run.py (docs/clients.md).
#
# PM_DXVK names a folder with DXVK's DLLs of that kind (d3d9.dll, or d3d9.dll.so, as Debian's dxvk-wine64 calls it): with it
# those draw, not Wine's own.
set -u
IFS=. read -r dll file functions <<<"$1"
folder=$PM_WINE_SUITES/${PM_WINE_KIND:-x86_64}
beside=$(mktemp -d)
trap 'rm -rf "$beside"' EXIT
if [ -n "${PM_DXVK:-}" ]; then
    # Wine looks beside the program first.
    ln -s "$folder/${dll}_test.exe" "$beside"
    for name in d3d8 d3d9 d3d10core d3d11 dxgi; do
        for theirs in "$PM_DXVK/$name.dll" "$PM_DXVK/$name.dll.so"; do
            [ ! -e "$theirs" ] || { ln -s "$(realpath "$theirs")" "$beside/$name.dll" && break; }
        done
    done
    [ -e "$beside/$dll.dll" ] || { echo "no $dll.dll in $PM_DXVK" >&2 && exit 2; }
    folder=$beside
    # Nothing else in their place: what they cannot do is to fail.
    export WINEDLLOVERRIDES="d3d8,d3d9,d3d10core,d3d11,dxgi=n;${WINEDLLOVERRIDES:-}"
fi
# One test after the other, so that lines come in one order.
export WINETEST_NO_MT_D3D=1
# Into a file: Wine's services and its desktop, which the first program begins and which outlive it, hold what they inherit.
PM_WINE_TEST=$functions wine "$folder/${dll}_test.exe" "$file" >"$beside/said" 2>&1
status=$?
cat "$beside/said"
# Its status is the number of failures, or that of a crash.
grep -q "$file: [0-9]* tests executed" "$beside/said" || exit $((status > 0 && status < 125 ? status : 1))
