#!/bin/bash
# What bench/gain/never_slower.c says, and ends with, of sessions that are written here: its scene draws nothing, and its
# piecemeal writes the log that a session is to have. usage: never_slower_says.sh
. "$(dirname "$0")/lib.sh"

made='info: shader 00000000000N is specialized: canonical'
dropped='info: shader 00000000000N is not faster, and is dropped'
slow='info: tried a specialized shader 10000000000N: 150.0 % of the time (140.0 to 160.0, 16 pairs), dropped'
undecided='info: tried a specialized shader 10000000000N: 100.1 % of the time (99.0 to 101.2, 1024 pairs), undecided: tried again later'
on='debug: the trial of a specialized shader 10000000000N was not over after 12 pairs'
share='info: trials took 0.400 % of the time'

# session FILE WHAT...: a log of it, each NAME=NUMBER a line of the above
session() {
    local file=$1 what name
    shift
    for what; do
        name=${what%=*}
        echo "piecemeal: ${!name//N/${what#*=}}"
    done >"$file"
    echo "piecemeal: $share" >>"$file"
}

# The same log in each session, and another once the verdicts were turned.
cat >"$scratch/piecemeal" <<'SCRIPT'
#!/bin/bash
verdicts=$XDG_DATA_HOME/piecemeal/journal/game/verdicts
session=$SESSION
mkdir -p "$(dirname "$verdicts")"
if grep -qs 'verdict faster' "$verdicts"; then
    session=$SESSION-turned
elif grep -q 'is dropped' "$session"; then
    printf '\nverdict slower 1\n' >"$verdicts"
else
    printf '\nverdict undecided 1\n' >"$verdicts"
fi
while [ "$1" != -- ]; do
    case $1 in
    log.file=*) cat "$session" >"${1#log.file=}" ;;
    esac
    shift
done
shift
[ -z "${LONGER-}" ] || export FRAME=$LONGER
exec "$@"
SCRIPT
# A frame takes a millisecond by its own word, and with the layer LONGER. PROFILED, TRIED: it does not end before it is told to, and then with that.
cat >"$scratch/scene" <<'SCRIPT'
#!/bin/bash
case ${*: -1} in
--step) ;;
10 | 5000)
    [ "${*: -1}" = 10 ] && ends=${PROFILED-} || ends=${TRIED-}
    [ -n "$ends" ] || exit 0
    sleep 300 &
    trap 'kill $!; exit "$ends"' TERM
    wait
    ;;
*) exit 0 ;;
esac
while read -r -n 1; do
    [ -z "${SLOW-}" ] || { touch "$SLOW" && sleep 2; }
    echo "${FRAME-1.0}"
done
exit 0
SCRIPT
chmod +x "$scratch/piecemeal" "$scratch/scene"
command=("$PM_BUILD/bench/never_slower" --piecemeal "$scratch/piecemeal" --frames 24 --skip 4 --block 4 --sessions 2 --
    "$scratch/scene")

# says STATUS TEXT WHAT...: of such sessions
says() {
    local status=0 expected=$1 text=$2
    shift 2
    session "$scratch/session" "$@"
    SESSION=$scratch/session timeout 300 "${command[@]}" >"$scratch/out" 2>"$scratch/errors" || status=$?
    if [ $status != "$expected" ] || ! grep -qF "$text" "$scratch/out" "$scratch/errors"; then
        cat "$scratch/out" "$scratch/errors" >&2
        fail "of $* it ended with $status and not $expected, or did not say $text"
    fi
}

session "$scratch/session-turned" made=1 dropped=1 slow=1
says 0 '| scene | 2 | 2 | 0 | 0.400 |' made=1 made=2 dropped=1 slow=1 dropped=2 slow=2
# The third was never tried.
says 0 '| scene | 3 | 1 | 1 | 0.400 |' made=1 made=2 made=3 dropped=1 slow=1 undecided=2 undecided=2
says 0 '| scene | 2 | 2 | 0 | 0.400 |' made=1 made=2 dropped=1 slow=1 undecided=2 dropped=2 slow=2
says 1 '| scene | 2 | 1 | 1 | 0.400 |' made=1 made=2 dropped=1 slow=1 undecided=2 on=2
says 1 'never_slower: scene: undecided, the variant: 100000000002' made=1 made=2 dropped=1 slow=1 on=2
says 1 'nothing was dropped' made=1 made=2 undecided=1 undecided=2
says 1 'never_slower: scene: undecided, the variant: 100000000002' made=1 made=2 undecided=1 on=2
# Frames that take longer afterwards are another end than what is not decided.
export LONGER=1.1
says 3 'never_slower: scene: frames take longer afterwards' made=1 made=2 dropped=1 slow=1 dropped=2 slow=2
says 3 '| scene | 2 | 1 | 1 | 0.400 | +10.00' made=1 made=2 dropped=1 slow=1 undecided=2 on=2
LONGER=1.005
says 0 '| scene | 2 | 2 | 0 | 0.400 | +0.50' made=1 made=2 dropped=1 slow=1 dropped=2 slow=2
unset LONGER

# It ends though its scene does not, neither while profiled nor while tried, and says what it does not know.
command=("${command[0]}" --seconds 1 "${command[@]:1}")
session "$scratch/session-turned" made=1 made=2 dropped=1 on=2
export PROFILED=0 TRIED=0
begun=$SECONDS
says 1 'never_slower: scene: turned slow and in use, the shader: 000000000002' made=1 made=2 dropped=1 slow=1 dropped=2 slow=2
TRIED=3
says 1 'ended with 3 while variants were tried' made=1 dropped=1 slow=1
PROFILED=3
says 1 'ended with 3 while profiled' made=1 dropped=1 slow=1
unset PROFILED TRIED
[ $((SECONDS - begun)) -lt 200 ] || fail "of a second it took $((SECONDS - begun))"

# Told to end while rounds are drawn, it says that, and nothing of the scene.
session "$scratch/session" made=1 dropped=1 slow=1
SESSION=$scratch/session SLOW=$scratch/drawn "${command[@]}" >"$scratch/out" 2>"$scratch/errors" &
told=$!
children+=($told)
for ((i = 0; i < 600; i++)); do
    [ ! -e "$scratch/drawn" ] || break
    sleep 0.1
done
[ -e "$scratch/drawn" ] || fail "no round was drawn: $(cat "$scratch/errors")"
kill "$told"
status=0
wait "$told" || status=$?
[ $status = 1 ] && grep -q 'was told to end' "$scratch/errors" ||
    fail "told to end in a round it ended with $status: $(cat "$scratch/errors")"
