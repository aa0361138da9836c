/* The recipes' variants of random shaders write the same bits as the original on every driver, with
 * every float result NoContraction in both (HAZARDS 3). Each is made as the layer makes it, with
 * the driver that runs it, and with every guard on.
 *
 *   test_shader_rewrite_variant_bits [over|over-words|over-blocks] [FIRST [COUNT]]
 *                                                 these seeds only, and all recipes
 *
 * With "over" they are run over what is specialized for zeros by a profile that no honest client
 * sends, as the layer does where that is faster; with the others over what is made for known words,
 * also where these are others than the shader is run with, and by absurd counts of blocks; else,
 * and where nothing comes of that, over the canonical module. Those by blocks have such counts, but
 * over known words, where the layer runs none.
 *
 * Without seeds each recipe has shaders of a list until it makes something of one, and each
 * does. Else a shader of one seed in three is run with pairs of recipes too. Where bits differ,
 * both are run with loads of buffers that differ by their loop: a driver may use for a load behind
 * a loop what it loaded in it (test_differential.c), and then it is the original that it gets
 * wrong. And what is made NoContraction only once the recipe has run is what no recipe's guard has
 * seen: then the one counts that is made of a module that has it before.
 *
 * Each is run as it is, too, beside the original as it is (over what is specialized, without seeds,
 * the first FREE_OVER): there a driver may reassociate what the recipe has put into another
 * order. It writes the same bits, or what an 8-bit target would show differs by one unit at most
 * (HAZARDS 3). Where it is more, and the original itself is by as much another one with every float
 * NoContraction, the driver is free there whatever the recipe does. Such ones are listed, and
 * without seeds there is none.
 */
#include "base/random.h"
#include "tests/shader_rewrite/differential/adversary.h"
#include "tests/shader_rewrite/differential/adversary_blocks.h"
#include "tests/shader_rewrite/differential/adversary_constants.h"
#include "tests/shader_rewrite/differential/differential.h"
#include "tests/shader_rewrite/gpu_driver.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/temporary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { MOST_RECIPES = 64, MOST_RUN = 4 * MOST_RECIPES, FREE_OVER = 6 };

static struct differential differential;
static uint64_t first_seed, seed_count;
static bool all, over;
static enum { OVER_ZEROS, OVER_WORDS, OVER_BLOCKS } over_what;

/* Found by trying: on each driver these have something for each recipe. Of the first two lavapipe
 * 25's own guards let more be made than all guards do. */
static const uint64_t quick_seeds[] = {28, 64, 286, 54, 66, 47, 65, 74, 9};
/* The same over what is specialized: of a few shaders alone, which most have something for. */
static const struct {
    uint64_t seeds[3];
    uint32_t count;
    uint32_t least; /* recipes that make something */
} quick_over[] = {
    [OVER_ZEROS] = {{28, 64, 54}, 3, 20},
    [OVER_WORDS] = {{24, 29}, 2, 24},
    [OVER_BLOCKS] = {{28, 64, 54}, 3, 20},
};
/* But for these: random shaders load no component of a vector by itself, and no structure. */
static const char *const never_made[] = {"whole-loads", "small-loads"};

static bool over_words(void)
{
    return over && over_what == OVER_WORDS;
}

static const struct pm_target target = {.vulkan_minor = 3, .uniform_buffer_standard_layout = true};

/* Of variants as they are: how many write the same bits, or others within HAZARDS 3's bound, or
 * beyond it where the driver computes the original otherwise, too. */
static struct {
    uint64_t equal, within, as_original;
    uint32_t most; /* units of an 8-bit target, of those within */
} freely;

static uint64_t ran_free(void)
{
    return freely.equal + freely.within + freely.as_original;
}

/* It takes as long again: of what is specialized, without seeds only the first few. */
static bool runs_free(void)
{
    return all || !over || ran_free() < FREE_OVER;
}

static struct {
    uint64_t shaders, specialized, variants, same, carried, by_recipe[MOST_RECIPES];
    uint64_t given_up, guarded_exact; /* the latter: which differ, unless they are made of what is
                                         NoContraction */
    uint64_t guarded;                 /* with every guard on another one, or none, comes out */
} seen;

