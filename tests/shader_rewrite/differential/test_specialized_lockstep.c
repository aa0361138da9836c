/* Random shaders, and the offload RFC's kernels, specialized for zeros and for known words and
 * optimized by blocks by profiles that no honest client sends, write the bits that they write as
 * they are, in subgroups of 16, 32 and 64 lanes, whole ones and such that lack lanes: no driver at
 * hand has more than 8. The model runs both, the lanes of a subgroup together (lockstep.h), so that
 * votes, quads and derivatives are those of such subgroups; functions are the processor's, and what
 * textures give is made up of where they are read. With no guard against a driver's quirks, and
 * with all.
 *
 *   test_shader_rewrite_specialized_lockstep [FIRST [COUNT]]     these seeds only, in all ways
 *
 * Else each shader is specialized in some ways, and run in two sizes.
 */
#include "shader_rewrite/quirks/quirks.h"
#include "tests/shader_rewrite/constants/constant_subject.h"
#include "tests/shader_rewrite/differential/adversary.h"
#include "tests/shader_rewrite/differential/adversary_blocks.h"
#include "tests/shader_rewrite/differential/adversary_constants.h"
#include "tests/shader_rewrite/instrument/modelled_random.h"
#include "tests/shader_rewrite/instrument/modelled_run.h"
#include "tests/shader_rewrite/instrument/rfc_kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum {
    SEEDS = 64,
    SIZES = 4,
    SOME_ZEROS = 3,
    PIXEL = 4,
    PIXELS = RANDOM_SHADER_WIDTH * RANDOM_SHADER_HEIGHT
};
enum { MOST_RAN = 2 * (ADVERSARY_WAYS + ADVERSARY_CONSTANT_WAYS + ADVERSARY_BLOCK_WAYS) };
enum { BUFFER = 2 * RANDOM_SHADER_PLACES, WRITTEN = BUFFER + PIXEL * PIXELS };

static uint64_t first_seed = 1, seed_count = SEEDS;
static bool all;
static struct {
    uint64_t variants, runs, votes[2], transforms, guards, by_pass[PM_BLOCK_PASSES];
} seen;

struct subject {
    uint64_t seed;
    struct random_shader_options options;
    struct modelled call;
    uint32_t expected[SIZES][WRITTEN];
    uint64_t ran[MOST_RAN]; /* what was run, by a hash of the words: much comes out twice */
    uint32_t ran_count;
};

/* A whole size each, and one that lacks lanes. */
static uint64_t lanes_of(const struct subject *s, uint32_t size)
{
    static const uint64_t whole[] = {0xffff, 0xffffffff, UINT64_MAX};
    static const uint64_t parts[] = {UINT64_C(0xf0fff0f0ff0f0fff), 0x0ff0,
                                     UINT64_C(0xfffffff000000000), 0x0ffffff0};
    return size < 3 ? whole[size] : parts[s->seed / 2 % 4];
}

/* All NaN are one, and so are both zeroes where nothing looks at the sign. */
static void normalize(uint32_t *words, size_t count, bool specials)
{
    for (size_t i = 0; i < count; i++) {
        if ((words[i] & 0x7fffffff) > 0x7f800000)
            words[i] = 0x7fc00000;
        if (words[i] == 0x80000000 && !specials)
            words[i] = 0;
    }
}

static void run(struct subject *s, const struct pm_words *words, uint32_t size, uint32_t *written)
{
    struct modelled *call = &s->call;
    struct model *model = model_create(words->data, words->count);
    memset(written, 0, WRITTEN * sizeof *written);
    call->buffers[call->output] = written;
    call->dispatch.lanes = lanes_of(s, size);
    call->dispatch.ways.helpers_vote = (s->seed / 8 + size) % 2;
    call->dispatch.ways.quads = s->options.stage == PM_STAGE_FRAGMENT;
    modelled_give(call, model);
    model_set_outputs(model, written + BUFFER, PIXEL);
    model_dispatch_together(model, &call->dispatch);
    seen.votes[0] += model_votes(model, false);
    seen.votes[1] += model_votes(model, true);
    seen.runs++;
    model_destroy(model);
    normalize(written + RANDOM_SHADER_PLACES, WRITTEN - RANDOM_SHADER_PLACES, s->options.specials);
}

