#!/bin/bash
# What `piecemeal try` does and says.
. "$(dirname "$0")/lib.sh"
driver lavapipe-25
piecemeal=$PM_BUILD/tools/piecemeal
game="$PM_BUILD/examples/piecemeal-postprocess --size 32x32 --quiet"

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
for _ in $(seq 3000); do
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

# A program that records once what it draws: in its first session copies come too late, or not.
if command -v vkcube Xvfb >/dev/null; then
    display
    unset PIECEMEAL_DEBUG_SYNCHRONOUS
    "$piecemeal" try --sessions 2 -o "$scratch/cube.html" -- vkcube --c 80 >"$scratch/try" 2>&1 ||
        { cat "$scratch/try"; fail "nothing was sampled of vkcube"; }
    if [[ $(grep -m 1 '^piecemeal run: sampled' "$scratch/try") == *' sampled nothing'* ]]; then
        says "$scratch/try" '^piecemeal try: session 2 of 2: .*; waits for copies of its shaders, since it submits again what it recorded before$'
    fi
    says "$scratch/try" '^piecemeal run: sampled [1-9][0-9]* of [1-9][0-9]* draws in 1 of 1 shader, '
fi
echo "$name: all as expected"
