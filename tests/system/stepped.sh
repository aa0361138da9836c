#!/bin/bash
# Programs that bench/cost/ makes draw frame by frame: a game of two pixels, and what its programs print of one of our scenes.
# usage: stepped.sh
. "$(dirname "$0")/lib.sh"
need python3
driver lavapipe-25
export PYTHONDONTWRITEBYTECODE=1
python3 "$PM_SOURCE/tests/system/test_stepped.py" "$PM_SOURCE:$PM_BUILD"

number='[+-][0-9]+\.[0-9]+'
cost=$PM_SOURCE/bench/cost
run_quietly "$scratch/count" "$cost/count_processor.py" --ways window,zeros --batch 1,8 --frames 4 --skip 2 game - \
    "$PM_BUILD" -- "$PM_BUILD/tests/system/stepped_game"
says "$scratch/count" "^no layer, again: $number % .*, 4 frames, together $number %; 0 first uses"
says "$scratch/count" "a window of zeros alone, p = 1, b = 8: $number % "
if "$cost/count_processor.py" --ways window --frames 4 --skip 2 game - "$PM_BUILD" -- "$PM_BUILD/tests/system/stepped_game" \
    differs >"$scratch/differs" 2>&1; then
    fail "a game that does not draw the same was measured"
fi
says "$scratch/differs" "^they do not draw the same: "
gain=$PM_SOURCE/bench/gain/gain_processor.py
run_quietly "$scratch/gain" "$gain" --frames 12 --skip 2 --settle 2 --processes 2 --nothing blocks "0 of 3" \
    --state zeros "$scratch" optimize.zero=true "0 of 0" game - "$PM_BUILD" -- "$PM_BUILD/tests/system/stepped_game" works
says "$scratch/gain" "^\| game \| no layer \| – \| – \| [0-9.]+ \| – \| $number to $number \| 12 \|$"
says "$scratch/gain" "^\| game \| layer alone \| – \| – \| [0-9.]+ \| $number % \($number to $number\) \| $number to $number \| 12 \|$"
says "$scratch/gain" "^\| game \| zeros \| 0 of 0 \| – \| [0-9.]+ \| $number % "
[ "$(sed -n 's/ layer alone | – / | /p' "$scratch/gain")" = "$(sed -n 's/ blocks | 0 of 3 / | /p' "$scratch/gain")" ] ||
    fail "what has nothing in use is not the layer alone"
need valgrind vgdb callgrind_control
run_quietly "$scratch/instructions" "$cost/count_processor.py" --instructions --ways window --frames 2 --skip 2 game - \
    "$PM_BUILD" -- env "$PM_BUILD/tests/system/stepped_game" works
says "$scratch/instructions" "^game -: [2-9]\.[0-9]+ million instructions a frame without the layer$"
says "$scratch/instructions" "^no layer, again: [2-9]\.[0-9]+ million, [+-]0\.[0-9]+ %; 0 first uses$"
says "$scratch/instructions" "a window, p = 1, b = all: [2-9]\.[0-9]+ million, [+-]0\.[0-9]+ %; 0 first uses$"

# Of one of our scenes.
if [ "${PM_ALL-}" ]; then
    run_quietly "$scratch/windows" "$cost/window_processor.py" --p 1 --batch all --pairs 2 --window 4 --frames 40 --skip 4 \
        --details postprocess 16x16 "$PM_BUILD"
    says "$scratch/windows" "^p = 1, b = all, 2: [1-9][0-9]* windows, "
    says "$scratch/windows" "^\| postprocess \| 1 \| all \| [1-9][0-9]* \| [0-9.]+ \|.*\| [0-9]+ \| [0-9.–-]+ \|$"
    run_quietly "$scratch/scene" "$cost/count_processor.py" --ways window --settle 3 --frames 4 postprocess 16x16 "$PM_BUILD"
    says "$scratch/scene" "a window, p = 1, b = all: [1-9][0-9]* variants$"
    says "$scratch/scene" "a window, p = 1, b = all: $number % .*, 4 frames, together $number %; 0 first uses"
    run_quietly "$scratch/scene_gain" "$gain" --processes 2 --frames 10 --skip 2 --settle 2 postprocess 16x16 "$PM_BUILD"
    says "$scratch/scene_gain" "^\| postprocess \| layer alone \| – \| 0 \| [0-9.]+ \| $number % \($number to $number\) "
    run_quietly "$scratch/kept" "$cost/kept_processor.py" --frames 4 --skip 2 --size 16x16 postprocess "$PM_BUILD"
    says "$scratch/kept" "^p = 1: .* [1-9][0-9]* calls twice$"
fi
