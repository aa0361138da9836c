#!/bin/sh
# What an operator does with `piecemeal serve` and `db backup`: checks, a unit, a copy, a restore.
#   test_serve.sh PIECEMEAL UNIT.service.in
set -eu
piecemeal=$(realpath "$1")
unit=$2
. "$(dirname "$0")/../lib.sh"

check() {
    want=$1 pattern=$2
    shift 2
    expect "$want" "$pattern" "$piecemeal" serve --check --port 0 "$@"
}

# ---- the configuration ----

file=$work/a.sqlite
check 0 '^ok: .*a.sqlite: is not there yet' --storage "$file"
[ ! -e "$file" ] || { echo "FAILED: --check made the storage"; failures=$((failures + 1)); }
check 0 '^warning: token_file: none' --storage "$file"
check 1 '^error: storage: .*nowhere' --storage "$work/nowhere/a.sqlite"
check 1 '^error: token_file: .*none.*No such file' --storage "$file" --token-file "$work/none"
echo '# nobody' >"$work/tokens"
check 1 '^error: token_file: .*has no token' --storage "$file" --token-file "$work/tokens"
echo 'secret' >>"$work/tokens"
chmod 600 "$work/tokens"
check 0 '^ok: token_file: .* has 1 tokens' --storage "$file" --token-file "$work/tokens"
chmod 644 "$work/tokens"
check 0 '^warning: .*tokens: others may use it \(mode 644\)' --storage "$file" --token-file "$work/tokens"
check 1 '^error: address: .*no numeric address' --storage "$file" --address nowhere.example

certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/$1.key" -out "$work/$1.pem" \
        -days "$2" -subj /CN=localhost 2>/dev/null
}
certificate long 100
certificate short 5
check 0 '^ok: certificate: .*valid until' --storage "$file" --certificate "$work/long.pem" --key "$work/long.key"
check 0 '^warning: certificate: .*renew' --storage "$file" --certificate "$work/short.pem" --key "$work/short.key"
check 1 '^error: certificate: .*do not match' --storage "$file" --certificate "$work/long.pem" --key "$work/short.key"
check 1 '^error: certificate: ' --storage "$file" --certificate "$work/tokens" --key "$work/long.key"
check 0 'without TLS' --storage "$file" --address 0.0.0.0

# ---- the storage ----

serve() {
    : >"$work/serve" # what the one before said is not this one's
    "$piecemeal" serve --storage "$1" --port 0 >"$work/serve" 2>"$work/serve.err" &
    server=$!
    for _ in $(seq 300); do
        grep -q listening "$work/serve" && return
        sleep 0.2
    done
}
stop() {
    kill -TERM "$server"
    wait "$server" || { echo "FAILED: serve ended with $?"; cat "$work/serve.err"; failures=$((failures + 1)); }
}
serve "$file"
port=$(sed 's/.* //' "$work/serve")
expect 0 '^warning: address: 127.0.0.1 port [0-9]+ is taken' "$piecemeal" serve --check --storage "$file" --port "$port"
check 0 '^ok: .*whole SQLite database' --storage "$file"
# One server a file, by whatever name; commands take turns with it.
ln "$file" "$work/other name.sqlite"
expect 1 'another .piecemeal serve. has this file' "$piecemeal" serve --storage "$work/other name.sqlite" --port 0
rm "$work/other name.sqlite"
expect 0 '' "$piecemeal" db backup --storage "$file" -o "$work/copy.sqlite"
stop
# Free again.
serve "$file"
stop
chmod 660 "$file"
check 0 '^warning: storage: .*a.sqlite: others can write to it .mode 660' --storage "$file"
chmod 600 "$file"
check 0 '^ok: .*copy.sqlite: is a whole SQLite database' --storage "$work/copy.sqlite"
[ "$(stat -c %a "$work/copy.sqlite")" = 600 ] || { echo "FAILED: the copy is not private"; failures=$((failures + 1)); }
expect 1 'is the database itself' "$piecemeal" db backup --storage "$file" -o "$file"
expect 2 '-o is needed' "$piecemeal" db backup --storage "$file"

