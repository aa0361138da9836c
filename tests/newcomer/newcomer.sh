#!/bin/bash
# The newcomer: README's commands one after the other, in a bare Debian 12, with what each must print; then the ways in
# which newcomers went wrong. As root; downloads and builds. The game is piecemeal-terrain.
#   newcomer.sh FOLDER [--list|--all]
#       FOLDER: for logs; --list: only says what is done of each of README's commands; --all: ./test.sh, too, which builds
#       all tests there and takes half an hour
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
folder=$1
mkdir -p "$folder"
. "$source/tests/packages/bare.sh"

# README's commands, a line each, without what stands behind them.
readme_commands() {
    awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$source/README.md" |
        sed -e 's/  *# .*$//' -e 's/^sudo //; s/&& sudo /\&\& /' -e '/^$/d'
}

# What a run says that sampled; and on a machine so busy that the layer's threads got no time.
sampled='^piecemeal run: sampled [1-9][0-9,]* of [0-9,]+ draws in [1-9][0-9]* of [0-9]+ shaders?, [0-9]+ % of their points; .*next: piecemeal report$'
too_late='^piecemeal run: sampled nothing: no copy of a shader was compiled in time: .*--set debug\.synchronous=true waits for them'

# What to do with a command: run it and look for a line; run it at the end, since it installs what a newcomer may lack
# before, or there with --all only; or leave it to another test, and to which.
what_of() {
    case $1 in
    './test.sh') echo 'all:^100% tests passed, 0 tests failed out of [1-9][0-9]+$' ;;
    './demo.sh') echo 'end:^== What you have seen \([0-9]+ s\)$' ;;
    'scripts/bootstrap.sh build') echo 'run:' ;;
    'cmake --preset release -DBUILD_TESTING=OFF && cmake --build --preset release') echo 'run:' ;;
    'cmake --install build/release') echo 'run:VkLayer_piecemeal' ;;
    *'cpack --config'* | 'apt install ./build/package'*) echo 'left: packages/installed' ;;
    'piecemeal doctor') echo 'run:implicit_layer.d/VkLayer_piecemeal.json \(implicit\), its library opens' ;;
    'piecemeal run --local --set sampler.window_probability=1 -- ./game') echo "run:$sampled|$too_late" ;;
    'piecemeal db show') echo 'run:^ +cost  shader .*samples$' ;;
    'piecemeal report -o report.html') echo 'run:^report.html: [1-9][0-9]* shaders of piecemeal-terrain$' ;;
    'piecemeal run --local --ab -- ./game') echo 'run:^piecemeal run: (nothing was compared: |[+-][0-9.]+ % frames)' ;;
    'piecemeal try --sessions 3 -- ./game') echo 'run:^piecemeal try: session 1 of 3: ' ;;
    'piecemeal status') echo 'run:^piecemeal-terrain' ;;
    'piecemeal serve --storage profiles.sqlite --address 0.0.0.0 --token-file tokens --certificate c.pem --key k.pem')
        echo 'left: upload.sh has the same over TLS' ;;
    'piecemeal db '*) echo 'left: tools/db' ;;
    *) echo unknown ;;
    esac
}

unknown=0
while read -r command; do
    [ "$(what_of "$command")" != unknown ] ||
        { echo "newcomer: README has a command that nothing here looks at: $command" >&2; unknown=1; }
    [ "${2-}" != --list ] || printf '%s\n    %s\n' "$command" "$(what_of "$command")"
done < <(readme_commands)
[ "${2-}" != --list ] || exit $unknown
[ $unknown = 0 ] || exit 1

bare_make newcomer "$folder/debootstrap.log"
failures=0
started=$SECONDS

