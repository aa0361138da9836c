#!/bin/sh
# The command line as a user calls it: exit status 0, 1 (why, on stderr) and 2 (usage), and what the passes say.
#   test_commands.sh PIECEMEAL SHADER.spv SCALAR.spv
set -eu
piecemeal=$1
shader=$2 scalar=$3
source=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/lib.sh"
export XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache"
unset PIECEMEAL_CONFIG PIECEMEAL_ENABLE PIECEMEAL_DISABLE || true

expect 2 'usage: piecemeal' "$piecemeal"
expect 0 'usage: piecemeal' "$piecemeal" --help
expect 2 "unknown command 'fly'" "$piecemeal" fly
commands=$("$piecemeal" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
expect 0 '^bisect$' sh -c "printf '%s\n' $(echo $commands)"
for command in $commands; do
    expect 0 "usage: piecemeal $command" "$piecemeal" "$command" --help
    # Where a user looks for it.
    expect 0 '' grep -rq "piecemeal $command" "$source/README.md" "$source/docs"
done

# What cannot be written has failed.
for command in --help 'consent show' 'sync --dry-run' 'db --help'; do
    expect 1 '^piecemeal: standard output: .*No space left' sh -c "'$piecemeal' $command >/dev/full"
done

expect 0 '^unasked$' "$piecemeal" consent show
expect 0 '' "$piecemeal" consent grant
expect 0 '^granted$' "$piecemeal" consent show
expect 0 '' "$piecemeal" consent revoke
expect 0 '^revoked$' "$piecemeal" consent show
expect 2 'unknown word' "$piecemeal" consent maybe

expect 2 "profile: --times: at least 1" "$piecemeal" profile --times 0 game.gfxr

# The layer's self-test of timestamps, on each device.
expect 0 ': timestamps around single draws' sh -c "'$piecemeal' doctor || true"
expect 0 '"text":.*timestamps around single draws' sh -c "'$piecemeal' doctor --json || true"

# A session that was killed while it used a new variant (profile/journal.h).
mkdir -p "$work/data/piecemeal/journal/game"
expect 0 'safe mode: no specialized shader is held back' sh -c "'$piecemeal' doctor || true"
printf 'piecemeal journal 1\nnew 616161616161616161616161616161616161616161616161\n' \
    >"$work/data/piecemeal/journal/game/1.session"
expect 0 'safe mode: game: 1 specialized shader is held back.*remove .*/journal/game ' sh -c "'$piecemeal' doctor || true"
rm -r "$work/data/piecemeal/journal"

# Shaders that the layer could make nothing of (profile/left_alone.h): all of them, and those of a run.
expect 0 'shaders: none of a game that ran here had to be left alone' sh -c "'$piecemeal' doctor || true"
left=$work/data/piecemeal/left_alone
mkdir -p "$left"
printf 'recipe 4\ngame a game\nshader %048d 1000000000 SPIR-V word 14: Unknown extension X\n' 1 >"$left/a%20game"
statuses=$work/data/piecemeal/status
mkdir -p "$statuses/a%20game"
cat >"$work/note" <<END
#!/bin/sh
echo 'a game' >>"\$PIECEMEAL_GAMES"
printf '{"game": "a game", "device": "a device", "run": "%s", "process": 1, "began": %s, "ended": true,
    "heartbeats": 9, "windows": 1, "calls": 100, "sampled": 41, "shaders": 3, "shaders_sampled": 2, "points": 10,
    "points_sampled": 5}\n' "\$PIECEMEAL_RUN" "\$(date +%s.%N)" >"$statuses/a%20game/1-1.json"
printf 'shader %048d %d SPIR-V word 12: Unknown extension X\n' 2 "\$(date +%s)" >>"$left/a%20game"
END
chmod +x "$work/note"
expect 0 'a game: 1 shader is left alone: Unknown extension X .1.' sh -c "'$piecemeal' run -- '$work/note' 2>&1"
expect 0 'shaders: a game: 2 shaders are left alone: Unknown extension X .2.' sh -c "'$piecemeal' doctor || true"
# Also in the one sentence of a run, and at any time.
said='sampled 41 of 100 draws in 2 of 3 shaders, 50 % of their points; 1 shader is left alone'
expect 0 "^piecemeal run: $said(; next: .*)?\$" sh -c "'$piecemeal' run -- '$work/note' 2>&1"
expect 0 "^a game, ran on .*: $said\$" "$piecemeal" status 'a game'
rm -r "$left" "$statuses"

