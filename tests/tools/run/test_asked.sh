#!/bin/sh
# Who ends a game of `piecemeal run` by a signal has asked for that, and safe mode does not take it for a crash.
#   test_asked.sh PIECEMEAL PLAYING
set -eu
piecemeal=$1 playing=$2
. "$(dirname "$0")/../lib.sh"
export XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache"
unset PIECEMEAL_CONFIG PIECEMEAL_ENABLE PIECEMEAL_DISABLE PIECEMEAL_SPOOL PIECEMEAL_DATABASES PIECEMEAL_RUN || true
journal=$XDG_DATA_HOME/piecemeal/journal/playing

# A run in a process group of its own; $run is its id and the group's, $game the game's.
run() {
    rm -f "$work/plays"
    setsid env --default-signal=HUP "$piecemeal" run "$@" >"$work/log" 2>&1 &
    run=$!
    for _ in $(seq 600); do
        [ -s "$work/plays" ] && break
        sleep 0.1
    done
    game=$(cat "$work/plays")
}
# ended WHAT STATUS BAD: the run's status, and how many sessions count as bad since.
ended() {
    status=0
    wait "$run" || status=$?
    [ "$status" = "$2" ] || { echo "FAILED: $1: status $status, wanted $2"; failures=$((failures + 1)); }
    said=$("$playing" judge)
    [ "${said% held*}" = "bad $3" ] || { echo "FAILED: $1: $said, wanted bad $3"; failures=$((failures + 1)); }
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

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo "all as expected"
