#!/bin/sh
# imports.sh LIBRARY: the names that a library takes from others than libc and the dynamic linker, one a line. A program
# that has such a name of its own is asked before libm is.
set -eu
table=$(LC_ALL=C readelf --wide --version-info --dyn-syms "$1")
# One that takes nothing of others is none: readelf then writes otherwise than is read here.
names=$(printf '%s\n' "$table" | awk '
    / File: / { for (i = 1; i < NF; i++) if ($i == "File:") from = $(i + 1) }
    / Name: .* Version: / { if (from ~ /^(libc|ld-linux.*)\.so\./) is_libc["(" $NF ")"] = 1 }
    $7 == "UND" && $8 != "" { name[$8] = $9; seen = 1 }
    END { if (!seen) exit 1; for (key in name) if (!(name[key] in is_libc)) print key }')
printf '%s\n' "$names" | sed '/^$/d; s/@.*//' | sort
