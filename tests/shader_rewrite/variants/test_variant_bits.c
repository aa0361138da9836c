/* The recipes' variants of random shaders write the same bits as the original on every driver, with
 * every float result NoContraction in both (HAZARDS 3). Each is made as the layer makes it, with
 * the driver that runs it, and with every guard on.
 *
 *   test_shader_rewrite_variant_bits [FIRST [COUNT]]     these seeds only, and all recipes
 *
 * Without arguments each recipe has shaders of a list until it makes something of one, and each
 * does. Else a shader of one seed in three is run with pairs of recipes too. Where bits differ,
 * both are run with loads of buffers that differ by their loop: a driver may use for a load behind
 * a loop what it loaded in it (test_differential.c), and then it is the original that it gets
 * wrong.
 */
#include "base/random.h"
#include "tests/shader_rewrite/differential/differential.h"
#include "tests/shader_rewrite/gpu_driver.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/temporary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { MOST_RECIPES = 64, MOST_RUN = 4 * MOST_RECIPES };

static struct differential differential;
static uint64_t first_seed, seed_count;
static bool all;

/* Found by trying: on each driver these have something for each recipe. Of the first two lavapipe
 * 25's own guards let more be made than all guards do. */
static const uint64_t quick_seeds[] = {28, 64, 286, 54, 66, 47, 65, 74};
/* But for these: random shaders load no component of a vector by itself, and no structure. */
static const char *const never_made[] = {"whole-loads", "small-loads"};

static const struct pm_target target = {.vulkan_minor = 3, .uniform_buffer_standard_layout = true};

static struct {
    uint64_t shaders, variants, same, carried, by_recipe[MOST_RECIPES];
    uint64_t guarded; /* with every guard on another one, or none, comes out */
} seen;

struct subject {
    uint64_t seed;
    enum pm_stage stage;
    struct pm_words original, canonical;
    struct differential_output expected;
};

static void run_precise(const struct subject *subject, const struct pm_words *module,
                        struct differential_output *output)
{
    struct pm_words precise = differential_precise(module);
    differential_run(&differential, &precise, subject->stage, NULL, output);
    pm_words_finish(&precise);
}

static bool same_when_reloading(const struct subject *subject, const struct pm_words *variant)
{
    static struct differential_output expected, output;
    size_t first;
    struct pm_words original = differential_reloading(&subject->original);
    struct pm_words reloading = differential_reloading(variant);
    run_precise(subject, &original, &expected);
    run_precise(subject, &reloading, &output);
    pm_words_finish(&original);
    pm_words_finish(&reloading);
    return differential_compare(&subject->expected, &expected, &first) != 0 &&
           differential_compare(&expected, &output, &first) == 0;
}

static void fail_with(const struct subject *subject, const struct pm_variant_info *info,
                      const struct pm_words *variant, const char *what)
{
    char folder[64];
    temporary_make(folder, sizeof folder);
    differential_dump(folder, "original", &subject->original);
    differential_dump(folder, "canonical", &subject->canonical);
    if (variant->count)
        differential_dump(folder, "variant", variant);
    char name[PM_VARIANT_NAME];
    pm_variant_name(&info->choice, name);
    fail_msg("seed %" PRIu64 ", %s%s on %s: %s; see %s", subject->seed, name,
             info->driver ? "" : " with every guard", differential.gpu.name, what, folder);
}

/* Words of variants that were run, since several recipes come to the same. */
static struct pm_words ran[MOST_RUN];
static uint32_t ran_count;

static bool are_equal(const struct pm_words *a, const struct pm_words *b)
{
    return a->count == b->count && memcmp(a->data, b->data, a->count * sizeof(uint32_t)) == 0;
}

static bool was_run(const struct pm_words *variant)
{
    for (uint32_t i = 0; i < ran_count; i++)
        if (are_equal(&ran[i], variant))
            return true;
    return false;
}

static void forget_run(void)
{
    while (ran_count > 0)
        pm_words_finish(&ran[--ran_count]);
}

static struct pm_words make(const struct subject *subject, const struct pm_variant_info *info)
{
    struct pm_words variant;
    struct pm_error error;
    if (!pm_make_variant(subject->canonical.data, subject->canonical.count, info, &variant, &error))
        fail_with(subject, info, &variant, error.message);
    return variant;
}

/* The variant is the callee's. */
static void run(const struct subject *subject, const struct pm_variant_info *info,
                struct pm_words variant)
{
    static struct differential_output output;
    char text[128];
    size_t first;
    seen.variants++;
    run_precise(subject, &variant, &output);
    const size_t different = differential_compare(&subject->expected, &output, &first);
    if (different != 0 && !same_when_reloading(subject, &variant)) {
        snprintf(text, sizeof text, "%zu words differ, from word %zu on: 0x%08x, not 0x%08x",
                 different, first, output.words[first], subject->expected.words[first]);
        fail_with(subject, info, &variant, text);
    }
    seen.carried += different != 0;
    if (ran_count < MOST_RUN)
        ran[ran_count++] = variant;
    else
        pm_words_finish(&variant);
}

