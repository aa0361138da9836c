#!/bin/sh
# What a person is told when something is not as he thinks: names that nothing reads, folders that cannot be written to,
# an aggregator that is away.
#   test_told.sh PIECEMEAL SPOOLING
set -eu
piecemeal=$1 spooling=$2
. "$(dirname "$0")/lib.sh"
export XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache"
for variable in $(env | sed -n 's/^\(PIECEMEAL_[A-Z_]*\)=.*/\1/p'); do unset "$variable"; done
configs=$work/config/piecemeal
mkdir -p "$configs"

lines() { [ "$(wc -l <"$1")" = "$2" ] || { echo "FAILED: not $2 lines:"; cat "$1"; failures=$((failures + 1)); }; }

# ---- names that nothing reads ----

export PIECEMEAL_SAMPLER_BACTH=3
for command in 'run -- true' sync; do
    expect 0 '^piecemeal [a-z]*: PIECEMEAL_SAMPLER_BACTH .*did you mean PIECEMEAL_SAMPLER_BATCH\?$' "$piecemeal" $command
done
expect 1 'BAD .*PIECEMEAL_SAMPLER_BACTH .*did you mean PIECEMEAL_SAMPLER_BATCH' \
    env VK_DRIVER_FILES=/none "$piecemeal" doctor
unset PIECEMEAL_SAMPLER_BACTH
# What `run` itself sets is none of these.
"$piecemeal" run --local --ab -- "$piecemeal" sync >"$work/out" 2>&1
cp "$work/out" "$work/nested"
expect 1 "" grep "is ignored" "$work/nested"
expect 2 '^piecemeal run: --locla is no option; did you mean --local\?$' "$piecemeal" run --locla -- true
expect 2 '^piecemeal sync: --dryrun is no option; did you mean --dry-run\?$' "$piecemeal" sync --dryrun
expect 2 '^piecemeal serve: --prot is no option; did you mean --port\?$' "$piecemeal" serve --prot 3
expect 2 '^piecemeal serve: --storage needs a value$' "$piecemeal" serve --storage
expect 2 '^piecemeal run: --local takes no value$' "$piecemeal" run --local=3 -- true
expect 2 '^piecemeal report: -x is no option$' "$piecemeal" report -x
echo '{}' >"$configs/My Tiny Game.json"
expect 1 'BAD .*no game reads .*/My Tiny Game.json: it would have to be called My%20Tiny%20Game.json' \
    env VK_DRIVER_FILES=/none "$piecemeal" doctor
expect 1 'BAD .*/My%20Tiny%20Game.json is not there: .*; nothing reads .*/My Tiny Game.json' \
    env VK_DRIVER_FILES=/none "$piecemeal" doctor --game 'My Tiny Game'
cat >"$work/named" <<'END'
#!/bin/sh
echo 'My Tiny Game' >>"$PIECEMEAL_GAMES"
END
chmod +x "$work/named"
expect 0 'the game is "My Tiny Game"; .*which is not there: the defaults; nothing reads .*/My Tiny Game.json$' \
    "$piecemeal" run -- "$work/named"
rm "$configs/My Tiny Game.json"
# Of the name that a game shares with others it has a consent that is withheld, and nothing else.
own='wgpu%20%28dungeon%2C%20Dungeon%29.json'
sed -i 's/My Tiny Game/wgpu (dungeon, Dungeon)/' "$work/named"
echo '{"consent": {"upload": false}, "aggregator": {"url": "https://pgo.example.org"}}' >"$configs/wgpu.json"
expect 0 "the game is \"wgpu .dungeon, Dungeon.\"; .*/$own, which is not there: the defaults; what .*/wgpu.json withholds is withheld here, too\$" \
    "$piecemeal" run -- "$work/named"
of_shared() {
    env VK_DRIVER_FILES=/none "$piecemeal" doctor --game 'wgpu (dungeon, Dungeon)' >"$work/shared" 2>&1 || true
}
of_shared
expect 0 "config: .*/$own is not there: the defaults are used\$" cat "$work/shared"
expect 0 'config: .*/wgpu.json is read for whether it withholds consent, and for nothing else$' cat "$work/shared"
expect 0 'aggregator: wgpu .dungeon, Dungeon.: no aggregator.url' cat "$work/shared"
echo '{"aggregator": {"url": "https://pgo.example.net"}}' >"$configs/$own"
of_shared
expect 0 "ok .*config: .*/$own is well-formed" cat "$work/shared"
expect 0 'aggregator: .*: https://pgo.example.net; consent.upload withholds uploads' cat "$work/shared"
echo '{}' >"$configs/$own"
expect 0 "the game is \"wgpu .dungeon, Dungeon.\"; its config: .*/$own; what .*/wgpu.json withholds is withheld here, too\$" \
    "$piecemeal" run -- "$work/named"
