#!/bin/bash
# `piecemeal profile`: a capture of gfxreconstruct's is replayed under the layer and sampled, and it is said what is in
# it, how many frames were replayed, and why not.
. "$(dirname "$0")/lib.sh"
need vkcube gfxrecon-replay gfxrecon-info
driver lavapipe-22
display
piecemeal=$PM_BUILD/tools/piecemeal
says() {
    grep -qE -- "$1" "$scratch/said" || { cat "$scratch/said"; fail "no line matches '$1'"; }
}
# profile STATUS ARGUMENT…
profile() {
    local expected=$1 status=0
    shift
    timeout 300 "$piecemeal" profile "$@" >"$scratch/said" 2>&1 || status=$?
    [ "$status" -eq "$expected" ] || { cat "$scratch/said"; fail "profile ended with $status, not $expected"; }
}
VK_INSTANCE_LAYERS=VK_LAYER_LUNARG_gfxreconstruct GFXRECON_CAPTURE_FILE=$scratch/cube.gfxr \
    GFXRECON_CAPTURE_FILE_TIMESTAMP=false GFXRECON_LOG_LEVEL=error run_quietly "$scratch/log" vkcube --c 20

profile 0 --local -o "$scratch/report.html" "$scratch/cube.gfxr"
says '^piecemeal profile: .*cube.gfxr: 20 frames of vkcube, captured on llvmpipe'
says '^piecemeal run: the game is "vkcube"'
says '^piecemeal run: sampled [1-9][0-9]* of [1-9][0-9]* draws in 1 of 1 shader,'
says '^piecemeal profile: replayed 20 of 20 frames$'
grep -q '^<!doctype html>' "$scratch/report.html" || fail "there is no report"
"$piecemeal" db show --game vkcube >"$scratch/shown" 2>&1 || { cat "$scratch/shown"; fail "nothing is known of vkcube"; }

# A session each time; a name of its own; options of gfxrecon-replay's; nothing is sampled where that is asked for.
profile 0 --local --game 'A Cube' --times 2 "$scratch/cube.gfxr" -- --log-level error
[ "$(grep -c '^piecemeal profile: replayed 20 of 20 frames$' "$scratch/said")" -eq 2 ] || fail "not replayed twice"
says '^piecemeal run: the game is "A Cube"'
# What run says comes next: of several games the one that ran last.
says ' of their points; next: piecemeal report$'
"$piecemeal" report >"$scratch/said" 2>&1 || fail "$(cat "$scratch/said")"
says '/reports/A%20Cube.html: 1 shader of A Cube$'
[ -s "$XDG_DATA_HOME/piecemeal/reports/A%20Cube.html" ] || fail "there is no report where it was said to be"
"$piecemeal" db show >"$scratch/said" 2>&1 || fail "$(cat "$scratch/said")"
says '^A Cube \('
# A shader of which calls were sampled is in the report, of whatever kind they were.
profile 0 --local --game Zeros --set sampler.kinds=zero "$scratch/cube.gfxr"
"$piecemeal" report --game Zeros >"$scratch/said" 2>&1 || fail "$(cat "$scratch/said")"
says '/reports/Zeros.html: 1 shader of Zeros$'
grep -q 'needs more' "$XDG_DATA_HOME/piecemeal/reports/Zeros.html" || fail "it says not that it needs more samples"
profile 1 --local --set sampler.window_probability=0 "$scratch/cube.gfxr"
says '^piecemeal run: sampling was off '

# What cannot be replayed.
head -c 3000 "$scratch/cube.gfxr" >"$scratch/cut.gfxr"
profile 1 --local --game cut "$scratch/cut.gfxr"
profile 1 "$0"
says 'profile.sh: is no capture of gfxreconstruct'
profile 1 "$scratch/nothing.gfxr"
says 'nothing.gfxr: No such file'
profile 2
says 'no capture to replay'
profile 2 -o "$scratch/r.html" "$scratch/cube.gfxr"
says '-o needs --local'
(unset DISPLAY && profile 1 --local "$scratch/cube.gfxr" && says 'there is no display to replay frames on: xvfb-run makes one')
(PATH=$scratch:/nowhere && timeout() { shift; "$@"; } && profile 1 --local "$scratch/cube.gfxr" &&
    PATH=/usr/bin:/bin && says 'gfxrecon-replay is not on PATH .Debian: the package gfxreconstruct')
echo "$name: all as expected"
