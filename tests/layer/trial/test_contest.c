/* A-Z testing (contest.h) on the null driver, where each variant takes as long as the test says:
 * the fastest is found, tried anew and bound, in this session and the next; the best recipes are
 * tried in pairs; slow ones are called a few times only; and where none is faster, nothing changes.
 */
#include "tests/layer/trial/trying.h"

#include "base/clock.h"
#include "base/random.h"
#include "counted.comp.h"
#include "layer/public/piecemeal.h"
#include "tests/patience.h"

#include <inttypes.h>
#include <signal.h>
#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64 };

/* Pipelines in the order in which they were first timed, the game's own first. */
static struct {
    VkPipeline pipelines[MOST];
    uint64_t calls[MOST];
    uint32_t count;
    double times[MOST];   /* of each, over the game's own; 0: the same */
    uint32_t sizes[MOST]; /* that each requires; 0: none */
    double sized_time;    /* of those that require 64; 0: as the others */
    bool straight[MOST];  /* whose shader has no loop */
    double straight_time; /* of these; 0: as the others */
    uint32_t asked;       /* sizes that pipelines were made with, as bits */
    uint32_t pairs_from;  /* what comes from there on is of two recipes; 0: nothing is yet */
    double pair_time;     /* of these */
    double noise;
    struct pm_random random;
    int64_t begun_at; /* pm_now(); of the session */
    bool refuses;     /* the driver has no memory for variants in the next session */
} seen;

/* The subgroup size that the pipeline requires which was made last, and whether its shader has no
 * loop. */
static _Atomic uint32_t made_with;
static _Atomic bool made_straight;

static void see_module(const VkShaderModuleCreateInfo *module)
{
    made_straight = true;
    for (size_t at = 5; at < module->codeSize / 4; at += module->pCode[at] >> 16)
        if ((module->pCode[at] & 0xffff) == SpvOpLoopMerge)
            made_straight = false;
}

static void see_pipelines(void *user, const struct pm_null_call *call)
{
    (void)user;
    if (strcmp(call->command, "vkCreateShaderModule") == 0)
        see_module((const VkShaderModuleCreateInfo *)(uintptr_t)call->arguments[1]);
    if (strcmp(call->command, "vkCreateComputePipelines") != 0)
        return;
    const VkComputePipelineCreateInfo *info =
        (const VkComputePipelineCreateInfo *)(uintptr_t)call->arguments[3];
    const VkBaseInStructure *item = info->stage.pNext;
    while (item && item->sType !=
                       VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO)
        item = item->pNext;
    made_with =
        item ? ((const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *)(const void *)item)
                   ->requiredSubgroupSize
             : 0;
    seen.asked |= made_with;
}

static uint32_t index_of(VkPipeline pipeline)
{
    uint32_t i = 0;
    while (i < seen.count && seen.pipelines[i] != pipeline)
        i++;
    if (i == seen.count && i < MOST) {
        seen.pipelines[seen.count++] = pipeline;
        seen.sizes[i] = made_with;
        seen.straight[i] = made_straight;
        if (!seen.pairs_from && seen.pair_time > 0 && optimized_logged("pairs of recipes") > 0)
            seen.pairs_from = i;
    }
    return i < MOST ? i : MOST - 1;
}

static uint64_t cost(void *user, VkPipeline pipeline)
{
    (void)user;
    const uint32_t i = index_of(pipeline);
    seen.calls[i]++;
    const double time = seen.pairs_from && i >= seen.pairs_from ? seen.pair_time : seen.times[i];
    const double sized = seen.sizes[i] == 64 ? seen.sized_time : 0;
    const double straight = seen.straight[i] ? seen.straight_time : 0;
    const double share = sized > 0 ? sized : straight > 0 ? straight : time > 0 ? time : 1;
    return (uint64_t)(TRYING_ORIGINAL * share *
                      (1 + seen.noise * (2 * pm_random_unit(&seen.random) - 1)));
}