rm "$configs/wgpu.json" "$configs/$own"

# ---- doctor says what will be used, and of which files ----

# doctor [ARGUMENT…]: its findings, to $work/found; without a driver it is quick.
doctor() { VK_DRIVER_FILES=$work/none "$piecemeal" doctor "$@" >"$work/found" 2>&1 || true; }
finds() { expect 0 "$1" cat "$work/found"; }

doctor
finds 'BAD .*none of the drivers that VK_DRIVER_FILES'
expect 0 'in the way: see BAD above\.$' tail -n 1 "$work/found" # the verdict
finds 'games without a config of their own: no aggregator.url'
finds 'ok .*folders: what is recorded: .* MiB are free'
echo '{"aggregator": {"url": "https://pgo.example.org"}}' >"$configs/one.json"
echo '{"aggregator": {"url": "http://pgo.example.org"}}' >"$configs/two.json"
echo '{"aggregator": 3}' >"$configs/three.json"
echo '{"log": {"file": "/dev/null/log"}}' >"$configs/four.json"
doctor
finds 'ok .*/one.json is well-formed'
finds 'ok .*aggregator: .*/one.json: https://pgo.example.org'
finds 'BAD .*aggregator: .*/two.json: .*must begin with https://'
finds 'BAD .*config: .*/three.json:1:16: '
finds 'BAD .*log: .*/four.json: /dev/null/log: Not a directory'
doctor --game one
finds 'ok .*/one.json is well-formed'
expect 1 '' grep two.json "$work/found"
rm "$configs"/*.json
VK_LOADER_LAYERS_DISABLE='~all~' doctor
finds 'BAD .*VK_LOADER_LAYERS_DISABLE .*leaves the layer out'
XDG_DATA_HOME=/dev/null/data doctor
finds 'BAD .*folders: what is recorded: '

# ---- the game always starts ----

for folders in HOME=/dev/null/home XDG_DATA_HOME=/dev/null/data; do
    expect 0 '^played$' env -u XDG_DATA_HOME -u XDG_CONFIG_HOME -u XDG_CACHE_HOME "$folders" \
        "$piecemeal" run --local -- echo played
    expect 0 '^piecemeal run: nothing can be kept of this run: /dev/null' env -u XDG_DATA_HOME -u XDG_CONFIG_HOME \
        -u XDG_CACHE_HOME "$folders" "$piecemeal" run --local -- true
done
# Why is said once, and not that the game made no device, which nobody can know then.
for local in --local ''; do
    expect 0 '^piecemeal run: what the layer did is not known: /dev/null' env -u XDG_CONFIG_HOME -u XDG_CACHE_HOME \
        XDG_DATA_HOME=/dev/null/data "$piecemeal" run $local -- "$work/named"
    ! grep 'made no Vulkan device' "$work/err" || failures=$((failures + 1))
done
expect 0 '^played$' env TMPDIR=/nowhere "$piecemeal" run --local --ab -- echo played
expect 0 '^played$' "$piecemeal" run --config "$work/nowhere.json" -- echo played
expect 0 "PIECEMEAL_CONFIG=$work/nowhere.json" "$piecemeal" run --config "$work/nowhere.json" -- env

# ---- an aggregator that is away, and a missing consent ----

PIECEMEAL_SPOOL="$work/data/piecemeal/spool" "$spooling" 1 "$work/writes" 0
export PIECEMEAL_AGGREGATOR_URL=http://127.0.0.1:1
expect 0 '^uploaded 0 sessions \(0 shader profiles\), 1 waits \(there is no consent: `piecemeal consent grant`\)' "$piecemeal" sync
"$piecemeal" consent grant
began=$(date +%s)
status=0
"$piecemeal" sync >"$work/out" 2>"$work/err" || status=$?
[ "$status" = 1 ] || { echo "FAILED: sync without a server: $status"; failures=$((failures + 1)); }
lines "$work/out" 0
lines "$work/err" 1
grep -q '^piecemeal sync: http://127.0.0.1:1/v1/uploads: .*; 1 session waits; next try: ' "$work/err" ||
    { echo "FAILED:"; cat "$work/err"; failures=$((failures + 1)); }
# Asked before the program and after it, it is said once; also where no session waits.
away_once() { # PATTERN
    "$piecemeal" run --game spooled -- true >"$work/out" 2>"$work/err"
    [ "$(grep -c 'http://127.0.0.1:1/' "$work/err")" = 1 ] && grep -qE "^piecemeal run: http://127.0.0.1:1/$1" "$work/err" ||
        { echo "FAILED: not one line of an aggregator that is away:"; cat "$work/err"; failures=$((failures + 1)); }
}
away_once 'v1/uploads: .*; 1 session waits; next try: '
mv "$work/data/piecemeal/spool" "$work/put-aside"
away_once 'v1/games/spooled/database: .*; next try: '
mv "$work/put-aside" "$work/data/piecemeal/spool"
# Nothing is asked of it where there is nothing to ask; it says why.
"$piecemeal" consent revoke
expect 0 'wait.*; no database pulled: there is no consent: `piecemeal consent grant`$' "$piecemeal" sync
"$piecemeal" consent grant
expect 0 '; no database pulled: the config of "spooled" has no aggregator.url$' env -u PIECEMEAL_AGGREGATOR_URL "$piecemeal" sync --game spooled
[ $(($(date +%s) - began)) -lt 40 ] || { echo "FAILED: sync tried for too long"; failures=$((failures + 1)); }
unset PIECEMEAL_AGGREGATOR_URL

# ---- the server ----

"$piecemeal" serve --storage "$work/a.sqlite" --address 0.0.0.0 --port 0 >"$work/serve" 2>"$work/serve.err" &
server=$!
for _ in $(seq 300); do
    grep -q listening "$work/serve" && break
    sleep 0.1
done
expect 0 '0.0.0.0 is served without TLS: profiles can be read' cat "$work/serve.err"
port=$(sed -n 's/.* port //p' "$work/serve")
expect 1 'cannot listen on 0.0.0.0, port' "$piecemeal" serve --storage "$work/b.sqlite" --address 0.0.0.0 --port "$port"
[ ! -e "$work/b.sqlite" ] || { echo "FAILED: a failed bind left a file"; failures=$((failures + 1)); }
kill -TERM $server
wait $server || true

# ---- what else waits does not go where the game that was played does ----

echo '{"game": {"name": "Other"}, "aggregator": {"url": "http://127.0.0.1:1"}}' >"$work/other.json"
PIECEMEAL_SPOOL="$work/data/piecemeal/spool" "$spooling" 2 "$work/writes" 0
expect 0 '^piecemeal run: uploaded 0 sessions' "$piecemeal" run --config "$work/other.json" -- true
sed -i 's/"game": {"name": "Other"}, //' "$work/other.json"
expect 0 '^piecemeal run: uploaded 0 sessions' "$piecemeal" run --config "$work/other.json" -- true
cp "$work/err" "$work/run"
expect 1 '' grep v1/games "$work/run" # nor is it asked for
# Nor does what is set for this run say where.
expect 0 '^piecemeal run: uploaded 0 sessions, 0 shader profiles, 2 wait \(no aggregator.url is configured\)$' \
    "$piecemeal" run --game Other --set aggregator.url=http://127.0.0.1:2 -- true
# A config of the game's own that cannot be read does not keep back what goes by another, one that withholds does.
echo '{"nonsense": 1}' >"$configs/spooling.json"
expect 0 '127.0.0.1:1/v1/uploads: ' "$piecemeal" run --game spooling --config "$work/other.json" -- true
echo '{"consent": {"upload": false}}' >"$configs/spooling.json"
expect 0 'uploaded 0 sessions, .* wait \(.*consent.upload withholds it' "$piecemeal" run --game spooling --config "$work/other.json" -- true
rm "$configs/spooling.json"
rm "$work/data/piecemeal/spool"/*.pmspool

# ---- what was asked for and is not there ----

"$piecemeal" run --local -- "$spooling" 3 "$work/writes" 0 2>/dev/null
expect 1 'no shader of spooling has a key that begins with zzz' "$piecemeal" db show --shader zzz
expect 1 'no shader of spooling has a key that begins with zzz' "$piecemeal" db show --json --shader zzz
expect 0 '^<!doctype html>' "$piecemeal" report -o -
# A report of earlier sessions says nothing of one that did not start.
expect 1 'r.html: 1 shader of spooling$' "$piecemeal" try --game spooling -o "$work/r.html" -- "$work/nothing"
[ -s "$work/r.html" ] || { echo "FAILED: try: no report"; failures=$((failures + 1)); }
! grep 'is ignored' "$work/err" || failures=$((failures + 1))
# What is replaced keeps its rights.
chmod 600 "$work/r.html"
expect 0 '' "$piecemeal" report -o "$work/r.html"
expect 0 '^600$' stat -c %a "$work/r.html"
(umask 027; expect 0 '' "$piecemeal" report -o "$work/new.html")
expect 0 '^640$' stat -c %a "$work/new.html"
# A session that goes on does not wait.
PIECEMEAL_SPOOL="$work/data/piecemeal/spool" "$spooling" 1 "$work/writes" 0
rm "$work/writes"
PIECEMEAL_SPOOL="$work/data/piecemeal/spool" "$spooling" 1 "$work/writes" &
writer=$!
for _ in $(seq 300); do
    [ -s "$work/writes" ] && break
    sleep 0.1
done
doctor
finds 'spool: 1 session waits, [0-9]+ bytes$'
kill -KILL $writer
wait $writer || true
rm "$work/data/piecemeal/spool"/*.pmspool
# Nothing is written over what it is made of.
storage=$work/data/piecemeal/local/aggregator.sqlite
openssl genpkey -algorithm ed25519 -out "$work/key.pem" 2>/dev/null
cp "$work/key.pem" "$work/key"
ln -s "$storage" "$work/link"
lost='is what is read, and would be lost$'
expect 1 "aggregator.sqlite: $lost" "$piecemeal" db export --format json -o "$storage"
expect 1 "$lost" "$piecemeal" db export --format json --storage "$storage" -o "$work/link"
expect 1 "$lost" "$piecemeal" report -o "$storage"
expect 1 "$lost" "$piecemeal" report --storage "$storage" -o "$work/link"
expect 1 "$lost" "$piecemeal" db sign --key "$work/key.pem" -o "$storage"
expect 1 "key.pem: $lost" "$piecemeal" db sign --key "$work/key.pem" -o "$work/key.pem"
expect 0 '' cmp "$work/key.pem" "$work/key"
expect 0 '^SQLite format' head -c 13 "$storage"
[ ! -e ./- ] || { echo "FAILED: report -o - made a file"; failures=$((failures + 1)); }

# ---- what the last session of a game that keeps its recordings says of the next ----

# last SAMPLED PROBABILITY [SYNCHRONOUS]
last() {
    mkdir -p "$work/data/piecemeal/status/kept"
    printf '{"game": "kept", "process": 1, "run": "", "began": 1, "heartbeats": 600, "windows": 1, "shaders": 4, "calls": 3000,
        "keeps_recordings": true, "sampled": %s, "api_probability": %s, "window_probability": 1,
        "synchronous": %s}' "$1" "$2" "${3-false}" \
        >"$work/data/piecemeal/status/kept/1-1.json"
}
last 41 0.1 # which went well
expect 1 '^piecemeal try: session 1 of 1: profiles$' "$piecemeal" try --game kept -- true
last 0 0.1
expect 1 '^piecemeal try: session 1 of 1: profiles; waits for copies of its shaders, since it submits again what it recorded before$' \
    "$piecemeal" try --game kept -- true
last 41 0.1 true # which went well since it waited
expect 1 '^piecemeal try: session 1 of 1: profiles; waits for copies of its shaders, since it submits again ' \
    "$piecemeal" try --game kept -- true
last 0 0.1
# That is so for all sessions of one call, though the second's last one went well.
cat >"$work/well" <<'END'
sed "s/\"sampled\": 0/\"sampled\": 41/; s/\"began\": 1,/\"began\": 9000000000,/; s/\"run\": \"\"/\"run\": \"$PIECEMEAL_RUN\"/" "$1" >"$1.new" && mv "$1.new" "$1"
END
expect 1 '^piecemeal try: session 2 of 2: profiles; waits for copies of its shaders, since it submits again ' \
    "$piecemeal" try --sessions 2 --game kept -- sh "$work/well" "$work/data/piecemeal/status/kept/1-1.json"

# ---- a session that was killed, and whose process id another one has ----

mkdir -p "$work/data/piecemeal/status/gone"
# gone WRITTEN
gone() {
    printf '{"game": "gone", "process": %s, "began": 1, "written": %s, "calls": 3}' $$ "$1" \
        >"$work/data/piecemeal/status/gone/$$-1.json"
}
gone $(($(date +%s) - 86400))
expect 0 '^gone, ran on ' "$piecemeal" status gone
gone "$(date +%s)"
expect 0 '^gone, runs since ' "$piecemeal" status gone

# ---- two runs of a game at once: each says what its own sessions did ----

cat >"$work/two" <<'END'
status=$XDG_DATA_HOME/piecemeal/status/two
mkdir -p "$status"
echo two >>"$PIECEMEAL_GAMES"
session() {
    printf '{"game": "two", "process": %s, "run": "%s", "began": 9000000000, "heartbeats": 600, "windows": 1,
        "shaders": 4, "calls": 3000, "sampled": %s, "api_probability": 1, "window_probability": 1}' "$1" "$2" "$3" \
        >"$status/$1-1.json"
}
session 1 "$PIECEMEAL_RUN" 7
session 2 0123456789abcdef 41
END
expect 0 '^piecemeal run: sampled 7 of 3,000 draws' "$piecemeal" run -- sh "$work/two"

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo "all as expected"
