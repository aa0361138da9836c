#!/bin/bash
# What is said of a session while it goes on and when it is over, and looking at the game's own shaders.
. "$(dirname "$0")/lib.sh"
quick_driver lavapipe-25
piecemeal=$PM_BUILD/tools/piecemeal
game="$PM_BUILD/examples/piecemeal-postprocess --size 32x32 --quiet"
run() {
    "$piecemeal" run --local "$@" >"$scratch/run" 2>&1 || { cat "$scratch/run"; fail "the run failed"; }
}

# Every run ends with a sentence of what happened, or why not.
run -- true
says "$scratch/run" '^piecemeal run: sampled nothing: the program made no Vulkan instance that the layer was in'
run --set sampler.window_probability=0 -- $game --frames 2
says "$scratch/run" '^piecemeal run: sampled nothing: the config samples nothing, and there is nothing to use on llvmpipe'
run --set sampler.window_probability=1e-9 -- $game --frames 2
says "$scratch/run" '^piecemeal run: sampled nothing: no window opened in [0-9]+ frames: one frame in 1,000,000,000 opens one'
printf '{"sampler": {"bacth": 3}}\n' >"$scratch/bad.json"
run --config "$scratch/bad.json" -- $game --frames 1
says "$scratch/run" '^piecemeal run: sampled nothing: .*bad.json:1:14: '
"$piecemeal" status >"$scratch/status" 2>&1
says "$scratch/status" '^piecemeal-postprocess, ran on .*: sampled nothing: no window opened'
"$piecemeal" status nothing >"$scratch/status" 2>&1 && fail "a game that was never there has a status"
says "$scratch/status" 'no session of nothing was seen'

# While it runs: the status file, a line for overlays, and the game's own shaders for a while.
# Every call is sampled at once, for a machine that is busy.
export PIECEMEAL_DEBUG_SYNCHRONOUS=1 PIECEMEAL_LIMITS_BACKGROUND_SHARE=1
run --set sampler.window_probability=1 --set sampler.api_probability=1 -- $game --frames 12
says "$scratch/run" '^piecemeal run: sampled [1-9][0-9]* of [1-9][0-9,]* draws in [1-8] of 8 shaders, '
export PIECEMEAL_LOG_LEVEL=info
"$piecemeal" run --local -- $game --frames 1000000 >"$scratch/played" 2>&1 &
children+=($!)
# waits PATTERN COMMAND…
waits() {
    local pattern=$1
    shift
    for _ in $(seq 600); do
        "$@" >"$scratch/out" 2>&1 || true
        grep -qE "$pattern" "$scratch/out" && return
        sleep 0.1
    done
    cat "$scratch/out" "$scratch/played"
    fail "no '$pattern' from $*"
}
waits '^piecemeal-postprocess, runs since ' "$piecemeal" status piecemeal-postprocess
waits '^piecemeal: [0-9]+ of [1-8] shaders sampled, ' "$piecemeal" status --line piecemeal-postprocess
"$piecemeal" pause piecemeal-postprocess >"$scratch/said"
says "$scratch/said" '^piecemeal-postprocess uses its own shaders, until '
waits "paused: the game's own shaders are used" "$piecemeal" status piecemeal-postprocess
waits '"paused":	true' sh -c 'cat "$1"/*.json' sh "$XDG_DATA_HOME/piecemeal/status/piecemeal-postprocess"
"$piecemeal" resume piecemeal-postprocess >"$scratch/said"
says "$scratch/said" '^piecemeal-postprocess uses specialized shaders again$'
waits '"paused":	false' sh -c 'cat "$1"/*.json' sh "$XDG_DATA_HOME/piecemeal/status/piecemeal-postprocess"
"$piecemeal" pause 'no such game' >"$scratch/said" 2>&1
says "$scratch/said" '^piecemeal pause: no session of no such game was seen on this machine; '
says "$scratch/played" "info: the game's own shaders are used, as was asked"
says "$scratch/played" 'info: specialized shaders are used again'

# The lines for MangoHud, as the documentation has them: it asks for the words while a program draws.
if [ -e /usr/share/vulkan/implicit_layer.d/MangoHud.json ] && command -v vkcube Xvfb >/dev/null; then
    display
    sed -n 's/^    \(legacy_layout=\|custom_text=\|exec=\)/\1/p' "$PM_SOURCE/docs/status.md" |
        sed 's/GAME/piecemeal-postprocess/' >"$scratch/mangohud.conf"
    mkdir "$scratch/bin"
    printf '#!/bin/sh\n"%s" "$@" | tee -a "%s"\n' "$piecemeal" "$scratch/line" >"$scratch/bin/piecemeal"
    chmod +x "$scratch/bin/piecemeal"
    PATH=$scratch/bin:$PATH MANGOHUD=1 MANGOHUD_CONFIGFILE=$scratch/mangohud.conf \
        run_quietly "$scratch/cube" vkcube --c 60
    says "$scratch/line" '^piecemeal: [0-9]+ of [1-8] shaders sampled, '
fi
echo "$name: all as expected"
