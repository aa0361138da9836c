#!/bin/sh
# What signals do to `piecemeal run` itself, and with which ones ignored it starts programs.
#   test_signals.sh PIECEMEAL SPOOLING
set -eu
piecemeal=$1 spooling=$2
. "$(dirname "$0")/../lib.sh"
export XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache"
unset PIECEMEAL_CONFIG PIECEMEAL_ENABLE PIECEMEAL_DISABLE PIECEMEAL_SPOOL PIECEMEAL_DATABASES PIECEMEAL_RUN || true

# until_there FILE
until_there() {
    for _ in $(seq 600); do
        [ -s "$1" ] && break
        sleep 0.1
    done
}

# nohup: SIGHUP is not passed on, whatever the program does with it.
cat >"$work/game" <<'END'
echo $$ >"$1"
sleep 2
exit 5
END
setsid env --ignore-signal=HUP "$piecemeal" run -- env --default-signal=HUP sh "$work/game" "$work/plays" \
    >"$work/log" 2>&1 &
run=$!
until_there "$work/plays"
kill -HUP "$run"
status=0
wait "$run" || status=$?
[ "$status" = 5 ] || { echo "FAILED: nohup: status $status, wanted 5"; failures=$((failures + 1)); }

# The second program is started as the first was, with nothing ignored and with what this process was told to.
for how in --default-signal --ignore-signal; do
    rm -f "$work/ignored"
    env $how "$piecemeal" bisect -- sh -c "grep SigIgn /proc/self/status >>'$work/ignored'" >"$work/log" 2>&1 || true
    expect 0 '^1$' sh -c "[ \$(wc -l <'$work/ignored') -ge 2 ] && sort -u '$work/ignored' | wc -l"
done

# Ctrl-C ends an upload to an aggregator that does not answer; the session stays, and all else is said.
"$piecemeal" serve --storage "$work/a.sqlite" --port 0 >"$work/serve" 2>"$work/serve.err" &
server=$!
trap 'kill -KILL "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
until_there "$work/serve"
export PIECEMEAL_AGGREGATOR_URL="http://127.0.0.1:$(sed -n 's/.* port //p' "$work/serve")"
"$piecemeal" consent grant
PIECEMEAL_SPOOL="$work/data/piecemeal/spool" "$spooling" 1 "$work/writes" 0
setsid env --default-signal=INT "$piecemeal" run --game spooling -- sh -c "kill -STOP $server; echo >'$work/over'" \
    >"$work/log" 2>&1 &
run=$!
until_there "$work/over"
began=$(date +%s)
for _ in $(seq 60); do
    sleep 0.5
    kill -INT -"$run" 2>/dev/null || break
done
status=0
wait "$run" || status=$?
[ "$status" = 0 ] || { echo "FAILED: Ctrl-C in the upload: status $status"; failures=$((failures + 1)); }
[ $(($(date +%s) - began)) -lt 25 ] || { echo "FAILED: Ctrl-C does not end the upload"; failures=$((failures + 1)); }
expect 0 'the upload was ended by signal 2; what did not leave stays spooled' cat "$work/log"
expect 0 'sampled nothing' cat "$work/log"
expect 0 '^1$' sh -c "ls '$work/data/piecemeal/spool' | grep -c '\.pmspool$'"

# Ctrl-C while it asks the same aggregator for a database leaves no file.
mkdir "$work/tmp"
TMPDIR="$work/tmp" setsid env --default-signal=INT "$piecemeal" run --game spooling --ab --trace "$work/trace" -- true \
    >"$work/log" 2>&1 &
run=$!
for _ in $(seq 300); do
    [ "$(ls "$work/tmp" | wc -l)" = 3 ] && break
    sleep 0.01
done
sleep 0.2
kill -INT -"$run"
status=0
wait "$run" || status=$?
[ "$status" = 130 ] || { echo "FAILED: Ctrl-C in the pull: status $status"; failures=$((failures + 1)); }
expect 1 '' sh -c "ls '$work/tmp' | grep ."

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo "all as expected"
