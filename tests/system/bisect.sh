#!/bin/bash
# `piecemeal bisect`: of six specialized shaders it finds the one that changes what a program computes, both where there
# are two, the one that ends it by a signal, and none where none does; what it leaves shows it again. usage: bisect.sh
# one|all     one: only the first of these
. "$(dirname "$0")/lib.sh"
need jq spirv-dis
driver lavapipe-25
piecemeal=$PM_BUILD/tools/piecemeal
program=$PM_BUILD/tests/system/variants # FILE FRAMES WRONG [crash]
out=$scratch/computed
export TMPDIR=$scratch/tmp
mkdir -p "$TMPDIR"
says() {
    grep -qE -- "$1" "$scratch/said" || { cat "$scratch/said"; fail "no line matches '$1'"; }
}
# bisect STATUS OPTION… -- PROGRAM…: what it found is in $scratch/found
bisect() {
    local expected=$1 status=0
    shift
    rm -rf "$scratch/reproduction"
    timeout 900 "$piecemeal" bisect --local -o "$scratch/reproduction" "$@" >"$scratch/found" 2>"$scratch/said" || status=$?
    [ "$status" -eq "$expected" ] || { cat "$scratch/said"; fail "bisect ended with $status, not $expected"; }
    [ -z "$(ls -A "$TMPDIR")" ] || fail "there is something left in TMPDIR: $(ls "$TMPDIR")"
}
bisect 1 -- "$program" "$out" 1 -
says 'no specialized shader came into use: there is no profile of the program yet'

run_quietly "$scratch/profiled" "$piecemeal" run --local --set sampler.window_probability=1 \
    --set sampler.api_probability=1 --set sampler.batch=all --set debug.synchronous=true -- "$program" "$out" 3 -
# Which shader has which key: the first six pipelines, in order.
"$piecemeal" run --local --set debug.synchronous=true --set debug.trust_variants=true --set log.level=info \
    --set sampler.window_probability=0 -- "$program" "$out" 1 - 2>"$scratch/keys" >/dev/null
