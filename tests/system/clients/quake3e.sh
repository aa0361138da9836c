# Quake3e's own Vulkan renderer, with OpenArena's data and game as Debian packages them: three pictures of a demo that is
# played frame by frame (timedemo), so that each frame is the same one in each run. PM_QUAKE3E: the program, built with
# USE_RENDERER_DLOPEN=0 RENDERER_DEFAULT=vulkan. The argument `costly`: with all that its renderer has, lights by pixel,
# bloom and a picture of 16 bits a channel. quake_frames: of which frames.
#
# Of one for Windows (.exe), which Wine runs in WINEPREFIX, PM_QUAKE3E_GAME is the folder with OpenArena's game for Windows
# (cgamex86_64.dll, uix86_64.dll).
client_needs="Xvfb"
client_validated=no # not tried
[ -e "${PM_QUAKE3E:-}" ] || skip "no PM_QUAKE3E with Quake3e's program"
[ -e /usr/lib/openarena/baseoa/pak0.pk3 ] || skip "Debian's openarena is not installed"
quake3e=("$PM_QUAKE3E") root=
if [[ $PM_QUAKE3E == *.exe ]]; then
    need wine
    [ -e "${PM_QUAKE3E_GAME:-}/cgamex86_64.dll" ] || skip "no PM_QUAKE3E_GAME with OpenArena's game for Windows"
    quake3e=(wine "$PM_QUAKE3E") root=Z:
fi

client_prepare() {
    display
}

client_run() {
    local folder home=$scratch/home frame before=0 settings=()
    [ "$client_argument" != costly ] || settings=(+set r_fbo 1 +set r_hdr 1 +set r_bloom 1 +set r_dlightMode 2)
    folder=$(cd "$1" && pwd)
    rm -rf "$home"
    mkdir -p "$home/baseoa"
    for frame in ${quake_frames:-20 35 50}; do
        printf 'wait %s\nscreenshotBMP %s\n' $((frame - before)) "$frame"
        before=$frame
    done >"$home/baseoa/pictures.cfg"
    printf 'wait 2\nquit\n' >>"$home/baseoa/pictures.cfg"
    [ -z "$root" ] || cp "$PM_QUAKE3E_GAME"/*x86_64.dll "$home/baseoa"
    run_quietly "$scratch/log" "${quake3e[@]}" +set fs_basepath $root/usr/lib/openarena +set fs_homepath "$root$home" \
        +set fs_basegame baseoa +set com_basegame baseoa +set sv_pure 0 +set vm_ui 0 +set vm_cgame 0 +set vm_game 0 \
        +set r_fullscreen 0 +set r_mode -1 +set r_customwidth 320 +set r_customheight 240 +set s_initsound 0 \
        +set com_maxfps 0 +set com_maxfpsUnfocused 0 +set r_swapInterval 0 +set com_introplayed 1 +set timedemo 1 \
        "${settings[@]}" +demo demo088-test1 +exec pictures.cfg
    [ "$(find "$home/baseoa/screenshots" -name '*.bmp' | wc -l)" = 3 ] || fail "it took no pictures"
    cp "$home"/baseoa/screenshots/*.bmp "$folder"
}
