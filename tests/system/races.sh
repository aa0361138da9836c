#!/bin/bash
# Races of variants from one machine to another: what a player's contest measured is uploaded, judged and published, and
# the next player's contest goes by it. usage: races.sh DRIVER
. "$(dirname "$0")/lib.sh"
driver "$1"
game=pm_test_gpu piecemeal=$PM_BUILD/tools/piecemeal program=$PM_BUILD/tests/system/contest frames=4000 most=12
without_layer
run_quietly "$scratch/run-without" "$program" "$scratch/without" 1
unset PIECEMEAL_CONFIG PIECEMEAL_ENABLE PIECEMEAL_DISABLE PIECEMEAL_SPOOL PIECEMEAL_DATABASES

"$piecemeal" serve --dev --storage "$scratch/aggregator.sqlite" --port 0 --curate-seconds 1 >"$scratch/serve" 2>&1 &
children+=($!)
for _ in $(seq 300); do
    grep -qs '^listening on' "$scratch/serve" && break
    sleep 0.1
done
url=http://127.0.0.1:$(sed -n 's/^listening on .* port \([0-9]*\)$/\1/p' "$scratch/serve")

# player NAME: from here on, another machine, whose lot does not make it doubt
player() {
    export XDG_CONFIG_HOME=$scratch/$1/config XDG_DATA_HOME=$scratch/$1/data XDG_CACHE_HOME=$scratch/$1/cache
    mkdir -p "$XDG_CONFIG_HOME/piecemeal"
    printf '{"aggregator": {"url": "%s"}, "optimize": {"variants": true, "retry_share": 0, "doubt_share": 0}}\n' "$url" \
        >"$XDG_CONFIG_HOME/piecemeal/$game.json"
    "$piecemeal" consent grant >/dev/null
}
# session LOG
session() {
    run_quietly "$scratch/run-$1" "$piecemeal" run --set sampler.kinds=timing \
        --set sampler.window_probability=0 --set log.level=debug --set log.file="$scratch/log-$1" -- \
        "$program" "$scratch/out-$1" "$frames"
    same_file "$scratch/without" "$scratch/out-$1" "session $1"
}
# race: of the published one, how many variants were measured; nothing until there is one
race() {
    "$piecemeal" db show --storage "$scratch/aggregator.sqlite" --game "$game" --json 2>/dev/null |
        python3 -c 'import json, sys
races = json.load(sys.stdin)["races"]
print(sum(one["clusters"] > 0 for race in races for one in race["variants"]) or "")' 2>/dev/null || true
}

player first
for number in $(seq "$most"); do
    session "first-$number"
    [ -z "$(race)" ] || break
done
measured=$(race)
[ -n "$measured" ] || fail "nothing of a race is published after $number sessions: $(cat "$scratch/serve")"
ls "$XDG_CACHE_HOME"/piecemeal/databases/"$game".pmraces >/dev/null || fail "no races were pulled by who sent some"

# Only after a session it is known what the game is called, whose races are then pulled.
player second
frames=20
session second-1
frames=400
session second-2
grep -qE 'variants are drawn by what others ask for|what others found fastest is tried first' "$scratch/log-second-2" ||
    fail "the second player's contest does not go by the race"
if grep -hE ' (warning|error): ' "$scratch"/log-* >&2; then
    fail "the layer complained"
fi
echo "of $measured variants that the first player measured the second one's contest knew"