mapfile -t begins < <(sed -nE 's/.*shader ([0-9a-f]{12}) is specialized: .*/\1/p' "$scratch/keys")
[ ${#begins[@]} -eq 6 ] || fail "there are ${#begins[@]} specialized shaders, not 6"

# The one that computes something else, by the file that the program writes and by a check.
bisect 0 --compare "$out" -- "$program" "$out" 2 4
[ "$(wc -l <"$scratch/found")" -eq 1 ] && grep -qE "^${begins[4]}[0-9a-f]{36} zeros$" "$scratch/found" ||
    { cat "$scratch/found"; fail "it is not shader 4"; }
[ "$(grep -c 'session [0-9]*, with' "$scratch/said")" -le 10 ] || { cat "$scratch/said"; fail "too many sessions"; }
key=$(cut -d ' ' -f 1 "$scratch/found")
kept=$scratch/reproduction/${begins[4]}-zeros
says "reproduction: $kept"
same_file "$PM_BUILD/tests/system/shaders/variants.comp.spv" "$kept/$key.original.spv" "the original"
grep -q 'makes these words again' "$kept/README.txt" || { cat "$kept/README.txt"; fail "the variant is not made again"; }
variant=$(basename "$kept/$key"-*.spv .spv)
(cd "$kept" && PATH=$(dirname "$piecemeal"):$PATH && eval "$(grep -o 'piecemeal shader .*' README.txt)") >/dev/null ||
    fail "README.txt's command failed"
same_file "$kept/$variant.spv" "$kept/again.spv" "README.txt's command"
jq -e '.stage == "compute" and .passes == ["specialize_zero"] and (.device | length) > 0 and (.driver | length) > 0 and
    .pipeline.piecemeal.type == "compute" and .pipeline.piecemeal.left_out == [] and
    ([.pipeline.computePipelines[]] | length) == 1 and
    (.pipeline.computePipelines[].stage.specializationInfo | .data == "BAAAAA==" and .dataSize == 4 and
        .mapEntries == [{offset: 0, size: 4, constantID: 0}]) and
    ([.pipeline.setLayouts[].bindings[]] | length) == 6 and
    [.pipeline.pipelineLayouts[].pushConstantRanges[].size] == [128]' \
    "$kept/$variant.json" >/dev/null || fail "not what the variant was made for"
cp "$out" "$scratch/good"
PIECEMEAL=$piecemeal "$kept/reproduce.sh" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "reproduce.sh failed"; }
cmp -s "$out" "$scratch/good" && fail "reproduce.sh shows nothing"
"$piecemeal" run --local --set debug.synchronous=true --set debug.trust_variants=true --set sampler.window_probability=0 \
    --set optimize.withhold="$scratch/found" -- "$program" "$out" 2 4 >"$scratch/log" 2>&1 || fail "the program failed"
same_file "$out" "$scratch/good" "with the shader withheld"
grep -q '5 shaders specialized' "$scratch/log" || { cat "$scratch/log"; fail "not the other five are used"; }

# Of what is done in several passes, where the program goes wrong as soon as a shader's passes are built. Each is
# withheld by itself: all else of the shader is still done.
export PIECEMEAL_OPTIMIZE_PARTITION=true PIECEMEAL_DEBUG_PARTITION_LIMITS=8
bisect 0 --check "! grep -q 'by passes	${begins[2]}' \"\$PIECEMEAL_TRACE_FILE\"" -- "$program" "$out" 2 -
grep -qE "^${begins[2]}[0-9a-f]{36} passes$" "$scratch/found" && [ "$(wc -l <"$scratch/found")" -eq 1 ] ||
    { cat "$scratch/found" "$scratch/said"; fail "it is not shader 2 in several passes"; }
kept=$scratch/reproduction/${begins[2]}-passes
grep -q 'makes these words again' "$kept/README.txt" || { cat "$kept/README.txt"; fail "the passes are not made again"; }
ls "$kept" | grep -q '\.pass1\.spv$' || fail "the passes' modules are not there"
PIECEMEAL_TRACE_FILE=$scratch/trace "$piecemeal" run --local --set debug.synchronous=true --set debug.trust_variants=true \
    --set sampler.window_probability=0 --set optimize.withhold="$scratch/found" -- "$program" "$out" 2 - \
    >"$scratch/log" 2>&1 || fail "the program failed"
grep -q "by passes	${begins[2]}" "$scratch/trace" && fail "the passes are not withheld"
grep -q "by zeros	${begins[2]}" "$scratch/trace" || fail "more than the passes is withheld"
grep -q 'by passes	' "$scratch/trace" || fail "other shaders' passes are withheld, too"

# Two parts of one shader, one after the other: each has a folder of its own, beside what is there from before.
rm -rf "$scratch/reproduction"
mkdir -p "$scratch/reproduction/${begins[2]}-passes"
"$piecemeal" bisect --local -o "$scratch/reproduction" --check \
    "! grep -qE 'by (passes|zeros)	${begins[2]}' \"\$PIECEMEAL_TRACE_FILE\"" -- "$program" "$out" 2 - \
    >"$scratch/found" 2>"$scratch/said" || { cat "$scratch/said"; fail "bisect failed"; }
[ "$(sort "$scratch/found" | cut -c 1-12,49-)" = "${begins[2]} passes
${begins[2]} zeros" ] || { cat "$scratch/found"; fail "these are not both parts of shader 2"; }
for folder in passes-2 zeros; do
    kept=$scratch/reproduction/${begins[2]}-$folder
    [ "$(grep -c '^!' "$kept/only")" -eq 1 ] && grep -q "^!${begins[2]}.* ${folder%-2}$" "$kept/only" ||
        fail "$kept is not of ${folder%-2}"
done
unset PIECEMEAL_OPTIMIZE_PARTITION PIECEMEAL_DEBUG_PARTITION_LIMITS

# What goes wrong no more when it is shown once more, with its modules kept, was not found.
bisect 1 --check "{ [ -n \"\$PIECEMEAL_DEBUG_VARIANTS_FOLDER\" ] && grep -q '^!' \"\$PIECEMEAL_OPTIMIZE_WITHHOLD\"; } ||
    ! grep -q 'by zeros	${begins[1]}' \"\$PIECEMEAL_TRACE_FILE\"" -- "$program" "$out" 2 -
says '^piecemeal bisect: it does not go wrong again: the program or its check is not the same each time$'
[ ! -s "$scratch/found" ] && [ ! -e "$scratch/reproduction" ] || fail "something was found all the same"

[ "$1" = all ] || exit 0

# What is kept of a graphics pipeline: its state, and its vertex shader.
mkdir "$scratch/kept"
for settings in "sampler.window_probability=1 sampler.api_probability=1 sampler.batch=all" \
    "sampler.window_probability=0 debug.trust_variants=true debug.variants_folder=$scratch/kept"; do
    run_quietly "$scratch/log" "$piecemeal" run --local --set debug.synchronous=true $(printf -- '--set %s ' $settings) -- \
        "$PM_BUILD/tests/system/uniforms" "$scratch/drawn" 1
done
state=$(grep -l '"fragment"' "$scratch"/kept/*.json)
jq -e '.passes[0] == "specialize_constants" and (.options | index("--known")) == 0 and (.pipeline.piecemeal.type == "graphics") and (.pipeline.graphicsPipelines[] |
    (.stages | length) == 2 and .inputAssemblyState.topology == 3 and
    .vertexInputState.bindings == [{binding: 0, stride: 32, inputRate: 0}] and
    (.pNext[] | select(.sType == 1000044002) | .colorAttachmentFormats) == [109] and
    (.colorBlendState.attachments | length) == 1)' "$state" >/dev/null || { cat "$state"; fail "not the pipeline's state"; }
spirv-dis "${state%.json}.stage0.spv" | grep -q 'OpEntryPoint Vertex' || fail "not the pipeline's vertex shader"

# Two, one after the other; and a check's word.
bisect 0 --check "cmp -s '$out' '$scratch/good-two'" -- sh -c "'$program' '$out' 2 13 && [ -e '$scratch/good-two' ] ||
    cp '$out' '$scratch/good-two'"
sort "$scratch/found" | cut -c 1-12 >"$scratch/two"
printf '%s\n' "${begins[1]}" "${begins[3]}" | sort | cmp - "$scratch/two" || fail "these are not shaders 1 and 3"

# One that ends the program by a signal, of which nothing is held back afterwards.
bisect 0 -- "$program" "$out" 2 5 crash
grep -qE "^${begins[5]}[0-9a-f]{36} zeros$" "$scratch/found" || { cat "$scratch/found" "$scratch/said"; fail "it is not shader 5"; }
"$piecemeal" doctor >"$scratch/doctor" 2>&1 || true
grep -q 'no specialized shader is held back' "$scratch/doctor" || { cat "$scratch/doctor"; fail "something is held back"; }

# None; a program that is never the same twice; one that goes wrong by itself; a list that cannot be read.
bisect 1 --compare "$out" -- "$program" "$out" 2 -
says 'with all 6 parts of specialized shaders it is as without'
bisect 1 --compare "$scratch/random" -- sh -c "head -c 16 /dev/urandom >'$scratch/random'"
says 'without specialized shaders it is not the same twice'
bisect 1 --check false -- "$program" "$out" 1 -
says 'it goes wrong without specialized shaders, too'
bisect 1 --check 'exit 125' -- "$program" "$out" 1 -
says 'cannot tell'
bisect 1 --compare "$scratch/good" -- "$program" "$out" 1 -
says 'good: the program has not written it'
printf 'nonsense\n' >"$scratch/list"
"$piecemeal" run --local --set debug.synchronous=true --set debug.trust_variants=true --set sampler.window_probability=0 \
    --set optimize.withhold="$scratch/list" -- "$program" "$out" 1 - >"$scratch/said" 2>&1 || fail "the program failed"
says "nothing is specialized: optimize.withhold: .*list: 'nonsense' is no shader's key"
! grep -q 'shaders specialized' "$scratch/said" || fail "something is specialized all the same"
echo "$name: all as expected"
