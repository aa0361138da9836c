#!/bin/bash
# With the words of push constants and uniform buffers folded that a session of its own found constant, wherever that is
# possible, a program draws the same as without us, bit by bit. Of some clients nothing follows from the words; one with
# client_folded=yes has a shader of which something does.
#
# usage: folded_words.sh CLIENT DRIVER [ARGUMENT]     CLIENT is a file of clients/, as in invisible.sh
. "$(dirname "$0")/client.sh"
# Words are known once they were seen 16 times.
# shellcheck disable=SC2034  # the client's
ffmpeg_source=testsrc2=size=96x54:rate=25:duration=0.8 mpv_shots=8
mkdir "$scratch/without" "$scratch/learned" "$scratch/with"
client_run "$scratch/without"
with_layer
sample_everything
export PIECEMEAL_SAMPLER_KINDS=constant PIECEMEAL_DEBUG_SPECIALIZE=all
client_run "$scratch/learned"
diff -rq "$scratch/without" "$scratch/learned" || fail "$client draws something else while words are counted"

export PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=0 PIECEMEAL_DEBUG_TRUST_VARIANTS=1
rm -f "$PIECEMEAL_LOG_FILE"
client_run "$scratch/with"
diff -rq "$scratch/without" "$scratch/with" || fail "$client draws something else with words folded"
awk 'FNR > 1 && $4 >= 16 { known++ } END { exit known == 0 }' "$XDG_DATA_HOME"/piecemeal/values/* || fail "no word is known"
grep -aqE ' is (not worth specializing|specialized: )|words of uniforms that were seen' "$PIECEMEAL_LOG_FILE" ||
    fail "no shader was looked at"
if [ -n "${client_folded-}" ]; then
    grep -aqE 'is specialized: .* words of (push constants|uniforms)' "$PIECEMEAL_LOG_FILE" || fail "no shader was folded"
    grep -aq 'a variant for known words is bound' "$PIECEMEAL_LOG_FILE" || fail "nothing that was folded is bound"
fi
if grep -aE ' (warning|error): ' "$PIECEMEAL_LOG_FILE" >&2; then
    fail "the layer complained"
fi
