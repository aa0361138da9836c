/* Every fragment and compute shader that the repository has (the tests', and the examples' as they
 * are and scalarized) specialized by adversarial profiles: what comes out is valid, it comes out
 * twice the same, and nothing crashes.
 *
 *   test_shader_rewrite_specialize_zero_repository [SEEDS]     so many profiles of each kind; of
 *                                                              one a sixth of the kinds */
#include "tests/shader_rewrite/differential/adversary.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static const struct pm_target target = {.vulkan_minor = 3};
static uint64_t seeds = 1;
static uint32_t shaders, combinations, transforms;

static bool same(const struct pm_specialized *a, const struct pm_specialized *b)
{
    return a->transforms == b->transforms && a->words.count == b->words.count &&
           (!a->words.count ||
            memcmp(a->words.data, b->words.data, a->words.count * sizeof(uint32_t)) == 0);
}

static void check_way(const char *path, const struct pm_words *canonical,
                      const struct adversary_way *way, uint64_t seed)
{
    struct pm_error error = {0};
    struct pm_specialized out, again;
    const struct pm_zero_beyond beyond = adversary_beyond(seed);
    if (!adversary_specialize(way, seed, &beyond, canonical, seed % 2, true, &target, NULL, &out,
                              &error))
        fail_msg("%s, %s: %s", path, way->name, error.message);
    combinations++;
    transforms += out.transforms;
    if (out.transforms && !pm_validate(out.words.data, out.words.count, &target, &error))
        fail_msg("%s, %s: %s", path, way->name, error.message);
    if (seed == 0 && way->most_transforms) {
        assert_true(adversary_specialize(way, seed, &beyond, canonical, false, true, &target, NULL,
                                         &again, &error));
        if (!same(&out, &again))
            fail_msg("%s, %s: another time it is another module", path, way->name);
        pm_specialized_finish(&again);
    }
    pm_specialized_finish(&out);
}

static void check_shader(const char *path, enum pm_stage stage, const struct pm_words *words)
{
    struct pm_error error = {0};
    struct pm_words canonical;
    const struct pm_canonicalize_info info = {.words = words->data,
                                              .word_count = words->count,
                                              .stage = stage,
                                              .entry_point = "main",
                                              .target = target};
    if (!pm_canonicalize(&info, &canonical, &error))
        fail_msg("%s: %s", path, error.message);
    shaders++;
    /* Quickly each shader in some ways, the next in others. */
    for (uint64_t seed = 0; seed < seeds; seed++)
        for (uint32_t w = 0; w < ADVERSARY_WAYS; w++)
            if (seeds > 1 || (shaders + w) % 6 == 0)
                check_way(path, &canonical, &adversary_ways[w], seed);
    pm_words_finish(&canonical);
}

static bool is_shader(const char *path, enum pm_stage *stage)
{
    size_t length = strlen(path);
    *stage = strstr(path, ".comp") ? PM_STAGE_COMPUTE : PM_STAGE_FRAGMENT;
    return length > 4 && strcmp(path + length - 4, ".spv") == 0 &&
           (strstr(path, ".comp") || strstr(path, ".frag"));
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)where;
    enum pm_stage stage;
    if (type != FTW_F || !is_shader(path, &stage))
        return 0;
    struct pm_words words = {malloc((size_t)status->st_size), (size_t)status->st_size / 4};
    FILE *file = fopen(path, "rb");
    assert_non_null(words.data);
    assert_non_null(file);
    assert_int_equal(fread(words.data, 4, words.count, file), words.count);
    fclose(file);
    check_shader(path, stage, &words);
    pm_words_finish(&words);
    return 0;
}

static void test_repository(void **state)
{
    (void)state;
    static const char *const folders[] = {PM_TEST_SHADERS, PM_TEST_EXAMPLES};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        uint32_t before = shaders;
        assert_int_equal(nftw(folders[i], visit, 16, FTW_PHYS), 0);
        if (shaders < before + 10)
            fail_msg("%s: only %u shaders; build all first", folders[i], shaders - before);
    }
    printf("%u shaders, %u combinations, %u transforms\n", shaders, combinations, transforms);
    assert_true(transforms > shaders);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seeds = strtoull(argv[1], NULL, 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_repository)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
