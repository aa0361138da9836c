# mpv plays a clip; what its window shows at given frames. With the argument hq, with costly scalers, and without debanding
# and dithering: their noise is another one in each picture that is drawn, and how many are drawn hangs on time. mpv_shots:
# how often each frame is drawn.
client_needs="mpv ffmpeg Xvfb vulkaninfo"
mpv_options=()
[ "$client_argument" != hq ] ||
    mpv_options=(--profile=gpu-hq --scale=ewa_lanczossharp --cscale=ewa_lanczossoft --deband=no --dither-depth=no)

client_prepare() {
    display
    run_quietly "$scratch/log" ffmpeg -nostdin -v error -f lavfi \
        -i "testsrc2=size=320x180:rate=25:duration=1,format=yuv420p" -c:v ffv1 -y "$scratch/clip.mkv"
    device_name=$(vulkaninfo --summary 2>"$scratch/log" |
        awk -F ' *= *' '/deviceName/ && !found { print $2; found = 1 }') ||
        fail "vulkaninfo: $(cat "$scratch/log")"
    cat >"$scratch/take.lua" <<'LUA'
-- A picture of the window at each of three frames, paused so that it stands still.
local folder, shots = mp.get_opt("folder"), tonumber(mp.get_opt("shots"))
local wanted, taken = {0.2, 0.48, 0.8}, 0
local function take()
    taken = taken + 1
    if taken > #wanted then
        mp.command("quit")
        return
    end
    mp.commandv("seek", wanted[taken], "absolute+exact")
end
mp.register_event("playback-restart", function()
    if taken > 0 then
        -- twice or more: the last picture is drawn after everything of the first is complete
        for _ = 2, shots do
            mp.commandv("screenshot-to-file", folder .. "/warm.png", "window")
        end
        mp.commandv("screenshot-to-file", folder .. "/" .. taken .. ".png", "window")
    end
    take()
end)
LUA
}

client_run() {
    local output crashes_allowed=0
    # It destroys semaphores that lavapipe still writes to, and crashes in the thread of 22.3, without us once in some 200 runs
    # beside the validation layer (docs/results/drivers.md). Without us that says nothing of us; with us it does not.
    [[ $client_driver != lavapipe-22 || ${VK_INSTANCE_LAYERS-} == *"$piecemeal_layer"* ]] || crashes_allowed=2
    for output in gpu-next gpu; do
        mkdir -p "$1/$output"
        run_quietly "$scratch/log" mpv --no-config --vo=$output --gpu-api=vulkan --gpu-context=x11vk \
            --vulkan-device="$device_name" --no-audio --pause --no-osc --no-osd-bar --osd-level=0 \
            --geometry=480x270+0+0 --script="$scratch/take.lua" --script-opts=folder="$1/$output",shots="${mpv_shots:-2}" \
            --screenshot-png-compression=1 --hwdec=no "${mpv_options[@]}" "$scratch/clip.mkv"
        rm -f "$1/$output/warm.png"
        [ -s "$1/$output/3.png" ] || fail "mpv took no pictures"
    done
}
