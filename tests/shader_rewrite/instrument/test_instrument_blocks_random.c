/* Random shaders, instrumented, count in subgroups of 32 and 64 lanes what the model finds of their
 * blocks one invocation after the other: compute shaders, and fragment shaders with lanes that are
 * helpers from the beginning, are killed, or demoted. What their operations give that the model
 * does not know is made up (model_use_stand_ins): here it only has to be the same in both runs.
 *
 *   test_shader_rewrite_instrument_blocks_random [FIRST [COUNT]]     these seeds only
 */
#include "tests/shader_rewrite/differential/random_shader.h"
#include "tests/shader_rewrite/instrument/modelled.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <spirv/unified1/spirv.h>

enum { SEEDS = 48, GROUPS = 2, WIDTH = RANDOM_SHADER_WIDTH, HEIGHT = 8 };

static uint64_t first_seed = 1, seed_count = SEEDS, seed_running;
static uint64_t points_seen, partial_seen, turns_seen;

static void find_size(const struct pm_words *words, uint32_t size[3])
{
    for (size_t at = 5; at < words->count; at += words->data[at] >> 16)
        if ((words->data[at] & 0xffff) == SpvOpExecutionMode &&
            words->data[at + 2] == SpvExecutionModeLocalSize)
            memcpy(size, &words->data[at + 3], 3 * sizeof *size);
}

/* Whole subgroups, and such that lack lanes. */
static uint64_t lanes_of(uint64_t seed)
{
    static const uint64_t lanes[] = {UINT64_MAX, 0xffffffff, UINT64_C(0xb6db6db6db6db6db),
                                     UINT64_C(0xfffffffc00000000), 0x7ffffffe};
    return lanes[seed % (sizeof lanes / sizeof *lanes)];
}

static void begin(uint64_t seed, struct modelled *call)
{
    static struct random_shader_inputs inputs;
    static uint32_t output[2 * RANDOM_SHADER_PLACES];
    static const struct pm_target target = {.vulkan_minor = 3,
                                            .uniform_buffer_standard_layout = true};
    const struct random_shader_options options = {
        .stage = seed % 2 ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE,
        .demote = seed % 4 == 1,
        .exits_inside = true,
        .walks = true,
        .ends_first = seed % 16 == 3,
        .words = seed % 5 == 4,
        .statements = RANDOM_SHADER_STATEMENTS * (1 + (uint32_t)(seed % 3)),
    };
    random_shader_fill(seed, false, &inputs);
    *call = (struct modelled){
        .buffers = {(uint32_t *)inputs.floats, inputs.uints, (uint32_t *)inputs.vectors, output},
        .words = {RANDOM_SHADER_INPUTS, RANDOM_SHADER_INPUTS, 4 * RANDOM_SHADER_INPUTS,
                  2 * RANDOM_SHADER_PLACES},
        .output = 3,
        .push = inputs.push,
        .push_words = RANDOM_SHADER_PUSH,
        .stand_ins = true,
        .told = seed % 3 == 0 ? 32 : 64,
        .sums_outlive_loops = seed / 2 % 2,
        .dispatch = {.lanes = lanes_of(seed)},
        .shader = {.name = "a random shader", .stage = options.stage},
    };
    char *text = random_shader_text(seed, &options);
    call->shader.original = pm_test_assemble(text, 3);
    free(text);
    exact_prepare(&call->shader, &target, NULL, 0);
    call->dispatch.groups[0] = options.stage == PM_STAGE_COMPUTE ? GROUPS : 1;
    call->dispatch.groups[1] = call->dispatch.groups[2] = 1;
    if (options.stage == PM_STAGE_COMPUTE) {
        find_size(&call->shader.original, call->dispatch.size);
        return;
    }
    memcpy(call->dispatch.size, (const uint32_t[3]){WIDTH, HEIGHT, 1}, sizeof call->dispatch.size);
    call->dispatch.helpers = (uint32_t)(seed % 8 / 2) * 40;
    call->dispatch.ways.helpers_vote = seed / 8 % 2;
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
