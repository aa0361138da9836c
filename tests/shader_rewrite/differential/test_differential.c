/* Random shaders write the same bits as they are, canonical, instrumented, and specialized by
 * adversarial profiles, on every driver; each step is valid, and none crashes or hangs.
 *
 *   test_shader_rewrite_differential [FIRST [COUNT [BEYOND [PART]]]]     these seeds only
 *
 * Else eight, and on lavapipe 25, whose compiler takes longest, the latter four of them; quickly
 * (tests/all.h) on lavapipe 22 the first four, and on lavapipe 25 the last two.
 *
 * BEYOND says which seeds have what goes beyond AZP: half of them each, or with "none" and "all"
 * none and all of them everything; with "each" every shader is specialized in all three ways, and a
 * module that comes out twice runs once: drivers' compilers take nine tenths of the time. PART
 * "specialized" leaves the instrumented modules out, which take a third of the time; "blocks"
 * leaves out all but what the passes over blocks make.
 *
 * Where bits differ, both modules are run again with every float result NoContraction: a driver may
 * fuse or reassociate the one and not the other, and then it is no fault of ours (HAZARDS 3). And
 * with loads of buffers that differ by their loop, if then the original alone writes something
 * else: SwiftShader uses what it loaded in a loop for the same load behind it, also for lanes that
 * left the loop before the others, for which it has another value there (seen: seeds 40295 and
 * 70050).
 */
#include "base/random.h"
#include "tests/all.h"
#include "tests/shader_rewrite/differential/adversary.h"
#include "tests/shader_rewrite/differential/adversary_blocks.h"
#include "tests/shader_rewrite/differential/adversary_constants.h"
#include "tests/shader_rewrite/differential/debug_information.h"
#include "tests/shader_rewrite/differential/differential.h"
#include "tests/shader_rewrite/differential/hangs.h"
#include "tests/shader_rewrite/gpu_driver.h"
#include "tests/shader_rewrite/instrument/sums.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/shader_rewrite/translated.h"
#include "tests/temporary.h"

#include <inttypes.h>
#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* A seed hangs when it takes so much processor time, or waits for so long: on a machine that has
 * other things to do a minute of the one may be an hour of the other. */
enum { SEEDS = 8, SECONDS_RUN = 200, SECONDS_WAITED = 3600, MOST_POINTS = 12 };

static struct differential differential;
static uint64_t first_seed = 1, seed_count = SEEDS;
static const char *beyond_choice = "half";
static bool only_specialized, only_blocks;
/* A uniform buffer of the random shaders' is an array of floats without gaps. */
static const struct pm_target target = {.vulkan_minor = 3, .uniform_buffer_standard_layout = true};

static struct {
    uint64_t shaders, variants, not_run, contracted, carried, combinations, transforms, constants,
        guards, blocks;
} seen;

/* One shader under test, its outputs, and what was wrong. */
struct trial {
    uint64_t seed;
    struct random_shader_options options;
    struct pm_words original, canonical;
    struct differential_output expected, precise;
    bool has_precise; /* `precise` is what the original writes without contraction */
    char failure[1024];
    const char *culprit; /* name of the variant that failed */
    struct pm_words variant;
};

static bool wrong(struct trial *t, const char *culprit, const char *what)
{
    t->culprit = culprit;
    snprintf(t->failure, sizeof(t->failure), "%s: %s", culprit, what);
    return false;
}

/* ---- one variant ---- */

static bool same_without_contraction(struct trial *t, const struct pm_words *variant,
                                     const VkSpecializationInfo *specialization)
{
    static struct differential_output output;
    size_t first = 0;
    if (!t->has_precise) {
        struct pm_words original = differential_precise(&t->original);
        differential_run(&differential, &original, t->options.stage, NULL, &t->precise);
        pm_words_finish(&original);
        t->has_precise = true;
    }
    struct pm_words precise = differential_precise(variant);
    differential_run(&differential, &precise, t->options.stage, specialization, &output);
    pm_words_finish(&precise);
    if (differential_compare(&t->precise, &output, &first) != 0)
        return false;
    seen.contracted++;
    return true;
}

