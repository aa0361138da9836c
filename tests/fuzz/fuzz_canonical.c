/*
 * Arbitrary words as a game's SPIR-V, for SPIRV-Tools' optimizer with our recipe: what runs in the
 * game's process before anything of ours has looked at the module (HAZARDS 3). Nothing may crash,
 * leak or hang, and what comes out is its own canonical form: a shader has one key.
 */
#include "shader_rewrite/shader_rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_WORDS = 1 << 16 };

static void check(const uint32_t *words, size_t count, enum pm_stage stage)
{
    struct pm_error error = {0};
    struct pm_canonicalize_info info = {.words = words,
                                        .word_count = count,
                                        .stage = stage,
                                        .entry_point = "main",
                                        .target = {.vulkan_minor = 3,
                                                   .scalar_block_layout = true,
                                                   .relaxed_block_layout = true,
                                                   .uniform_buffer_standard_layout = true,
                                                   .workgroup_explicit_layout = true}};
    struct pm_words once, twice;
    if (!pm_canonicalize(&info, &once, &error))
        return;
    info.words = once.data;
    info.word_count = once.count;
    const bool same = pm_canonicalize(&info, &twice, &error) && twice.count == once.count &&
                      memcmp(twice.data, once.data, once.count * sizeof *once.data) == 0;
    if (!same) {
        fprintf(stderr, "the canonical form has another one: %s\n", error.message);
        abort();
    }
    pm_words_finish(&twice);
    pm_words_finish(&once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t count = size / 4;
    uint32_t *words = count > 0 && count <= MAX_WORDS ? malloc(count * 4) : NULL;
    if (!words)
        return 0;
    memcpy(words, data, count * 4);
    check(words, count, PM_STAGE_FRAGMENT);
    check(words, count, PM_STAGE_COMPUTE);
    free(words);
    return 0;
}
