# What the system tests share; sourced by each (bash). A test runs a real program with and without the layer and
# compares what it drew.
#
# From ctest's environment: PM_BUILD (the build tree), PM_SOURCE (the repository).
set -euo pipefail

: "${PM_BUILD:?the build tree}" "${PM_SOURCE:?the repository}"
name=$(basename "$0" .sh)
# One for each test: tests of one script run side by side.
scratch=$PM_BUILD/tests/system/scratch/$(IFS=- && printf %s "$name${*:+-$*}" | tr / -)
rm -rf "$scratch"
mkdir -p "$scratch"
children=()
trap 'stop_children' EXIT

fail() {
    echo "$name: $*" >&2
    exit 1
}

# says FILE PATTERN: the file has a line that matches
says() {
    grep -qE "$2" "$1" || { cat "$1"; fail "no line matches '$2'"; }
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

# run_quietly LOG COMMAND...: the log is shown only if the command fails. crashes_allowed: how often what ends with
# SIGSEGV is run again.
run_quietly() {
    local log=$1 status=0 crashes=0
    shift
    timeout 900 "$@" >"$log" 2>&1 || status=$?
    while [ $status -eq 139 ] && [ $crashes -lt "${crashes_allowed-0}" ]; do
        tail -n 3 "$log" >&2
        echo "$name: crashed, and is run again: $*" >&2
        crashes=$((crashes + 1)) status=0
        timeout 900 "$@" >"$log" 2>&1 || status=$?
    done
    [ $status -eq 0 ] && return
    tail -n 30 "$log" >&2
    fail "failed: $*"
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

# quick_driver NAME: likewise, for tests to which a driver is but a means. lavapipe's compiler takes half of the time
# without its optimizer; with PM_ALL it is as players have it.
quick_driver() {
    [ -n "${PM_ALL-}" ] || export GALLIVM_PERF=nopt
    driver "$1"
}

# A display without a screen, for programs that need a window. Two servers that start at once may take one number:
# the one that lost is noticed, and another is started. Without -noreset the server starts anew whenever its last client
# leaves, and refuses the next one meanwhile. display [ARGUMENT OF XVFB]…
display() {
    need Xvfb xdpyinfo
    unset WAYLAND_DISPLAY
    local ready=$scratch/display number try
    mkfifo "$ready"
    for try in 1 2 3; do
        Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp -noreset "$@" 3<>"$ready" >"$scratch/xvfb.log" 2>&1 &
        children+=($!)
        if read -r -t 30 number <>"$ready" && DISPLAY=:$number timeout 10 xdpyinfo >/dev/null 2>&1 &&
            kill -0 "${children[-1]}" 2>/dev/null; then
            export DISPLAY=:$number
            return
        fi
        kill "${children[-1]}" 2>/dev/null || true
    done
    fail "Xvfb does not start: $(cat "$scratch/xvfb.log")"
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

# ---- the layer ----

piecemeal_layer=VK_LAYER_PIECEMEAL_cooperative_pgo
validation_layer=VK_LAYER_KHRONOS_validation

# Everything the layer and the tools keep on disk is in the test's own folder.
export XDG_DATA_HOME=$scratch/xdg/data XDG_CACHE_HOME=$scratch/xdg/cache XDG_CONFIG_HOME=$scratch/xdg/config
export XDG_RUNTIME_DIR=$scratch/xdg/runtime
# On lavapipe 25 a run that fills the disk cache can draw differently from one that finds it filled.
export MESA_SHADER_CACHE_DISABLE=true
mkdir -p "$XDG_DATA_HOME" "$XDG_CACHE_HOME" "$XDG_CONFIG_HOME" "$XDG_RUNTIME_DIR"
chmod 0700 "$XDG_RUNTIME_DIR"
# A Piecemeal that is installed is not the one that is tested: of a folder that has its manifest the loader is shown all
# but that. other_data FOLDER WHERE
other_data() {
    mkdir -p "$2/vulkan/implicit_layer.d" "$2/vulkan/explicit_layer.d"
    find "$1" -mindepth 1 -maxdepth 1 ! -name vulkan -exec ln -s -t "$2" {} +
    find "$1/vulkan" -mindepth 1 -maxdepth 1 ! -name '*plicit_layer.d' -exec ln -s -t "$2/vulkan" {} +
    local kind
    for kind in implicit explicit; do
        [ ! -d "$1/vulkan/${kind}_layer.d" ] || find "$1/vulkan/${kind}_layer.d" -mindepth 1 \
            ! -name VkLayer_piecemeal.json -exec ln -s -t "$2/vulkan/${kind}_layer.d" {} +
    done
}
IFS=: read -ra data_folders <<<"${XDG_DATA_DIRS:-/usr/local/share:/usr/share}"
for at in "${!data_folders[@]}"; do
    [ -n "$(find "${data_folders[$at]}/vulkan" -name VkLayer_piecemeal.json 2>/dev/null)" ] || continue
    other_data "${data_folders[$at]}" "$scratch/xdg/share-$at"
    data_folders[at]=$scratch/xdg/share-$at
    XDG_DATA_DIRS=$(IFS=: && echo "${data_folders[*]}")
    export XDG_DATA_DIRS
done
for variable in $(compgen -e PIECEMEAL_) $(compgen -e VK_LAYER_) $(compgen -e VK_INSTANCE_LAYERS); do
    unset "$variable"
done

without_layer() {
    local variable
    for variable in $(compgen -e PIECEMEAL_); do
        unset "$variable"
    done
    unset VK_INSTANCE_LAYERS VK_ADD_LAYER_PATH
    validation_order=below
}

# with_layer [below|above]: from here on the layer is loaded, with a fresh spool; with_validation then puts the
# validation layer below or above it
with_layer() {
    validation_order=${1:-below}
    export VK_ADD_LAYER_PATH=$PM_BUILD/share/vulkan/explicit_layer.d
    export VK_INSTANCE_LAYERS=$piecemeal_layer
    export PIECEMEAL_LOG_LEVEL=debug PIECEMEAL_LOG_FILE=$scratch/piecemeal.log PIECEMEAL_LIMITS_BACKGROUND_SHARE=1
    rm -rf "$XDG_DATA_HOME/piecemeal" "$PIECEMEAL_LOG_FILE"
}

# Every call, every point, from vkCreateDevice on.
sample_everything() {
    export PIECEMEAL_SAMPLER_WINDOW_PROBABILITY=1 PIECEMEAL_SAMPLER_API_PROBABILITY=1
    export PIECEMEAL_SAMPLER_BATCH=all PIECEMEAL_DEBUG_SYNCHRONOUS=1 PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS=1
}

# with_validation FILE: what it says goes to the file
with_validation() {
    rm -f "$1"
    cat >"$scratch/vk_layer_settings.txt" <<END
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error,warn,perf
khronos_validation.enable_message_limit = false
khronos_validation.log_filename = $1
END
    export VK_LAYER_SETTINGS_PATH=$scratch/vk_layer_settings.txt
    case ${VK_INSTANCE_LAYERS-}:$validation_order in
    :*) export VK_INSTANCE_LAYERS=$validation_layer ;;
    *:below) export VK_INSTANCE_LAYERS=$piecemeal_layer:$validation_layer ;;
    *) export VK_INSTANCE_LAYERS=$validation_layer:$piecemeal_layer ;;
    esac
}