# expect STATUS PATTERN COMMAND: in the source's folder there; "": any status, any output.
expect() {
    local want=$1 pattern=$2 status=0 command=$3
    echo "$((SECONDS - started)) s: $command"
    inside bash -c "cd /piecemeal && $command" \
        >"$folder/out" 2>&1 </dev/null || status=$?
    { echo "\$ $command"; cat "$folder/out"; } >>"$folder/all"
    if [ -n "$want" ] && [ "$status" != "$want" ]; then
        echo "FAILED: status $status, wanted $want: $command"
    elif [ -n "$pattern" ] && ! grep -qE -- "$pattern" "$folder/out"; then
        echo "FAILED: no line matches '$pattern': $command"
    else
        return 0
    fi
    tail -n 20 "$folder/out"
    failures=$((failures + 1))
}
# Of the same output.
also() {
    grep -qE -- "$1" "$folder/out" ||
        { echo "FAILED: no line matches '$1' either"; cat "$folder/out"; failures=$((failures + 1)); }
}
never() {
    ! grep -E -- "$1" "$folder/out" ||
        { echo "FAILED: a line matches '$1'"; failures=$((failures + 1)); }
}
lines_at_most() {
    [ "$(wc -l <"$folder/out")" -le "$1" ] ||
        { echo "FAILED: more than $1 lines:"; cat "$folder/out"; failures=$((failures + 1)); }
}
: >"$folder/all"

# ---- the source, as somebody gets it ----

mkdir -p "$root/piecemeal/build"
(cd "$source" && git ls-files -z --cached --others --exclude-standard | tar --null -T - -c) | tar -x -m -C "$root/piecemeal"
# What the bootstrap makes once in minutes may be copied from another machine (docs/building.md).
for made in khronos cjson; do
    [ ! -d "$source/build/$made" ] || cp -aL "$source/build/$made" "$root/piecemeal/build/"
done

# What an earlier try in the same root left.
rm -rf "$root/root/.config/piecemeal" "$root/root/.local/share/piecemeal" "$root/root/.cache/piecemeal"

# ---- README, On your own game ----

while read -r command; do
    what=$(what_of "$command")
    case $command in
    'piecemeal doctor')
        # Without a driver it says so; then there is one, and a game.
        expect 1 'BAD .*the loader finds no Vulkan driver' 'piecemeal doctor'
        expect 1 '^piecemeal run: sampled nothing: the program made no Vulkan instance' 'piecemeal run --local -- false'
        expect 0 '' 'apt-get install -y --no-install-recommends mesa-vulkan-drivers procps'
        expect 0 '' 'cmake --build --preset release --target piecemeal-terrain'
        printf '#!/bin/sh\nexec /piecemeal/build/release/examples/piecemeal-terrain --size 48x27 --frames 3000 --quiet\n' \
            >"$root/piecemeal/game"
        chmod +x "$root/piecemeal/game"
        ;;
    esac
    case $what in
    run:*) expect 0 "${what#run:}" "$command" ;;
    esac
    case $command in
    'piecemeal doctor') also '^Nothing stands in the way\.$' ;;
    'piecemeal try '*)
        also '^/root/.local/share/piecemeal/reports/piecemeal-terrain.html: [1-9][0-9]* shaders of piecemeal-terrain$'
        ;;
    'piecemeal run --local --set sampler.window_probability=1 -- ./game')
        # Who does as it says then gets there.
        ! grep -qE "$too_late" "$folder/out" ||
            expect 0 "$sampled" "${command/ -- / --set debug.synchronous=true -- }"
        ;;
    scripts/bootstrap.sh*)
        # A build needs no driver; dpkg may know its name all the same.
        expect 1 '' "dpkg-query -W -f '\${db:Status-Status}\n' mesa-vulkan-drivers | grep -x installed"
        ;;
    esac
done < <(readme_commands)

# ---- ways to go wrong ----

# Local checkpoints of one process are one session.
expect 0 '' 'rm -rf ~/.local/share/piecemeal ~/.cache/piecemeal'
expect 0 '^piecemeal run: took in [0-9]+ checkpoints? of 1 session;' \
    'piecemeal run --local --set sampler.window_probability=1 --set debug.synchronous=true -- ./game'
expect 0 '^all of it from one session' 'piecemeal db show'
expect 0 '<p class=verdict>' 'piecemeal report -o -'
expect 1 'no shader of piecemeal-terrain has a key that begins with zzz' 'piecemeal db show --shader zzz'

# A run that cannot sample says why not.
expect 0 'no window opened in [0-9,]+ frames: one frame in [0-9,]+ opens one' \
    'piecemeal run --local --set sampler.window_probability=0.000000001 -- ./game'