static bool has_run(struct subject *s, const struct pm_words *words)
{
    uint64_t hash = words->count;
    for (size_t i = 0; i < words->count; i++)
        hash = (hash ^ words->data[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    for (uint32_t i = 0; i < s->ran_count; i++)
        if (s->ran[i] == hash)
            return true;
    s->ran[s->ran_count++] = hash;
    return false;
}

static bool runs_in(const struct subject *s, uint32_t size)
{
    return all || size == SIZES - 1 || size == s->seed % (SIZES - 1);
}

static void check(struct subject *s, const char *name, const struct pm_words *words)
{
    static uint32_t written[WRITTEN];
    if (!words->count || has_run(s, words))
        return;
    seen.variants++;
    for (uint32_t size = 0; size < SIZES; size++) {
        if (!runs_in(s, size))
            continue;
        run(s, words, size, written);
        for (size_t i = 0; i < WRITTEN; i++)
            if (written[i] != s->expected[size][i])
                fail_msg("seed %" PRIu64 ", %s, lanes %016" PRIx64
                         ": word %zu is 0x%08x, not 0x%08x",
                         s->seed, name, lanes_of(s, size), i, written[i], s->expected[size][i]);
    }
}

/* NULL: every guard is on. */
static const struct pm_driver no_quirks = {.id = 4, .version = 1};

static void check_zeros(struct subject *s, const struct pm_driver *driver)
{
    const struct pm_zero_beyond beyond = adversary_beyond(s->seed);
    for (uint32_t w = 0; w < ADVERSARY_WAYS; w++) {
        struct pm_specialized made;
        struct pm_error error = {0};
        const struct adversary_way *way = &adversary_ways[w];
        if (!all && w % SOME_ZEROS != s->seed % SOME_ZEROS)
            continue;
        if (!adversary_specialize(way, s->seed, &beyond, &s->call.shader.canonical,
                                  s->options.specials, true, &s->call.shader.target, driver, &made,
                                  &error))
            fail_msg("seed %" PRIu64 ", %s: %s", s->seed, way->name, error.message);
        check(s, way->name, &made.words);
        seen.transforms += made.transforms;
        pm_specialized_finish(&made);
    }
}

/* Behind its guard it is right whatever the words are, also where one alone is another one. */
static void check_guard(struct subject *s, const char *name, const struct pm_words *words)
{
    static uint32_t expected[WRITTEN], written[WRITTEN], content[RANDOM_SHADER_PUSH];
    const uint32_t size = SIZES - 1;
    struct pm_constant_points points = constant_subject_words(&s->call.shader.canonical);
    const uint32_t *uniform = s->call.uniform;
    for (uint32_t p = 0; p < points.count; p++) {
        if (points.points[p].source != PM_CONSTANT_UNIFORM || (!all && p > 0))
            continue;
        memcpy(content, uniform, sizeof content);
        content[points.points[p].offset / 4] ^= 1;
        s->call.uniform = content;
        run(s, &s->call.shader.canonical, size, expected);
        run(s, words, size, written);
        for (size_t i = 0; i < WRITTEN; i++)
            if (written[i] != expected[i])
                fail_msg("seed %" PRIu64 ", %s, the word at %u another one: word %zu is 0x%08x, "
                         "not 0x%08x",
                         s->seed, name, points.points[p].offset, i, written[i], expected[i]);
    }
    s->call.uniform = uniform;
    pm_constant_points_finish(&points);
}

static void check_words(struct subject *s, const struct pm_driver *driver)
{
    for (uint32_t w = 0; w < ADVERSARY_CONSTANT_WAYS; w++) {
        struct pm_specialized_constants made;
        struct pm_error error = {0};
        const char *name = adversary_constant_ways[w];
        if (!adversary_constants(w, s->seed, &s->call.shader.canonical, s->call.push,
                                 s->options.specials, true, &s->call.shader.target, driver, &made,
                                 &error))
            fail_msg("seed %" PRIu64 ", %s: %s", s->seed, name, error.message);
        check(s, name, &made.words);
        seen.guards += made.guarded > 0;
        if (made.words.count && made.guarded > 0)
            check_guard(s, name, &made.words);
        pm_specialized_constants_finish(&made);
    }
}

static void check_blocks(struct subject *s, const struct pm_driver *driver)
{
    for (uint32_t w = 0; w < ADVERSARY_BLOCK_WAYS; w++) {
        struct pm_optimized_blocks made;
        struct pm_error error = {0};
        const char *name = adversary_block_ways[w];
        if (!adversary_blocks(PM_BLOCK_ALL, w, s->seed, &s->call.shader.canonical, true,
                              &s->call.shader.target, driver, &made, &error))
            fail_msg("seed %" PRIu64 ", %s: %s", s->seed, name, error.message);
        check(s, name, &made.words);
        for (uint32_t p = 0; p < PM_BLOCK_PASSES; p++)
            seen.by_pass[p] += made.changes_by[p];
        pm_optimized_blocks_finish(&made);
    }
}

static struct random_shader_options options_of(uint64_t seed)
{
    return (struct random_shader_options){
        .stage = seed % 2 ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE,
        .specials = seed % 8 >= 6,
        .demote = seed % 4 == 1,
        .exits_inside = true,
        .walks = true,
        .ends_first = seed % 16 == 3,
        .words = seed % 3 == 1,
        .uniforms = seed / 2 % 2,
        .many_turns = seed % 7 == 6,
        .raw_copies = seed % 4 == 1,
        .statements = RANDOM_SHADER_STATEMENTS,
    };
}

static void check_all(struct subject *s)
{
    for (uint32_t size = 0; size < SIZES; size++)
        if (runs_in(s, size))
            run(s, &s->call.shader.canonical, size, s->expected[size]);
    for (uint64_t guarded = 0; guarded < 2; guarded++) {
        if (!all && guarded != (s->seed % 4 == 0))
            continue;
        const struct pm_driver *driver = guarded ? NULL : &no_quirks;
        check_zeros(s, driver);
        check_words(s, driver);
        check_blocks(s, driver);
    }
}

/* All that votes, moves code or copies it was there, and went both ways. */
static void report(void)
{
    printf("%" PRIu64 " shaders, %" PRIu64 " variants, %" PRIu64 " runs, %" PRIu64
           " transforms, %" PRIu64 " guards, votes: %" PRIu64 " yes, %" PRIu64 " no\n",
           seed_count, seen.variants, seen.runs, seen.transforms, seen.guards, seen.votes[1],
           seen.votes[0]);
    for (uint32_t p = 0; p < PM_BLOCK_PASSES; p++)
        printf("  %s %" PRIu64 "\n", pm_block_pass_name(p), seen.by_pass[p]);
    if (seed_count == 1)
        return;
    assert_true(seen.votes[0] > 0 && seen.votes[1] > 0 && seen.transforms > 0 && seen.guards > 0);
    assert_true(seen.by_pass[PM_BLOCK_SINK] > 0 && seen.by_pass[PM_BLOCK_VERSION] > 0 &&
                seen.by_pass[PM_BLOCK_PEEL] > 0);
}

static void test_random_shaders(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        static struct subject s;
        s = (struct subject){.seed = seed, .options = options_of(seed)};
        modelled_random_begin(seed, &s.options, &s.call);
        check_all(&s);
        exact_finish(&s.call.shader);
    }
    report();
}

/* What they are pushed, from a uniform buffer: so that a guard is there, which sees other words. */
static void test_rfc(void **state)
{
    (void)state;
    static const char *const names[] = {"rfc_branch.comp", "rfc_sink.comp"};
    static const struct rfc_kernel *const kernels[] = {&rfc_uniform, &rfc_divergent, &rfc_hot};
    for (uint64_t k = 0; k < 3; k++) {
        static struct subject s;
        static uint32_t input[RFC_WORDS], words[RANDOM_SHADER_PUSH];
        rfc_fill(input);
        memcpy(words, kernels[k % 3]->push, sizeof kernels[0]->push);
        s = (struct subject){.seed = k,
                             .call = {.buffers = {input},
                                      .words = {RFC_WORDS, RFC_WORDS},
                                      .output = 1,
                                      .push = words,
                                      .push_words = RANDOM_SHADER_PUSH,
                                      .uniform = words,
                                      .uniform_binding = RFC_UNIFORM_BINDING,
                                      .uniform_words = RANDOM_SHADER_PUSH,
                                      .stand_ins = true,
                                      .dispatch = {.groups = {1, 1, 1}, .size = {33, 1, 1}}}};
        rfc_load(names[k % 2], k != 1, &s.call.shader);
        check_all(&s);
        exact_finish(&s.call.shader);
    }
}

/* Derivatives follow zeros that most quads have, but for one pixel, which often is a helper. */
static void test_quads(void **state)
{
    (void)state;
    enum { WORDS = 4096 };
    for (uint64_t k = 0; k < 6; k++) {
        static struct subject s;
        static uint32_t input[WORDS];
        for (uint32_t i = 0; i < WORDS; i++) {
            const uint32_t hash = (i + (uint32_t)k) * 2654435761u;
            const float number = hash >> 28 == 0 ? (float)(hash >> 20 & 255) / 64 : 0;
            memcpy(&input[i], &number, sizeof number);
        }
        s = (struct subject){.seed = k,
                             .options = {.stage = PM_STAGE_FRAGMENT},
                             .call = {.buffers = {input},
                                      .words = {WORDS, WORDS},
                                      .output = 1,
                                      .push = input,
                                      .stand_ins = true,
                                      .dispatch = {.groups = {1, 1, 1},
                                                   .size = {32, 8, 1},
                                                   .helpers = k < 3 ? 100 : 200,
                                                   .in_quads = true}}};
        exact_load("quads.frag", NULL, 0, &s.call.shader);
        check_all(&s);
        exact_finish(&s.call.shader);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 0), seed_count = 1;
    all = argc > 1;
    if (argc > 2)
        seed_count = strtoull(argv[2], NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfc),
        cmocka_unit_test(test_quads),
        cmocka_unit_test(test_random_shaders),
    };
    const struct CMUnitTest named[] = {cmocka_unit_test(test_random_shaders)};
    return argc > 1 ? cmocka_run_group_tests(named, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
