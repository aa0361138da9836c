#!/bin/bash
# Each command, and each part of `piecemeal db`, has a man page that can be set, and completions know what it takes:
# what they offer is no option of another command's.
#   test_pages.sh PIECEMEAL PIECEMEAL-SYNC
set -euo pipefail
piecemeal=$1 sync=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data XDG_CACHE_HOME=$work/cache VK_DRIVER_FILES=$work/none
failures=0
failed() { echo "FAILED: $*"; failures=$((failures + 1)); }

python3 -B "$source/scripts/packages/make_pages.py" "$piecemeal" "$sync" "$source/CHANGELOG.md" "$(cat "$source/VERSION")" \
    'Somebody <somebody@piecemeal.invalid>' "$work/pages"
commands=$("$piecemeal" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
parts=$("$piecemeal" db --help | sed -n 's/^  \([a-z-]*\) .*/\1/p')
for name in $commands $(printf 'db-%s ' $parts); do
    page=$work/pages/man1/piecemeal-$name.1
    [ -e "$page" ] || { failed "there is no page of $name"; continue; }
    if command -v man >/dev/null; then
        said=$(MANROFFSEQ='' LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null) || true
        [ -z "$said" ] || failed "$name: $said"
    fi
done
grep -q '^\.SH EXIT STATUS' "$work/pages/man1/piecemeal-run.1" && failed "run ends with the program's status, and its page says otherwise"

# shellcheck source=/dev/null
. "$work/pages/piecemeal.bash"
# offered WORD...: what may come in the last one's place
offered() {
    COMP_WORDS=(piecemeal "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    (cd "$work/pages/man1" && _piecemeal && printf '%s\n' "${COMPREPLY[@]}")
}
# Whole outputs, since what is read by no more than its first lines ends by a signal.
all=$(offered '') all_parts=$(offered db '')
for command in $commands; do
    grep -qx "$command" <<<"$all" || failed "$command is not offered"
done
for part in $parts; do
    grep -qx -- "$part" <<<"$all_parts" || failed "db $part is not offered"
done
[ "$(offered db export --fo)" = --format ] || failed "db export has --format"
[ "$(offered run --lo)" = --local ] || failed "run has --local"
[ "$(offered consent gr)" = grant ] || failed "consent has grant"
for words in $commands $(printf 'db:%s ' $parts); do
    command=(${words/:/ })
    for option in $(offered "${command[@]}" --); do
        said=$(timeout 20 "$piecemeal" "${command[@]}" "$option" 2>&1 </dev/null) || true
        [[ $said != *'is no option'* ]] || failed "piecemeal ${command[*]} has no $option, which is offered"
    done
done
for shell in zsh fish; do
    file=$work/pages/_piecemeal
    [ "$shell" = zsh ] || file=$work/pages/piecemeal.fish
    ! command -v "$shell" >/dev/null || "$shell" -n "$file" || failed "$shell cannot read its completions"
done
exit $((failures > 0))
