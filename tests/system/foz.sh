#!/bin/bash
# `piecemeal db export --format foz`: a program's shaders and what they are specialized to, and their pipelines, read
# back by the format's description. The words are those that the program gave, and those that the passes make; the state
# is what the programs make their pipelines with.
. "$(dirname "$0")/lib.sh"
need spirv-val spirv-dis python3 jq
driver lavapipe-25
piecemeal=$PM_BUILD/tools/piecemeal
read_back() {
    rm -rf "$scratch/modules"
    mkdir "$scratch/modules"
    "$(dirname "$0")/foz_read.py" "$1" "$scratch/modules" || fail "$1 cannot be read"
}
run_quietly "$scratch/run" "$piecemeal" run --local --set sampler.window_probability=1 --set sampler.api_probability=1 \
    --set sampler.batch=all --set debug.synchronous=true -- "$PM_BUILD/tests/system/variants" "$scratch/out" 3 -
"$piecemeal" db export --format foz -o "$scratch/all.foz" >"$scratch/index" || fail "nothing is exported"
read_back "$scratch/all.foz"
[ "$(ls "$scratch"/modules/*.spv | wc -l)" -eq 13 ] || fail "not one original, six canonical and six specialized modules"
[ "$(cut -d ' ' -f 2 "$scratch/index" | sort | uniq -c | tr -s ' \n' ' ')" = " 6 canonical 6 original 6 pipeline 6 specialized 6 specialized-pipeline " ] ||
    { cat "$scratch/index"; fail "the index is not what was exported"; }
# of HASH FILTER: what jq makes of an object
objects=$scratch/modules/objects.json
of() { jq -r --arg hash "$1" "$2" "$objects"; }
original=$(awk '$2 == "original" { print $1; exit }' "$scratch/index")
[ "$(jq -c 'map_values(length)' "$objects")" = '{"setLayouts":1,"pipelineLayouts":1,"computePipelines":12}' ] ||
    { jq -c . "$objects"; fail "not the objects of six pipelines, and of six with another shader"; }
[ "$(jq -c '[.setLayouts[].bindings[] | .binding] | sort' "$objects")" = '[0,1,2,3,8,9]' ] || fail "not the set layout"
[ "$(jq -c '[.pipelineLayouts[].pushConstantRanges[].size]' "$objects")" = '[128]' ] || fail "not the pipeline layout"
# The six differ in the value of one constant, which is what makes of one module six shaders.
[ "$(jq -c --arg words "$original" '[.computePipelines[].stage | select(.module == $words) | .specializationInfo |
    select(.mapEntries == [{offset: 0, size: 4, constantID: 0}]) | .data] | sort' "$objects")" = \
    '["AAAAAA==","AQAAAA==","AgAAAA==","AwAAAA==","BAAAAA==","BQAAAA=="]' ] || fail "not the six pipelines"
while read -r hash what key; do
    module=$scratch/modules/$hash.spv
    case $what in
    pipeline)
        [ "$(of "$hash" '.computePipelines[$hash].stage.module')" = "$original" ] || fail "not the pipeline of $key"
        continue
        ;;
    specialized-pipeline)
        # It stands behind its module's line; the values are in the module already.
        [ "$(of "$hash" '.computePipelines[$hash].stage | "\(.module) \(.name) \(.specializationInfo)"')" = \
            "$specialized main null" ] || fail "not the specialized pipeline of $key"
        continue
        ;;
    esac
    spirv-val --target-env vulkan1.3 "$module" || fail "$what $key is not valid"
    case $what in
    original)
        same_file "$PM_BUILD/tests/system/shaders/variants.comp.spv" "$module" "the original of $key"
        ;;
    canonical)
        "$piecemeal" shader canonicalize "$key" -o "$scratch/made.spv" >/dev/null || fail "$key cannot be canonicalized"
        same_file "$scratch/made.spv" "$module" "the canonical module of $key"
        ;;
    specialized)
        specialized=$hash
        "$piecemeal" shader specialize_zero "$key" --game pm_test_gpu -o "$scratch/made.spv" >/dev/null || fail "$key cannot be specialized"
        same_file "$scratch/made.spv" "$module" "what $key is specialized to"
        ;;
    esac
done <"$scratch/index"

# A shader alone, and to a pipe; what is not there.
key=$(awk 'NR == 1 { print $3 }' "$scratch/index")
"$piecemeal" db export --format foz --shader "$key" | cat >"$scratch/one.foz"
read_back "$scratch/one.foz" >"$scratch/counted"
grep -qx '3 modules' "$scratch/counted" && grep -qx '2 computePipelines' "$scratch/counted" ||
    { cat "$scratch/counted"; fail "not the three modules and two pipelines of one shader"; }
"$piecemeal" db export --format foz --store "$scratch/nowhere" -o "$scratch/none.foz" 2>"$scratch/said" &&
    fail "shaders are exported from nowhere"
grep -q "none of 6 shaders is in this machine's store" "$scratch/said" || { cat "$scratch/said"; fail "it says something else"; }
[ ! -e "$scratch/none.foz" ] || fail "a file of nothing is left"
rm "$XDG_DATA_HOME/piecemeal/shaders/$key.pipeline"
"$piecemeal" db export --format foz -o "$scratch/some.foz" 2>"$scratch/said" >"$scratch/index" || fail "not the others"
grep -q 'of 1 shaders no pipeline was kept' "$scratch/said" || { cat "$scratch/said"; fail "it says something else"; }
rm "$XDG_DATA_HOME/piecemeal/shaders/$key.pmshader"
"$piecemeal" db export --format foz -o "$scratch/some.foz" 2>"$scratch/said" >"$scratch/index" || fail "not the others"
grep -q "1 of 6 shaders are not in this machine's store" "$scratch/said" || { cat "$scratch/said"; fail "it says something else"; }

# Pipelines that draw: with their vertex shader and all their state, as tests/gpu makes them.
rm -rf "$XDG_DATA_HOME/piecemeal"
run_quietly "$scratch/run" "$piecemeal" run --local --set sampler.window_probability=1 --set sampler.api_probability=1 \
    --set sampler.batch=all --set debug.synchronous=true -- "$PM_BUILD/tests/system/uniforms" "$scratch/out" 1
"$piecemeal" db export --format foz -o "$scratch/drawn.foz" >"$scratch/index" || fail "what draws is not exported"
read_back "$scratch/drawn.foz" >"$scratch/counted"
grep -qx '[12] graphicsPipelines' "$scratch/counted" || { cat "$scratch/counted" "$scratch/index"; fail "not the pipeline that draws"; }
jq -e '.graphicsPipelines[] | .inputAssemblyState.topology == 3 and .renderPass == "0000000000000000" and
    .vertexInputState.bindings == [{binding: 0, stride: 32, inputRate: 0}] and
    (.pNext[] | select(.sType == 1000044002) | .colorAttachmentFormats) == [109] and
    (.colorBlendState.attachments | length) == 1 and .multisampleState.rasterizationSamples == 1 and
    ([.stages[].stage] == [1, 16])' "$objects" >/dev/null || { jq . "$objects"; fail "not the state of what draws"; }
vertex=$(jq -r '[.graphicsPipelines[].stages[0].module] | unique | .[]' "$objects")
spirv-dis "$scratch/modules/$vertex.spv" | grep -q 'OpEntryPoint Vertex' || fail "not the pipeline's vertex shader"
echo "$name: all as expected"