struct subject {
    uint64_t seed;
    enum pm_stage stage;
    struct pm_words original, canonical;
    struct pm_words base; /* that recipes are run over */
    struct adversary_block_profile blocks;
    struct differential_output expected; /* with every float NoContraction */
    struct differential_output free;     /* as it is */
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

/* Made of what is NoContraction, as a game's shader may be, and run as it then is. */
static bool same_when_made_exact(const struct subject *subject, const struct pm_variant_info *info)
{
    static struct differential_output output;
    struct pm_words variant, exact = differential_precise(&subject->base);
    struct pm_error error;
    size_t first, different = 0;
    bool same = pm_make_variant(exact.data, exact.count, info, &variant, &error) ||
                error.code == PM_ERROR_UNSUPPORTED;
    if (same && variant.count > 0) {
        differential_run(&differential, &variant, subject->stage, NULL, &output);
        different = differential_compare(&subject->expected, &output, &first);
        pm_words_finish(&variant);
    }
    pm_words_finish(&exact);
    seen.guarded_exact += same && different == 0;
    return same && different == 0;
}

static void fail_with(const struct subject *subject, const struct pm_variant_info *info,
                      const struct pm_words *variant, const char *what)
{
    char folder[64];
    temporary_make(folder, sizeof folder);
    differential_dump(folder, "original", &subject->original);
    differential_dump(folder, "canonical", &subject->canonical);
    differential_dump(folder, "base", &subject->base);
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
    if (pm_make_variant(subject->base.data, subject->base.count, info, &variant, &error))
        return variant;
    /* SPIRV-Tools' passes know canonical modules better: what they give up is no variant. */
    if (over && error.code == PM_ERROR_UNSUPPORTED)
        seen.given_up++;
    else
        fail_with(subject, info, &variant, error.message);
    return (struct pm_words){0};
}

/* What an 8-bit target would show of a float, in units. */
static double shown(uint32_t word)
{
    float value;
    memcpy(&value, &word, sizeof value);
    return isnan(value) || value <= 0 ? 0 : value >= 1 ? 255 : 255 * (double)value;
}

/* The most that an 8-bit target would show differs, in units, rounded up; 0: no bit does. */
static uint32_t most_shown(const struct differential_output *a, const struct differential_output *b)
{
    double most = 0;
    bool differs = false;
    for (size_t w = 0; w < DIFFERENTIAL_WORDS; w++) {
        const double by = fabs(shown(a->words[w]) - shown(b->words[w]));
        differs |= a->words[w] != b->words[w];
        most = by > most ? by : most;
    }
    return differs && most < 1 ? 1 : (uint32_t)ceil(most);
}

/* As it is, as a player gets it. */
static void run_free(const struct subject *subject, const struct pm_variant_info *info,
                     const struct pm_words *variant)
{
    static struct differential_output output;
    char text[128];
    differential_run(&differential, variant, subject->stage, NULL, &output);
    const uint32_t by = most_shown(&subject->free, &output);
    if (by > 1 && by > most_shown(&subject->free, &subject->expected)) {
        snprintf(text, sizeof text, "as it is it differs by %u units of an 8-bit target", by);
        fail_with(subject, info, variant, text);
    }
    freely.equal += by == 0;
    freely.within += by == 1;
    if (by > 1) {
        char name[PM_VARIANT_NAME];
        pm_variant_name(&info->choice, name);
        printf("as free as the original: seed %" PRIu64 ", %s, by %u units\n", subject->seed, name,
               by);
        freely.as_original++;
    }
    freely.most = by > freely.most ? by : freely.most;
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
    const bool exact = different != 0 && same_when_made_exact(subject, info);
    if (different != 0 && !exact && !same_when_reloading(subject, &variant)) {
        snprintf(text, sizeof text, "%zu words differ, from word %zu on: 0x%08x, not 0x%08x",
                 different, first, output.words[first], subject->expected.words[first]);
        fail_with(subject, info, &variant, text);
    }
    seen.carried += different != 0 && !exact;
    if (different == 0 && runs_free())
        run_free(subject, info, &variant);
    if (ran_count < MOST_RUN)
        ran[ran_count++] = variant;
    else
        pm_words_finish(&variant);
}

/* Votes of fragments are of devices that have them there. */
static bool has_vote(enum pm_stage stage)
{
    return stage == PM_STAGE_COMPUTE ? differential.gpu.quad
                                     : differential.gpu.vote_and_quad_in_fragment;
}

static void check(const struct subject *subject, uint32_t recipe, const struct pm_recipe *second)
{
    const struct pm_driver driver = gpu_driver(&differential.gpu);
    const struct pm_optimize_blocks_info blocks = {.profile = &subject->blocks.profile,
                                                   .points = &subject->blocks.points,
                                                   .turns = &subject->blocks.turns,
                                                   .passes = PM_BLOCK_ALL,
                                                   .uniform_share = 0.9};
    const bool words = over_words();
    const struct pm_variant_info info = {.choice = {pm_recipe_at(recipe), second},
                                         .target = target,
                                         .driver = &driver,
                                         .blocks = words ? NULL : &blocks,
                                         .withheld_passes = words ? PM_BLOCK_ALL : 0,
                                         .subgroup_vote = has_vote(subject->stage)};
    struct pm_variant_info any = info;
    any.driver = NULL;
    struct pm_words made = make(subject, &info), guarded = {0};
    if (all || !over)
        guarded = make(subject, &any);
    seen.by_recipe[recipe] += made.count > 0;
    seen.same += made.count > 0 && was_run(&made);
    seen.guarded += (all || !over) && !are_equal(&made, &guarded);
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
        .words = seed % 5 == 4 || over_words(),
        .uniforms = seed / 5 % 2,
        .many_turns = seed % 7 == 6,
    };
}

