#!/bin/bash
# `piecemeal db import-shaders`: what follows from a program's shaders is what the layer said of them.
. "$(dirname "$0")/lib.sh"
driver lavapipe-25
piecemeal=$PM_BUILD/tools/piecemeal
store=$XDG_DATA_HOME/piecemeal/shaders
run_quietly "$scratch/run" "$piecemeal" run --local --set sampler.window_probability=1 --set sampler.api_probability=1 \
    --set sampler.batch=all --set debug.synchronous=true -- "$PM_BUILD/tests/system/variants" "$scratch/out" 3 -
# Of one it is known what it is called; the others' words say nothing but their stage.
one=$(find "$store" -name '*.pmshader' -print -quit)
printf 'lit opaque' >"${one%.pmshader}.name"
"$piecemeal" db import-shaders --game pm_test_gpu --store "$store" >"$scratch/known" || fail "nothing is imported"
grep -qx '6 shaders: [1-9][0-9]* numbers of points are known; 0 were otherwise before' "$scratch/known" ||
    { cat "$scratch/known"; fail "the layer said otherwise"; }
python3 - "$XDG_DATA_HOME" <<'P' || fail "shaders have other names"
import glob, sqlite3, sys
storage = [path for path in glob.glob(sys.argv[1] + "/piecemeal/**/*.sqlite*", recursive=True) if not path.endswith(("-wal", "-shm"))][0]
names = [row[0] for row in sqlite3.connect(storage).execute("SELECT name FROM shader_names WHERE game = 'pm_test_gpu'")]
assert names == ["lit opaque"], names
P
# It goes on to count, where no trial takes the recordings.
run_quietly "$scratch/again" "$piecemeal" run --local --set sampler.window_probability=1 --set sampler.api_probability=1 \
    --set sampler.batch=all --set debug.synchronous=true --set optimize.zero=false --set optimize.blocks=false \
    --set optimize.constants=false -- "$PM_BUILD/tests/system/variants" "$scratch/out" 3 -
"$piecemeal" db show --json >"$scratch/shown" || fail "nothing is known"
grep -q '"sessions": *2' "$scratch/shown" || { head -c 2000 "$scratch/shown"; fail "the second run does not count"; }
"$piecemeal" db import-shaders --game pm_test_gpu --store "$scratch/nowhere" 2>"$scratch/said" &&
    fail "shaders are imported from nowhere"
grep -q "nowhere: has no shader that can be read" "$scratch/said" || { cat "$scratch/said"; fail "it says something else"; }
echo "$name: all as expected"
