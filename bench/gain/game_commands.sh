# shellcheck shell=bash
# How Debian's games are started, without a screen's limits and without sound; sourced (bash), after local_sessions.sh.
PATH=$PATH:/usr/games

zink=(env GALLIUM_DRIVER=zink MESA_LOADER_DRIVER_OVERRIDE=zink LIBGL_ALWAYS_SOFTWARE=true)

# set_command GAME: `command` is what to run
set_command() {
    local home=(env "HOME=$folder/home")
    case $1 in
    openarena)
        need openarena
        command=("${home[@]}" "${zink[@]}" openarena +set r_fullscreen 0 +set r_mode -1 +set r_customwidth 640
            +set r_customheight 480 +set cl_renderer opengl2 +set s_initsound 0 +set com_maxfps 0 +set r_swapInterval 0
            +set bot_enable 1 +set sv_pure 0 +devmap oa_dm4 +addbot sarge 3 +addbot grunt 3 +team s)
        ;;
    nexuiz)
        need darkplaces
        command=("${home[@]}" "${zink[@]}" darkplaces -nexuiz -basedir /usr/share/games/nexuiz -window -width 640
            -height 480 -nosound -userdir "$folder/home" +vid_fullscreen 0 +startdemos demos/demo1 demos/demo1)
        ;;
    neverball)
        need neverball
        command=("${home[@]}" "${zink[@]}" neverball -l /usr/share/games/neverball/map-easy/easy.sol)
        ;;
    warzone2100)
        need warzone2100
        mkdir -p "$folder/warzone"
        command=("${home[@]}" warzone2100 --gfxbackend=vulkan --window --resolution=640x480 --nosound
            --configdir="$folder/warzone" --game=CAM_1A)
        ;;
    supertuxkart)
        need supertuxkart
        command=("${home[@]}" "${zink[@]}" supertuxkart --windowed --screensize=640x480 --race-now --track=hacienda
            --numkarts=4 --profile-laps=99 --seed=1 --unlock-all)
        ;;
    supertux)
        need supertux2
        command=("${home[@]}" "${zink[@]}" supertux2 --window --geometry 1280x960 --renderer opengl --disable-sound
            --disable-music --userdir "$folder/home"
            /usr/share/games/supertux2/levels/world1/welcome_antarctica.stl)
        ;;
    minetest)
        need minetest
        mkdir -p "$folder/home/world"
        echo 'gameid = minetest_game' >"$folder/home/world/world.mt"
        printf '%s\n' screen_w=640 screen_h=480 enable_sound=false fps_max=1000 fps_max_unfocused=1000 \
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
