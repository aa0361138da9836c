/* Random shaders whose zeros are counted, and whose words of a uniform buffer are, run by the model
 * in subgroups of 4, 8, 16, 32 and 64 lanes, whole ones and such that lack lanes (lockstep.h): they
 * count what the model finds one invocation after the other, and write what they did before. Also
 * of fragments that are helpers from the beginning, are killed, or demoted, and of values that a
 * whole quad has to have (HAZARDS 2).
 *
 *   test_shader_rewrite_instrument_values_random [FIRST [COUNT]]     these seeds only
 */
#include "tests/shader_rewrite/instrument/modelled_random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 40, CONTENTS = 3 };

static uint64_t first_seed = 1, seed_count = SEEDS, seed_running;

static struct random_shader_options options_of(uint64_t seed)
{
    return (struct random_shader_options){
        .stage = seed % 2 ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE,
        .demote = seed % 4 == 1,
        .exits_inside = true,
        .walks = true,
        .ends_first = seed % 16 == 3,
        .words = seed % 5 > 2,
        .uniforms = seed % 3 != 0,
        .raw_copies = seed % 7 == 2,
        .specials = seed % 8 >= 6,
        .statements = RANDOM_SHADER_STATEMENTS,
    };
}

static void print_seen(const char *what, const struct modelled_seen *seen)
{
    printf("%s: %" PRIu64 ", %" PRIu64 " of them of quads, written or loaded by %" PRIu64
           " subgroups, as 0 by %" PRIu64 ", %" PRIu64 " undecided\n",
           what, seen->points, seen->quads, seen->writes, seen->zero_writes, seen->undecided);
}

static void test_zeros(void **state)
{
    (void)state;
    struct modelled_seen seen = {0};
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        const struct random_shader_options options = options_of(seed);
        struct modelled call;
        seed_running = seed;
        modelled_random_begin(seed, &options, &call);
        for (uint64_t way = 0; way < 2; way++) {
            call.dispatch.lanes = modelled_random_lanes(seed + 5 * way, options.stage);
            call.dispatch.ways.helpers_vote = (seed / 8 + way) % 2;
            modelled_find_truth(&call);
            modelled_check_zeros(&call, way, seed / 4 % 2, &seen);
            modelled_forget(&call);
        }
        call.dispatch.ways.apart = true;
        modelled_find_truth(&call);
        modelled_check_zeros(&call, seed / 2 % 2, seed / 4 % 2 == 0, &seen);
        modelled_forget(&call);
        exact_finish(&call.shader);
    }
    seed_running = 0;
    print_seen("values", &seen);
    assert_true(seen.zero_writes > 0 && seen.zero_writes < seen.writes);
}

static void test_words(void **state)
{
    (void)state;
    struct modelled_seen seen = {0};
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        static uint32_t words[7][RANDOM_SHADER_PUSH];
        const uint32_t *contents[7];
        const struct random_shader_options options = options_of(seed);
        struct modelled call;
        if (!options.uniforms)
            continue;
        seed_running = seed;
        modelled_random_begin(seed, &options, &call);
        for (uint32_t c = 0; c < 7; c++) {
            modelled_random_words(c == 6 ? seed : seed + c, words[c]);
            contents[c] = words[c];
        }
        call.dispatch.lanes = modelled_random_lanes(seed, options.stage);
        modelled_check_words(&call, contents + 4, CONTENTS, 16, seed / 2 % 2, &seen);
        call.dispatch.lanes = modelled_random_lanes(seed + 4, options.stage);
        modelled_check_words(&call, contents, 7, 1, seed / 2 % 2 == 0, &seen);
        exact_finish(&call.shader);
    }
    seed_running = 0;
    print_seen("words", &seen);
    assert_true(seed_count == 1 || (seen.zero_writes > 0 && seen.zero_writes < seen.writes));
}

static int tear_down(void **state)
{
    (void)state;
    if (seed_running)
        fprintf(stderr, "the last seed was %" PRIu64 "\n", seed_running);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 0), seed_count = 1;
    if (argc > 2)
        seed_count = strtoull(argv[2], NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_zeros, tear_down),
        cmocka_unit_test_teardown(test_words, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