# With nowhere to write to the game starts all the same.
expect 0 'nothing can be kept of this run' \
    'setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent piecemeal run --local -- true'

# Names that nothing reads.
expect 0 'PIECEMEAL_SAMPLER_BACTH .*did you mean PIECEMEAL_SAMPLER_BATCH' \
    'PIECEMEAL_SAMPLER_BACTH=3 piecemeal run --local -- true'
expect 2 'did you mean --local' 'piecemeal run --locla -- true'
configs=$root/root/.config/piecemeal
mkdir -p "$configs"
echo '{}' >"$configs/My Tiny Game.json"
expect 1 'no game reads .*My Tiny Game.json: it would have to be called My%20Tiny%20Game.json' 'piecemeal doctor'
rm "$configs/My Tiny Game.json"

# With an aggregator: named in the game's config, found by what the layer calls the game.
aggregator_at() { # PORT
    printf '{"aggregator": {"url": "http://127.0.0.1:%s"}, "sampler": {"window_probability": 1}, "debug": {"synchronous": true}}\n' \
        "$1" >"$configs/piecemeal-terrain.json"
}
aggregator_at 1 # where nothing answers
expect 0 'nothing is uploaded: consent was not asked yet' 'piecemeal run -- ./game'
expect 0 '' 'piecemeal consent grant'
# While it is away one line says so, and when the next try is.
expect 0 '^piecemeal run: http://127.0.0.1:1/.*; [0-9]+ sessions? waits?; next try: ' 'piecemeal run -- ./game'
expect '' '^piecemeal sync: http://127.0.0.1:1/.*; next try: ' 'piecemeal sync'
lines_at_most 2
inside bash -c 'cd /piecemeal && exec piecemeal serve --storage /tmp/a.sqlite --port 0 --dev --curate-seconds 1' \
    >"$folder/serve" 2>&1 &
server=$!
for _ in $(seq 100); do
    grep -qs '^listening on' "$folder/serve" && break
    sleep 0.1
done
port=$(sed -n 's/^listening on .* port \([0-9]*\)$/\1/p' "$folder/serve")
aggregator_at "$port"
expect 0 '^piecemeal run: the game is "piecemeal-terrain"; its config: /root/.config/piecemeal/piecemeal-terrain.json$' \
    'piecemeal run -- ./game'
also '^piecemeal run: uploaded [1-9][0-9]* sessions?, [1-9][0-9]* shader profiles?$'
sleep 3
expect 0 '' 'piecemeal run -- ./game'
expect 0 '' 'ls ~/.cache/piecemeal/*/*piecemeal-terrain* || ls -R ~/.cache/piecemeal | grep -i terrain'
expect 1 '' "piecemeal serve --storage /tmp/second.sqlite --port $port"
expect 2 '' 'ls /tmp/second.sqlite'
kill $(ps -o pid= --ppid "$server") || true # it is the shell's child
wait "$server" 2>/dev/null || true

# ---- README, Two commands ----

while read -r command; do
    what=$(what_of "$command")
    case $what in
    end:*) expect 0 "${what#end:}" "$command" ;;
    all:*) [ "${2-}" != --all ] || expect 0 "${what#all:}" "$command" ;;
    esac
    case $command in
    ./demo.sh)
        # Its last lines are for somebody who reads nothing else.
        also '^[0-9]+ programs ran unchanged while a layer '
        also '^(them it drew [+-][0-9]+ % frames a second |Whether specialized shaders are faster could not be measured)'
        also '^Why, and where the time goes:  .*/report.html$'
        also '^Nothing left this machine, and your own settings were not touched\.$'
        never 'it failed|of the steps failed|sampled nothing'
        expect 0 '<p class=verdict>' 'cat build/demo/report.html'
        ;;
    esac
done < <(readme_commands)

# And it goes again.
expect 0 '' 'cmake --build build/release --target uninstall'
expect 1 '' 'find /usr/local /etc /usr/share -name "*piecemeal*" | grep .'

[ $failures = 0 ] || fail "$failures of its expectations failed; all that was printed is in $folder/all"
echo "newcomer: all as README and the docs say, in $((SECONDS - started)) s"
