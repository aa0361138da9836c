/*
 * libm's functions, which a game may have of its own: by their names the dynamic linker binds a
 * library's calls to the program's, or to a preloaded library's, before libm's (HAZARDS 23). A
 * game's `log` may write to its log.
 *
 * So the layer imports none of them. All calls of libm_names.h that end up in the layer go to
 * libm.c (the linker's --wrap), and from there to what libm itself has. Linking a static libm is no
 * way: Debian's is neither of code for shared libraries nor without glibc's private parts.
 */
#pragma once

#include <stdbool.h>

/* Whether libm had them all when the layer was loaded; else none may be called, and instances are
 * passive. Any thread. */
bool pm_libm_found(void);