static void open_watched(const struct pm_harness_options *options,
                         void (*see)(void *user, const struct pm_null_call *call))
{
    seen.count = seen.asked = 0;
    seen.begun_at = pm_now();
    memset(seen.sizes, 0, sizeof seen.sizes);
    memset(seen.calls, 0, sizeof seen.calls);
    pm_random_init(&seen.random, 5);
    trying_open_contests(options);
    trying.h.driver->set_callback(see, NULL);
    if (seen.refuses)
        assert_true(trying.h.driver->inject("vkCreateComputePipelines:2+=-2"));
    trying.compute = optimized_compute(&trying.h);
    index_of(trying.compute);
    trying.h.driver->set_cost(cost, NULL);
}

static void open_with(const struct pm_harness_options *options)
{
    open_watched(options, see_pipelines);
}

static void open_session(void)
{
    open_with(NULL);
}

static void close_session(void)
{
    trying.h.driver->set_cost(NULL, NULL);
    trying.h.driver->set_callback(NULL, NULL);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    trying_close_contests();
    memset(seen.times, 0, sizeof seen.times);
    seen.noise = 0;
    seen.pairs_from = 0;
    seen.pair_time = 0;
    seen.sized_time = seen.straight_time = 0;
}

static bool run_until(const char *text)
{
    return trying_run_until(trying_dispatch, TRYING_ONCE, text);
}

static void finds_the_fastest(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MOST; i++)
        seen.times[i] = i == 0 ? 1 : i == 2 ? 0.8 : i == 3 ? 2 : 1.02;
    seen.noise = 0.02;
    open_session();
    assert_true(run_until("the fastest is"));
    assert_true(seen.count >= 4);
    const VkPipeline fastest = seen.pipelines[2];
    /* All were tried, that which is twice as slow a few times. */
    for (uint32_t i = 1; i < seen.count; i++)
        assert_true(seen.calls[i] > 0);
    assert_true(seen.calls[3] < 20);
    assert_ptr_equal(optimized_effective(&trying.h, trying.compute, VK_PIPELINE_BIND_POINT_COMPUTE),
                     fastest);
    close_session();

    /* The next session uses it without trying anything. */
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = 0.8;
    open_session();
    /* The log goes on. */
    const uint64_t position = trying.h.driver->position();
    uint64_t until = 0;
    while (optimized_logged("is used from now on") < 2 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);

    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_true(trying_foreign_binds(position) >= 8);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    optimized_assert_logged("the fastest is", 1);
    close_session();
}

