#!/bin/sh
# with_postgres.sh [--citus|--standby|--small|--tls|--durable] "TEST [ARGUMENT…]"…: starts a PostgreSQL of its own in a temporary folder, without root and on a
# socket alone, and runs the tests, one after the other, with PM_TEST_STORAGE, the URL of it. Ends it by its process id.
# PM_TEST_ENGINE and PM_TEST_ENGINE_PID: its folder and process, for who wants to treat it badly. --citus: it coordinates
# two more, over which tables are distributed, and PM_TEST_CITUS is 1. --standby:
# another follows it, which it waits for, and PM_TEST_STANDBY is its folder. --small: its folder is a disk of its own of 128 MiB.
# --tls: the URL is of a loopback address, which takes TLS and a password alone, that of PGPASSFILE; PM_TEST_TLS is 1. --durable: it waits for the disk, and logs nothing, to be measured. Exits 77 where there is no PostgreSQL, or no Citus.
set -eu
citus=
standby=
tls=
usual='-c fsync=off -c log_statement=all -c shared_buffers=64MB -c max_prepared_transactions=10'
case $1 in
--citus)
    citus=1
    shift
    ;;
--standby)
    standby=1
    shift
    ;;
--small)
    unshare -m true 2>/dev/null || {
        echo 'skipped: a small disk cannot be mounted here'
        exit 77
    }
    [ -n "${PM_TEST_SMALL:-}" ] || exec env PM_TEST_SMALL=1 unshare -m "$0" "$@"
    shift
    ;;
--tls)
    tls=1
    PGPORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    export PGPORT
    usual="$usual -c listen_addresses=127.0.0.1 -p $PGPORT"
    shift
    ;;
--durable)
    usual='-c shared_buffers=256MB -c max_wal_size=4GB'
    shift
    ;;
esac
bin=$(pg_config --bindir 2>/dev/null) && [ -x "$bin/initdb" ] || {
    echo 'skipped: there is no PostgreSQL server here (Debian: postgresql)'
    exit 77
}
if [ -n "$citus" ] && [ ! -e "$(pg_config --sharedir)/extension/citus.control" ]; then
    echo "skipped: the PostgreSQL in $bin has no extension citus, so that nothing is distributed here"
    exit 77
fi
folder=$(mktemp -d "${TMPDIR:-/tmp}/pm-postgres-XXXXXX")
[ -z "${PM_TEST_SMALL:-}" ] || mount -t tmpfs -o size=128m tmpfs "$folder"
chmod 755 "$folder"
as=
if [ "$(id -u)" -eq 0 ]; then # PostgreSQL refuses to run as root
    as='setpriv --reuid=nobody --regid=nogroup --clear-groups'
    chown nobody "$folder"
fi
pids=
finish() {
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill -INT $pids 2>/dev/null || true
    for each in $pids; do
        wait "$each" 2>/dev/null || true
    done
    [ -z "${PM_TEST_SMALL:-}" ] || umount -l "$folder"
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM
cd "$folder"
# start FOLDER [OPTION…]: one that is there or a new one; sets $pid.
start() {
    place=$1
    shift
    if [ ! -d "$place/data" ]; then
        $as mkdir -p "$place"
        $as "$bin/initdb" -D "$place/data" -A trust -U piecemeal -E UTF8 --locale=C --no-sync >"$place/log" 2>&1 || {
            cat "$place/log" >&2
            exit 1
        }
    fi
    # shellcheck disable=SC2086
    $as "$bin/postgres" -D "$place/data" -k "$place" -c listen_addresses= -c max_connections=200 $usual "$@" \
        >>"$place/log" 2>&1 &
    pid=$!
    pids="$pids $pid"
    for _ in $(seq 300); do
        "$bin/pg_isready" -q -h "$place" && break
        kill -0 "$pid" 2>/dev/null || {
            cat "$place/log" >&2
            exit 1
        }
        sleep 0.1
    done
}
say() {
    "$bin/psql" -qXtA -v ON_ERROR_STOP=1 -h "$1" -U piecemeal -d postgres -c "$2" >/dev/null
}
if [ -n "$citus" ]; then
    export PM_TEST_CITUS=1
    # Tests make many schemas, each with tables of its own: few shards do.
    set_up='-c shared_preload_libraries=citus -c citus.node_conninfo=sslmode=prefer -c citus.shard_count=4
        -c max_prepared_transactions=200 -c citus.recover_2pc_interval=2s'
    for place in "$folder/one" "$folder/other" "$folder"; do
        # shellcheck disable=SC2086
        start "$place" $set_up
        say "$place" 'CREATE EXTENSION citus CASCADE'
    done
    say "$folder" "SELECT citus_set_coordinator_host('$folder', 5432)"
    for place in one other; do
        say "$folder" "SELECT citus_add_node('$folder/$place', 5432)"
    done
elif [ -n "$standby" ]; then
    start "$folder"
    primary=$pid
    $as "$bin/pg_basebackup" -h "$folder" -U piecemeal -D "$folder/standby/data" -R -c fast --no-sync
    start "$folder/standby"
    pid=$primary
    say "$folder" "ALTER SYSTEM SET synchronous_standby_names = '*'"
    say "$folder" 'SELECT pg_reload_conf()'
    export PM_TEST_STANDBY="$folder/standby"
else
    start "$folder"
fi
if [ -n "$tls" ]; then
    certificate="$folder/data/server.crt"
    $as openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -keyout "$folder/data/server.key" -out "$certificate" 2>>"$folder/log"
    printf 'local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n' >"$folder/data/pg_hba.conf"
    say "$folder" "ALTER ROLE piecemeal PASSWORD 'of the test'"
    say "$folder" 'ALTER SYSTEM SET ssl = on'
    say "$folder" 'SELECT pg_reload_conf()'
    export PM_TEST_TLS=1 PGPASSFILE="$folder/passwords"
    (umask 077 && echo '*:*:*:piecemeal:of the test' >"$PGPASSFILE")
fi
export PM_TEST_ENGINE="$folder" PM_TEST_ENGINE_PID="$pid"
export PM_TEST_STORAGE="postgresql:///postgres?host=$folder${standby:+,$folder/standby}&user=piecemeal"
[ -z "$tls" ] || PM_TEST_STORAGE="postgresql:///postgres?host=localhost&user=piecemeal&sslmode=verify-full&sslrootcert=$certificate"
rc=0
cd "$OLDPWD"
for test in "$@"; do
    eval "$test" || rc=1 # it may have arguments, and name what is exported above
done
exit $rc
