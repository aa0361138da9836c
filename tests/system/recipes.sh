#!/bin/bash
# With a recipe of A-Z testing in use in every shader that it changes (debug.recipe), a program draws the same as without
# us, bit by bit: with each recipe in turn, and with each that was in use and another one of these behind it. With DRAWS
# that many times with recipes that are drawn for each shader from those that change it.
#
# A client may set client_recipes, how many of the recipes change a shader of it at least, on every driver.
#
# usage: recipes.sh CLIENT DRIVER [ARGUMENT [DRAWS]]     CLIENT is a file of clients/, as in invisible.sh
draws=${4-}
. "$(dirname "$0")/client.sh"
# Whatever module it is asked about, it lists all.
mapfile -t all < <("$PM_BUILD/tools/piecemeal" shader make_variant "$PM_BUILD/tests/system/shaders/steady.comp.spv" |
    awk '{ print $1 }')
[ ${#all[@]} -ge 24 ] || fail "there are no recipes: ${all[*]}"
mkdir "$scratch/without"
client_run "$scratch/without"

# What is used otherwise may be rounded otherwise by a driver (HAZARDS 3).
within_bound() {
    [ "${client_near-}" = yes ] && "$(dirname "$0")/near.py" "$scratch/without" "$scratch/with"
}

# run RECIPE [SEED]: one session; what it used is added to $scratch/used
run() {
    local begun=$SECONDS
    rm -rf "$scratch/with" "$PIECEMEAL_LOG_FILE"
    mkdir "$scratch/with"
    PIECEMEAL_DEBUG_RECIPE=$1 PIECEMEAL_SAMPLER_SEED=${2-1} client_run "$scratch/with"
    if grep -aE ' (warning|error): ' "$PIECEMEAL_LOG_FILE" >&2; then
        fail "the layer complained of $1"
    fi
    grep -aoE 'the recipe [^ ]+ is in use' "$PIECEMEAL_LOG_FILE" | cut -d ' ' -f 3 >>"$scratch/used" || true
    diff -rq "$scratch/without" "$scratch/with" || within_bound ||
        fail "$client draws something else with the recipe $1, seed ${2-1}"
    echo "$((SECONDS - begun)) s, at $SECONDS s: ${1:-none}"
}

# As VkDriverId and driverVersion have it.
driver_number() {
    case $client_driver in
    lavapipe-22) echo 13:$((22 << 22 | 3 << 12 | 6)) ;;
    lavapipe-25) echo 13:$((25 << 22 | 0 << 12 | 7)) ;;
    swiftshader) echo 10:$((5 << 22)) ;;
    *) fail "which number has $client_driver?" ;;
    esac
}

# Takes what needs no session out of `all`, by the shaders that the first recipe's session left in the store. What a recipe makes of a
# shader is named by its key, or by why it makes nothing.
declare -A made same_as
leave_out() {
    local store=$XDG_DATA_HOME/piecemeal/shaders shader recipe what first
    for shader in "$store"/*.pmshader; do
        "$PM_BUILD/tools/piecemeal" shader make_variant "$(basename "$shader" .pmshader)" --store "$store" \
            --driver "$(driver_number)" >"$scratch/makes" || fail "what do recipes make of $shader?"
        while read -r recipe what; do
            made[$recipe]+=" ${what/*nothing to change/-}"
        done <"$scratch/makes"
    done
    local -A seen=()
    local left=()
    for recipe in "${all[@]}"; do
        what=${made[$recipe]-} first=${seen[${made[$recipe]-}]-}
        if [ -z "${what//[ -]/}" ]; then
            echo "nothing to change: $recipe"
        elif [ -n "$first" ]; then
            echo "the same as $first: $recipe"
            same_as[$recipe]=$first
        else
            seen[$what]=$recipe
            left+=("$recipe")
        fi
    done
    all=("${left[@]}")
}

with_layer
export PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=0 PIECEMEAL_DEBUG_SYNCHRONOUS=1 PIECEMEAL_LIMITS_VARIANTS=4096
# The control: nothing is in use where nothing is asked for.
run ""
[ ! -s "$scratch/used" ] || fail "a recipe is in use that nobody asked for"
if [ -n "${draws-}" ]; then
    for seed in $(seq "$draws"); do
        run any "$seed"
    done
else
    run "${all[0]}"
    leave_out
    for recipe in "${all[@]:1}"; do
        run "$recipe"
    done
    mapfile -t fitting < <(sort -u "$scratch/used" | grep -vx canonical)
    in_use=$((${#fitting[@]} + 1))
    for recipe in "${!same_as[@]}"; do
        grep -qx "${same_as[$recipe]}" "$scratch/used" && in_use=$((in_use + 1))
    done
    [ "$in_use" -ge "${client_recipes-1}" ] || fail "of the recipes only ${fitting[*]} were in use"
    echo "$in_use recipes in use, in sessions of their own $((${#fitting[@]} + 1))"
    for at in "${!fitting[@]}"; do
        run "${fitting[at]}+${fitting[(at + ${#fitting[@]} / 2) % ${#fitting[@]}]}"
    done
fi
sort "$scratch/used" | uniq -c
[ -s "$scratch/used" ] || fail "no recipe was in use"
