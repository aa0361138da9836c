/*
 * The script of a reproduction (reproduction.h): starts the program as it was started, with the
 * settings that decide what is done to its shaders.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "tools/bisect/session.h"
#include <stdio.h>

bool pm_reproduction_script(const struct pm_bisection *bisection, FILE *out,
                            struct pm_error *error);

/* The program and its arguments, each as a word of a shell's, and the line's end. */
void pm_reproduction_program(const struct pm_bisection *bisection, FILE *out);
