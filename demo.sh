#!/bin/bash
# The whole of Piecemeal on one machine, in a few minutes: an aggregator on loopback, real programs under the layer,
# uploads, the PGO database, the coverage table and a report.
#
#   ./demo.sh [--keep-running]     with --keep-running the aggregator stays until Ctrl-C
#
# Everything it writes is in build/demo; your own consent, configuration and profiles are not touched.
set -euo pipefail
cd "$(dirname "$0")"
root=$PWD
demo=$root/build/demo

keep=no
case ${1-} in
'') ;;
--keep-running) keep=yes ;;
*) echo "usage: ./demo.sh [--keep-running]" >&2; exit 2 ;;
esac

scripts/bootstrap.sh build demo
# The build that ./test.sh made will do; without one, there is no need to build the tests.
if [ -e build/release/CMakeCache.txt ]; then
    cmake --preset release >/dev/null
else
    cmake --preset release -DBUILD_TESTING=OFF >/dev/null
fi
cmake --build --preset release -j "$(nproc)" --target piecemeal piecemeal-sync VkLayer_piecemeal \
    piecemeal-deferred piecemeal-terrain
build=$root/build/release
piecemeal=$build/tools/piecemeal

started=$SECONDS
rm -rf "$demo"
mkdir -p "$demo/logs" "$demo/xdg/runtime"
chmod 0700 "$demo/xdg/runtime"
export XDG_DATA_HOME=$demo/xdg/data XDG_CACHE_HOME=$demo/xdg/cache XDG_CONFIG_HOME=$demo/xdg/config
export XDG_RUNTIME_DIR=$demo/xdg/runtime
unset WAYLAND_DISPLAY VK_INSTANCE_LAYERS VK_LAYER_PATH
for variable in $(compgen -e PIECEMEAL_ || true); do
    unset "$variable"
done
lavapipe=/usr/share/vulkan/icd.d/lvp_icd.$(uname -m).json
export VK_DRIVER_FILES=$lavapipe VK_ICD_FILENAMES=$lavapipe

children=()
finish() {
    local child
    for child in "${children[@]}"; do
        kill "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    done
}
trap finish EXIT
trap 'exit 130' INT TERM

say() {
    printf '%3d s  %s\n' $((SECONDS - started)) "$*"
}

# ---- the aggregator ----

"$piecemeal" serve --storage "$demo/aggregator.sqlite" --port 0 --curate-seconds 1 --dev \
    >"$demo/logs/serve.out" 2>"$demo/logs/serve.err" &
aggregator=$!
children+=("$aggregator")
for _ in $(seq 100); do
    grep -qs '^listening on' "$demo/logs/serve.out" && break
    sleep 0.1
done
port=$(sed -n 's/^listening on .* port \([0-9]*\)$/\1/p' "$demo/logs/serve.out")
[ -n "$port" ] || { cat "$demo/logs/serve.err" >&2; exit 1; }
say "the aggregator listens on 127.0.0.1:$port, storage $demo/aggregator.sqlite"
"$piecemeal" consent grant >/dev/null

# ---- a display without a screen ----

mkfifo "$demo/display"
Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp -noreset 3<>"$demo/display" >"$demo/logs/xvfb" 2>&1 &
children+=($!)
read -r -t 30 display <>"$demo/display"
export DISPLAY=:$display

# ---- the programs ----

failed=0
games=()

# play GAME WHAT [--set KEY=VALUE]... -- PROGRAM...: one session under the layer, uploaded at its end. Far more is
# sampled than in a player's game, so that minutes are enough: a window is always open, and half of all calls count 8
# blocks each, and in the scene 64 blocks or values that may be zero.
play() {
    local game=$1 what=$2 log
    shift 2
    log=$demo/logs/$game.$(date +%s%N)
    [[ " ${games[*]-} " == *" $game "* ]] || games+=("$game")
    local status=0
    say "$what"
    run_game 120 "$log" "$game" "$@" || status=$?
    # On a busy machine the layer's threads may get no time before a short program is over.
    if grep -q '^piecemeal run: sampled nothing: .*debug\.synchronous=true' "$log"; then
        say "  … copies of its shaders came too late: again, waiting for them"
        log=$log.again status=0
        run_game 600 "$log" "$game" --set debug.synchronous=true "$@" || status=$?
    fi
    if [ $status != 0 ]; then
        tail -n 5 "$log" >&2
        say "  … it failed (the log is $log)"
        failed=$((failed + 1))
    fi
}

