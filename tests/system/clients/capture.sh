# A capture of gfxreconstruct's of whatever program (PM_CAPTURE), replayed: what a program draws that draws something else
# in each run. The argument says of which frames pictures are compared, as 100,120,140.
client_needs="Xvfb gfxrecon-replay"
client_validated=no # a capture holds what its program did wrong
[ -f "${PM_CAPTURE:-}" ] || skip "no PM_CAPTURE with a capture"

client_prepare() {
    display
}

client_run() {
    run_quietly "$scratch/log" gfxrecon-replay --screenshots "$client_argument" --screenshot-dir "$1" "$PM_CAPTURE"
    [ "$(find "$1" -name '*.bmp' | wc -l)" = "$(awk -F, '{ print NF }' <<<"$client_argument")" ] ||
        fail "the replay took no pictures"
}
