#!/bin/sh
# Installs what is missing, builds and runs the tests. Ends on ctest's own summary.
#
#   ./test.sh          the quick tests
#   ./test.sh --all    also the slow ones, everything again under the sanitizers, and the layer's in 32 bits
set -eu
cd "$(dirname "$0")"

all=no
case ${1-} in
'') ;;
--all) all=yes ;;
*) echo "usage: ./test.sh [--all]" >&2; exit 2 ;;
esac

groups='build test demo'
[ $all = no ] || groups="$groups slow"
# shellcheck disable=SC2086
scripts/bootstrap.sh $groups

# build PRESET
build() {
    cmake --preset "$1" -DBUILD_TESTING=ON
    cmake --build --preset "$1" -j "$(nproc)"
}

if [ $all = no ]; then
    build release
    # One more than the two cores that it must do with: many tests wait part of the time.
    exec ctest --preset release -j3 -LE slow
fi

# A sanitizer that finds something, or a slow test that fails, must not keep the others from running.
status=0
build asan
# Leaks of drivers and of the loader are not ours; scripts/lsan.supp names them.
LSAN_OPTIONS=suppressions=$PWD/scripts/lsan.supp:print_suppressions=0 \
    ctest --preset asan -j2 -LE "slow|no-asan" || status=$?
build tsan
ctest --preset tsan -j2 -LE "slow|system|gpu|no-tsan" || status=$?
# Many games are 32-bit programs. Where that cannot be built, the script says why, and it is no failure.
thirty_two=0
scripts/fetch_i386.sh || thirty_two=$?
case $thirty_two in
0)
    build release32
    ctest --preset release32 -j2 || status=$?
    ;;
3) echo "test: the 32-bit layer is skipped" ;;
*) status=$thirty_two ;;
esac
build release
# Also what tests leave out of their quick half: the validation layer above us, and on what runs in passes.
PM_ALL=1 ctest --preset release -j2 || status=$?
exit $status
