/*
 * What it is worth to run a large compute shader in several passes on a driver: generated kernels
 * (generated_kernel.h) whole and in passes, on the driver that VK_DRIVER_FILES names.
 *
 *   partition_kernels kernels [ALU [MOST [LEAST [KIND [BOUND]]]]]
 *       each kind (polynomial, matrix, FFT) of LEAST to MOST operations, ALU to a pass:
 *       time to the first result, in which the driver's compiler and our cutting are, and time of
 *       a run once all is compiled; in seconds of the processor, of all threads, and the first
 *       result by the clock, too. Each pass is compiled and submitted as soon as it is made, so
 *       that the next one is made meanwhile. What has no first result as a whole within BOUND
 *       seconds is given up, which ends the program behind its row
 *   partition_kernels figure2 [OPERATIONS]   the paper's Figure 2: a shader of so many operations
 *       over operations a pass, with 1 to 4 outputs of 4 components
 *
 * That the results are the same bits is checked. Tables in Markdown, on standard output.
 */
#include "base/clock.h"
#include "bench/cost/generated_kernel.h"
#include "bench/cost/measured.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/gpu/gpu_private.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { GROUPS = 16, FIGURE_GROUPS = 64, RUNS = 3, MOST_PASSES = 4096 };

static struct pm_gpu gpu;
static uint32_t groups = GROUPS;

/* Of the processor, all threads: what else the machine does counts less than by the clock. */
static double seconds(void)
{
    return 1e-3 * pm_processor_ms();
}

static double clock_seconds(void)
{
    return 1e-3 * pm_now_ms();
}

struct program {
    VkPipeline pipelines[MOST_PASSES];
    VkCommandBuffer first[MOST_PASSES]; /* of the first run, a pass each */
    VkDescriptorSet set;
    uint32_t count;
    struct pm_gpu_buffer values;
};

static VkPipeline make_pipeline(const struct pm_words *words, const VkSpecializationInfo *info)
{
    VkShaderModule module = gpu_module(&gpu, words->data, words->count);
    const VkComputePipelineCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main",
                  .pSpecializationInfo = info},
        .layout = gpu.layout};
    VkPipeline pipeline;
    CHECK(vkCreateComputePipelines(gpu.device, VK_NULL_HANDLE, 1, &create, NULL, &pipeline));
    vkDestroyShaderModule(gpu.device, module, NULL);
    return pipeline;
}

static void fill(struct program *program)
{
    float *values = program->values.data;
    for (size_t i = 0; i < program->values.size / sizeof(float); i++)
        values[i] = (float)(i % 97) / 97;
}

static VkCommandBuffer record(struct program *program, uint32_t first, uint32_t count)
{
    const struct pm_gpu_shader shader = {.buffers = {&program->values}};
    if (!program->set)
        program->set = gpu_descriptors(&gpu, &shader, &program->values);
    VkCommandBuffer commands = gpu_begin(&gpu);
    gpu_bind(&gpu, commands, VK_PIPELINE_BIND_POINT_COMPUTE, &shader, program->set);
    for (uint32_t i = first; i < first + count; i++) {
        gpu_barrier(commands);
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, program->pipelines[i]);
        vkCmdDispatch(commands, groups, 1, 1);
    }
    return commands;
}

static void run(struct program *program)
{
    gpu_finish(&gpu, record(program, 0, program->count));
}

/* Adds a pass to the program, and submits it. */
static void add_pass(struct program *program, const struct pm_words *words,
                     const VkSpecializationInfo *info)
{
    const uint32_t at = program->count++;
    program->pipelines[at] = make_pipeline(words, info);
    program->first[at] = record(program, at, 1);
    gpu_submit(&gpu, program->first[at]);
}

/* The least of a few, of a program that has run before. */
static double time_runs(struct program *program)
{
    double least = 1e9;
    for (int i = 0; i < RUNS; i++) {
        const double begin = seconds();
        run(program);
        const double took = seconds() - begin;
        least = took < least ? took : least;
    }
    return least;
}

static void finish(struct program *program)
{
    for (uint32_t i = 0; i < program->count; i++)
        vkDestroyPipeline(gpu.device, program->pipelines[i], NULL);
    pm_gpu_buffer_destroy(&gpu, &program->values);
}

struct outcome {
    double cut, first, first_by_clock, run; /* first: with cut */
    uint32_t passes, scratch_words;
    float *values; /* after the first run; malloc'ed */
    size_t bytes;
};

