# For the tests of how games end, which source it: a game (playing.c) that is started by piecemeal and ended.
. "$(dirname "$0")/../lib.sh"
export XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache"
unset PIECEMEAL_CONFIG PIECEMEAL_ENABLE PIECEMEAL_DISABLE PIECEMEAL_SPOOL PIECEMEAL_DATABASES PIECEMEAL_RUN PIECEMEAL_JOURNAL || true
journal=$XDG_DATA_HOME/piecemeal/journal/playing

# play COMMAND…: of piecemeal, in a process group of its own; $run is its id and the group's, $game the game's.
play() {
    rm -f "$work/plays"
    setsid env --default-signal=HUP "$piecemeal" "$@" >"$work/log" 2>&1 &
    run=$!
    for _ in $(seq 600); do
        [ -s "$work/plays" ] && break
        sleep 0.1
    done
    game=$(cat "$work/plays")
}
failed() {
    echo "FAILED: $*"
    cat "$work/log"
    failures=$((failures + 1))
}
# said TIMES PATTERN: in so many lines.
said() {
    lines=$(grep -cE -- "$2" "$work/log") || true
    [ "$lines" = "$1" ] || failed "$lines lines match '$2', wanted $1"
}
all_as_expected() {
    [ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
    echo "all as expected"
}
