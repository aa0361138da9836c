/*
 * Shaders as a compiler writes them that was asked for debug information: names, lines, the source
 * text, and what NonSemantic.Shader.DebugInfo.100 says of functions, scopes and values. It computes
 * the same, and is the same shader (pm_canonicalize).
 */
#pragma once

#include "shader_rewrite/shader_rewrite.h"

/* Of a module with one function, SPIR-V 1.3, without debug information. The seed says where there
 * is some. The caller frees it with pm_words_finish; a failure ends the test. */
struct pm_words pm_test_with_debug_information(const struct pm_words *words, uint64_t seed);
