#!/bin/bash
# game_processor.sh BUILD GAME PROGRAM [OPTION…]: a program of this folder that measures processor time
# (window_processor.py, count_processor.py) of a game that draws with OpenGL by SDL 2, as openarena does, through zink. Its
# processes draw the same frames (step_frames.c), without sound and on a display without a screen. The first frames load:
# leave them out (--skip).
#
#   bench/cost/game_processor.sh build/release openarena window_processor.py --p 0.01 --batch 1 --pairs 4
#
# The driver is the caller's: VK_DRIVER_FILES. SIZE: of openarena's window (640x480). Needs Xvfb and the game.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?the build tree}" && pwd)
game=${2:?a game of bench/gain/game_commands.sh} measures=${3:?the program that measures}
shift 3
. "$source_folder/bench/gain/local_sessions.sh"
new_program "$game"
folder='{folder}' # each process has its own
size=${SIZE:-640x480}
PM_GAME_SIZE=$size workload_command "$game" - 100000000
"$source_folder/bench/cost/$measures" "$@" "$game" "$size" "$build" -- "${command[@]}"