# run_game SECONDS LOG GAME [--set KEY=VALUE]... -- PROGRAM...
run_game() {
    local seconds=$1 log=$2 game=$3
    shift 3
    # In the foreground, where Ctrl-C reaches it.
    timeout --foreground "$seconds" "$piecemeal" run --game "$game" --set aggregator.url="http://127.0.0.1:$port" \
        --set sampler.window_probability=1 --set sampler.api_probability=0.5 --set sampler.batch=8 \
        --set sampler.kinds=block --set limits.background_share=1 "$@" >"$log" 2>&1
}

scene=$build/examples/piecemeal-deferred
ffmpeg_filter() {
    play ffmpeg "ffmpeg, Vulkan filter $1" -- ffmpeg -nostdin -v error -init_hw_device vulkan=vk:0 \
        -filter_hw_device vk -filter_complex "$2" -f null -
}

for session in 1 2; do
    for place in 0 1 2; do
        kinds=block
        [ $session = 2 ] || [ $place != 0 ] || kinds=block,zero
        play piecemeal-deferred "a deferred renderer, place $place, session $session" \
            --set sampler.kinds=$kinds --set sampler.batch=64 -- \
            "$scene" --scene $place --seed $session --size 160x90 --frames 30 --png "$demo/scene-$place.png"
    done
done

# Its few draws are recorded once: sampled at the first, or in half of all sessions never.
play vkcube "vkcube" --set debug.synchronous=true --set sampler.api_probability=1 -- vkcube --c 200

source="testsrc2=size=640x360:rate=25:duration=4,format=yuv420p,hwupload"
end="hwdownload,format=yuv420p"
ffmpeg_filter avgblur "$source,avgblur_vulkan=sizeX=5,$end"
ffmpeg_filter chromaber "$source,chromaber_vulkan=dist_x=2,$end"
ffmpeg_filter overlay "$source[a];smptebars=size=160x90:rate=25:duration=4,format=yuv420p,hwupload[b];[a][b]overlay_vulkan=x=40:y=30,$end"
ffmpeg_filter libplacebo "$source,libplacebo=w=320:h=180:upscaler=ewa_lanczos:deband=true,$end"

ffmpeg -nostdin -v error -f lavfi -i "mandelbrot=size=320x180:rate=25:end_pts=100" -t 6 -c:v mpeg4 -q:v 3 \
    "$demo/clip.mkv"
device=$(vulkaninfo --summary 2>/dev/null | awk -F ' *= *' '/deviceName/ && !found { print $2; found = 1 }')
play mpv "mpv plays a generated clip" -- mpv --no-config --vo=gpu-next --gpu-api=vulkan --gpu-context=x11vk \
    --vulkan-device="$device" --no-audio --scale=ewa_lanczossharp --deband=yes "$demo/clip.mkv"

GALLIUM_DRIVER=zink MESA_LOADER_DRIVER_OVERRIDE=zink LIBGL_ALWAYS_SOFTWARE=true \
    play glmark2 "glmark2, OpenGL through zink" -- glmark2 -s 400x300 -b build:duration=3 -b shading:duration=3 \
    -b bump:duration=3 -b "conditionals:fragment-steps=3:duration=3" -b "loop:fragment-steps=5:duration=3" \
    -b terrain:duration=4

# ---- what a profile gains ----

# On a driver that skips what no lane wants, as GPUs do, and with no server: a session profiles the terrain, and the next
# one draws it with the game's own shaders and with those the profile led to, in turn.
gain=$demo/logs/gain
terrain() {
    VK_DRIVER_FILES=$root/build/drivers/lavapipe-25/icd.json "$piecemeal" run --local "$@"
}
say "terrain, on this machine only: a session that profiles"
terrain --set sampler.window_probability=1 --set sampler.api_probability=1 --set sampler.batch=128 \
    --set limits.variants=4096 --set debug.synchronous=true \
    -- "$build/examples/piecemeal-terrain" --size 160x90 --frames 10 --quiet >"$demo/logs/terrain" 2>&1 ||
    { tail -n 5 "$demo/logs/terrain" >&2; failed=$((failed + 1)); }