expect 0 '^[0-9a-f]{48}$' "$piecemeal" shader canonicalize "$shader" -o "$work/c.spv"
first=$(cat "$work/out")
expect 0 "^$first\$" "$piecemeal" shader canonicalize "$work/c.spv" -o "$work/c2.spv"
# What is there and no file stays what it is, as /dev/null has to.
mkfifo "$work/pipe"
timeout 60 cat "$work/pipe" >"$work/c3.spv" &
expect 0 '' "$piecemeal" shader canonicalize "$work/c.spv" -o "$work/pipe"
wait
[ -p "$work/pipe" ] && cmp "$work/c.spv" "$work/c3.spv" || { echo "FAILED: a pipe is replaced"; failures=$((failures + 1)); }
# A link stays one, and what it leads to is written, there or not yet; so does what an open file is called.
mkdir "$work/elsewhere"
echo old >"$work/elsewhere/there.spv"
for name in there new; do
    ln -s "elsewhere/$name.spv" "$work/$name-link"
    ln -s "$work/$name-link" "$work/$name.spv"
    expect 0 '' "$piecemeal" shader canonicalize "$work/c.spv" -o "$work/$name.spv"
    [ -L "$work/$name.spv" ] && [ -L "$work/$name-link" ] && cmp "$work/c.spv" "$work/elsewhere/$name.spv" ||
        { echo "FAILED: a link is not written through"; failures=$((failures + 1)); }
done
ln -s loop.spv "$work/loop.spv"
expect 1 'loop.spv: cannot be written: Too many levels of symbolic links' \
    "$piecemeal" shader canonicalize "$work/c.spv" -o "$work/loop.spv"
expect 1 'nowhere/c.spv: cannot be written: No such file' \
    "$piecemeal" shader canonicalize "$work/c.spv" -o "$work/nowhere/c.spv"
expect 0 '' sh -c "'$piecemeal' shader canonicalize '$work/c.spv' -o /dev/fd/3 3>'$work/c4.spv'"
cmp "$work/c.spv" "$work/c4.spv" || { echo "FAILED: /dev/fd/3 is not written to"; failures=$((failures + 1)); }
cmp "$work/c.spv" "$work/c2.spv" || { echo "FAILED: canonicalizing is not idempotent"; failures=$((failures + 1)); }
for step in 'guard floats' 'optimizer: simplify' validate; do
    expect 0 "^$step +[0-9]+\.[0-9]+ ms, [1-9][0-9]* runs" "$piecemeal" shader canonicalize "$shader" --times
done
# On any driver floats stay vectors, since SwiftShader folds scalars inexactly; on one that is named as it needs it.
expect 0 '^scalarize .* nothing to change$' "$piecemeal" shader make_variant "$work/c.spv"
expect 0 '^scalarize .* [0-9a-f]{48}$' "$piecemeal" shader make_variant "$work/c.spv" --driver 4
expect 0 'in a loop' "$piecemeal" shader points_blocks "$work/c.spv"
expect 0 '"at_most_once":.*true' "$piecemeal" shader points_blocks "$work/c.spv" --json
expect 0 '"whole_workgroups":.*(true|false)' "$piecemeal" shader points_blocks "$work/c.spv" --json
expect 0 'counter bytes' "$piecemeal" shader instrument_blocks "$work/c.spv" -o "$work/i.spv" --points all
expect 0 '' "$piecemeal" shader validate "$work/i.spv"
expect 0 '2 points' "$piecemeal" shader instrument_blocks "$work/c.spv" --points 0,2 --no-int64 --slots 4
expect 0 '^instrument_blocks .* 1 runs, 1 changed' "$piecemeal" shader instrument_blocks "$work/c.spv" --points 0 --times
expect 0 '^0 to 17: turns of the loop at %[0-9]+, which %[0-9]+ leads back to$' \
    "$piecemeal" shader points_turns "$work/c.spv"
