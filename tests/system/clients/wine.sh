# vkcube for Windows, under Wine; four pictures of the screen are compared. PM_WINE: what wine/build.sh made.
client_needs="Xvfb wine64 wineserver"
client_validated=no # not tried
PATH=/usr/lib/wine:$PATH # Debian's wine64
[ -f "${PM_WINE:-}/vkcube.exe" ] || skip "no PM_WINE with vkcube.exe (tests/system/wine/build.sh)"

client_prepare() {
    mkdir "$scratch/screen"
    display -fbdir "$scratch/screen"
    export WINEPREFIX=$scratch/prefix WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml,winedbg.exe="
    run_quietly "$scratch/log" wine64 wineboot -i
    wineserver -k
}

# Wine has the Unix files on a drive of its own.
client_run() {
    local folder
    folder=$(cd "$1" && pwd)
    PM_WINE_SCREEN=Z:${scratch//\//\\}\\screen\\Xvfb_screen0 PM_WINE_PICTURES=Z:${folder//\//\\} \
        run_quietly "$scratch/log" wine64 "$PM_WINE/vkcube.exe" --c 61 --suppress_popups
    wineserver -k
    [ "$(find "$1" -name '*.xwd' | wc -l)" = 4 ] || fail "vkcube took no pictures"
}
