#!/bin/sh
# What `piecemeal run --local` takes in, and when: a game that is killed, in whatever way, has its checkpoints taken in by
# the run that it was started by, which counts only these.
#   test_local.sh PIECEMEAL SPOOLING
set -eu
piecemeal=$1 spooling=$2
. "$(dirname "$0")/../lib.sh"
export XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache"
unset PIECEMEAL_CONFIG PIECEMEAL_ENABLE PIECEMEAL_DISABLE PIECEMEAL_SPOOL PIECEMEAL_DATABASES || true

# The process that wrote the file; waits for it.
writer() {
    for _ in $(seq 600); do
        [ -s "$1" ] && break
        sleep 0.1
    done
    cat "$1"
}

# A run in a process group of its own, as a shell with job control starts it: its id is the group's. Its own parent is
# a shell that leaves it alone.
run() {
    rm -f "$work/writes"
    setsid "$piecemeal" run --local -- "$@" >"$work/log" 2>&1 &
    run=$!
    game=$(writer "$work/writes")
}
ended() {
    status=0
    wait "$run" || status=$?
    expect 0 "$1" cat "$work/log"
}

# Ended by itself.
run "$spooling" 2 "$work/writes" 0
ended 'took in 2 checkpoints? of 1 session'

# Killed itself.
run "$spooling" 3 "$work/writes"
kill -KILL "$game"
ended 'took in 3 checkpoints? of 1 session'

# What started it is killed first, and the game some time after.
run sh -c '"$@"; true' sh "$spooling" 4 "$work/writes"
kill -KILL "$(ps -o ppid= -p "$game" | tr -d ' ')"
sleep 1
kill -KILL "$game"
ended 'took in 4 checkpoints? of 1 session'

# Ctrl-C: what started it goes at once, the game a while later.
cat >"$work/game" <<'END'
trap '' INT
"$1" 5 "$2" 2
END
run sh -c '"$@"; true' sh sh "$work/game" "$spooling" "$work/writes"
kill -INT -"$run"
ended 'took in 5 checkpoints? of 1 session'

# One process is one session, however many checkpoints it wrote.
expect 0 '^ +0 +14 +4 ' "$piecemeal" db show --points
expect 0 '"sessions": *4\b' "$piecemeal" db show --json

# What somebody else left is taken in, and counted by nobody.
rm -f "$work/writes"
PIECEMEAL_SPOOL="$work/data/piecemeal/local/spool/left" "$spooling" 6 "$work/writes" 0
PIECEMEAL_SPOOL="$work/data/piecemeal/local/spool" "$spooling" 7 "$work/writes" 0
run "$spooling" 1 "$work/writes" 0
ended 'took in 1 checkpoints? of 1 session'
expect 0 '"calls": *28\b' "$piecemeal" db show --json
expect 1 '' sh -c "ls '$work/data/piecemeal/local/spool' | grep ."

# What nothing can be made of may be another version's: it is set aside, not deleted.
echo "a later format" >"$work/data/piecemeal/local/spool/later.pmspool"
run "$spooling" 1 "$work/writes" 0
ended 'took in 1 checkpoints? of 1 session'
expect 1 '' sh -c "ls '$work/data/piecemeal/local/spool' | grep ."
expect 0 '^a later format$' cat "$work/data/piecemeal/local/refused/later.pmspool"

# A game that goes on is left to the next run.
run sh -c '"$@" & sleep 1' sh "$spooling" 1 "$work/writes"
ended '1 session still goes on'
kill -KILL "$game"
expect 0 'took in 0 checkpoints' "$piecemeal" run --local -- true
expect 0 '"calls": *30\b' "$piecemeal" db show --json

# What one session says is said to be that.
rm -rf "$work/data"
run "$spooling" 3 "$work/writes" 0
ended 'took in 3 checkpoints? of 1 session'
expect 0 'within one session$' "$piecemeal" db show --points
expect 0 '^all of it from one session' "$piecemeal" db show

# What is of a day long to come is of a clock that was off, and gets another day. What is refused is set aside, and the
# databases of other games are placed.
rm -rf "$work/data"
left=$work/data/piecemeal/local/spool
PIECEMEAL_SPOOL="$left" "$spooling" 2 "$work/writes" 0
touch -d '+5 days' "$left"/*.pmspool
expect 0 'took in 0 checkpoints' "$piecemeal" run --local -- true
expect 0 '"calls": *2\b' "$piecemeal" db show --json
PIECEMEAL_SPOOL="$left" "$spooling" 1 "$work/writes" 0 unknown
touch -d '+2 days' "$left"/*.pmspool
PIECEMEAL_SPOOL="$left/left" "$spooling" 3 "$work/writes" 0 another
expect 0 'a session of unknown was refused: day: ' "$piecemeal" run --local -- true
expect 0 '^1$' sh -c "ls '$work/data/piecemeal/local/refused' | grep -c '\.pmspool$'"
expect 0 '2 days from now' sh -c "cat '$work/data/piecemeal/local/refused'/*.reason"
expect 0 'another\.pmdb$' ls "$work/data/piecemeal/local/databases"
expect 1 '' sh -c "ls '$left' | grep ."

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo "all as expected"
