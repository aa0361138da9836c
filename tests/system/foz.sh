#!/bin/bash
# `piecemeal db export --format foz`: a program's shaders and what they are specialized to, read back by the format's
# description. The words are those that the program gave, and those that the passes make.
. "$(dirname "$0")/lib.sh"
need spirv-val python3
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
[ "$(ls "$scratch/modules" | wc -l)" -eq 13 ] || fail "not one original, six canonical and six specialized modules"
[ "$(cut -d ' ' -f 2 "$scratch/index" | sort | uniq -c | tr -s ' \n' ' ')" = " 6 canonical 6 original 6 specialized " ] ||
    { cat "$scratch/index"; fail "the index is not what was exported"; }
while read -r hash what key; do
    module=$scratch/modules/$hash.spv
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
        "$piecemeal" shader specialize_zero "$key" --game pm_test_gpu -o "$scratch/made.spv" >/dev/null || fail "$key cannot be specialized"
        same_file "$scratch/made.spv" "$module" "what $key is specialized to"
        ;;
    esac
done <"$scratch/index"

# A shader alone, and to a pipe; what is not there.
key=$(awk 'NR == 1 { print $3 }' "$scratch/index")
"$piecemeal" db export --format foz --shader "$key" | cat >"$scratch/one.foz"
read_back "$scratch/one.foz" | grep -qx '3 modules' || fail "not the three modules of one shader"
"$piecemeal" db export --format foz --store "$scratch/nowhere" -o "$scratch/none.foz" 2>"$scratch/said" &&
    fail "shaders are exported from nowhere"
grep -q "none of 6 shaders is in this machine's store" "$scratch/said" || { cat "$scratch/said"; fail "it says something else"; }
[ ! -e "$scratch/none.foz" ] || fail "a file of nothing is left"
rm "$(ls "$XDG_DATA_HOME"/piecemeal/shaders/"$key"*)"
"$piecemeal" db export --format foz -o "$scratch/some.foz" 2>"$scratch/said" >"$scratch/index" || fail "not the others"
grep -q "1 of 6 shaders are not in this machine's store" "$scratch/said" || { cat "$scratch/said"; fail "it says something else"; }
echo "$name: all as expected"