say "terrain: its own shaders and specialized ones in turn"
terrain --ab --ab-frames 16 --set sampler.window_probability=0 --set debug.synchronous=true \
    --set debug.trust_variants=true \
    -- "$build/examples/piecemeal-terrain" --size 160x90 --frames 900 --quiet >"$gain" 2>&1 ||
    { tail -n 5 "$gain" >&2; failed=$((failed + 1)); }

# ---- what the aggregator knows now ----

sleep 2
say "pulling the PGO databases"
"$piecemeal" sync --config <(printf '{"aggregator": {"url": "http://127.0.0.1:%s"}}' "$port") \
    >"$demo/logs/sync" 2>&1 || { cat "$demo/logs/sync" >&2; failed=$((failed + 1)); }
for game in "${games[@]}"; do
    echo
    echo "== $game"
    "$piecemeal" db show --game "$game" --storage "$demo/aggregator.sqlite" || failed=$((failed + 1))
    "$piecemeal" report --game "$game" --storage "$demo/aggregator.sqlite" -o "$demo/report-$game.html" \
        >"$demo/logs/report-$game" 2>&1 || { cat "$demo/logs/report-$game" >&2; failed=$((failed + 1)); }
done
echo
echo "== piecemeal-terrain, on this machine only"
"$piecemeal" db show --game piecemeal-terrain || failed=$((failed + 1))
"$piecemeal" report --game piecemeal-terrain -o "$demo/report.html" >"$demo/logs/report" 2>&1 ||
    { cat "$demo/logs/report" >&2; failed=$((failed + 1)); }
sed -n '/the game is \|took in/! s/^piecemeal run: //p' "$gain"

# ---- in a few sentences ----

# counts GAME...: shaders whose blocks were profiled, those of which every block has samples.
counts() {
    local game
    for game in "$@"; do
        "$piecemeal" db show --game "$game" --storage "$demo/aggregator.sqlite" --json
    done | python3 -c '
import json, sys
text, shaders, at = sys.stdin.read(), [], 0
while text[at:].strip():
    at += len(text[at:]) - len(text[at:].lstrip())
    one, at = json.JSONDecoder().raw_decode(text, at)
    shaders += [shader for shader in one["shaders"] if shader["kind"] == "block"]
whole = sum(shader["covered"] == len(shader["points"]) for shader in shaders)
print(len(shaders), whole)'
}
read -r shaders whole < <(counts "${games[@]}") || failed=$((failed + 1))

cat <<END

== What you have seen ($((SECONDS - started)) s)

${#games[@]} programs ran unchanged while a layer between them and the Vulkan driver sampled their shaders. An aggregator on
this machine put the samples together: of $shaders shaders it knows how often their parts run, of $whole of them every part.

$(python3 - "$demo/xdg/data/piecemeal/gains/piecemeal-terrain.json" <<'PYTHON'
import json, sys
try:
    with open(sys.argv[1], encoding="utf-8") as file:
        gain = json.load(file)
    faster, least, most = (100 * (1 / gain[name] - 1) for name in ("ratio", "high", "low"))
    if least <= 0 <= most:
        print("Whether it is faster so could not be told this time; the machine may have been busy:")
    print(f"""From such a profile the layer made other versions of {len(gain["shaders"])} of the terrain renderer's shaders while it ran. With
them it drew {faster:+.0f} % frames a second (95 % interval {least:+.0f} to {most:+.0f} %), {gain["original"] / 1e6:.1f} ms a frame before and {gain["optimized"] / 1e6:.1f} ms after. That
was on {gain["device"]}, a driver that computes in software; a GPU spends its time otherwise.""")
except (OSError, KeyError, ValueError, ZeroDivisionError):
    print("Whether specialized shaders are faster could not be measured this time.")
PYTHON
)

Why, and where the time goes:  $demo/report.html
The other programs:            $demo/report-GAME.html
Pictures that were drawn:      $demo/scene-0.png, scene-1.png, scene-2.png

Nothing left this machine, and your own settings were not touched.
END
if [ $keep = yes ]; then
    echo "The aggregator's pages:        http://127.0.0.1:$port/   (Ctrl-C ends it)"
    wait "$aggregator"
fi
[ $failed = 0 ] || { echo "$failed of the steps failed; what they said stands above" >&2; exit 1; }