static bool same_when_reloading(struct trial *t, const struct pm_words *variant,
                                const VkSpecializationInfo *specialization)
{
    static struct differential_output expected, output;
    size_t first = 0;
    struct pm_words original = differential_reloading(&t->original);
    differential_run(&differential, &original, t->options.stage, NULL, &expected);
    pm_words_finish(&original);
    if (differential_compare(&t->expected, &expected, &first) == 0)
        return false; /* the driver does as the original says */
    struct pm_words reloading = differential_reloading(variant);
    differential_run(&differential, &reloading, t->options.stage, specialization, &output);
    pm_words_finish(&reloading);
    if (differential_compare(&expected, &output, &first) != 0)
        return false;
    seen.carried++;
    return true;
}

static void keep_variant(struct trial *t, const struct pm_words *variant)
{
    t->variant = (struct pm_words){malloc(variant->count * sizeof(uint32_t)), variant->count};
    assert_non_null(t->variant.data);
    memcpy(t->variant.data, variant->data, variant->count * sizeof(uint32_t));
}

/* LLVM 15's ScalarEvolution, below lavapipe, takes exponential time in loops behind one another: 52
 * of them were not compiled in eight minutes (seed 1085), nor 30 in three (seed 1205). */
static bool compiles_in_time(const struct pm_words *words)
{
    enum { MOST_LOOPS = 24 };
    uint32_t loops = 0;
    for (size_t at = 5; at < words->count; at += words->data[at] >> 16)
        loops += (words->data[at] & 0xffff) == SpvOpLoopMerge;
    return differential.gpu.swiftshader || loops <= MOST_LOOPS;
}

/* Valid, and writes what the original does. */
static bool check_variant(struct trial *t, const char *name, const struct pm_words *variant,
                          const VkSpecializationInfo *specialization)
{
    static struct differential_output output;
    struct pm_error error = {0};
    char text[128];
    size_t first = 0;
    seen.variants++;
    hangs_runs(name, variant);
    if (!pm_validate(variant->data, variant->count, &target, &error)) {
        keep_variant(t, variant);
        return wrong(t, name, error.message);
    }
    if (!compiles_in_time(variant)) {
        seen.not_run++;
        return true;
    }
    differential_run(&differential, variant, t->options.stage, specialization, &output);
    size_t different = differential_compare(&t->expected, &output, &first);
    if (!different || same_without_contraction(t, variant, specialization) ||
        same_when_reloading(t, variant, specialization))
        return true;
    keep_variant(t, variant);
    snprintf(text, sizeof(text), "%zu words differ, from word %zu on: 0x%08x, not 0x%08x",
             different, first, output.words[first], t->expected.words[first]);
    return wrong(t, name, text);
}

/* ---- the passes ---- */

static bool canonicalize(const struct trial *t, const struct pm_words *words, struct pm_words *out,
                         struct pm_error *error)
{
    const struct pm_canonicalize_info info = {.words = words->data,
                                              .word_count = words->count,
                                              .stage = t->options.stage,
                                              .entry_point = "main",
                                              .target = target};
    return pm_canonicalize(&info, out, error);
}

static bool check_canonical(struct trial *t)
{
    struct pm_error error = {0};
    if (!canonicalize(t, &t->original, &t->canonical, &error)) {
        t->canonical = (struct pm_words){0};
        return wrong(t, "canonical", error.message);
    }
    return check_variant(t, "canonical", &t->canonical, NULL);
}