/* For words that it is run with, or behind the guard for others. */
static void specialize_for_words(struct subject *subject)
{
    const struct pm_driver driver = gpu_driver(&differential.gpu);
    for (uint32_t w = 0; w < ADVERSARY_CONSTANT_WAYS && subject->base.count == 0; w++) {
        const uint32_t way = (uint32_t)((subject->seed + w) % ADVERSARY_CONSTANT_WAYS);
        struct pm_specialized_constants made;
        struct pm_error error;
        if (!adversary_constants(way, subject->seed, &subject->canonical, differential.inputs.push,
                                 false, differential.gpu.quad, &target, &driver, &made, &error))
            fail_msg("seed %" PRIu64 ", %s: %s", subject->seed, adversary_constant_ways[way],
                     error.message);
        subject->base = made.words;
        made.words = (struct pm_words){0};
        pm_specialized_constants_finish(&made);
    }
}

static void specialize_by_blocks(struct subject *subject)
{
    const struct pm_driver driver = gpu_driver(&differential.gpu);
    for (uint32_t w = 0; w < ADVERSARY_BLOCK_WAYS && subject->base.count == 0; w++) {
        const uint32_t way = (uint32_t)((subject->seed + w) % ADVERSARY_BLOCK_WAYS);
        struct pm_optimized_blocks made;
        struct pm_error error;
        if (!adversary_blocks(PM_BLOCK_ALL, way, subject->seed, &subject->canonical,
                              has_vote(subject->stage), &target, &driver, &made, &error))
            fail_msg("seed %" PRIu64 ", %s: %s", subject->seed, adversary_block_ways[way],
                     error.message);
        subject->base = made.words;
        made.words = (struct pm_words){0};
        pm_optimized_blocks_finish(&made);
    }
}

/* By the first of the ways that makes anything of it, from one on that the seed says. */
static void specialize_for_zeros(struct subject *subject)
{
    const struct pm_driver driver = gpu_driver(&differential.gpu);
    const struct pm_zero_beyond beyond = adversary_beyond(subject->seed);
    for (uint32_t w = 0; w < ADVERSARY_WAYS && subject->base.count == 0; w++) {
        const struct adversary_way *way = &adversary_ways[(subject->seed + w) % ADVERSARY_WAYS];
        struct pm_specialized made;
        struct pm_error error;
        if (!adversary_specialize(way, subject->seed, &beyond, &subject->canonical, false,
                                  differential.gpu.quad, &target, &driver, &made, &error))
            fail_msg("seed %" PRIu64 ", %s: %s", subject->seed, way->name, error.message);
        subject->base = made.words;
        made.words = (struct pm_words){0};
        pm_specialized_finish(&made);
    }
}

