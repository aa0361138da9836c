#!/bin/bash
# A program names its scenes, and each has its own profile, which together are the game's: from the layer over an
# aggregator to what clients download. usage: scenes.sh DRIVER PROGRAM SIZE
scenes_driver=$1 program=$PM_BUILD/examples/$2 size=$3
set -- "$(IFS=-; echo "$*")"
. "$(dirname "$0")/lib.sh"
need jq curl

quick_driver "$scenes_driver"
piecemeal=$PM_BUILD/tools/piecemeal
storage=$scratch/aggregator.sqlite
"$piecemeal" consent grant >/dev/null
"$piecemeal" serve --storage "$storage" --port 0 --curate-seconds 1 --dev >"$scratch/serve" 2>&1 &
children+=($!)
for _ in $(seq 600); do
    grep -q '^listening on' "$scratch/serve" && break
    sleep 0.1
done
port=$(sed -n 's/^listening on .* port \([0-9]*\)$/\1/p' "$scratch/serve")
[ -n "$port" ] || fail "no aggregator: $(cat "$scratch/serve")"

for place in 0 1; do
    run_quietly "$scratch/run-$place" "$piecemeal" run --game scenes --set aggregator.url="http://127.0.0.1:$port" \
        --set sampler.window_probability=1 --set sampler.api_probability=1 --set sampler.batch=all \
        --set sampler.kinds=block --set debug.synchronous=true -- \
        "$program" --scene $place --frames 2 --size "$size" --quiet
done

# A program that goes from one scene to the next draws what each by itself does, and names the next one unless it is not
# to.
for options in "--scene 0" "--scene 1" "--next 1@2" "--next 1@2 --unnamed"; do
    # shellcheck disable=SC2086 # words
    run_quietly "$scratch/next" "$piecemeal" run --game next --set sampler.kinds=timing --set log.level=debug \
        --set log.file="$scratch/log$options" -- "$program" $options --frames 4 --size "$size" --quiet \
        --hash "$scratch/hash$options"
done
for options in "--next 1@2" "--next 1@2 --unnamed"; do
    cmp -s "$scratch/hash$options" <(head -n 2 "$scratch/hash--scene 0" && tail -n 2 "$scratch/hash--scene 1") ||
        fail "$options does not draw one scene and then the other"
done
[ "$(grep -c 'a new scene' "$scratch/log--next 1@2")" = 2 ] || fail "the next scene has no name"
! grep -q 'a new scene' "$scratch/log--next 1@2 --unnamed" || fail "--unnamed names a scene"

# entry_lanes SCENE...: invocations that were sampled, summed over shaders
entry_lanes() {
    "$piecemeal" db show --storage "$storage" --game scenes --json "$@" >"$scratch/show"
    jq '[.shaders[].entry_lanes] | add // 0' "$scratch/show"
}
all=$(entry_lanes)
first=$(entry_lanes --scene alpine)
second=$(entry_lanes --scene canyon)
[ "$first" -gt 0 ] && [ "$second" -gt 0 ] || fail "scenes without samples: $first, $second"
[ "$all" = $((first + second)) ] || fail "the scenes are not the game: $first + $second, $all"
[ "$(entry_lanes --scene nowhere)" = 0 ] || fail "a scene that never was has samples"

# Published, each apart.
for _ in $(seq 600); do
    curl -sf "http://127.0.0.1:$port/v1/games/scenes/database?scene=canyon" -o "$scratch/canyon.zst" && break
    sleep 0.1
done
for name in "" alpine canyon; do
    curl -sf "http://127.0.0.1:$port/v1/games/scenes/database?scene=$name" -o "$scratch/$name.zst" ||
        fail "no database of the scene '$name'"
done
curl -s -o "$scratch/error" -w '%{http_code}' "http://127.0.0.1:$port/v1/games/scenes/database?scene=nowhere" |
    grep -q 404 || fail "a database of a scene that never was"
"$piecemeal" db show --database "$scratch/canyon.zst" --json >"$scratch/published"
[ "$(jq '[.shaders[].entry_lanes] | add' "$scratch/published")" = "$second" ] ||
    fail "what is published of a scene is not what was sampled in it"
echo "alpine $first, canyon $second, all $all sampled invocations"
