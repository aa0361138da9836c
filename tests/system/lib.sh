# What the system tests share; sourced by each (bash). A test runs a real program with and without the layer and
# compares what it drew.
#
# From ctest's environment: PM_BUILD (the build tree), PM_SOURCE (the repository).
set -euo pipefail

: "${PM_BUILD:?the build tree}" "${PM_SOURCE:?the repository}"
name=$(basename "$0" .sh)
scratch=$PM_BUILD/tests/system/scratch/$name${1:+-$1}
rm -rf "$scratch"
mkdir -p "$scratch"
children=()
trap 'stop_children' EXIT

fail() {
    echo "$name: $*" >&2
    exit 1
}

# ctest counts 77 as skipped.
skip() {
    echo "$name: skipped: $*" >&2
    exit 77
}

need() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || skip "$program is not installed"
    done
}

# run_quietly LOG COMMAND...: the log is shown only if the command fails
run_quietly() {
    local log=$1
    shift
    if ! timeout 300 "$@" >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        fail "failed: $*"
    fi
}

# driver NAME: from here on, Vulkan programs see this one driver
driver() {
    local manifest
    case $1 in
    lavapipe-22) manifest=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json ;;
    *) manifest=$PM_SOURCE/build/drivers/$1/icd.json ;;
    esac
    [ -e "$manifest" ] || skip "no driver $1 ($manifest)"
    export VK_DRIVER_FILES=$manifest VK_ICD_FILENAMES=$manifest
}

# A display without a screen, for programs that need a window.
display() {
    need Xvfb
    local ready=$scratch/display
    mkfifo "$ready"
    Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp 3<>"$ready" >"$scratch/xvfb.log" 2>&1 &
    children+=($!)
    local number
    read -r -t 30 number <>"$ready" || fail "Xvfb does not start: $(cat "$scratch/xvfb.log")"
    export DISPLAY=:$number
    unset WAYLAND_DISPLAY
}

stop_children() {
    local child
    for child in "${children[@]}"; do
        kill "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    done
}

same_file() {
    cmp -s "$1" "$2" || fail "$3: $1 and $2 differ"
}
