#!/bin/bash
# `piecemeal run --trace`: windows, compiles, trials, specialized shaders in use, what run itself does, and each frame,
# as Perfetto's protobuf, decoded by protoc. Nothing is written without it.
. "$(dirname "$0")/lib.sh"
need protoc python3
driver lavapipe-25
piecemeal=$PM_BUILD/tools/piecemeal
program=$PM_BUILD/tests/system/variants # FILE FRAMES WRONG
has() {
    grep -qE "$1" "$scratch/events" || { head -n 60 "$scratch/events"; fail "no event '$1'"; }
}
decode() {
    protoc --decode=perfetto.protos.Trace -I "$PM_SOURCE/tools/trace" perfetto.proto <"$1" >"$scratch/decoded" ||
        fail "protoc cannot decode $1"
    ! grep -qE '^ *[0-9]+[:{ ]' "$scratch/decoded" || fail "there are fields that perfetto.proto has not"
    "$(dirname "$0")/trace_check.py" "$began" "$(date +%s%N)" <"$scratch/decoded" >"$scratch/events" ||
        fail "the trace of $1 is not right"
}
# session TRACE ARGUMENTS…
session() {
    local trace=$1
    shift
    began=$(date +%s%N)
    "$piecemeal" run --trace "$scratch/$trace" "$@" >"$scratch/run" 2>&1 || { cat "$scratch/run"; fail "the run failed"; }
    grep -qE "^piecemeal run: $scratch/$trace: a trace of [1-9][0-9]* events" "$scratch/run" || fail "run says nothing"
    decode "$scratch/$trace"
}
all="--set sampler.window_probability=1 --set sampler.api_probability=1 --set sampler.batch=all
    --set debug.synchronous=true"

# Profiled at once, so the game's own thread compiles; each frame's calls are those that were sampled.
export TMPDIR=$scratch/tmp
mkdir -p "$TMPDIR"
session first.pftrace --local $all -- "$program" "$scratch/out" 6 -
device='pm_test_gpu/llvmpipe[^|]*'
has '^thread\|slice_begin\|take in\|\|\|\|$'
has '^thread\|slice_begin\|program\|'
has "^$device/windows\|slice_begin\|window\|"
has '^thread\|slice_begin\|canonicalize\|'
has '^thread\|slice_begin\|instrument\|[0-9a-f]{48}\|'
has '^thread\|slice_begin\|piecemeal variant\|[0-9a-f]{48}\|'
has "^$device/spool\|instant\|checkpoint\|"
frames=$(grep -cE "^$device/frames\|slice_end\|frame [0-9]+\|" "$scratch/events")
[ "$frames" -ge 6 ] || fail "$frames frames of 6"
grep -E "^$device/frames\|slice_begin" "$scratch/events" | cut -d '|' -f 3 >"$scratch/frames"
seq "$frames" | sed 's/^/frame /' | cmp - "$scratch/frames" || fail "frames are not told in order"
# told COUNTER: the sum of its frames
told() {
    awk -F '|' -v counter="/$1" '$2 == "counter" && substr($1, length($1) - length(counter) + 1) == counter {
        sum += $6 } END { print sum + 0 }' "$scratch/events"
}
state=$(cat "$XDG_DATA_HOME"/piecemeal/status/pm_test_gpu/*.json)
[ "$(told 'calls of sampled recordings')" -eq "$(jq .calls <<<"$state")" ] || fail "not the calls of $state"
[ "$(told 'sampled calls')" -ge "$(jq .sampled <<<"$state")" ] && [ "$(jq .sampled <<<"$state")" -gt 0 ] ||
    fail "not the sampled calls of $state"

# In use, each frame's binds.
session used.pftrace --local --set sampler.window_probability=0 --set debug.synchronous=true \
    --set debug.trust_variants=true -- "$program" "$scratch/out" 3 -
has '^thread\|slice_begin\|specialize\|[0-9a-f]{48}\|'
has '^thread\|slice_begin\|piecemeal specialized by zeros\|[0-9a-f]{48}\|'
has "^$device/specialized\|instant\|in use\|[0-9a-f]{48}\|"
has "^$device/specialized binds\|counter\|\|\|\|[1-9]"
! grep -q '|window|' "$scratch/events" || fail "there is a window where none opens"

# until_told PATTERN ARGUMENTS…: a session whose program goes on until the pattern is told, and for 100 frames
until_told() {
    local pattern=$1 over=$scratch/over
    shift
    rm -f "$over"
    { for _ in $(seq 1200); do
        grep -qsE "$pattern" "$TMPDIR"/piecemeal-trace-* && grep -qsE "^frame$tab.*${tab}100$tab" "$TMPDIR"/piecemeal-trace-* &&
            break
        sleep 0.1
    done; touch "$over"; } &
    session "$@" -- "$program" "$scratch/out" "$over" -
    wait $!
}
tab=$'\t'
# In the background: compiles are inside of the compile thread's jobs, and the trial's end is told whatever it came to.
rm -rf "$XDG_DATA_HOME/piecemeal/journal"
until_told "^begin$tab.*${tab}trial$tab" tried.pftrace --local --set sampler.window_probability=0 \
    --set limits.background_share=1
has '^thread\|slice_begin\|piecemeal specialized by zeros\|[0-9a-f]{48}\|\|\|specialized variants$'
has "^$device/specialized\|instant\|built\|[0-9a-f]{48}\|"
has "^$device/trial [0-9a-f]{12}, subgroups of 8\|slice_begin\|trial\|[0-9a-f]{48}\|"
has "^$device/trial [0-9a-f]{12}, subgroups of 8\|slice_end\|trial\|\|[a-z]"

# Windows open and close; counting variants are compiled inside of theirs.
until_told "${tab}instrument$tab" windows.pftrace --local --set sampler.window_probability=0.2 \
    --set sampler.window_frames=4 --set sampler.api_probability=1 --set limits.background_share=1
has '^thread\|slice_begin\|instrument\|[0-9a-f]{48}\|\|\|counting variant$'
[ "$(grep -cE "^$device/windows\|slice_begin\|window\|" "$scratch/events")" -gt 1 ] || fail "there are no two windows"
[ -z "$(ls -A "$TMPDIR")" ] || fail "there is something left in TMPDIR: $(ls "$TMPDIR")"

# Not only on this machine: what leaves, and what comes. A game that is killed leaves a whole trace.
session killed.pftrace $all -- sh -c "$program $scratch/out $scratch/never - & sleep 1
    for _ in \$(seq 1200); do grep -qs window $TMPDIR/piecemeal-trace-* && break; sleep 0.1; done
    kill -9 \$!; wait \$! 2>/dev/null; true"
has '^thread\|slice_begin\|pull\|'
has '^thread\|slice_begin\|upload\|'
has "^$device/windows\|slice_end\|window\|"

# A trace that cannot be written keeps no game from running, and what was told of it is kept.
"$piecemeal" run --local --trace "$scratch/nowhere/t" -- "$program" "$scratch/out" 1 - >"$scratch/run" 2>&1 || fail "the game did not run"
grep -qE '^piecemeal run: what was traced is still in ' "$scratch/run" || { cat "$scratch/run"; fail "nothing is said"; }
echo "$name: all as expected"
