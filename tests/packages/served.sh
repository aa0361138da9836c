#!/bin/bash
# The aggregator in a bare Debian 12, installed by the lines of docs/operating.md themselves: systemd finds nothing wrong
# with the unit, and its command line serves what the example asks for. systemd is not the first process there, so that
# what it would do for the unit (credentials, the state's folder) is done here. As root; downloads.
#   served.sh BUILD   BUILD: a build tree, as build/release
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
name=served
. "$source/tests/packages/bare.sh"
log=$build/tests/served.log
docs=$source/docs/operating.md
bare_make served "$log"
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; bare_end' EXIT

# What the build is linked with, and what the lines call.
# (dpkg knows a file by the one path or the other.)
libraries=$(ldd "$build/tools/piecemeal" | awk '$3 ~ "^/" { sub("^/usr", "", $3); print $3, "/usr" $3 }' |
    { xargs dpkg -S 2>/dev/null || true; } | cut -d: -f1 | sort -u)
# shellcheck disable=SC2086 # words
inside apt-get install -y --no-install-recommends systemd openssl curl $libraries >>"$log" 2>&1 ||
    { tail -5 "$log"; skip "what it needs cannot be installed"; }
DESTDIR=$root cmake --install "$build" --prefix /usr/local >>"$log"

# The first block of the page, but for what systemd is told.
awk '/^## Install/ { on = 1 } /^The service has no user/ { exit } on && /^    / { sub(/^    /, ""); print }' "$docs" |
    grep -v -e '^cmake --install' -e '^systemctl' >"$root/install.sh"
[ "$(wc -l <"$root/install.sh")" -ge 4 ] || fail "the page has no lines to install it by"
inside sh -e /install.sh || fail "the page's lines end with an error"
drop=/etc/systemd/system/piecemeal-serve.service.d
mkdir -p "$root$drop"
awk '/^    \[Service\]/ { on = 1 } on && /^    / { sub(/^    /, ""); print; next } on { exit }' "$docs" >"$root$drop/override.conf"
inside sh -e -c '
    mkdir -p /etc/letsencrypt/live/pgo.example.org && cd /etc/letsencrypt/live/pgo.example.org
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 9 -subj /CN=localhost \
        -keyout privkey.pem -out fullchain.pem' 2>>"$log"

unit=/usr/local/lib/systemd/system/piecemeal-serve.service
said=$(inside systemd-analyze verify --man=no "$unit" 2>&1) || fail "systemd-analyze verify: $said"
[ -z "$said" ] || fail "systemd-analyze verify: $said"

credentials=/run/credentials/piecemeal-serve.service
mkdir -p "$root$credentials" "$root/var/lib/piecemeal"
sed -n 's/^LoadCredential=//p' "$root$drop/override.conf" | while IFS=: read -r credential file; do
    install -m 400 "$root$file" "$root$credentials/$credential"
done
command=$(sed -n 's/^ExecStart=//p' "$root$unit" | sed 's#%E#/etc#g; s#%S#/var/lib#g')
[ -n "$command" ] || fail "the unit starts nothing"
chroot "$root" env -i PATH=/usr/bin:/bin PIECEMEAL_SERVE_OPTIONS='--port 0' sh -c "exec $command" >"$build/tests/served.out" 2>>"$log" &
server=$!
for _ in $(seq 300); do
    port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$build/tests/served.out")
    [ -z "$port" ] || break
    kill -0 "$server" 2>/dev/null || { tail -5 "$log"; fail "the unit's command line ends"; }
    sleep 0.2
done
ask() { inside curl -s -o /dev/null -w '%{http_code}' --cacert /etc/letsencrypt/live/pgo.example.org/fullchain.pem "https://localhost:$port$1" "${@:2}"; }
[ "$(ask /healthz)" = 200 ] || fail "/healthz says $(ask /healthz)"
[ "$(ask /metrics)" = 401 ] || fail "the metrics ask for no token"
[ "$(ask /metrics -H "Authorization: Bearer $(head -n 1 "$root/etc/piecemeal/operators")")" = 200 ] ||
    fail "an operator sees no metrics"
kill "$server"
wait "$server" || fail "it ended with $?"
server=
echo "served: all as expected"