/* With debug information it is the same shader, and so all that is made of it. */
static bool check_debug_information(struct trial *t)
{
    static const char name[] = "with debug information";
    struct pm_error error = {0};
    struct pm_words canonical = {0}, words = pm_test_with_debug_information(&t->original, t->seed);
    bool ok = true;
    if (!pm_validate(words.data, words.count, &target, &error) ||
        !canonicalize(t, &words, &canonical, &error))
        ok = wrong(t, name, error.message);
    else if (canonical.count != t->canonical.count ||
             memcmp(canonical.data, t->canonical.data, canonical.count * sizeof(uint32_t)) != 0)
        ok = wrong(t, name, "another canonical module");
    if (!ok)
        keep_variant(t, canonical.count ? &canonical : &words);
    pm_words_finish(&canonical);
    pm_words_finish(&words);
    return ok;
}

/* Runs an instrumented module with counters of its own; what they hold is another test's. */
static bool check_instrumented(struct trial *t, const char *name,
                               const struct pm_instrumented *instrumented)
{
    struct pm_gpu_buffer counters;
    pm_gpu_buffer_create(&differential.gpu, instrumented->counter_bytes, &counters);
    const uint32_t address[] = {(uint32_t)counters.address, (uint32_t)(counters.address >> 32)};
    const VkSpecializationMapEntry entries[] = {{instrumented->spec_id_low, 0, 4},
                                                {instrumented->spec_id_high, 4, 4}};
    const VkSpecializationInfo specialization = {2, entries, sizeof(address), address};
    bool ok = check_variant(t, name, &instrumented->words, &specialization);
    pm_gpu_buffer_destroy(&differential.gpu, &counters);
    return ok;
}

/* All points of one shader in four; else some of them, since a driver compiles few counters faster.
 * Returns how many. */
static uint32_t choose_points(const struct trial *t, uint32_t count, uint32_t **points)
{
    struct pm_random random;
    pm_random_init(&random, t->seed);
    uint32_t chosen = 0, left = t->seed % 4 < 1 || count < MOST_POINTS ? count : MOST_POINTS;
    *points = calloc(count + 1, sizeof(**points));
    assert_non_null(*points);
    for (uint32_t i = 0; i < count; i++)
        if (pm_random_below(&random, count - i) < left - chosen)
            (*points)[chosen++] = i;
    return chosen;
}

static struct pm_instrument_info instrument_info(const uint32_t *points, uint32_t count)
{
    return (struct pm_instrument_info){
        .all_candidates = true,
        .points = points,
        .point_count = count,
        .slot_count = 4,
        .int64_atomics = differential.gpu.int64_atomics,
        .memory_model_device_scope = differential.gpu.memory_model_device_scope,
        .subgroup_quad = differential.gpu.quad,
        .subgroup_size = differential.gpu.subgroup_size,
        .most_lanes = differential.gpu.most_lanes,
        .subgroup_arithmetic = differential.gpu.arithmetic,
        .sums_outlive_loops = pm_gpu_sums_outlive_loops(&differential.gpu),
        .target = target,
    };
}

static bool check_blocks(struct trial *t)
{
    struct pm_error error = {0};
    struct pm_block_points points;
    struct pm_instrumented out;
    if (!pm_points_blocks(t->canonical.data, t->canonical.count, &points, &error))
        return wrong(t, "points_blocks", error.message);
    uint32_t *chosen, count = choose_points(t, points.count, &chosen);
    struct pm_instrument_info info = instrument_info(chosen, count);
    info.lanes_only = t->seed % 3 == 0;
    bool ok = pm_instrument_blocks(t->canonical.data, t->canonical.count, &info, &out, &error);
    free(chosen);
    pm_block_points_finish(&points);
    if (!ok)
        return wrong(t, "instrument_blocks", error.message);
    ok = check_instrumented(t, "instrument_blocks", &out);
    pm_instrumented_finish(&out);
    return ok;
}

static bool check_turns(struct trial *t)
{
    struct pm_error error = {0};
    struct pm_turn_points points;
    struct pm_instrumented out = {0};
    if (!pm_points_turns(t->canonical.data, t->canonical.count, &points, &error))
        return wrong(t, "points_turns", error.message);
    uint32_t *chosen, count = choose_points(t, points.count, &chosen);
    struct pm_instrument_info info = instrument_info(chosen, count);
    info.turns = &points;
    bool ok = count == 0 ||
              pm_instrument_turns(t->canonical.data, t->canonical.count, &info, &out, &error);
    free(chosen);
    pm_turn_points_finish(&points);
    if (!ok)
        return wrong(t, "instrument_turns", error.message);
    ok = count == 0 || check_instrumented(t, "instrument_turns", &out);
    pm_instrumented_finish(&out);
    return ok;
}

