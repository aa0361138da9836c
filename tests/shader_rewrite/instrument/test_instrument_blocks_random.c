/* Random shaders, instrumented, count in subgroups of 4 to 64 lanes what the model finds of their
 * blocks one invocation after the other: compute shaders, and fragment shaders with lanes that are
 * helpers from the beginning, are killed, or demoted. What their operations give that the model
 * does not know is made up (model_use_stand_ins): here it only has to be the same in both runs.
 *
 *   test_shader_rewrite_instrument_blocks_random [FIRST [COUNT]]     these seeds only
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

enum { SEEDS = 48 };

static uint64_t first_seed = 1, seed_count = SEEDS, seed_running;
static uint64_t points_seen, partial_seen, turns_seen;

static void begin(uint64_t seed, struct modelled *call)
{
    const struct random_shader_options options = {
        .stage = seed % 2 ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE,
        .demote = seed % 4 == 1,
        .exits_inside = true,
        .walks = true,
        .ends_first = seed % 16 == 3,
        .words = seed % 5 == 4,
        .statements = RANDOM_SHADER_STATEMENTS * (1 + (uint32_t)(seed % 3)),
    };
    modelled_random_begin(seed, &options, call);
    call->told = seed % 3 == 0 ? 32 : 64;
    call->without_arithmetic = seed % 7 == 6;
    call->sums_outlive_loops = seed / 2 % 2;
    call->dispatch.lanes = modelled_random_lanes(seed, options.stage);
}

static void test_random_shaders(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        struct modelled call;
        seed_running = seed;
        begin(seed, &call);
        modelled_find_truth(&call);
        for (uint32_t p = 0; p < call.shader.points.count; p++) {
            points_seen++;
            partial_seen += call.truth.points[p].uniform_lanes < call.truth.points[p].lanes;
        }
        turns_seen += call.shader.turns.count / PM_TURN_POINTS;
        modelled_check_all(&call, false);
        modelled_check_all(&call, true);
        modelled_forget(&call);
        modelled_check_apart(&call, seed / 4 % 2);
        exact_finish(&call.shader);
    }
    seed_running = 0;
    printf("%" PRIu64 " shaders, %" PRIu64 " blocks, %" PRIu64
           " entered by parts of subgroups, %" PRIu64 " loops whose turns are counted\n",
           seed_count, points_seen, partial_seen, turns_seen);
    assert_true(seed_count == 1 || (partial_seen > 0 && turns_seen > 0));
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_shaders)};
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