expect 0 '"latch":.*[1-9]' "$piecemeal" shader points_turns "$work/c.spv" --json
expect 0 'counter bytes' "$piecemeal" shader instrument_turns "$work/c.spv" -o "$work/t.spv" --points all
expect 0 '' "$piecemeal" shader validate "$work/t.spv"
expect 1 'below' "$piecemeal" shader instrument_turns "$work/c.spv" --points 4000
expect 0 '^0: block [0-9]+: %[0-9.xyzw]+ float' "$piecemeal" shader points_zero "$work/c.spv" --all-candidates
expect 0 '"at_most_once":.*false' "$piecemeal" shader points_zero "$work/c.spv" --all-candidates --json
expect 0 'values that may be zero are left out as not worth measuring$' "$piecemeal" shader points_zero "$work/c.spv"
expect 0 'counter bytes' "$piecemeal" shader instrument_zero "$work/c.spv" --all-candidates -o "$work/z.spv" --points all
expect 0 '' "$piecemeal" shader validate "$work/z.spv"
expect 0 '2 points' "$piecemeal" shader instrument_zero "$work/c.spv" --all-candidates --points 0,2 --no-int64 --no-quad
expect 1 'below' "$piecemeal" shader instrument_zero "$work/c.spv" --all-candidates --points 65535
expect 0 'words that the shader loads are left out as not worth measuring$' "$piecemeal" shader points_constant "$work/c.spv"
expect 0 '^\[' "$piecemeal" shader points_constant "$work/c.spv" --json
expect 0 'counter bytes' "$piecemeal" shader instrument_constants "$work/c.spv" -o "$work/k.spv"
expect 0 '' "$piecemeal" shader validate "$work/k.spv"
expect 1 'names no point of a uniform buffer' "$piecemeal" shader instrument_constants "$work/c.spv" --points 4000
expect 1 'needs --known' "$piecemeal" shader specialize_constants "$work/c.spv"
expect 1 'byte 4096 of the push constants is none that the shader loads' \
    "$piecemeal" shader specialize_constants "$work/c.spv" --known push:4096=0
expect 2 "known: 'push:4'" "$piecemeal" shader specialize_constants "$work/c.spv" --known push:4
candidates=$("$piecemeal" shader points_zero "$work/c.spv" --all-candidates | wc -l)
printf '{"zero":[%s]}' "$(yes 0.9 | head -n "$candidates" | paste -sd,)" >"$work/p.json"
printf '{"zero":[0.9]}' >"$work/short.json"
expect 0 '[1-9][0-9]* transforms' "$piecemeal" shader specialize_zero "$work/c.spv" --all-candidates -o "$work/s.spv" --profile "$work/p.json" --take-all
expect 0 '' "$piecemeal" shader validate "$work/s.spv"
expect 0 '^estimate and transform .* [1-9] runs, [1-9] changed' \
    "$piecemeal" shader specialize_zero "$work/c.spv" --all-candidates --profile "$work/p.json" --take-all --times
expect 0 '"T_R":.*"reason":"taken"' "$piecemeal" shader specialize_zero "$work/c.spv" --all-candidates --profile "$work/p.json" --take-all --json
expect 0 'nothing to specialize' "$piecemeal" shader specialize_zero "$work/c.spv" --all-candidates --profile "$work/p.json" --threshold 0.95
expect 0 'nothing to specialize' "$piecemeal" shader specialize_zero "$work/c.spv" --all-candidates --profile "$work/p.json" --least-share 1
expect 2 "least-share: '0'" "$piecemeal" shader specialize_zero "$work/c.spv" --all-candidates --profile "$work/p.json" --least-share 0
expect 2 "threshold: ''" "$piecemeal" shader specialize_zero "$work/c.spv" --all-candidates --profile "$work/p.json" --threshold ''
expect 1 'not a list of' "$piecemeal" shader specialize_zero "$work/c.spv" --all-candidates --profile "$work/short.json"
expect 1 'needs --profile' "$piecemeal" shader specialize_zero "$work/c.spv" --all-candidates
expect 2 'not shader, never or allow' "$piecemeal" shader specialize_zero "$work/c.spv" --all-candidates --float-zero perhaps
expect 1 'character 3: wanted ascending' "$piecemeal" shader instrument_blocks "$work/c.spv" --points 2,0
expect 1 'below' "$piecemeal" shader instrument_blocks "$work/c.spv" --points 4000
expect 2 "unknown pass" "$piecemeal" shader paint "$shader"
expect 2 'power of two' "$piecemeal" shader instrument_blocks "$shader" --slots 3

# Layouts that devices allow where they have the feature.
for pass in validate canonicalize; do
    expect 1 'with --scalar-block-layout it is valid: .*Values|with --scalar-block-layout it is valid: SPIR-V' \
        "$piecemeal" shader $pass "$scalar"
    expect 1 'with --scalar-block-layout' "$piecemeal" shader $pass "$scalar" --uniform-buffer-standard-layout
    expect 0 '' "$piecemeal" shader $pass "$scalar" --scalar-block-layout -o "$work/scalar.spv"
