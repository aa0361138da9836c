#!/bin/bash
# What is said of a session while it goes on and when it is over, `piecemeal try`, and looking at the game's own shaders.
. "$(dirname "$0")/lib.sh"
driver lavapipe-25
piecemeal=$PM_BUILD/tools/piecemeal
game="$PM_BUILD/examples/piecemeal-postprocess --size 32x32 --quiet"
# says FILE PATTERN
says() {
    grep -qE "$2" "$1" || { cat "$1"; fail "no line matches '$2'"; }
}
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

# Copies of shaders that come too late for a session are waited for in the next one, on the same day or another.
too_late() {
    "$piecemeal" try "$@" --game late --set sampler.api_probability=1 --set limits.loading_ms=0 -o "$scratch/late.html" \
        -- $game --frames 2 >"$scratch/try" 2>&1
}
too_late && { cat "$scratch/try"; fail "copies were compiled in two frames"; }
says "$scratch/try" '^piecemeal run: sampled nothing: no copy of a shader was compiled in time: '
says "$scratch/try" '^piecemeal try: copies of its shaders came too late: start it once more'
too_late || { cat "$scratch/try"; fail "copies were not waited for"; }
says "$scratch/try" '^piecemeal try: session 1 of 1: profiles; waits for copies of its shaders, which came too late before$'
says "$scratch/try" '^piecemeal run: sampled [1-9][0-9]* of [1-9][0-9]* draws in [1-8] of 8 shaders, '
rm -r "$XDG_DATA_HOME/piecemeal"
too_late --sessions 2 || { cat "$scratch/try"; fail "copies were not waited for in the second session"; }
says "$scratch/try" '^piecemeal try: session 2 of 2: profiles; waits for copies of its shaders, which came too late before$'
says "$scratch/late.html" '^<!doctype html>'
rm -r "$XDG_DATA_HOME/piecemeal"

# All of it by one command: it profiles, and the next session uses that. Every call is sampled at once, for a machine
# that is busy.
export PIECEMEAL_DEBUG_SYNCHRONOUS=1 PIECEMEAL_LIMITS_BACKGROUND_SHARE=1
"$piecemeal" try --sessions 2 -o "$scratch/report.html" -- $game --frames 12 >"$scratch/try" 2>&1 ||
    { cat "$scratch/try"; fail "try failed"; }
says "$scratch/try" '^piecemeal try: session 1 of 2: profiles$'
says "$scratch/try" '^piecemeal run: sampled [1-9][0-9]* of [1-9][0-9,]* draws in [1-8] of 8 shaders, [0-9]+ % of their points; next: piecemeal report$'
says "$scratch/try" '^piecemeal try: session 2 of 2: specializes by the profile, tries what comes of it, and compares frames$'
says "$scratch/report.html" '^<!doctype html>'
# Why there is no report: what it says itself, or the signal that ended it (here nobody reads what it prints).
"$piecemeal" try -o "$scratch/nowhere/report.html" -- $game --frames 12 >"$scratch/try" 2>&1 &&
    fail "try ended with 0 without a report"
says "$scratch/try" '^piecemeal report: .*/nowhere/'
says "$scratch/try" '^piecemeal try: there is no report: .piecemeal report. ended with 1, for what it says above$'
mkfifo "$scratch/pipe"
(exec 3<>"$scratch/pipe" 4>"$scratch/pipe" 3>&-
    "$piecemeal" try -o "$scratch/report.html" -- $game --frames 12 >&4 2>"$scratch/try") &&
    fail "try ended with 0, though nobody could read what the report says"
says "$scratch/try" '^piecemeal try: there is no report: .piecemeal report. was ended by signal 13 .*: nobody reads'
"$piecemeal" try -- true >"$scratch/try" 2>&1 && fail "try sampled nothing, and ended with 0"

# A game that does not end properly while what is new is used: what follows is said, and in the next session why nothing
# of it is tried.
journal=$XDG_DATA_HOME/piecemeal/journal/piecemeal-postprocess
rm -r "$journal" # by what the sessions above say, nothing of it is new
"$piecemeal" try --set debug.trust_variants=true -o "$scratch/report.html" -- $game --frames 1000000 >"$scratch/try" 2>&1 &
try=$!
children+=("$try")
for _ in $(seq 600); do
    session=$(grep -ls '^new ' "$journal"/*.session || true)
    [ -n "$session" ] && break
    kill -0 "$try" 2>/dev/null || { cat "$scratch/try"; fail "the game ended by itself"; }
    sleep 0.1
done
[ -n "$session" ] || { cat "$scratch/try"; fail "nothing new is used"; }
session=${session##*/}
kill -KILL "${session%%-*}"
wait "$try" || true
says "$scratch/try" "^piecemeal run: piecemeal-postprocess did not end properly \\(killed by signal 9, Killed\\), so [1-9].* held back for a few sessions; .*; remove $journal to use them now\$"
! grep -q '^piecemeal try: .*start it once more' "$scratch/try" || fail "once more would not try it again: $(cat "$scratch/try")"
"$piecemeal" try --set debug.trust_variants=true -o "$scratch/report.html" -- $game --frames 12 >"$scratch/try" 2>&1 ||
    { cat "$scratch/try"; fail "try failed"; }
says "$scratch/try" "^piecemeal try: piecemeal-postprocess: [1-9].* held back for a few sessions, since .*; remove $journal to use them now\$"
! grep -q 'did not end properly (' "$scratch/try" || fail "it ended properly: $(cat "$scratch/try")"
rm -r "$journal"

# While it runs: the status file, a line for overlays, and the game's own shaders for a while.
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

    # A program that records once what it draws: in its first session copies come too late, or not.
    unset PIECEMEAL_DEBUG_SYNCHRONOUS
    "$piecemeal" try --sessions 2 -o "$scratch/cube.html" -- vkcube --c 80 >"$scratch/try" 2>&1 ||
        { cat "$scratch/try"; fail "nothing was sampled of vkcube"; }
    if [[ $(grep -m 1 '^piecemeal run: sampled' "$scratch/try") == *' sampled nothing'* ]]; then
        says "$scratch/try" '^piecemeal try: session 2 of 2: .*; waits for copies of its shaders, since it submits again what it recorded before$'
    fi
    says "$scratch/try" '^piecemeal run: sampled [1-9][0-9]* of [1-9][0-9]* draws in 1 of 1 shader, '
fi
echo "$name: all as expected"
