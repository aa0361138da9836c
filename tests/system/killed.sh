#!/bin/bash
# A game killed with SIGKILL loses nothing that was checkpointed and is on disk: with a checkpoint every heartbeat, every
# frame comes to the spool soon after it is complete, and stays there, to the last lane. usage: killed.sh DRIVER
. "$(dirname "$0")/lib.sh"

driver "$1"
with_layer
sample_everything
export PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS=1 PIECEMEAL_SAMPLER_KINDS=block
width=160 height=90 draws=40

"$PM_BUILD/examples/piecemeal-deferred" --frames 1000000 --size ${width}x$height --time "$scratch/times" --quiet \
    >"$scratch/log" 2>&1 &
game=$!
children+=("$game")
for _ in $(seq 600); do
    [ -s "$scratch/times" ] && [ "$(wc -l <"$scratch/times")" -ge 20 ] && break
    kill -0 "$game" 2>/dev/null || fail "the scene ended: $(cat "$scratch/log")"
    sleep 0.2
done
complete=$(wc -l <"$scratch/times")
[ "$complete" -ge 20 ] || fail "only $complete frames"
# How soon depends on the machine; on an idle one it is well within a second.
began=$(date +%s%N)
for _ in $(seq 600); do
    "$PM_BUILD/tests/system/spool_counts" "$XDG_DATA_HOME/piecemeal/spool" >"$scratch/counts" 2>/dev/null &&
        [ "$(awk '$6 > calls { calls = $6 } END { print calls + 0 }' "$scratch/counts")" -ge $((complete * draws)) ] && break
    sleep 0.05
done
took=$((($(date +%s%N) - began) / 1000000))
kill -KILL "$game"
wait "$game" 2>/dev/null || true

expect_sampled
# The light pass has the most draws: $draws a frame, each pixel once.
read -r calls lanes <<<"$(awk '$6 > calls { calls = $6; lanes = $8 } END { print calls, lanes }' "$scratch/counts")"
frames=$((calls / draws))
[ "$frames" -ge "$complete" ] || fail "$complete frames were complete $took ms before, the spool has $frames"
[ $((frames * draws)) = "$calls" ] && [ $((frames * width * height)) = "$lanes" ] ||
    fail "$calls calls and $lanes lanes are no whole frames"
echo "$complete frames complete $took ms before the kill, $frames in the spool"
