#pragma once

#include "shader_rewrite/ir/words.h"

/* The words of a SPIR-V file, which are malloc'ed; fails the test where it cannot be read. */
void read_module(const char *path, struct pm_words *words);
