#!/bin/bash
# Ctrl-C ends ./demo.sh while a program plays, and what it has started.
. "$(dirname "$0")/lib.sh"
root=$scratch/root
mkdir -p "$root/scripts" "$root/build/release/tools" "$scratch/bin"
cp "$PM_SOURCE/demo.sh" "$root"
# What it builds and calls, as far as it gets here.
stub() { # PATH, the script on standard input
    { echo '#!/bin/sh'; cat; } >"$1"
    chmod +x "$1"
}
stub "$root/scripts/bootstrap.sh" </dev/null
stub "$scratch/bin/cmake" </dev/null
stub "$scratch/bin/Xvfb" <<'END'
echo 99 >&3
exec sleep 600
END
stub "$root/build/release/tools/piecemeal" <<END
case \$1 in
serve)
    echo \$\$ >"$scratch/serves"
    echo 'listening on 127.0.0.1 port 1'
    exec sleep 600
    ;;
run)
    echo \$\$ >>"$scratch/plays"
    exec sleep 20
    ;;
esac
END
PATH=$scratch/bin:$PATH setsid env --default-signal=INT bash "$root/demo.sh" >"$scratch/log" 2>&1 &
demo=$!
children+=("$demo")
for _ in $(seq 600); do
    [ -s "$scratch/plays" ] && break
    sleep 0.1
done
[ -s "$scratch/plays" ] || { cat "$scratch/log"; fail "nothing plays"; }
sleep 0.5
began=$SECONDS status=0
kill -INT -- "-$demo"
wait "$demo" || status=$?
[ $status -eq 130 ] && [ $((SECONDS - began)) -lt 15 ] ||
    { cat "$scratch/log"; fail "it ended with $status after $((SECONDS - began)) s"; }
[ "$(wc -l <"$scratch/plays")" -eq 1 ] || fail "it went on with the next program"
! kill -0 "$(cat "$scratch/serves")" 2>/dev/null || fail "the aggregator is still there"
echo "$name: all as expected"