/* begin, begin_by_clock: when the program's first pass was begun with; all are submitted. */
static void time_program(struct program *program, double begin, double begin_by_clock,
                         struct outcome *out)
{
    CHECK(vkQueueWaitIdle(gpu.queue));
    out->first = seconds() - begin;
    out->first_by_clock = clock_seconds() - begin_by_clock;
    vkFreeCommandBuffers(gpu.device, gpu.pool, program->count, program->first);
    out->bytes = program->values.size;
    out->values = malloc(out->bytes);
    assert_non_null(out->values);
    memcpy(out->values, program->values.data, out->bytes);
    out->run = time_runs(program);
}

static size_t bytes_of(enum kernel_kind kind, uint32_t width)
{
    return (size_t)kernel_floats(kind, width) * sizeof(float) * KERNEL_LANES * groups;
}

static void run_whole(const struct pm_words *words, size_t bytes, struct outcome *out)
{
    struct program program = {0};
    pm_gpu_buffer_create(&gpu, bytes, &program.values);
    fill(&program);
    const double begin = seconds(), begin_by_clock = clock_seconds();
    add_pass(&program, words, NULL);
    out->passes = 1;
    time_program(&program, begin, begin_by_clock, out);
    finish(&program);
}

static double thread_seconds(void)
{
    return 1e-9 * (double)pm_used_by_thread();
}

struct passes {
    struct program program;
    struct pm_gpu_buffer scratch;
    double compiling; /* seconds of the thread that cuts, in which it did not */
};

static void run_pass(void *user, const struct pm_partitioned *so_far)
{
    struct passes *passes = user;
    const struct pm_partition_pass *pass = &so_far->passes[so_far->count - 1];
    const double begin = thread_seconds();
    assert_true(so_far->count <= MOST_PASSES);
    if (so_far->count == 1)
        pm_gpu_buffer_create(&gpu, (so_far->scratch_words + 1) * (size_t)4 * KERNEL_LANES * groups,
                             &passes->scratch);
    const uint32_t address[] = {(uint32_t)passes->scratch.address,
                                (uint32_t)(passes->scratch.address >> 32)};
    const VkSpecializationMapEntry entries[2] = {{pass->spec_id_low, 0, 4},
                                                 {pass->spec_id_high, 4, 4}};
    const VkSpecializationInfo info = {2, entries, sizeof address, address};
    add_pass(&passes->program, &pass->words, &info);
    passes->compiling += thread_seconds() - begin;
}

static void run_passes(const struct pm_words *words, const struct pm_pass_limits *limits,
                       enum pm_partition_method method, size_t bytes, struct outcome *out)
{
    struct passes passes = {0};
    struct pm_partitioned made;
    struct pm_error error = {0};
    const struct pm_partition_info info = {.limits = limits,
                                           .method = method,
                                           .target = {.vulkan_minor = 3},
                                           .made = run_pass,
                                           .user = &passes};
    pm_gpu_buffer_create(&gpu, bytes, &passes.program.values);
    fill(&passes.program);
    const double begin = seconds(), begin_by_clock = clock_seconds(), cutting = thread_seconds();
    if (!pm_partition(words->data, words->count, &info, &made, &error))
        fail_msg("%s", error.message);
    out->cut = thread_seconds() - cutting - passes.compiling;
    out->passes = made.count;
    out->scratch_words = made.scratch_words;
    time_program(&passes.program, begin, begin_by_clock, out);
    finish(&passes.program);
    pm_gpu_buffer_destroy(&gpu, &passes.scratch);
    pm_partitioned_finish(&made);
}

static void assert_same(const struct outcome *a, const struct outcome *b)
{
    if (a->bytes != b->bytes || memcmp(a->values, b->values, a->bytes) != 0)
        fail_msg("the passes compute something else");
}

static struct pm_pass_limits limits_of(uint32_t alu)
{
    return (struct pm_pass_limits){alu,         PM_NO_LIMIT, PM_NO_LIMIT, PM_NO_LIMIT,
                                   PM_NO_LIMIT, PM_NO_LIMIT, PM_NO_LIMIT, false};
}

/* The row of a kernel that the driver takes too long for as a whole. */
static char given_up[256];

static void give_up(int number)
{
    (void)number;
    if (write(STDOUT_FILENO, given_up, strlen(given_up)) < 0)
        _exit(1);
    _exit(0);
}

