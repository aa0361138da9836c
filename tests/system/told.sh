#!/bin/bash
# A game that nobody started with `piecemeal run` has nowhere to say what is wrong with its config or its log: `doctor`
# shows it, until a session goes well.
. "$(dirname "$0")/lib.sh"
quick_driver lavapipe-22
piecemeal=$PM_BUILD/tools/piecemeal
play() {
    env VK_ADD_LAYER_PATH="$PM_BUILD/share/vulkan/explicit_layer.d" VK_INSTANCE_LAYERS=$piecemeal_layer "$@" \
        "$PM_BUILD/examples/piecemeal-postprocess" --frames 1 --size 16x16 --quiet >"$scratch/out" 2>&1 ||
        { cat "$scratch/out"; fail "the game failed"; }
}
# doctor PATTERN: whether it finds that
doctor() {
    VK_DRIVER_FILES=/none "$piecemeal" doctor >"$scratch/doctor" 2>&1 || true
    grep -qE "$1" "$scratch/doctor"
}

doctor '^BAD .*last session' && fail "there is trouble before there was a session"
printf '{"sampler": {"bacth": 3}}\n' >"$scratch/bad.json"
play PIECEMEAL_CONFIG="$scratch/bad.json"
doctor '^BAD .*last session: .*bad.json:1:14: .*did you mean "sampler.batch"' || fail "doctor does not show a bad config"
play PIECEMEAL_LOG_FILE=/dev/null/log
doctor '^BAD .*last session: .*/dev/null/log: cannot open the log file' || fail "doctor does not show a bad log file"
play PIECEMEAL_LOG_LEVEL=error
doctor '^BAD .*last session' && fail "the trouble stays though it is over"

# Under `piecemeal run` a log file that cannot be opened is said there, and so is what is said after it.
"$piecemeal" run --set log.file=/dev/null/log --set log.level=info -- \
    "$PM_BUILD/examples/piecemeal-postprocess" --frames 1 --size 16x16 --quiet >"$scratch/run" 2>&1
grep -q 'warning: /dev/null/log: cannot open the log file' "$scratch/run" || fail "$(cat "$scratch/run")"
grep -q 'info: game "' "$scratch/run" || fail "what follows is lost: $(cat "$scratch/run")"
# What is sampled with nowhere to go says how to get something of it.
sample() {
    "$piecemeal" run --set sampler.window_probability=1 --set sampler.api_probability=1 --set debug.synchronous=true -- \
        "$PM_BUILD/examples/piecemeal-postprocess" --frames 2 --size 16x16 --quiet >"$scratch/run" 2>&1
    grep -q '^piecemeal run: sampled [1-9]' "$scratch/run" || fail "$(cat "$scratch/run")"
}
sample
grep -qE '^piecemeal run: sampled .*; next: piecemeal run --local, .*aggregator\.url\)$' "$scratch/run" || fail "$(cat "$scratch/run")"
# Who has an aggregator and sends it nothing is not told that there is none. The session before leads to a trial, whose
# lots could time both frames.
rm -r "$XDG_DATA_HOME/piecemeal"
mkdir -p "$XDG_CONFIG_HOME/piecemeal"
printf '{"aggregator": {"url": "http://127.0.0.1:1"}, "consent": {"upload": false}}\n' \
    >"$XDG_CONFIG_HOME/piecemeal/piecemeal-postprocess.json"
sample
grep -qE '; next: |no config names' "$scratch/run" && fail "$(cat "$scratch/run")"
# Under a name that is given to a game its config is that name's, as `run` says, not that of the name it has itself.
printf '{"log": {"file": "%s/renamed.log", "level": "debug"}}\n' "$scratch" >"$XDG_CONFIG_HOME/piecemeal/Renamed.json"
# So also where a launcher has one: Steam's number counts where no config names the game.
from_steam() {
    SteamAppId=620 "$piecemeal" run "$@" -- "$PM_BUILD/examples/piecemeal-postprocess" --frames 2 --size 16x16 --quiet \
        >"$scratch/run" 2>&1 || fail "$(cat "$scratch/run")"
}
from_steam --set log.file="$scratch/steam.log" --set log.level=info
grep -q 'info: game "steam-620"' "$scratch/steam.log" || fail "Steam's number is no name"
printf '{"game": {"name": "Configured"}, "log": {"file": "%s/configured.log", "level": "info"}}\n' "$scratch" \
    >"$scratch/configured.json"
from_steam --config "$scratch/configured.json"
grep -q 'info: game "Configured"' "$scratch/configured.log" || fail "the config's name does not win"
from_steam --game Renamed
grep -q 'the game is "Renamed"; its config: .*/Renamed.json$' "$scratch/run" || fail "$(cat "$scratch/run")"
grep -q 'info: game "Renamed"' "$scratch/renamed.log" || fail "the config of the name is not read"
echo "$name: all as expected"
