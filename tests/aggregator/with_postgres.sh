#!/bin/sh
# with_postgres.sh "TEST [ARGUMENT…]"…: starts a PostgreSQL of its own in a temporary folder, without root and on a socket
# alone, and runs the tests, one after the other, with PM_TEST_STORAGE, the URL of it. Ends it by its process id. PM_TEST_ENGINE and
# PM_TEST_ENGINE_PID: its folder and process, for who wants to treat it badly. Exits 77 where there is no PostgreSQL.
set -eu
bin=$(pg_config --bindir 2>/dev/null) && [ -x "$bin/initdb" ] || {
    echo 'skipped: there is no PostgreSQL server here (Debian: postgresql)'
    exit 77
}
folder=$(mktemp -d "${TMPDIR:-/tmp}/pm-postgres-XXXXXX")
chmod 755 "$folder"
as=
if [ "$(id -u)" -eq 0 ]; then # PostgreSQL refuses to run as root
    as='setpriv --reuid=nobody --regid=nogroup --clear-groups'
    chown nobody "$folder"
fi
pid=
finish() {
    if [ -n "$pid" ]; then
        kill -INT "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    fi
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM
cd "$folder"
$as "$bin/initdb" -D "$folder/data" -A trust -U piecemeal -E UTF8 --locale=C --no-sync >"$folder/log" 2>&1 || {
    cat "$folder/log" >&2
    exit 1
}
# shellcheck disable=SC2086
$as "$bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c fsync=off -c log_statement=all -c max_connections=200 \
    -c shared_buffers=64MB >>"$folder/log" 2>&1 &
pid=$!
for _ in $(seq 300); do
    "$bin/pg_isready" -q -h "$folder" && break
    kill -0 "$pid" 2>/dev/null || {
        cat "$folder/log" >&2
        exit 1
    }
    sleep 0.1
done
export PM_TEST_ENGINE="$folder" PM_TEST_ENGINE_PID="$pid"
export PM_TEST_STORAGE="postgresql:///postgres?host=$folder&user=piecemeal"
rc=0
cd "$OLDPWD"
for test in "$@"; do
    # shellcheck disable=SC2086 # a test may have arguments
    $test || rc=1
done
exit $rc
