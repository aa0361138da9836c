/* SPIR-V assembly to words and back, for tests. */
#pragma once

#include "shader_rewrite/shader_rewrite.h"

/* Assembles for the environment SPIR-V 1.minor; the test fails where the text is wrong. The caller
 * frees with pm_words_finish. */
struct pm_words pm_test_assemble(const char *text, int spirv_minor);

/* As pm_test_assemble, from a file of tests/shader_rewrite/spvasm. */
struct pm_words pm_test_assemble_file(const char *name, int spirv_minor);

/* The disassembly, without header; malloc'ed. */
char *pm_test_disassemble(const struct pm_words *words);

/* How often needle occurs in the disassembly. */
int pm_test_count(const struct pm_words *words, const char *needle);