# The kinds of messages of the second file that the first has not, by their identifiers.
new_messages() {
    local file
    for file in "$1" "$2"; do
        touch "$file"
        { grep -aoE '\[ [A-Za-z0-9_-]+ \]' "$file" || true; } | sort -u >"$file.kinds"
    done
    comm -13 "$1.kinds" "$2.kinds" | while read -r kind; do
        grep -aF -m 2 -A 2 "$kind" "$2"
    done
}

# What the layer left in the spool since with_layer, in $scratch/counts (spool_counts.c). Fails unless calls were
# sampled, for blocks and (unless no shader has a value worth measuring) for zeros, and unless there is the line that the client expects, if it does (client_expects).
expect_sampled() {
    [ -d "$XDG_DATA_HOME/piecemeal/spool" ] || fail "nothing was sampled: $(tail -n 3 "$PIECEMEAL_LOG_FILE" 2>&1)"
    "$PM_BUILD/tests/system/spool_counts" "$XDG_DATA_HOME/piecemeal/spool" >"$scratch/counts" ||
        fail "the spool cannot be read"
    awk '$6 > 0 && $8 > 0 { sampled++ } END { exit sampled == 0 }' "$scratch/counts" ||
        fail "no call was sampled: $(cat "$scratch/counts")"
    [ "${PIECEMEAL_SAMPLER_KINDS-}" = block ] ||
        ! grep -aqE "a shader's zeros: [1-9][0-9]* values are measured" "$PIECEMEAL_LOG_FILE" ||
        awk '$10 > 0 { zeros++ } END { exit zeros == 0 }' "$scratch/counts" ||
        fail "no value was looked at: $(cat "$scratch/counts")"
    [ -z "${client_expects-}" ] || grep -q -- "$client_expects" "$scratch/counts" ||
        fail "no shader counted '$client_expects': $(cat "$scratch/counts")"
    if grep -aE ' (warning|error): ' "$PIECEMEAL_LOG_FILE" >&2; then
        fail "the layer complained"
    fi
}
