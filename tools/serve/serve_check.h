/*
 * `piecemeal serve --check`: would it run? Prints a line per finding on stdout, "ok", "warning" or
 * "error" before it, and changes nothing.
 */
#pragma once

#include "tools/serve/serve_options.h"

/* PM_EXIT_OK, or PM_EXIT_FAILED when there was an error among them. */
int pm_serve_check(const struct pm_serve_options *options);
