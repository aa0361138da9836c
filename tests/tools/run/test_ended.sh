#!/bin/sh
# What `piecemeal try` says of a game whose session did not end properly, and of what is held back since.
#   test_ended.sh PIECEMEAL PLAYING
set -eu
piecemeal=$1 playing=$2
. "$(dirname "$0")/playing.sh"
bad='^piecemeal run: playing did not end properly \('
before='^piecemeal try: playing: 1 specialized shader is held back for a few sessions, since sessions that they were new in '
then="its own menu or quit command ends it properly; remove $journal to use them now\$"

# It ends properly.
play try -- "$playing" "$work/plays" quits
kill -TERM "$game"
wait "$run" || true
said 0 'properly|held back'
rm -rf "$journal"

# It hangs when it is asked, and is killed for that after a while: no program that piecemeal knows of was asked.
play try -- "$playing" "$work/plays" stays
kill -TERM "$game"
sleep 0.5
kill -KILL "$game"
wait "$run" || true
said 1 "${bad}killed by signal 9, Killed\), so 1 specialized shader is held back for a few sessions; $then"
said 1 'held back'

# Nothing is tried in the next session, however it ends, and why is said once.
for signal in KILL TERM; do
    play try -- "$playing" "$work/plays" quits
    kill -"$signal" "$game"
    wait "$run" || true
    said 0 "$bad"
    said 1 "$before.*; if it was ended by hand, $then"
    said 1 'held back'
done
# By Ctrl-C as well.
play try -- env --default-signal=INT "$playing" "$work/plays" quits
kill -INT -"$run"
wait "$run" || true
said 0 "$bad"
said 1 "$before"
# `run` says only what came of itself, and `doctor` the same as `try`.
play run -- "$playing" "$work/plays" quits
kill -TERM "$game"
wait "$run" || true
said 0 'properly|held back'
"$piecemeal" doctor >"$work/log" 2>&1 || true
said 1 "^note  safe mode: playing: 1 specialized shader is held back for a few sessions, since .*; if it was ended by hand, $then"

# What a session of another run has done is not this one's doing.
rm -rf "$journal"
play run -- "$playing" "$work/plays" quits
first=$run first_game=$game
mv "$work/log" "$work/first"
play run -- "$playing" "$work/plays"
kill -KILL "$game"
wait "$run" || true
said 1 "${bad}killed by signal 9, "
mv "$work/first" "$work/log"
kill -TERM "$first_game"
wait "$first" || true
said 0 'properly|held back'

# A script that starts it ends well.
rm -rf "$journal"
play run -- sh -c '"$@"; exit 0' sh "$playing" "$work/plays"
kill -KILL "$game"
wait "$run" || true
unknown="${bad}it crashed, hung, was killed or lost its device\), so 1 specialized shader is held back for a few sessions; remove "
said 1 "$unknown"

# Its status is none of a signal, though it looks like one.
rm -rf "$journal"
play run -- sh -c '"$@"; exit 150' sh "$playing" "$work/plays"
kill -KILL "$game"
wait "$run" || true
said 1 "$unknown"

# It crashes by itself, which no menu mends.
rm -rf "$journal"
play run -- "$playing" "$work/plays" crashes
kill -TERM "$game"
wait "$run" || true
said 1 "${bad}killed by signal 11, [^;]*; remove "
all_as_expected
