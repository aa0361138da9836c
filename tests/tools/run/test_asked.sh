#!/bin/sh
# Who ends a game of `piecemeal run` by a signal has asked for that, and safe mode does not take it for a crash.
#   test_asked.sh PIECEMEAL PLAYING
set -eu
piecemeal=$1 playing=$2
. "$(dirname "$0")/playing.sh"

run() {
    play run "$@"
}
# ended WHAT STATUS BAD [HOW]: the run's status, how many sessions count as bad since, and whether it says so, and how it
# ended: by the status's signal.
ended() {
    status=0
    wait "$run" || status=$?
    [ "$status" = "$2" ] || failed "$1: status $status, wanted $2"
    judged=$("$playing" judge)
    [ "${judged% held*}" = "bad $3" ] || failed "$1: $judged, wanted bad $3"
    said "$3" "^piecemeal run: playing did not end properly \(${4:-killed by signal $(($2 - 128)), .*}\), so 1 specialized shader is held back "
    [ "$3" = 1 ] || said 0 'did not end properly|held back'
    rm -rf "$journal"
}

run -- "$playing" "$work/plays"
kill -TERM "$run"
ended "SIGTERM to the run" 143 0

run -- "$playing" "$work/plays"
kill -HUP "$run"
ended "SIGHUP to the run" 129 0

# A shell starts what is in the background with SIGINT ignored, so it goes to a group whose leader is not.
run -- env --default-signal=INT "$playing" "$work/plays"
kill -INT -"$run"
ended "Ctrl-C" 130 0

# Its own handler ends it.
run -- "$playing" "$work/plays" ends
kill -TERM "$run"
ended "a handler" 3 0

# By way of a script.
run -- sh -c '"$@"; exit $?' sh "$playing" "$work/plays"
kill -TERM -"$run"
ended "a script" 143 0

# Also under --local; and a game that goes a while after what has started it.
run --local -- sh -c '"$@" & wait' sh "$playing" "$work/plays" stays
kill -TERM "$run"
sleep 0.5
kill -KILL "$game"
ended "a while later" 143 0

# It crashes when it is asked.
run -- "$playing" "$work/plays" crashes
kill -TERM "$run"
ended "a crash" 139 1

# Nobody asked.
run -- "$playing" "$work/plays"
kill -KILL "$game"
ended "killed" 137 1
run -- "$playing" "$work/plays"
kill -TERM "$game"
ended "ended by somebody else" 143 1

# It hung, and was ended for that: its last frame is a minute ago.
run -- "$playing" "$work/plays"
kill -STOP "$game"
touch -d '-60 seconds' "$journal"/*.session
kill -TERM "$run"
kill -KILL "$game"
ended "a hang" 137 1

# The signal that was passed on to it is not why.
run -- "$playing" "$work/plays"
kill -STOP "$game"
touch -d '-60 seconds' "$journal"/*.session
kill -TERM "$run"
sleep 0.5
kill -CONT "$game"
ended "a hang, by SIGTERM alone" 143 1 "it crashed, hung, was killed or lost its device"

all_as_expected
