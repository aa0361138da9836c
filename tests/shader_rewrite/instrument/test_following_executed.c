/* Where lanes follow (points.h, points_flow) by the layer's rule (record_points.c), a driver
 * executes fewer instructions than where they are counted in all blocks: the estimate of atomics is
 * held against the code that the driver made of the shaders, counted by callgrind. SwiftShader
 * encodes moves in a way that valgrind 3.19 does not decode, so it is not run there. */
#include "bench/gain/callgrind.h"
#include "profile/profile.h"
#include "tests/shader_rewrite/instrument/exact_run.h"
#include "tests/temporary.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include <cmocka.h>

enum { INPUT_WORDS = 1021, OUTPUT_WORDS = 4096, SLOTS = 16 };

static char folder[64];
static unsigned dumps;

struct call {
    const char *name;
    uint32_t groups[3];
};

static void start(void)
{
    CALLGRIND_START_INSTRUMENTATION;
}

static void run(void *user, const struct pm_words *words,
                const VkSpecializationInfo *specialization)
{
    const struct call *call = user;
    const uint32_t push[2] = {17, 0x80000000};
    struct pm_gpu_buffer input, output;
    pm_gpu_buffer_create(&pm_test_gpu, INPUT_WORDS * 4, &input);
    pm_gpu_buffer_create(&pm_test_gpu, OUTPUT_WORDS * 4, &output);
    for (uint32_t i = 0; i < INPUT_WORDS; i++)
        ((uint32_t *)input.data)[i] = i * 2654435761u;
    const struct pm_gpu_shader shader = {.words = words->data,
                                         .count = words->count,
                                         .specialization = specialization,
                                         .buffers = {&input, &output},
                                         .push = push,
                                         .push_size = sizeof push,
                                         .again = start};
    pm_gpu_dispatch(&pm_test_gpu, &shader, call->groups[0], call->groups[1], call->groups[2]);
    CALLGRIND_STOP_INSTRUMENTATION;
    CALLGRIND_DUMP_STATS;
    dumps++;
    pm_gpu_buffer_destroy(&pm_test_gpu, &input);
    pm_gpu_buffer_destroy(&pm_test_gpu, &output);
}

/* Of the shader with what counts, alone. weights: NULL, or of each block as a profile would say
 * that parts of subgroups enter it; of whom all is counted. */
static uint64_t executed(struct call *call, const struct exact_shader *shader,
                         const struct exact_variant *variant, double *weights)
{
    const struct exact_machine machine = exact_driver(&pm_test_gpu, run, call);
    struct pm_gpu_buffer counters;
    struct pm_instrumented out =
        exact_count(&machine, shader, variant, pm_instrument_blocks, false, &counters);
    struct pm_instructions instructions;
    struct pm_error error = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/out.%u", folder, dumps);
    if (!pm_callgrind_read(path, &instructions, &error))
        fail_msg("%s", error.message);
    uint64_t *totals = exact_block_totals(&out, variant, counters.data);
    for (uint32_t i = 0; weights && i < variant->point_count; i++) {
        const uint64_t *of = totals + 2 + PM_COUNTS * i;
        const double lanes = (double)of[PM_BLOCK_LANES] / (double)totals[0],
                     uniform = of[PM_BLOCK_LANES] > 0
                                   ? (double)of[PM_BLOCK_UNIFORM_LANES] / (double)of[PM_BLOCK_LANES]
                                   : 0,
                     subgroups = (double)of[PM_BLOCK_SUBGROUPS] / (double)totals[1];
        weights[i] = pm_flow_parts(subgroups, lanes, uniform);
    }
    free(totals);
    pm_instrumented_finish(&out);
    exact_destroy_counters(&machine, &counters);
    assert_true(instructions.generated > 0);
    return instructions.generated;
}

/* How many shaders lanes follow in, with subgroups and alone; and in how many they do not. */
static unsigned followed[2], left_out[2];

static void compare(struct call *call, bool lanes_only)
{
    struct exact_shader shader;
    struct pm_flow_points flow;
    struct pm_error error = {0};
    exact_load(call->name, NULL, 0, &shader);
    const uint32_t space = shader.points.count;
    uint32_t *all = malloc(space * sizeof *all);
    double *weights = malloc(space * sizeof *weights);
    assert_true(all && weights);
    for (uint32_t i = 0; i < space; i++) {
        all[i] = i;
        weights[i] = (double)NAN;
    }
    struct exact_variant variant = {.points = all,
                                    .point_count = space,
                                    .slot_count = SLOTS,
                                    .wide = pm_test_gpu.int64_atomics,
                                    .lanes_only = lanes_only};
    const uint64_t without = executed(call, &shader, &variant, lanes_only ? NULL : weights);
    if (!pm_points_flow(shader.canonical.data, shader.canonical.count, weights, &flow, &error))
        fail_msg("%s: %s", call->name, error.message);
    const bool worth = pm_flow_is_worth(&flow);
    if (lanes_only) {
        variant.points = flow.points;
        variant.point_count = flow.count;
    } else {
        variant.flow = &flow;
    }
    const uint64_t with = worth ? executed(call, &shader, &variant, NULL) : without;
    print_message("%s%s: %.3f million in all blocks, %+.2f %% where lanes follow (%u of %u, %.2f "
                  "atomics a subgroup)%s\n",
                  call->name, lanes_only ? ", lanes alone" : "", (double)without / 1e6,
                  100 * ((double)with / (double)without - 1), flow.count, space, flow.saved,
                  worth ? "" : ": they do not");
    followed[lanes_only] += worth;
    left_out[lanes_only] += !worth;
    if (worth && with >= without)
        fail_msg("%s: not cheaper where lanes follow", call->name);
    free(all);
    free(weights);
    pm_flow_points_finish(&flow);
    exact_finish(&shader);
}

static void follows_where_it_is_cheaper(void **state)
{
    (void)state;
    /* The first one's lanes part; of the second one whole subgroups take each way. */
    static struct call calls[] = {{"divergent.comp", {7, 1, 1}}, {"together.comp", {4, 1, 1}}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int alone = 0; alone < 2; alone++)
            compare(&calls[i], alone);
    assert_int_equal(followed[0], 1);
    assert_int_equal(left_out[0], 1);
    assert_int_equal(followed[1], 2);
}

/* The same program under callgrind, which writes into the folder when that has ended. */
static int run_under_callgrind(char *program)
{
    char out[128];
    int status = 1;
    temporary_make(folder, sizeof folder);
    snprintf(out, sizeof out, "--callgrind-out-file=%s/out", folder);
    setenv("PM_TEST_FOLDER", folder, 1);
    const pid_t child = fork();
    if (child == 0) {
        execlp("valgrind", "valgrind", "-q", "--tool=callgrind", "--compress-strings=no",
               "--compress-pos=no", "--instr-atstart=no", "--smc-check=all-non-file", out, program,
               (char *)NULL);
        perror("valgrind");
        _exit(1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        perror("valgrind");
    temporary_remove(folder);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!RUNNING_ON_VALGRIND)
        return run_under_callgrind(argv[0]);
    snprintf(folder, sizeof folder, "%s", getenv("PM_TEST_FOLDER"));
    const struct CMUnitTest tests[] = {cmocka_unit_test(follows_where_it_is_cheaper)};
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