done
expect 1 'with --scalar-block-layout it is valid' "$piecemeal" shader instrument_blocks "$work/scalar.spv"
expect 0 'counter bytes' "$piecemeal" shader instrument_blocks "$work/scalar.spv" --workgroup-scalar-block-layout
expect 1 'instrument_blocks: [^ ]*: --points 2,0: character 3' \
    "$piecemeal" shader instrument_blocks "$work/scalar.spv" --points 2,0
expect 1 'with --target 1 it is valid' "$piecemeal" shader validate "$work/z.spv" --target 0

head -c 101 "$shader" >"$work/short.spv"
expect 1 'multiple of 4' "$piecemeal" shader validate "$work/short.spv"
head -c 100 "$shader" >"$work/short.spv"
expect 1 'short.spv' "$piecemeal" shader canonicalize "$work/short.spv"
expect 1 'no entry point' "$piecemeal" shader canonicalize "$shader" --entry other
expect 1 'nowhere.spv' "$piecemeal" shader validate "$work/nowhere.spv"

# A run that a game starts is another one; who starts a run and looks for its sessions gives it a name.
expect 0 '^[0-9a-f]{16} alone$' env PIECEMEAL_RUN=00000000000000aa "$piecemeal" run -- \
    sh -c 'test "$PIECEMEAL_RUN" != 00000000000000aa && echo "$PIECEMEAL_RUN ${PIECEMEAL_RUN_GIVEN:-alone}"'
expect 0 '^00000000000000aa alone$' env PIECEMEAL_RUN=00000000000000aa PIECEMEAL_RUN_GIVEN=1 "$piecemeal" run -- \
    sh -c 'echo "$PIECEMEAL_RUN ${PIECEMEAL_RUN_GIVEN:-alone}"'

expect 1 'no aggregator database' "$piecemeal" db show
expect 1 'nothing is known of nothing' "$piecemeal" db show --game nothing
expect 2 'takes' "$piecemeal" db
expect 2 'no program' "$piecemeal" run
expect 2 'sampler.batsh' "$piecemeal" run --set sampler.batsh=1 -- true
expect 0 '' "$piecemeal" run -- true
expect 3 '' "$piecemeal" run -- sh -c 'exit 3'
expect 3 '' env --ignore-signal=CHLD "$piecemeal" run -- sh -c 'exit 3'
expect 137 '' "$piecemeal" run -- sh -c 'kill -9 $$'
expect 1 'No such file' "$piecemeal" run -- "$work/nothing"
expect 0 'PIECEMEAL_ENABLE=1' "$piecemeal" run -- env
expect 0 'PIECEMEAL_SAMPLER_BATCH=all' "$piecemeal" run --set sampler.batch=all -- env
expect 0 'PIECEMEAL_GAME_NAME=a game' "$piecemeal" run --game 'a game' -- env
expect 0 'took in 0 checkpoints' "$piecemeal" run --local -- true
expect 0 'PIECEMEAL_LIMITS_BACKGROUND_SHARE=0.5$' "$piecemeal" run --local -- env
expect 0 'PIECEMEAL_LIMITS_BACKGROUND_SHARE=0.1$' "$piecemeal" run --local --set limits.background_share=0.1 -- env
echo '{"sampler": {"batch": 0}}' >"$work/bad.json"
expect 0 'bad.json:1:' "$piecemeal" run --config "$work/bad.json" -- true
expect 1 'bad.json:1:' "$piecemeal" sync --config "$work/bad.json"
expect 0 'uploaded 0' "$piecemeal" sync
expect 2 'storage' "$piecemeal" serve
expect 2 "--port '70000': must be a whole number from 0 to 65535" "$piecemeal" serve --storage "$work/a.sqlite" --port 70000
expect 2 'go together' "$piecemeal" serve --storage "$work/a.sqlite" --key "$work/key.pem"
printf '{"storage": "x",\n "port": "80"}' >"$work/bad.json"
expect 1 'bad.json:2:10: port: must be a whole' "$piecemeal" serve --config "$work/bad.json"
expect 1 'nowhere.json: ' "$piecemeal" serve --config "$work/nowhere.json"

# An aggregator that is asked to stop ends with 0.
"$piecemeal" serve --storage "$work/a.sqlite" --port 0 >"$work/serve" 2>"$work/serve.err" &
server=$!
for _ in $(seq 300); do
    grep -q listening "$work/serve" && break
    sleep 0.2
done
expect 0 'listening on 127.0.0.1 port [1-9]' cat "$work/serve"
kill -TERM $server
wait $server || { echo "FAILED: serve ended with $?"; cat "$work/serve.err"; failures=$((failures + 1)); }

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo "all as expected"