static bool check_zeros(struct trial *t)
{
    struct pm_error error = {0};
    struct pm_zero_points points;
    struct pm_instrumented out;
    if (!pm_zero_candidates(t->canonical.data, t->canonical.count, &points, &error))
        return wrong(t, "points_zero", error.message);
    uint32_t *chosen, count = choose_points(t, points.count, &chosen);
    struct pm_instrument_info info = instrument_info(chosen, count);
    info.count_copies = t->seed / 4 % 2;
    bool ok = pm_instrument_zero(t->canonical.data, t->canonical.count, &info, &out, &error);
    free(chosen);
    pm_zero_points_finish(&points);
    if (!ok)
        return wrong(t, "instrument_zero", error.message);
    ok = check_instrumented(t, "instrument_zero", &out);
    pm_instrumented_finish(&out);
    return ok;
}

/* ---- specialize_zero ---- */

/* What goes beyond AZP, as a seed may have it. */
enum { BEYOND_NONE, BEYOND_ALL, BEYOND_HALF, BEYOND_CHOICES };
static const char *const beyond_names[BEYOND_CHOICES] = {"none", "all", "half"};

/* Whether the module is one of the first count. */
static bool is_known(const struct pm_specialized *made, uint32_t count,
                     const struct pm_words *module)
{
    for (uint32_t i = 0; i < count; i++)
        if (made[i].words.count == module->count &&
            memcmp(made[i].words.data, module->data, module->count * sizeof(uint32_t)) == 0)
            return true;
    return false;
}

/* made[at] is what the way made. */
static bool check_way(struct trial *t, const struct adversary_way *way,
                      const struct pm_specialized *made, uint32_t at)
{
    const struct pm_specialized *out = &made[at];
    seen.combinations++;
    seen.transforms += out->transforms;
    if ((out->transforms == 0) != (out->words.count == 0))
        return wrong(t, way->name, "transforms and words do not agree");
    if (way->profile == ADVERSARY_ZERO && out->transforms)
        return wrong(t, way->name, "transformed");
    if (!out->transforms || is_known(made, at, &out->words))
        return true;
    return check_variant(t, way->name, &out->words, NULL);
}

static struct pm_zero_beyond beyond_of(uint64_t seed, uint32_t choice)
{
    const bool all = choice == BEYOND_ALL;
    if (choice == BEYOND_HALF)
        return adversary_beyond(seed);
    return (struct pm_zero_beyond){.fit_regions = all, .hoist_across = all, .pairs = all};
}