# A copy for which there is no space leaves the old one alone, and nothing else behind.
sum=$(cksum <"$work/copy.sqlite")
expect 1 'no space left' sh -c "ulimit -f 20; '$piecemeal' db backup --storage '$file' -o '$work/copy.sqlite'"
[ "$sum" = "$(cksum <"$work/copy.sqlite")" ] || { echo "FAILED: the old copy changed"; failures=$((failures + 1)); }
! ls "$work" | grep -q 'new-' || { echo "FAILED: a part of a copy was left"; failures=$((failures + 1)); }

# A page of it overwritten: found, and the copy restored.

dd if=/dev/urandom of="$file" bs=1 seek=8192 count=100 conv=notrunc 2>/dev/null
check 1 '^error: .*a.sqlite: ' --storage "$file"
cp "$work/copy.sqlite" "$file"
rm -f "$file-wal" "$file-shm"
check 0 '^ok: .*whole' --storage "$file"
serve "$file"
stop
echo 'no database at all, whatever its name says' >"$work/b.sqlite"
check 1 'not a Piecemeal database' --storage "$work/b.sqlite"

# ---- the unit ----

# READY=1 once it listens, RELOADING=1 and READY=1 when it reads its files again, STOPPING=1 when it is told to.
echo 'secret' >"$work/tokens"
python3 - "$piecemeal" "$work" <<'P' || { echo "FAILED: notifying"; failures=$((failures + 1)); }
import os, signal, socket, subprocess, sys
path = sys.argv[2] + "/notify"
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(path)
manager.settimeout(60)
server = subprocess.Popen([sys.argv[1], "serve", "--storage", sys.argv[2] + "/n.sqlite", "--port", "0",
                           "--token-file", sys.argv[2] + "/tokens"],
                          env={**os.environ, "NOTIFY_SOCKET": path}, stdout=subprocess.DEVNULL)
assert manager.recv(100) == b"READY=1"
for text, status in (("one\ntwo\n", b"Read its files again."), ("", b"Could not read all of its files again")):
    with open(sys.argv[2] + "/tokens", "w") as tokens:
        tokens.write(text)
    server.send_signal(signal.SIGHUP)
    assert manager.recv(100) == b"RELOADING=1"
    assert manager.recv(100).startswith(b"READY=1\nSTATUS=" + status)
server.send_signal(signal.SIGTERM)
assert manager.recv(100) == b"STOPPING=1"
assert server.wait(60) == 0
P
# What the example asks for is what the unit and the documentation say to load.
root=$(dirname "$unit")/../..
for credential in $(sed -n 's#.*/run/credentials/piecemeal-serve.service/\([^"]*\)".*#\1#p' "$root/manifest/serve.example.json"); do
    for file in "$unit" "$root/docs/operating.md"; do
        grep -q "LoadCredential=$credential:" "$file" || {
            echo "FAILED: $file does not load the credential $credential of the example"
            failures=$((failures + 1))
        }
    done
done
# As the unit runs it: the example's options, with files of this machine.
sed "s#/run/credentials/piecemeal-serve.service#$work/credentials#; s#/var/lib/piecemeal#$work#; s#\"port\": *[0-9]*#\"port\": 0#" \
    "$root/manifest/serve.example.json" >"$work/serve.json"
mkdir "$work/credentials"
cp "$work/long.pem" "$work/credentials/certificate.pem"
cp "$work/long.key" "$work/credentials/key.pem"
echo 'player' >"$work/credentials/tokens"
echo 'operator' >"$work/credentials/operators"
chmod 600 "$work/credentials"/*
expect 0 '^ok: token_file' "$piecemeal" serve --check --config "$work/serve.json" --storage "$work/unit.sqlite"
"$piecemeal" serve --config "$work/serve.json" --storage "$work/unit.sqlite" >"$work/serve" 2>"$work/serve.err" &
server=$!
for _ in $(seq 300); do
    grep -q listening "$work/serve" && break
    sleep 0.2
done
grep -q listening "$work/serve" || { echo "FAILED: the documented configuration does not start"; cat "$work/serve.err"; failures=$((failures + 1)); }
stop
if command -v systemd-analyze >/dev/null; then
    sed "s#@PM_BINDIR@#$(dirname "$piecemeal")#" "$unit" >"$work/piecemeal-serve.service"
    expect 0 '' systemd-analyze verify --man=no "$work/piecemeal-serve.service"
    [ ! -s "$work/err" ] || { echo "FAILED: the unit"; cat "$work/err"; failures=$((failures + 1)); }
fi

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo "all as expected"
