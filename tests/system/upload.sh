#!/bin/bash
# README's path with an aggregator: the game's own config names it, the player granted consent, and `piecemeal run --
# ./game` does the rest, though nobody told it what the game is called. The next run pulls what came of it.
. "$(dirname "$0")/lib.sh"
driver lavapipe-25
piecemeal=$PM_BUILD/tools/piecemeal
export XDG_CONFIG_HOME=$scratch/config XDG_DATA_HOME=$scratch/data XDG_CACHE_HOME=$scratch/cache
unset PIECEMEAL_CONFIG PIECEMEAL_ENABLE PIECEMEAL_DISABLE PIECEMEAL_SPOOL PIECEMEAL_DATABASES
mkdir -p "$XDG_CONFIG_HOME/piecemeal"

"$piecemeal" serve --dev --storage "$scratch/aggregator.sqlite" --port 0 --curate-seconds 1 >"$scratch/serve" 2>&1 &
children+=($!)
for _ in $(seq 300); do
    grep -qs '^listening on' "$scratch/serve" && break
    sleep 0.1
done
url=http://127.0.0.1:$(sed -n 's/^listening on .* port \([0-9]*\)$/\1/p' "$scratch/serve")

# play LOG: a session; its lines of `piecemeal run`
play() {
    "$piecemeal" run --set sampler.window_probability=1 --set sampler.api_probability=1 \
        --set sampler.kinds=block --set sampler.batch=all --set debug.synchronous=true -- \
        "$PM_BUILD/examples/piecemeal-postprocess" --frames 20 --size 64x64 --quiet 2>"$scratch/$1" ||
        { cat "$scratch/$1"; fail "the game failed"; }
}
# says LOG PATTERN
says() {
    grep -qE "$2" "$scratch/$1" || { cat "$scratch/$1"; fail "$1: no line matches '$2'"; }
}

play unnamed
says unnamed '^piecemeal run: the game is "[^"]+"; its config: .*which is not there'
game=$(sed -n 's/^piecemeal run: the game is "\([^"]*\)".*/\1/p' "$scratch/unnamed")
printf '{"aggregator": {"url": "%s"}}\n' "$url" >"$XDG_CONFIG_HOME/piecemeal/$game.json"

play asked
says asked 'consent was not asked yet'
"$piecemeal" consent grant >/dev/null
play granted
says granted "^piecemeal run: the game is \"$game\"; its config: .*$game.json\$"
says granted '^piecemeal run: uploaded [1-9][0-9]* sessions?, [1-9][0-9]* shader profiles?$'
# There is something to pull.
python3 - "$url/v1/games/$game/database" <<'PY' || fail "no database was published"
import sys, time, urllib.request
for attempt in range(600):
    try:
        urllib.request.urlopen(sys.argv[1]).read()
        sys.exit(0)
    except OSError:
        time.sleep(0.1)
sys.exit(1)
PY

# What the aggregator published is there before the next session starts.
rm -rf "$XDG_CACHE_HOME"
play pulled
ls "$XDG_CACHE_HOME"/piecemeal/databases/*.pmdb >/dev/null || fail "no database was pulled"

# A game whose config withholds uploads sends nothing.
printf '{"aggregator": {"url": "%s"}, "consent": {"upload": false}}\n' "$url" >"$XDG_CONFIG_HOME/piecemeal/$game.json"
play withheld
! grep -q uploaded "$scratch/withheld" || fail "withheld, and uploaded all the same"
echo "$name: all as expected"
