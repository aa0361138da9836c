# shellcheck shell=bash
# How Debian's games are started, without a screen's limits and without sound; sourced (bash), after local_sessions.sh.
# Games that Debian does not have, or not with Vulkan: PM_QUAKE3E, Quake3e's program (built with USE_RENDERER_DLOPEN=0
# RENDERER_DEFAULT=vulkan), which plays OpenArena; PM_DDNET_SHADERS, a folder with DDNet's shaders as SPIR-V
# (prim.frag.spv, …), which Debian's package leaves out.
# PM_GAME_SIZE (WIDTHxHEIGHT): of the windows, in the place of each one's own.
PATH=$PATH:/usr/games

zink=(env GALLIUM_DRIVER=zink MESA_LOADER_DRIVER_OVERRIDE=zink LIBGL_ALWAYS_SOFTWARE=true)

# set_command GAME: `command` is what to run
set_command() {
    local home=(env "HOME=$folder/home") width=640 height=480
    [ "$1" != supertux ] || width=1280 height=960
    [ -z "${PM_GAME_SIZE-}" ] || width=${PM_GAME_SIZE%x*} height=${PM_GAME_SIZE#*x}
    case $1 in
    openarena)
        need openarena
        command=("${home[@]}" "${zink[@]}" openarena +set r_fullscreen 0 +set r_mode -1 +set r_customwidth "$width"
            +set r_customheight "$height" +set cl_renderer opengl2 +set s_initsound 0 +set com_maxfps 0 +set r_swapInterval 0
            +set bot_enable 1 +set sv_pure 0 +devmap oa_dm4 +addbot sarge 3 +addbot grunt 3 +team s)
        ;;
    nexuiz)
        need darkplaces
        command=("${home[@]}" "${zink[@]}" darkplaces -nexuiz -basedir /usr/share/games/nexuiz -window -width "$width"
            -height "$height" -nosound -userdir "$folder/home" +vid_fullscreen 0 +cl_maxidlefps 0
            +startdemos demos/demo1 demos/demo1)
        ;;
    neverball)
        need neverball
        mkdir -p "$folder/home/.neverball"
        printf 'fullscreen 0\nvsync 0\nwidth %s\nheight %s\n' "$width" "$height" >"$folder/home/.neverball/neverballrc"
        command=("${home[@]}" "${zink[@]}" neverball -l /usr/share/games/neverball/map-easy/easy.sol)
        ;;
    warzone2100)
        need warzone2100
        mkdir -p "$folder/warzone"
        command=("${home[@]}" warzone2100 --gfxbackend=vulkan --window --resolution="${width}x$height" --nosound
            --configdir="$folder/warzone" --game=CAM_1A)
        ;;
    supertuxkart)
        need supertuxkart
        command=("${home[@]}" "${zink[@]}" supertuxkart --windowed --screensize="${width}x$height" --race-now --track=hacienda
            --numkarts=4 --profile-laps=99 --seed=1 --unlock-all)
        ;;
    supertuxkart-vulkan)
        need supertuxkart
        command=("${home[@]}" supertuxkart --render-driver=vulkan --windowed --screensize="${width}x$height" --race-now
            --track=lighthouse --numkarts=4 --profile-laps=99 --seed=1 --unlock-all --no-sound)
        ;;
    quake3e | quake3e-costly)
        need "${PM_QUAKE3E:-quake3e}" openarena
        command=("${home[@]}" "${PM_QUAKE3E:-quake3e}" +set fs_basepath /usr/lib/openarena +set fs_homepath "$folder/home"
            +set fs_basegame baseoa +set com_basegame baseoa +set sv_pure 0 +set vm_ui 0 +set vm_cgame 0 +set vm_game 0
            +set r_fullscreen 0 +set r_mode -1 +set r_customwidth "$width" +set r_customheight "$height" +set s_initsound 0
            +set com_maxfps 0 +set com_maxfpsUnfocused 0 +set r_swapInterval 0 +set com_introplayed 1 +set timedemo 1)
        [ "$1" = quake3e ] || command+=(+set r_fbo 1 +set r_hdr 1 +set r_bloom 1 +set r_dlightMode 2)
        # It ends by itself: on SIGTERM it hangs, without us too, and what is killed did not end properly.
        command+=(+set nextdemo quit +demo demo088-test1)
        ;;
    ddnet)
        need DDNet
        mkdir -p "$XDG_DATA_HOME/ddnet/shader"
        ln -sfn "${PM_DDNET_SHADERS:?a folder with the shaders of DDNet as SPIR-V}" "$XDG_DATA_HOME/ddnet/shader/vulkan"
        command=("${home[@]}" DDNet "gfx_backend Vulkan" "gfx_gl_major 1" "gfx_gl_minor 1" "gfx_fullscreen 0"
            "gfx_screen_width $width" "gfx_screen_height $height" "gfx_vsync 0" "gfx_refresh_rate 0" "snd_enable 0"
            "cl_show_welcome 0")
        ;;
    supertux)
        need supertux2
        command=("${home[@]}" "${zink[@]}" supertux2 --window --geometry "${width}x$height" --renderer opengl --disable-sound
            --disable-music --userdir "$folder/home"
            /usr/share/games/supertux2/levels/world1/welcome_antarctica.stl)
        ;;
    minetest)
        need minetest
        mkdir -p "$folder/home/world"
        echo 'gameid = minetest_game' >"$folder/home/world/world.mt"
        printf '%s\n' "screen_w=$width" "screen_h=$height" enable_sound=false fps_max=1000 fps_max_unfocused=1000 \
            fixed_map_seed=1 viewing_range=60 >"$folder/minetest.conf"
        command=("${home[@]}" "${zink[@]}" minetest --go --world "$folder/home/world" --name player
            --config "$folder/minetest.conf")
        ;;
    *)
        echo "$script: no game $1" >&2
        exit 2
        ;;
    esac
}