static void check(const struct subject *subject, uint32_t recipe, const struct pm_recipe *second)
{
    const struct pm_driver driver = gpu_driver(&differential.gpu);
    const struct pm_variant_info info = {
        .choice = {pm_recipe_at(recipe), second}, .target = target, .driver = &driver};
    const struct pm_variant_info any = {.choice = info.choice, .target = target};
    struct pm_words made = make(subject, &info), guarded = make(subject, &any);
    seen.by_recipe[recipe] += made.count > 0;
    seen.same += made.count > 0 && was_run(&made);
    seen.guarded += !are_equal(&made, &guarded);
    if (made.count > 0 && !was_run(&made))
        run(subject, &info, made);
    else
        pm_words_finish(&made);
    if (guarded.count > 0 && !was_run(&guarded))
        run(subject, &any, guarded);
    else
        pm_words_finish(&guarded);
}

static struct random_shader_options options_of(uint64_t seed)
{
    return (struct random_shader_options){
        .stage = seed % 2 ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE,
        .statements = RANDOM_SHADER_STATEMENTS,
        .demote = differential.gpu.demote && !differential.gpu.swiftshader,
        .exits_inside = !differential.gpu.swiftshader,
        .walks = true,
        .words = seed % 5 == 4,
        .uniforms = seed / 5 % 2,
        .many_turns = seed % 7 == 6,
    };
}

static void check_seed(uint64_t seed)
{
    struct subject subject = {.seed = seed};
    const struct random_shader_options options = options_of(seed);
    char *text = random_shader_text(seed, &options);
    struct pm_error error;
    subject.stage = options.stage;
    subject.original = pm_test_assemble(text, 3);
    free(text);
    const struct pm_canonicalize_info info = {.words = subject.original.data,
                                              .word_count = subject.original.count,
                                              .stage = options.stage,
                                              .entry_point = "main",
                                              .target = target};
    if (!pm_canonicalize(&info, &subject.canonical, &error))
        fail_msg("seed %" PRIu64 ": %s", seed, error.message);
    differential_inputs(&differential, seed, false);
    run_precise(&subject, &subject.original, &subject.expected);
    seen.shaders++;
    struct pm_random random;
    pm_random_init(&random, seed);
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        if (all || seen.by_recipe[r] == 0)
            check(&subject, r, NULL);
        if (all && seed % 3 == 0)
            check(&subject, r, pm_recipe_at((uint32_t)pm_random_below(&random, pm_recipe_count())));
    }
    forget_run();
    pm_words_finish(&subject.original);
    pm_words_finish(&subject.canonical);
}

static bool is_ever_made(const char *recipe)
{
    for (size_t i = 0; i < sizeof never_made / sizeof *never_made; i++)
        if (strcmp(never_made[i], recipe) == 0)
            return false;
    return true;
}

static void report(void)
{
    printf("%" PRIu64 " shaders, %" PRIu64 " variants run, %" PRIu64
           " more had the same words, %" PRIu64 " are others with every guard on, %" PRIu64
           " differ by what the driver carries out of loops\n",
           seen.shaders, seen.variants, seen.same, seen.guarded, seen.carried);
    for (uint32_t r = 0; r < pm_recipe_count(); r++)
        printf("  %-18s %" PRIu64 "\n", pm_recipe_at(r)->name, seen.by_recipe[r]);
}

static void test_same_bits(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < seed_count; i++)
        check_seed(first_seed + i);
    report();
}

static void test_each_recipe(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof quick_seeds / sizeof *quick_seeds; i++)
        check_seed(quick_seeds[i]);
    report();
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        const char *name = pm_recipe_at(r)->name;
        if ((seen.by_recipe[r] > 0) != is_ever_made(name))
            fail_msg("%s made %s", name, seen.by_recipe[r] > 0 ? "something" : "nothing");
    }
}

static int set_up(void **state)
{
    (void)state;
    differential_create(&differential);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    differential_destroy(&differential);
    return 0;
}

int main(int argc, char **argv)
{
    all = argc > 1;
    if (all)
        first_seed = strtoull(argv[1], NULL, 0), seed_count = 1;
    if (argc > 2)
        seed_count = strtoull(argv[2], NULL, 0);
    const struct CMUnitTest quick[] = {cmocka_unit_test(test_each_recipe)};
    const struct CMUnitTest named[] = {cmocka_unit_test(test_same_bits)};
    return all ? cmocka_run_group_tests(named, set_up, tear_down)
               : cmocka_run_group_tests(quick, set_up, tear_down);
}
