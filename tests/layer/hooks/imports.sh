#!/bin/sh
# imports.sh LIBRARY: the names that a library takes from others than libc and the dynamic linker, one a line. A program
# that has such a name of its own is asked before libm is.
set -eu
LC_ALL=C readelf --wide --version-info --dyn-syms "$1" | awk '
    / File: / { for (i = 1; i < NF; i++) if ($i == "File:") from = $(i + 1) }
    / Name: .* Version: / { if (from ~ /^(libc|ld-linux.*)\.so\./) is_libc["(" $NF ")"] = 1 }
    $7 == "UND" && $8 != "" { name[$8] = $9 }
    END { for (key in name) if (!(name[key] in is_libc)) print key }' | sed 's/@.*//' | sort
