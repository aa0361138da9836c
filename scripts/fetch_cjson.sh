#!/bin/bash
# Unpacks cJSON's source in the version of scripts/cjson.txt into BUILD/cjson/cjson (cJSON.c, cJSON.h), never into the
# system; the build compiles it. apt downloads it and checks the signatures, with lists and cache of its own in the
# build folder. What is there is kept, and a further worktree of the repository takes what the first one has.
#
# usage: scripts/fetch_cjson.sh [BUILD]      BUILD is the build folder, `build` beside scripts/ unless told
set -euo pipefail

scripts=$(cd "$(dirname "$0")" && pwd)
. "$scripts/own_apt.sh"
open_folder cjson "$@"
pins=$scripts/cjson.txt
key=$(pinned cjson 4)

is_done() { # folder
    [ "$(cat "$1/key" 2>/dev/null)" = "$key" ]
}

# Its key last: whoever has it has the rest.
put_in_place() { # folder with cJSON.c and cJSON.h
    rm -rf "$folder/key" "$folder/cjson"
    mkdir "$folder/cjson"
    cp "$1/cJSON.c" "$1/cJSON.h" "$folder/cjson"
    echo "$key" >"$folder/key"
}

is_done "$folder" && exit 0
first=$(git -C "$scripts" worktree list --porcelain 2>/dev/null | sed -n '1s/^worktree //p') || first=
if [ -n "$first" ] && is_done "$first/build/cjson"; then
    put_in_place "$first/build/cjson/cjson"
    exit 0
fi
mkdir -p "$work/sources"
base=$(debian_mirror)
source_line "$base" trixie | sed 's/^deb /deb-src /' | open_apt
unpack_source cjson
put_in_place "$work/sources/cjson"