/* Ends the program with the row when it has used so many more seconds; 0: never. */
static void set_bound(uint32_t bound, const char *row, const struct outcome *passes)
{
    const struct itimerval timer = {.it_value = {.tv_sec = bound}};
    snprintf(given_up, sizeof given_up,
             "%s more than %u | %.2f | more than %.1f | | %.2f | | | %.1f |\n", row, bound,
             passes->first, bound / passes->first, passes->first_by_clock, 1e3 * passes->run);
    signal(SIGPROF, give_up);
    setitimer(ITIMER_PROF, &timer, NULL);
}

static void time_kernel(enum kernel_kind kind, uint32_t operations, uint32_t alu, uint32_t bound)
{
    const struct pm_pass_limits limits = limits_of(alu);
    struct pm_words words = kernel_make(kind, operations, 0);
    struct outcome whole = {0}, passes = {0};
    const size_t bytes = bytes_of(kind, 0);
    char row[128];
    run_passes(&words, &limits, PM_PARTITION_BEYOND, bytes, &passes);
    snprintf(row, sizeof row, "| %s | %u | %u | %u | %.2f |", kernel_names[kind], operations,
             passes.passes, passes.scratch_words, passes.cut);
    set_bound(bound, row, &passes);
    run_whole(&words, bytes, &whole);
    set_bound(0, row, &passes);
    assert_same(&whole, &passes);
    printf("%s %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f |\n", row, whole.first,
           passes.first, whole.first / passes.first, whole.first_by_clock, passes.first_by_clock,
           whole.first_by_clock / passes.first_by_clock, 1e3 * whole.run, 1e3 * passes.run);
    fflush(stdout);
    free(whole.values);
    free(passes.values);
    pm_words_finish(&words);
}

static void kernels(uint32_t alu, uint32_t most, uint32_t least, const char *only, uint32_t bound)
{
    static const uint32_t sizes[] = {1000, 5000, 10000, 20000, 50000, 100000};
    printf("%s, %u invocations, %u ALU operations a pass\n\n"
           "| kernel | operations | passes | words spilled | cutting, s | whole: first result, s | "
           "in passes, s | times as fast | by the clock: whole, s | in passes, s | times as soon | "
           "whole: a run, ms | in passes, ms |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
           gpu.name, groups * KERNEL_LANES, alu);
    fflush(stdout);
    for (int kind = 0; kind < KERNEL_DOTS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes && sizes[s] <= most; s++) {
            if (sizes[s] < least || (only && strcmp(only, kernel_names[kind]) != 0))
                continue;
            time_kernel((enum kernel_kind)kind, sizes[s], alu, bound);
        }
}

static void figure2(uint32_t operations)
{
    static const uint32_t a_pass[] = {50, 100, 200, 500, 1000, 5000};
    groups = FIGURE_GROUPS;
    printf("%s, %u operations, %u invocations: milliseconds of a run\n\n"
           "| operations a pass | passes | 1 output | 2 | 3 | 4 |\n"
           "| --- | --- | --- | --- | --- | --- |\n",
           gpu.name, operations, groups * KERNEL_LANES);
    for (size_t s = 0; s < sizeof a_pass / sizeof *a_pass; s++) {
        const struct pm_pass_limits limits = limits_of(a_pass[s]);
        for (uint32_t width = 1; width <= 4; width++) {
            struct pm_words words = kernel_make(KERNEL_DOTS, operations, width);
            struct outcome out = {0};
            /* Mio fills each pass; the extension would end some earlier. */
            run_passes(&words, &limits, PM_PARTITION_MIO, bytes_of(KERNEL_DOTS, width), &out);
            if (width == 1)
                printf("| %u | %u |", a_pass[s], out.passes);
            printf(" %.1f |", 1e3 * out.run);
            fflush(stdout);
            free(out.values);
            pm_words_finish(&words);
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    const bool figure = argc > 1 && strcmp(argv[1], "figure2") == 0;
    if (argc < 2 || (!figure && strcmp(argv[1], "kernels") != 0)) {
        fprintf(stderr, "usage: partition_kernels kernels [ALU [MOST [LEAST [KIND [BOUND]]]]] | "
                        "figure2 [OPERATIONS]\n");
        return 2;
    }
    const uint32_t first = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    const uint32_t second = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    /* Nothing is to be found compiled. */
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
    pm_gpu_create(&gpu);
    if (figure)
        figure2(first ? first : 5000);
    else
        kernels(first ? first : 1000, second ? second : 5000,
                argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0, argc > 5 ? argv[5] : NULL,
                argc > 6 ? (uint32_t)strtoul(argv[6], NULL, 10) : 0);
    pm_gpu_destroy(&gpu);
    return 0;
}
