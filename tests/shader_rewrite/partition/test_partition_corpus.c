/* Each compute shader of the corpus is cut into valid passes, however small they are and whether
 * the memory between them has regions or not; or it is refused with a reason, and then for all that
 * are smaller. */
#include "shader_rewrite/shader_rewrite.h"
#include "tests/shader_rewrite/corpus_files.h"

#include <string.h>

#include "tests/cmocka_includes.h"

static struct {
    uint32_t tried, made;
} seen;

static bool cut(const struct corpus_file *file, const struct pm_words *words,
                const struct pm_target *target, uint32_t alu, bool regions)
{
    const struct pm_pass_limits limits = {alu,         PM_NO_LIMIT, PM_NO_LIMIT, PM_NO_LIMIT,
                                          PM_NO_LIMIT, PM_NO_LIMIT, PM_NO_LIMIT, false};
    const struct pm_partition_info info = {
        .limits = &limits,
        .method = (enum pm_partition_method)(alu / 2 % PM_PARTITION_METHODS),
        .target = *target,
        .regions = regions};
    struct pm_partitioned out;
    struct pm_error error = {0};
    seen.tried++;
    if (pm_partition(words->data, words->count, &info, &out, &error)) {
        seen.made++;
        pm_partitioned_finish(&out);
        return true;
    }
    if (error.code != PM_ERROR_UNSUPPORTED)
        fail_msg("%s, %u operations a pass: %s", file->name, alu, error.message);
    return false;
}

/* What fits a pass fits a larger one. */
static void cut_at_all(const struct corpus_file *file, const struct pm_words *words,
                       const struct pm_target *target)
{
    bool was = false;
    for (uint32_t alu = 8; alu <= 160; alu += 8) {
        const bool is = cut(file, words, target, alu, false);
        if (was && !is)
            fail_msg("%s is cut at %u operations a pass, and refused at %u", file->name, alu - 8,
                     alu);
        was = is;
    }
}

static void cut_file(const struct corpus_file *file)
{
    const struct pm_target target = {.vulkan_minor = file->vulkan_minor,
                                     .uniform_buffer_standard_layout = true};
    const struct pm_canonicalize_info info = {.words = file->words,
                                              .word_count = file->count,
                                              .stage = PM_STAGE_COMPUTE,
                                              .entry_point = "main",
                                              .target = target};
    struct pm_words words;
    struct pm_error error = {0};
    if (!pm_canonicalize(&info, &words, &error))
        fail_msg("%s: %s", file->name, error.message);
    for (uint32_t alu = 1; alu <= 32; alu *= 2)
        for (int regions = 0; regions < 2; regions++)
            cut(file, &words, &target, alu, regions != 0);
    cut_at_all(file, &words, &target);
    pm_words_finish(&words);
}

static void every_pass_is_valid(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    for (size_t i = 0; i < corpus.count; i++)
        if (strstr(corpus.files[i].name, ".comp"))
            cut_file(&corpus.files[i]);
    corpus_finish(&corpus);
    print_message("%u tried, %u cut\n", seen.tried, seen.made);
    assert_true(seen.made > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pass_is_valid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