/* The next process tries the winner once more, and that alone: it may have been lucky. */
static void another_process_tries_what_won(void **state)
{
    (void)state;
    unsetenv("PIECEMEAL_OPTIMIZE_AGREEING_SESSIONS");
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = i == 2 ? 0.8 : 1.02;
    open_session();
    assert_true(run_until("the fastest is"));
    close_session();
    for (uint32_t session = 2; session < 4; session++) {
        uint64_t until = 0;
        for (uint32_t i = 1; i < MOST; i++)
            seen.times[i] = session == 2 ? 0.8 : 0.7;
        open_session();
        const uint64_t position = trying.h.driver->position();
        while (optimized_logged("is used from now on") < session && patience(&until))
            trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
        optimized_assert_logged("is used from now on", session);
        assert_true((pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp") > 0) ==
                    (session == 2));
        /* What is proven is made at once, so that the game's own need not run. */
        assert_in_range(seen.count, session == 2 ? 2 : 1, 2);
        close_session();
    }
    optimized_assert_logged("the fastest is", 1);
}

/* Three are faster: one of them may be the canonical form, which makes no pair. */
static double time_of_three(uint32_t index)
{
    return index == 2 ? 0.8 : index == 3 ? 0.85 : index == 4 ? 0.9 : 1.2;
}

/* Frames until pairs of recipes take part; those cost so much of the game's own. */
static void run_until_pairs(double pair_time)
{
    uint64_t until = 0;
    seen.pair_time = pair_time; /* of what is made behind the log's line */
    while (optimized_logged("pairs of recipes") == 0 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    optimized_assert_logged("pairs of recipes", 1);
    optimized_assert_logged(": 0 pairs of recipes", 0);
}

/* Some recipes are faster; two together are faster still. */
static void a_pair_is_faster(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = time_of_three(i);
    open_session();
    run_until_pairs(0.5);
    assert_true(run_until("the fastest is"));
    assert_true(seen.count > seen.pairs_from);
    assert_true(optimized_logged("+") > 0);
    assert_in_range(
        index_of(optimized_effective(&trying.h, trying.compute, VK_PIPELINE_BIND_POINT_COMPUTE)),
        seen.pairs_from, seen.count - 1);
    close_session();
    const uint32_t tried = seen.count;

    /* The next session uses it at once, and asks for nothing else. */
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = 0.5;
    open_session();
    uint64_t until = 0;
    while (optimized_logged("is used from now on") < 2 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(seen.count, 2);
    assert_true(tried > 4);
    close_session();
}

/* Of recipes that are faster the best one wins, though two together cost so much. */
static void better_one_wins(double pair_time)
{
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = time_of_three(i);
    open_session();
    run_until_pairs(pair_time);
    const VkPipeline fastest = seen.pipelines[2];
    assert_true(run_until("the fastest is"));
    assert_ptr_equal(optimized_effective(&trying.h, trying.compute, VK_PIPELINE_BIND_POINT_COMPUTE),
                     fastest);
    close_session();
}

static void no_pair_is_faster(void **state)
{
    (void)state;
    better_one_wins(0.95);
}

/* Chance makes a pair the fastest, of some that are as fast as the better one alone. */
static void chance_chooses_no_pair(void **state)
{
    (void)state;
    seen.noise = 0.05;
    better_one_wins(0.8);
}

/* The pipeline may require subgroups of 16 to 64 lanes, and is fastest with 64; one has 32. */
static void a_subgroup_size_is_faster(void **state)
{
    (void)state;
    setenv("PM_NULL_LEAST_SUBGROUP_SIZE", "16", 1);
    setenv("PM_NULL_MOST_SUBGROUP_SIZE", "64", 1);
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = 1.2;
    seen.sized_time = 0.5;
    open_session();
    assert_true(run_until("the fastest is subgroup-64"));
    assert_int_equal(seen.asked, 16 | 64);
    assert_int_equal(seen.sizes[index_of(optimized_effective(&trying.h, trying.compute,
                                                             VK_PIPELINE_BIND_POINT_COMPUTE))],
                     64);
    close_session();

    /* The next session requires that and nothing else. */
    seen.sized_time = 0.5;
    open_session();
    uint64_t until = 0;
    while (optimized_logged("is used from now on") < 2 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(seen.asked, 64);
    assert_int_equal(seen.count, 2);
    close_session();
    unsetenv("PM_NULL_LEAST_SUBGROUP_SIZE");
    unsetenv("PM_NULL_MOST_SUBGROUP_SIZE");
}

/* The pipeline of a shader with a loop that says of unrolling what this is. */
static VkPipeline make_counted(uint32_t control)
{
    uint32_t words[sizeof counted_comp / sizeof(uint32_t)];
    const size_t count = sizeof words / sizeof *words;
    memcpy(words, counted_comp, sizeof words);
    for (size_t at = 5; at < count; at += words[at] >> 16)
        if ((words[at] & 0xffff) == SpvOpLoopMerge)
            words[at + 3] = control;
    return pm_harness_compute_of(&trying.h, words, sizeof words, trying.h.layout);
}

/* Unrolled they are the same. What the one's trial found is no verdict on the other's, which is
 * still to be measured. */
static void two_shaders_have_the_same_variant(void **state)
{
    (void)state;
    const uint32_t controls[] = {SpvLoopControlMaskNone, SpvLoopControlUnrollMask};
    VkPipeline counted[2];
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = 1.2;
    seen.straight_time = 0.5;
    open_session();
    const VkPipeline weighted = trying.compute;
    for (uint32_t s = 0; s < 2; s++) {
        uint64_t until = 0;
        counted[s] = trying.compute = make_counted(controls[s]);
        seen.times[index_of(counted[s])] = 1;
        while (optimized_logged("the fastest is unroll-full") <= s && patience(&until))
            trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
        optimized_assert_logged("the fastest is unroll-full", s + 1);
        const VkPipeline bound =
            optimized_effective(&trying.h, counted[s], VK_PIPELINE_BIND_POINT_COMPUTE);
        assert_true(seen.straight[index_of(bound)]);
    }
    trying.h.vk.DestroyPipeline(trying.h.device, counted[0], NULL);
    trying.h.vk.DestroyPipeline(trying.h.device, weighted, NULL);
    close_session();
}

/* How many variants a contest that is over had. */
static uint32_t variants_tried(void)
{
    for (uint32_t n = 0; n < MOST; n++) {
        char text[32];
        snprintf(text, sizeof text, "of %u variants", n);
        if (optimized_logged(text) > 0)
            return n;
    }
    return 0;
}

/* A session that ends in the middle. Returns how many variants it measured: all but the game's own
 * and the one under way. */
static uint32_t end_in_the_middle(void)
{
    uint64_t until = 0;
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = 2;
    open_session();
    while (seen.count < 5 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    optimized_assert_logged("none is faster", 0);
    const uint32_t left = seen.count - 2;
    close_session();
    assert_true(left >= 3);
    return left;
}

/* A later one measures the others alone. */
static void go_on_without(uint32_t left)
{
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = 0.8;
    open_session();
    assert_true(run_until("the fastest is"));
    assert_true(variants_tried() > left); /* with those */
    assert_in_range(seen.count - 1, 1, variants_tried() - left);
    close_session();
}

/* What a session measured need not be measured again. */
static void the_next_session_goes_on(void **state)
{
    (void)state;
    go_on_without(end_in_the_middle());
}

/* The driver never saw the others, or they were measured: a game that ends badly says nothing about
 * them. */
static void only_what_is_measured_is_written_down(void **state)
{
    (void)state;
    uint64_t until = 0;
    struct pm_shader_key keys[MOST];
    open_session();
    while (seen.count < 3 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    assert_in_range(optimized_journal(keys, MOST), 0, 1);
    close_session();
    assert_int_equal(optimized_journal(keys, MOST), 0);
}

static void forget_log(void)
{
    char log[300];
    snprintf(log, sizeof log, "%s/log", pm_layered_home());
    assert_int_equal(unlink(log), 0);
}

/* A session in which the driver builds nothing: what was measured before it is not thrown away. */
static void a_driver_without_memory_ends_nothing(void **state)
{
    (void)state;
    const uint32_t left = end_in_the_middle();
    seen.refuses = true;
    open_session();
    seen.refuses = false;
    assert_true(run_until("none is faster"));
    assert_int_equal(seen.count, 1);
    assert_true(trying.h.driver->inject(""));
    close_session();
    forget_log();
    go_on_without(left);
}

/* A session that ends while the winner is tried: the next one has yet to build it. */
static void the_next_session_tries_the_winner(void **state)
{
    (void)state;
    uint64_t until = 0;
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = i == 2 ? 0.8 : 2;
    open_session();
    while (optimized_logged("is tried") == 0 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    optimized_assert_logged("the fastest is", 0);
    close_session();

    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = 0.8;
    open_session();
    assert_true(run_until("the fastest is"));
    assert_int_equal(seen.count, 2);
    close_session();
}

/* What seemed faster by luck is not when it is tried anew; and what is not faster is not bound. */
static void none_is_faster(void **state)
{
    (void)state;
    seen.noise = 0.05;
    open_session();
    uint64_t until = 0;
    while (optimized_logged("none is faster") + optimized_logged("undecided: tried again") == 0 &&
           patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    optimized_assert_logged("the fastest is", 0);
    assert_ptr_equal(optimized_effective(&trying.h, trying.compute, VK_PIPELINE_BIND_POINT_COMPUTE),
                     trying.compute);
    close_session();
}

/* Shared with a session in a process of its own: the words that the driver was given last, and
 * whether it was given those of the variant that it crashed at. */
static struct {
    uint64_t given, crashed_at;
    uint32_t pipelines;
    bool given_again;
} * shared;

static void see_words(const struct pm_null_call *call)
{
    if (strcmp(call->command, "vkCreateShaderModule") != 0)
        return;
    const VkShaderModuleCreateInfo *module =
        (const VkShaderModuleCreateInfo *)(uintptr_t)call->arguments[1];
    shared->given = module->codeSize;
    for (size_t i = 0; i < module->codeSize / 4; i++)
        shared->given = pm_random_mix(shared->given ^ module->pCode[i]);
    shared->given_again |= shared->given == shared->crashed_at;
}

/* The game's own is the first, and one variant is measured before. */
static void crash_at_the_third(void *user, const struct pm_null_call *call)
{
    see_pipelines(user, call);
    see_words(call);
    if (strcmp(call->command, "vkCreateComputePipelines") != 0 || ++shared->pipelines < 3)
        return;
    shared->crashed_at = shared->given;
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void see_words_too(void *user, const struct pm_null_call *call)
{
    see_pipelines(user, call);
    see_words(call);
}

static void crash_in_a_session(void)
{
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        open_watched(NULL, crash_at_the_third);
        run_until("the fastest is");
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* The driver crashes while it makes a variant: the next session's contest goes on without that. */
static void what_the_driver_crashed_at_takes_no_part(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = 0.8;
    crash_in_a_session();
    assert_true(shared->crashed_at != 0);
    open_watched(NULL, see_words_too);
    assert_true(run_until("the fastest is"));
    optimized_assert_logged("the last session did not end properly", 1);
    assert_true(seen.count > 2);
    assert_false(shared->given_again);
    close_session();
    munmap(shared, sizeof *shared);
}

/* The highest ratio of time that is kept of a slower variant, in millionths. */
static uint32_t slowest_kept(void)
{
    char path[300], text[512];
    uint32_t slowest = 0, ratio;
    snprintf(path, sizeof path, "%s/piecemeal/journal/game/verdicts", pm_layered_home());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(text, sizeof text, file))
        if (sscanf(text, "verdict slower calls %" SCNu32, &ratio) == 1 && ratio > slowest)
            slowest = ratio;
    fclose(file);
    return slowest;
}

/* What won is slower when it is tried anew: that is kept, not what chose it. */
static void the_trial_says_what_is_kept(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = i == 2 ? 0.8 : 1.2;
    open_session();
    assert_true(run_until("is tried"));
    seen.times[2] = 3;
    assert_true(run_until("none is faster"));
    close_session();
    assert_in_range(slowest_kept(), 2900000, 3100000);
}

/* The share of time that the trials of all sessions so far say they took at most, in percent. */
static double most_spent(void)
{
    char path[300], line[512];
    double most = -1, share;
    snprintf(path, sizeof path, "%s/log", pm_layered_home());
    FILE *log = fopen(path, "r");
    assert_non_null(log);
    while (fgets(line, sizeof line, log)) {
        const char *at = strstr(line, "trials took ");
        if (at && sscanf(at, "trials took %lf %%", &share) == 1 && share > most)
            most = share;
    }
    fclose(log);
    return most;
}

/* Waits until the session has lasted so long that the pairs which were under way when the half
 * percent was through weigh little. */
static void last_long_enough(void)
{
    while (pm_now() < seen.begun_at + INT64_C(2000000000))
        usleep(10000);
}

static void set_scene(const char *name)
{
    PFN_vkSetScenePIECEMEAL set =
        (PFN_vkSetScenePIECEMEAL)vkGetDeviceProcAddr(trying.h.device, PIECEMEAL_SET_SCENE_NAME);
    assert_non_null(set);
    set(trying.h.device, name);
}

/* What won in one scene takes twice as long in another: a re-trial there drops it. */
static void slower_in_another_scene(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = i == 2 ? 0.8 : 1.2;
    open_session();
    set_scene("first");
    assert_true(run_until("the fastest is"));
    uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 8);
    seen.times[2] = 2;
    set_scene("second");
    assert_true(run_until("is not faster, and is dropped"));
    position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 0);
    last_long_enough();
    close_session();
    assert_true(most_spent() < 0.6);
}

/* What is used is tried again where the game's own takes five times as long, the most that is
 * counted: its eight pairs take no more than the half percent, beside what was left of the second
 * before. */
static void trying_again_costs_little(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = i == 2 ? 0.8 : 1.2;
    open_session();
    set_scene("first");
    assert_true(run_until("the fastest is"));
    seen.times[0] = 25;
    seen.times[2] = 5;
    set_scene("second");
    assert_true(run_until("is tried again"));
    const int64_t begun_at = pm_now();
    const uint64_t calls = seen.calls[0];
    uint64_t until = 0;
    while (optimized_logged("faster: used") < 2 && patience(&until))
        trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    optimized_assert_logged("faster: used", 2);
    const double longer = 20.0 * TRYING_ORIGINAL * (double)(seen.calls[0] - calls);
    const double passed = (double)(pm_now() - begun_at);
    /* One pair may begin with the last of it. */
    assert_true(longer - 2 * 20.0 * TRYING_ORIGINAL <= 0.005 * (passed + 1e9));
    close_session();
}

/* A pass of which what is left runs with a variant, for all that the layer knows when it is bound.
 */
static void draw_generated(VkCommandBuffer buffer)
{
    const VkGeneratedCommandsInfoNV info = {.sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_INFO_NV,
                                            .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                            .pipeline = trying.graphics};
    pm_harness_begin_pass(&trying.h, buffer);
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    trying.h.vk.CmdExecuteGeneratedCommandsNV(buffer, VK_FALSE, &info);
    trying.h.vk.CmdEndRenderPass(buffer);
}

/* Whether all generated commands since a position ran with the game's own. */
static bool generated_runs_with_the_games(uint64_t since)
{
    struct pm_null_call call;
    uint64_t bound = 0;
    for (uint64_t i = since; i < trying.h.driver->position(); i++) {
        assert_true(trying.h.driver->read(i, &call));
        if (strcmp(call.command, "vkCmdBindPipeline") == 0)
            bound = call.arguments[2];
        if (strcmp(call.command, "vkCmdExecuteGeneratedCommandsNV") == 0 &&
            bound != PM_NULL_NUMBER(trying.graphics))
            return false;
    }
    return true;
}

/* They name the game's pipeline, and a variant is not made for them. */
static void generated_commands_run_with_the_games(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_NV_device_generated_commands", NULL};
    const struct pm_harness_options options = {.device_extensions = extensions};
    bool tried = false;
    uint64_t until = 0;
    optimized_learn();
    open_with(&options);
    trying.h.driver->set_binned(true);
    trying.graphics = optimized_graphics(&trying.h);
    /* Whose self-test has pipelines of its own. */
    while (optimized_logged("render passes are timed as wholes") == 0 && patience(&until))
        trying_run_frames(draw_generated, TRYING_ONCE, 4);
    while (!tried && patience(&until)) {
        const uint64_t position = trying.h.driver->position();
        trying_run_frames(draw_generated, TRYING_ONCE, 4);
        tried = trying_foreign_binds(position) > 0;
        assert_true(generated_runs_with_the_games(position));
    }
    assert_true(tried);
    trying.h.driver->set_binned(false);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.graphics, NULL);
    close_session();
}

/* All are much slower: each is called a few times, and they are not tried again in the next
 * session.
 */
static void slow_ones_cost_little(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = 2;
    open_session();
    assert_true(run_until("none is faster"));
    for (uint32_t i = 1; i < seen.count; i++)
        assert_in_range(seen.calls[i], 1, 20);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 0);
    last_long_enough();
    close_session();
    const double spent = most_spent();
    assert_true(spent > 0 && spent < 0.6);
    for (uint32_t i = 1; i < MOST; i++)
        seen.times[i] = 2;
    open_session();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_true(run_until("none is faster"));
    assert_int_equal(seen.count, 1);
    close_session();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(finds_the_fastest),
        PM_LAYERED_TEST(another_process_tries_what_won),
        PM_LAYERED_TEST(a_pair_is_faster),
        PM_LAYERED_TEST(no_pair_is_faster),
        PM_LAYERED_TEST(chance_chooses_no_pair),
        PM_LAYERED_TEST(a_subgroup_size_is_faster),
        PM_LAYERED_TEST(two_shaders_have_the_same_variant),
        PM_LAYERED_TEST(the_next_session_goes_on),
        PM_LAYERED_TEST(only_what_is_measured_is_written_down),
        PM_LAYERED_TEST(a_driver_without_memory_ends_nothing),
        PM_LAYERED_TEST(the_next_session_tries_the_winner),
        PM_LAYERED_TEST(what_the_driver_crashed_at_takes_no_part),
        PM_LAYERED_TEST(none_is_faster),
        PM_LAYERED_TEST(the_trial_says_what_is_kept),
        PM_LAYERED_TEST(slower_in_another_scene),
        PM_LAYERED_TEST(trying_again_costs_little),
        PM_LAYERED_TEST(slow_ones_cost_little),
        PM_LAYERED_TEST(generated_commands_run_with_the_games),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