/* What recipes are run over, and the profile of its blocks. */
static void prepare(struct subject *subject)
{
    struct pm_error error;
    const size_t bytes = subject->canonical.count * sizeof(uint32_t);
    if (over)
        (over_what == OVER_WORDS    ? specialize_for_words
         : over_what == OVER_BLOCKS ? specialize_by_blocks
                                    : specialize_for_zeros)(subject);
    seen.specialized += subject->base.count > 0;
    if (subject->base.count == 0) {
        subject->base = (struct pm_words){malloc(bytes), subject->canonical.count};
        assert_non_null(subject->base.data);
        memcpy(subject->base.data, subject->canonical.data, bytes);
    }
    if (!adversary_block_profile((uint32_t)(subject->seed / 2 % ADVERSARY_BLOCK_WAYS),
                                 subject->seed, &subject->canonical, &subject->blocks, &error))
        fail_msg("seed %" PRIu64 ": %s", subject->seed, error.message);
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
    if (runs_free())
        differential_run(&differential, &subject.original, subject.stage, NULL, &subject.free);
    seen.shaders++;
    prepare(&subject);
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
    pm_words_finish(&subject.base);
    adversary_block_profile_finish(&subject.blocks);
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
    printf("%" PRIu64 " shaders, %" PRIu64 " of them specialized, %" PRIu64
           " variants run, %" PRIu64 " more had the same words, %" PRIu64
           " are others with every guard on, %" PRIu64
           " differ by what the driver carries out of loops, %" PRIu64
           " unless they are made of what is NoContraction, %" PRIu64 " were given up\n",
           seen.shaders, seen.specialized, seen.variants, seen.same, seen.guarded, seen.carried,
           seen.guarded_exact, seen.given_up);
    printf("As they are %" PRIu64 " write the same bits, %" PRIu64
           " others within a unit of an 8-bit target, %" PRIu64
           " more, by %u units at most, where the original itself is as free\n",
           freely.equal, freely.within, freely.as_original, freely.most);
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

static void check_seeds(const uint64_t *seeds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_seed(seeds[i]);
    report();
    assert_true(ran_free() >= FREE_OVER);
    assert_int_equal(freely.as_original, 0);
}

static void test_each_recipe(void **state)
{
    (void)state;
    /* Where vectors of floats stay whole, these shaders have none for scalarize alone. */
    const struct pm_driver driver = gpu_driver(&differential.gpu);
    const bool only_integers = pm_quirks_of(&driver) & PM_QUIRK_FOLDS_SCALARS;
    check_seeds(quick_seeds, sizeof quick_seeds / sizeof *quick_seeds);
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        const char *name = pm_recipe_at(r)->name;
        if (only_integers && strcmp(name, "scalarize") == 0)
            continue;
        if ((seen.by_recipe[r] > 0) != is_ever_made(name))
            fail_msg("%s made %s", name, seen.by_recipe[r] > 0 ? "something" : "nothing");
    }
}

/* Over what is made of a few shaders. What is given up is none that was made. */
static void test_over(void **state)
{
    (void)state;
    uint32_t made = 0, by_blocks = 0;
    check_seeds(quick_over[over_what].seeds, quick_over[over_what].count);
    assert_int_equal(seen.specialized, seen.shaders);
    assert_true(10 * seen.given_up <= seen.variants);
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        made += seen.by_recipe[r] > 0;
        by_blocks += seen.by_recipe[r] > 0 && pm_recipe_at(r)->kind == PM_RECIPE_BLOCKS;
    }
    /* Of some with loops there are no variants on drivers that choose again behind them. */
    assert_true(made >= quick_over[over_what].least);
    assert_true(over_what == OVER_WORDS ? by_blocks == 0 : by_blocks >= 3);
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
    over = argc > 1 && strncmp(argv[1], "over", 4) == 0;
    over_what = !over                                 ? OVER_ZEROS
                : strcmp(argv[1], "over-words") == 0  ? OVER_WORDS
                : strcmp(argv[1], "over-blocks") == 0 ? OVER_BLOCKS
                                                      : OVER_ZEROS;
    argc -= over;
    argv += over;
    all = argc > 1;
    if (all)
        first_seed = strtoull(argv[1], NULL, 0), seed_count = 1;
    if (argc > 2)
        seed_count = strtoull(argv[2], NULL, 0);
    const struct CMUnitTest quick[] = {over
                                           ? (struct CMUnitTest)cmocka_unit_test(test_over)
                                           : (struct CMUnitTest)cmocka_unit_test(test_each_recipe)};
    const struct CMUnitTest named[] = {cmocka_unit_test(test_same_bits)};
    return all ? cmocka_run_group_tests(named, set_up, tear_down)
               : cmocka_run_group_tests(quick, set_up, tear_down);
}
