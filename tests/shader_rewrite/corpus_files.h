/*
 * The compiled corpus of the shader tests: files named SHADER.TARGET.VARIANT.spv (make_corpus.py),
 * TARGET a name that spirv-val knows. For tests: a failure ends the test.
 */
#pragma once

#include "base/error.h"
#include "shader_rewrite/ir/spirv_tools.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct corpus_file {
    char name[256];
    uint32_t *words;
    size_t count;
    spv_target_env target;
    uint32_t vulkan_minor;
    bool spirv_1_4;
};
struct corpus {
    struct corpus_file *files; /* sorted by name */
    size_t count;
};

void corpus_load(struct corpus *corpus);
void corpus_finish(struct corpus *corpus);

/* The file whose name starts so and ends in ".spv". */
const struct corpus_file *corpus_find(const struct corpus *corpus, const char *prefix);

/* Assembles text; *words is malloc'ed. */
void corpus_assemble(const char *text, spv_target_env env, uint32_t **words, size_t *count);

/* Asserts that spirv-val accepts it; prints its diagnostic and the disassembly when not. */
void corpus_assert_valid(const char *what, const uint32_t *words, size_t count, spv_target_env env);
