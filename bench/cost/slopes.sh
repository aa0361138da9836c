# What layers add to one more of something on the null driver, by callgrind: instructions of a program's first thread at
# two counts, the slope. Sourced (bash) by draw_cost.sh and push_cost.sh, with the build tree as its argument.
#
# The caller sets: program (of bench/, called with KIND COUNT), kinds (of it), few, many (the two counts); PM_KINDS,
# PM_FEW and PM_MANY override. learned: a folder that is copied to where the layer keeps what it knows, before each run.
set -euo pipefail

build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/vulkan"
ln -s "$build/share/vulkan/explicit_layer.d" "$scratch/vulkan/explicit_layer.d"
few=${PM_FEW-$few} many=${PM_MANY-$many} kinds=${PM_KINDS-$kinds}
learned=

# Only what is asked for: no layer of this machine's, no settings of its user's.
clean=(env -i "PATH=$PATH" "HOME=$scratch" "XDG_DATA_HOME=$scratch" "XDG_CONFIG_HOME=$scratch"
    "XDG_CACHE_HOME=$scratch" NODEVICE_SELECT=1)
ours=(VK_INSTANCE_LAYERS=VK_LAYER_PIECEMEAL_cooperative_pgo PIECEMEAL_SAMPLER_SEED=1)

# instructions KIND COUNT VARIABLE...: of the first thread
instructions() {
    local kind=$1 count=$2 out=$scratch/callgrind
    shift 2
    # The same start for both counts: no shader that an earlier run left canonicalized.
    rm -rf "$out"* "$scratch/piecemeal"
    [ -z "$learned" ] || cp -a "$learned" "$scratch/piecemeal"
    if ! timeout 900 "${clean[@]}" "$@" valgrind --tool=callgrind --separate-threads=yes \
        --callgrind-out-file="$out" "$build/bench/$program" "$kind" "$count" \
        >"$scratch/log" 2>&1; then
        echo "$program $kind $count with $* failed:" >&2
        tail -n 20 "$scratch/log" >&2
        return 1
    fi
    awk '/^(summary|totals):/ { total = $2 } END { print total }' "$out-01"
}

# slope KIND FEW MANY VARIABLE...
slope() {
    local kind=$1 few=$2 many=$3 low high
    shift 3
    low=$(instructions "$kind" "$few" "$@")
    high=$(instructions "$kind" "$many" "$@")
    awk -v low="$low" -v high="$high" -v n="$((many - few))" 'BEGIN { printf "%.2f", (high - low) / n }'
}

# heading NAME...: the table's, a column a name
heading() {
    echo "| |$(printf ' %s |' "$@")"
    echo "| --- |$(printf '%.0s --- |' "$@")"
}

declare -A base
# row NAME FEW MANY VARIABLE...: what the layer adds to each kind
row() {
    local name=$1 few=$2 many=$3 kind cell line
    shift 3
    line="| $name |"
    for kind in $kinds; do
        local from=$few to=$many
        if [ "$kind" = frame ]; then
            from=$((few / 100))
            to=$((many / 100))
        fi
        cell=$(slope "$kind" "$from" "$to" "$@")
        if [ "$name" = "no layer" ]; then
            base[$kind]=$cell
        else
            cell=$(awk -v a="$cell" -v b="${base[$kind]}" 'BEGIN { printf "%.2f", a - b }')
        fi
        line="$line $cell |"
    done
    echo "$line"
}

# The rows that are always first.
row_without() {
    row "no layer" "$few" "$many" X=1
    # shellcheck disable=SC2086  # one word a kind
    echo "| *added by:* |$(printf '%.0s |' $kinds)"
}
