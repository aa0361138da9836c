# For the tests of the command line, which source it: a folder $work that goes when they end, and expectations, of which
# $failures counts those that failed.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failures=0
# expect STATUS PATTERN COMMAND…: the status, and a line of the output that matches.
expect() {
    want=$1 pattern=$2
    shift 2
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
    if [ "$status" != "$want" ]; then
        echo "FAILED: $*: status $status, wanted $want"; cat "$work/out" "$work/err"; failures=$((failures + 1))
    elif [ -n "$pattern" ] && ! cat "$work/out" "$work/err" | grep -qE -- "$pattern"; then
        echo "FAILED: $*: no line matches '$pattern'"; cat "$work/out" "$work/err"; failures=$((failures + 1))
    fi
}
