#!/bin/sh
# Writes sqlite_schema_N.sql beside this script, N = 1 … 10: what the last version of each schema of the SQLite storage
# wrote. They are committed, and are made again only to see that they can be:
#
#   tests/aggregator/storage/old/make_old_schemas.sh [N…]
#
# Needs git's whole history, what scripts/bootstrap.sh installs, sqlite3, libcjson-dev (for schema 1), and a minute for each.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

commit_of() {
    case $1 in
    1) echo c17fc6e ;; 2) echo eda1970 ;; 3) echo ce956ad ;; 4) echo 39bfa21 ;; 5) echo 4ea7aad ;;
    6) echo ab93d2f ;; 7) echo e79c10b ;; 8) echo 8b60277 ;; 9) echo dcb175a ;; 10) echo 120a5b1 ;;
    esac
}

for schema in ${@:-1 2 3 4 5 6 7 8 9 10}; do
    tree=$work/$schema
    mkdir "$tree"
    git -C "$root" archive "$(commit_of "$schema")" | tar -x -C "$tree"
    mkdir "$tree/build"
    for prepared in cjson drivers khronos loader-13; do
        [ ! -d "$root/build/$prepared" ] || cp -al "$root/build/$prepared" "$tree/build/"
    done
    mkdir -p "$tree/tests/aggregator/storage/old"
    cp "$here/old_game.h" "$tree/tests/aggregator/storage/old/"
    # The program of that version that gives its place.
    case $schema in
    1) name=test_aggregator ;; *) name=fill_storage ;;
    esac
    { echo "#define SCHEMA $schema" && cat "$here/fill_schema.c.in"; } > "$tree/tests/aggregator/$name.c"
    (
        cd "$tree"
        cmake --preset release -DBUILD_TESTING=ON > configure.log 2>&1 || { cat configure.log >&2; exit 1; }
        target=$name
        [ "$schema" -ne 1 ] || target=test_aggregator_aggregator
        cmake --build --preset release --target "$target" > build.log 2>&1 || { tail -30 build.log >&2; exit 1; }
        "$(find build/release/tests -type f -name "$target")" "$work/$schema.db"
    )
    {
        echo "PRAGMA application_id = $(sqlite3 "$work/$schema.db" 'PRAGMA application_id');"
        echo "PRAGMA user_version = $(sqlite3 "$work/$schema.db" 'PRAGMA user_version');"
        sqlite3 "$work/$schema.db" .dump
    } > "$here/sqlite_schema_$schema.sql"
    rm -rf "$tree"
done
