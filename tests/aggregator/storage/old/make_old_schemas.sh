#!/bin/sh
# Writes sqlite_schema_N.sql, N = 1 … 12, and postgres_schema_N.sql, N = 1 … 5, beside this script: what the last version
# of each schema of a storage wrote. They are committed, and are made again only to see that they can be:
#
#   tests/aggregator/storage/old/make_old_schemas.sh [sqlite-N | postgres-N]…
#
# Needs git's whole history, what scripts/bootstrap.sh installs, sqlite3, PostgreSQL, libcjson-dev (for sqlite-1), and a
# minute for each.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT

commit_of() {
    case $1 in
    sqlite-1) echo c17fc6e ;; sqlite-2) echo eda1970 ;; sqlite-3) echo ce956ad ;; sqlite-4) echo 39bfa21 ;;
    sqlite-5) echo 4ea7aad ;; sqlite-6) echo ab93d2f ;; sqlite-7) echo e79c10b ;; sqlite-8) echo 8b60277 ;;
    sqlite-9) echo dcb175a ;; sqlite-10) echo 120a5b1 ;; sqlite-11) echo 9949dfc ;;
    sqlite-12) echo ed672e5 ;;
    postgres-1) echo dd6efea ;; postgres-2) echo 8b60277 ;; postgres-3) echo dcb175a ;; postgres-4) echo 9949dfc ;;
    postgres-5) echo ed672e5 ;;
    esac
}

for each in ${@:-sqlite-1 sqlite-2 sqlite-3 sqlite-4 sqlite-5 sqlite-6 sqlite-7 sqlite-8 sqlite-9 sqlite-10 sqlite-11 \
    sqlite-12 postgres-1 postgres-2 postgres-3 postgres-4 postgres-5}; do
    engine=${each%-*} schema=${each#*-}
    tree=$work/$each
    mkdir "$tree"
    git -C "$root" archive "$(commit_of "$each")" | tar -x -C "$tree"
    mkdir "$tree/build"
    for prepared in cjson drivers khronos loader-13; do
        [ ! -d "$root/build/$prepared" ] || cp -al "$root/build/$prepared" "$tree/build/"
    done
    mkdir -p "$tree/tests/aggregator/storage/old"
    cp "$here/old_game.h" "$tree/tests/aggregator/storage/old/"
    # The program of that version that gives its place.
    case $each in
    sqlite-1) name=test_aggregator ;; *) name=fill_storage ;;
    esac
    # Sources have digests since the second schema of SQLite; those of PostgreSQL came later (OLD_POSTGRES).
    [ "$engine" = sqlite ] && number=$schema || number=8
    { echo "#define SCHEMA $number" && cat "$here/fill_schema.c.in"; } > "$tree/tests/aggregator/$name.c"
    (
        cd "$tree"
        cmake --preset release -DBUILD_TESTING=ON > configure.log 2>&1 || { cat configure.log >&2; exit 1; }
        target=$name
        [ "$each" != sqlite-1 ] || target=test_aggregator_aggregator
        cmake --build --preset release --target "$target" > build.log 2>&1 || { tail -30 build.log >&2; exit 1; }
    )
    program=$(find "$tree/build/release/tests" -type f -name "$name")
    out=$here/${engine}_schema_$schema.sql
    if [ "$engine" = sqlite ]; then
        "$program" "$work/$each.db"
        {
            echo "PRAGMA application_id = $(sqlite3 "$work/$each.db" 'PRAGMA application_id');"
            echo "PRAGMA user_version = $(sqlite3 "$work/$each.db" 'PRAGMA user_version');"
            sqlite3 "$work/$each.db" .dump
        } > "$out"
    else
        export PROGRAM="$program" OUT="$work/$each.sql"
        cat > "$work/fill.sh" <<'END'
#!/bin/sh
set -e
"$PROGRAM" "$PM_TEST_STORAGE"
pg_dump --inserts --no-owner --no-privileges "$PM_TEST_STORAGE" > "$OUT"
END
        chmod 755 "$work/fill.sh"
        "$root/tests/aggregator/with_postgres.sh" "$work/fill.sh"
        # What psql alone understands, what names the engine or its settings, and the schema that all is in.
        sed -e '/^SET /d' -e '/^SELECT pg_catalog.set_config/d' -e '/^\\/d' -e '/^--/d' -e '/^$/d' -e 's/public\.//g' \
            "$OUT" > "$out"
    fi
    rm -rf "$tree"
done