/* Guards against other drivers' quirks are off. */
static bool check_specialized(struct trial *t)
{
    struct pm_error error = {0};
    const struct pm_driver driver = gpu_driver(&differential.gpu);
    struct pm_specialized made[BEYOND_CHOICES * ADVERSARY_WAYS] = {0};
    uint32_t count = 0;
    bool ok = true;
    for (uint32_t choice = 0; choice < BEYOND_CHOICES; choice++) {
        if (strcmp(beyond_choice, "each") && strcmp(beyond_choice, beyond_names[choice]))
            continue;
        const struct pm_zero_beyond beyond = beyond_of(t->seed, choice);
        for (uint32_t w = 0; w < ADVERSARY_WAYS && ok; w++, count++) {
            const struct adversary_way *way = &adversary_ways[w];
            ok = adversary_specialize(way, t->seed, &beyond, &t->canonical, t->options.specials,
                                      differential.gpu.quad, &target, &driver, &made[count], &error)
                     ? check_way(t, way, made, count)
                     : wrong(t, way->name, error.message);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        pm_specialized_finish(&made[i]);
    return ok;
}

/* ---- specialize_constants ---- */

static bool check_constants(struct trial *t)
{
    struct pm_error error = {0};
    const struct pm_driver driver = gpu_driver(&differential.gpu);
    bool ok = true;
    for (uint32_t w = 0; w < ADVERSARY_CONSTANT_WAYS && ok; w++) {
        const char *name = adversary_constant_ways[w];
        struct pm_specialized_constants out;
        ok = adversary_constants(w, t->seed, &t->canonical, differential.inputs.push,
                                 t->options.specials, differential.gpu.quad, &target, &driver, &out,
                                 &error)
                 ? !out.words.count || check_variant(t, name, &out.words, NULL)
                 : wrong(t, name, error.message);
        seen.constants += ok && out.words.count;
        seen.guards += ok && out.guarded;
        pm_specialized_constants_finish(&out);
    }
    return ok;
}

/* ---- optimize_blocks ---- */

/* No second run of the same words. Votes of fragments are of devices that have them there. */
static bool check_optimized(struct trial *t)
{
    struct pm_error error = {0};
    const struct pm_driver driver = gpu_driver(&differential.gpu);
    const bool vote = t->options.stage == PM_STAGE_COMPUTE
                          ? differential.gpu.quad
                          : differential.gpu.vote_and_quad_in_fragment;
    bool ok = true;
    for (uint32_t w = 0; w < ADVERSARY_BLOCK_WAYS && ok; w++) {
        const char *name = adversary_block_ways[w];
        struct pm_optimized_blocks out;
        ok = adversary_blocks(PM_BLOCK_ALL, w, t->seed, &t->canonical, vote, &target, &driver, &out,
                              &error)
                 ? !out.words.count || check_variant(t, name, &out.words, NULL)
                 : wrong(t, name, error.message);
        seen.blocks += ok ? out.changes : 0;
        pm_optimized_blocks_finish(&out);
    }
    return ok;
}

/* ---- one shader ---- */

static struct random_shader_options options_of(uint64_t seed)
{
    return (struct random_shader_options){
        .stage = seed % 2 ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE,
        .specials = seed % 8 >= 6,
        .float64 = differential.gpu.float64 && seed % 16 >= 12,
        .int64 = differential.gpu.int64 && seed % 16 >= 10,
        /* SwiftShader lets some demoted fragments of originals write (seed 3021). */
        .demote = differential.gpu.demote && !differential.gpu.swiftshader,
        /* What such a block does SwiftShader does behind the loop, also the game's own shader's. */
        .exits_inside = !differential.gpu.swiftshader,
        /* Also what counters change is then last bits (seeds 1009 and 2080). */
        .walks = only_blocks,
        .raw_copies = seed % 4 == 1 || seed % 8 == 2,
        .volatile_uints = seed % 16 == 2,
        .ends_first = seed % 16 == 3,
        .words = seed % 5 == 4,
        .uniforms = seed / 5 % 2,
    };
}

static bool run_trial(struct trial *t)
{
    struct pm_error error = {0};
    const struct pm_driver driver = gpu_driver(&differential.gpu);
    char *text = random_shader_text(t->seed, &t->options);
    t->original = pm_test_assemble(text, 3);
    free(text);
    /* As a translation layer has it; where the layer leaves such shaders alone, nothing is asked.
     */
    if (t->seed % 3 == 2 && !(pm_quirks_of(&driver) & PM_QUIRK_FOLDS_UNCAST)) {
        struct pm_words plain = t->original;
        t->original = pm_test_translated(&plain);
        pm_words_finish(&plain);
    }
    if (!pm_validate(t->original.data, t->original.count, &target, &error))
        return wrong(t, "original", error.message);
    differential_inputs(&differential, t->seed, t->options.specials);
    hangs_runs("original", &t->original);
    differential_run(&differential, &t->original, t->options.stage, NULL, &t->expected);
    seen.shaders++;
    if (only_blocks)
        return check_canonical(t) && check_optimized(t);
    return check_canonical(t) && check_debug_information(t) && check_constants(t) &&
           check_optimized(t) &&
           (only_specialized || (check_blocks(t) && check_turns(t) && check_zeros(t))) &&
           check_specialized(t);
}

static void finish_trial(struct trial *t)
{
    pm_words_finish(&t->original);
    pm_words_finish(&t->canonical);
    pm_words_finish(&t->variant);
    free(t);
}

static struct trial *begin_trial(uint64_t seed, uint32_t statements)
{
    struct trial *t = calloc(1, sizeof(*t));
    assert_non_null(t);
    t->seed = seed;
    t->options = options_of(seed);
    t->options.statements = statements;
    return t;
}

/* The smallest shader of the seed that fails, and its modules in a folder that stays. */
static void report(struct trial *t)
{
    for (uint32_t statements = 1; statements < t->options.statements; statements++) {
        struct trial *smaller = begin_trial(t->seed, statements);
        if (!run_trial(smaller) && strcmp(smaller->culprit, t->culprit) == 0) {
            finish_trial(t);
            t = smaller;
            break;
        }
        finish_trial(smaller);
    }
    char folder[64];
    temporary_make(folder, sizeof(folder));
    differential_dump(folder, "original", &t->original);
    if (t->canonical.count)
        differential_dump(folder, "canonical", &t->canonical);
    if (t->variant.count)
        differential_dump(folder, "variant", &t->variant);
    char text[1536];
    snprintf(text, sizeof(text), "seed %" PRIu64 " with %u statements on %s: %s; see %s", t->seed,
             t->options.statements, differential.gpu.name, t->failure, folder);
    finish_trial(t);
    fail_msg("%s", text);
}

static void test_random_shaders(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < seed_count; i++) {
        hangs_watch(first_seed + i, SECONDS_RUN, SECONDS_WAITED);
        struct trial *t = begin_trial(first_seed + i, RANDOM_SHADER_STATEMENTS);
        if (!run_trial(t))
            report(t);
        finish_trial(t);
    }
    hangs_rest();
    printf("%" PRIu64 " shaders; with profiles %" PRIu64 " combinations, %" PRIu64
           " transforms; %" PRIu64 " with known words, %" PRIu64 " behind guards; %" PRIu64
           " changes by blocks; %" PRIu64 " variants run, %" PRIu64
           " differ by the driver's contraction only, %" PRIu64
           " by what it carries out of loops; %" PRIu64 " have too many loops and are not run\n",
           seen.shaders, seen.combinations, seen.transforms, seen.constants, seen.guards,
           seen.blocks, seen.variants - seen.not_run, seen.contracted, seen.carried, seen.not_run);
}

/* ---- */

static int set_up(void **state)
{
    (void)state;
    differential_create(&differential);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    hangs_say_last();
    differential_destroy(&differential);
    return 0;
}

static void choose_seeds(void)
{
    const char *driver = getenv("PM_TEST_DRIVER");
    if (driver && !strcmp(driver, "lavapipe-25"))
        seed_count = pm_test_all() ? SEEDS / 2 : SEEDS / 4, first_seed += SEEDS - seed_count;
    else if (driver && !strcmp(driver, "lavapipe-22") && !pm_test_all())
        seed_count = SEEDS / 2;
}

int main(int argc, char **argv)
{
    choose_seeds();
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 0), seed_count = 1;
    if (argc > 2)
        seed_count = strtoull(argv[2], NULL, 0);
    if (argc > 3)
        beyond_choice = argv[3];
    only_specialized = argc > 4 && strcmp(argv[4], "specialized") == 0;
    only_blocks = argc > 4 && strcmp(argv[4], "blocks") == 0;
    if (strcmp(beyond_choice, "half") && strcmp(beyond_choice, "none") &&
        strcmp(beyond_choice, "all") && strcmp(beyond_choice, "each")) {
        fprintf(stderr, "BEYOND is half, none, all or each, not %s\n", beyond_choice);
        return 2;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_shaders)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
