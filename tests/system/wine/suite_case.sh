#!/bin/bash
# suite_case.sh DLL.FILE.FUNCTION[+FUNCTION…]: runs tests of Wine's, built by suites.sh into PM_WINE_SUITES/KIND, and ends with
# 0 if they came to their end: that some fail is no matter of ours, but which is. For tests/cts/run.py (docs/clients.md).
set -u
IFS=. read -r dll file functions <<<"$1"
said=$(PM_WINE_TEST=$functions wine "$PM_WINE_SUITES/${PM_WINE_KIND:-x86_64}/${dll}_test.exe" "$file" 2>&1)
status=$?
printf '%s\n' "$said"
# Its status is the number of failures, or that of a crash.
grep -q "$file: [0-9]* tests executed" <<<"$said" || exit $((status > 0 && status < 125 ? status : 1))
