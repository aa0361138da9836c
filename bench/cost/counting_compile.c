/* What counting costs a driver's compiler: counting_compile [--all | --most=N] [--list] [--once]
 * FOLDER…, with what tests/corpus/collect.sh dumped. Each canonical module is compiled on a bare
 * device (module_run.h) as it is, with its blocks counted, with its zeros counted, with copies of
 * their values counted (counted_copies.h), and with its words of uniform buffers counted. As many
 * points as may be counted at once, from the first on; --most=N: so many (the layer's sampler.batch
 * is 8); --all: all of them, and of the zeros all that may be zero, whether they are worth it or
 * not. A driver's own cache must be off: MESA_SHADER_CACHE_DISABLE=true.
 *
 * Times are the process's own processor time, the lesser of two (--once: of one), so that what else
 * runs on the machine matters little. */
#include "bench/cost/dumped.h"
#include "bench/cost/module_run.h"
#include "shader_rewrite/quirks/quirks.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PLAIN, BLOCKS, ZEROS, COPIES, CONSTANTS, WAYS };
enum { REPETITIONS = 2, MOST_SHADERS = 8192 };

static const char *const ways[WAYS] = {"as it is", "blocks", "zeros", "zeros by copies",
                                       "constants"};

/* Of one module, by way. milliseconds 0: nothing can be made up around it (module_run.h). */
struct row {
    double points[WAYS], words[WAYS], milliseconds[WAYS];
};

static struct row rows[MOST_SHADERS];
static size_t row_count, failed;
static bool all_points, list;
static int repetitions = REPETITIONS;
static uint32_t most_points; /* 0: as many as may be counted at once */
static struct pm_gpu gpu;
/* What the layer says of the device to instrument_blocks (shader_record_instrument.c). */
static struct {
    uint32_t subgroup_size, most_lanes;
    bool arithmetic, sums_outlive_loops;
} abilities;

static void find_abilities(void)
{
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
        .pNext = &driver};
    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, .pNext = &sizes};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &subgroup};
    vkGetPhysicalDeviceProperties2(gpu.physical, &properties);
    const struct pm_driver known = pm_driver_of(
        (uint32_t)driver.driverID, properties.properties.driverVersion, driver.driverInfo);
    abilities.subgroup_size = subgroup.subgroupSize;
    abilities.most_lanes = subgroup.subgroupSize > sizes.maxSubgroupSize ? subgroup.subgroupSize
                                                                         : sizes.maxSubgroupSize;
    abilities.arithmetic = subgroup.supportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
    abilities.sums_outlive_loops = !(pm_quirks_of(&known) & PM_QUIRK_CHOOSES_AGAIN);
}

static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static bool time_module(const struct pm_words *words, enum pm_stage stage, double *least,
                        struct pm_error *error)
{
    const struct pm_module module = {words->data, words->count, "main", NULL, 0};
    struct pm_module_run *run = pm_module_run_create(&gpu, &module, stage, error);
    bool ok = run != NULL;
    for (int i = 0; ok && i < repetitions; i++) {
        double wall, start = processor_ms();
        ok = pm_module_run_compile(run, &module, &wall, error);
        double took = processor_ms() - start;
        *least = i && *least < took ? *least : took;
    }
    pm_module_run_destroy(run);
    return ok;
}

static uint32_t at_once(const struct pm_words *words, uint32_t points)
{
    const uint32_t most = most_points ? most_points : pm_instrument_most_points(words->count);
    return all_points || points < most ? points : most;
}

static bool count_points(const struct pm_words *words, int way, struct pm_instrument_info *info,
                         struct pm_error *error)
{
    struct pm_block_points blocks;
    struct pm_zero_points zeros;
    if (way == BLOCKS) {
        if (!pm_points_blocks(words->data, words->count, &blocks, error))
            return false;
        info->point_count = blocks.count;
        pm_block_points_finish(&blocks);
    } else {
        if (!pm_points_zero_given(words->data, words->count, NULL, all_points, &zeros, error))
            return false;
        info->point_count = zeros.count;
        pm_zero_points_finish(&zeros);
    }
    info->point_count = at_once(words, info->point_count);
    return true;
}

static bool count_constants(const struct pm_words *words, const struct pm_instrument_info *info,
                            struct pm_instrumented *out, uint32_t *point_count,
                            struct pm_error *error)
{
    struct pm_constant_points constants;
    uint32_t pushed = 0;
    if (!pm_points_constant(words->data, words->count, false, &constants, error))
        return false;
    while (pushed < constants.count && constants.points[pushed].source == PM_CONSTANT_PUSH)
        pushed++;
    *point_count = at_once(words, constants.count - pushed);
    const bool ok = pm_instrument_constants(words->data, words->count, constants.points + pushed,
                                            *point_count, info, out, error);
    pm_constant_points_finish(&constants);
    return ok;
}

static bool count(const struct pm_words *words, int way, struct pm_instrumented *out,
                  uint32_t *point_count, struct pm_error *error)
{
    struct pm_instrument_info info = {.slot_count = 16,
                                      .subgroup_quad = true,
                                      .subgroup_size = abilities.subgroup_size,
                                      .most_lanes = abilities.most_lanes,
                                      .subgroup_arithmetic = abilities.arithmetic,
                                      .sums_outlive_loops = abilities.sums_outlive_loops,
                                      .count_copies = way == COPIES,
                                      .all_candidates = all_points,
                                      .target = pm_dumped_target};
    if (way == CONSTANTS)
        return count_constants(words, &info, out, point_count, error);
    if (!count_points(words, way, &info, error))
        return false;
    uint32_t *points = malloc((info.point_count + 1u) * sizeof(*points));
    for (uint32_t i = 0; points && i < info.point_count; i++)
        points[i] = i;
    info.points = points;
    *point_count = info.point_count;
    bool ok = points ? (way == BLOCKS ? pm_instrument_blocks : pm_instrument_zero)(
                           words->data, words->count, &info, out, error)
                     : pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    free(points);
    return ok;
}

/* As soon as it is known: a driver may take minutes for the next. */
static void print_way(const char *name, const struct row *row, int way)
{
    if (!list)
        return;
    printf("| %.24s | %s | %.0f | %.0f | %.1f |\n", name, ways[way], row->points[way],
           row->words[way], row->milliseconds[way]);
    fflush(stdout);
}

static bool measure(const struct pm_words *words, const char *name, enum pm_stage stage,
                    struct row *row, struct pm_error *error)
{
    row->words[PLAIN] = (double)words->count;
    const bool runs = time_module(words, stage, &row->milliseconds[PLAIN], error);
    bool ok = runs || error->code == PM_ERROR_UNSUPPORTED;
    print_way(name, row, PLAIN);
    for (int way = BLOCKS; ok && way < WAYS; way++) {
        struct pm_instrumented out = {0};
        uint32_t points = 0;
        ok = count(words, way, &out, &points, error) &&
             (!runs || time_module(&out.words, stage, &row->milliseconds[way], error));
        row->points[way] = points;
        row->words[way] = (double)out.words.count;
        pm_instrumented_finish(&out);
        if (ok)
            print_way(name, row, way);
    }
    return ok;
}

static bool measure_dumped(const char *folder, const char *name, struct row *row,
                           struct pm_error *error)
{
    struct pm_dumped shader;
    struct pm_words words = {0};
    if (!pm_dumped_read(folder, name, &shader, error))
        return false;
    bool ok = pm_canonicalize(&shader.info, &words, error) &&
              measure(&words, name, shader.info.stage, row, error);
    pm_words_finish(&words);
    pm_dumped_finish(&shader);
    return ok;
}

static void measure_one(void *user, const char *folder, const char *name)
{
    (void)user;
    struct pm_error error = {0};
    struct row row = {0};
    if (row_count < MOST_SHADERS && measure_dumped(folder, name, &row, &error)) {
        rows[row_count++] = row;
    } else {
        failed++;
        fprintf(stderr, "%s/%s: %s\n", folder, name, error.message);
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many times as much as the other, over the modules where both have points. */
static void print_ratio(int way, int base, const char *what, size_t offset)
{
    static double ratios[MOST_SHADERS];
    size_t n = 0;
    double sum = 0, base_sum = 0;
    for (size_t i = 0; i < row_count; i++) {
        const double *values = (const double *)(const void *)((const char *)&rows[i] + offset);
        if (rows[i].points[way] == 0 || values[base] <= 0)
            continue;
        sum += values[way];
        base_sum += values[base];
        ratios[n++] = values[way] / values[base];
    }
    if (!n)
        return;
    qsort(ratios, n, sizeof(*ratios), compare);
    printf("| %s, for %s | %s | %zu | %.2f | %.2f | %.2f | %.2f |\n", ways[way], ways[base], what,
           n, ratios[n / 2], ratios[(n - 1) * 9 / 10], ratios[n - 1], sum / base_sum);
}

static void print_all(void)
{
    static const int pairs[][2] = {
        {BLOCKS, PLAIN}, {ZEROS, PLAIN}, {COPIES, PLAIN}, {COPIES, ZEROS}, {CONSTANTS, PLAIN}};
    printf("On %s; %zu failed\n\n| counted | times as | modules | median | 90 %% | most | sum |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n",
           gpu.properties.deviceName, failed);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        print_ratio(pairs[i][0], pairs[i][1], "many words", offsetof(struct row, words));
        print_ratio(pairs[i][0], pairs[i][1], "long", offsetof(struct row, milliseconds));
    }
}

int main(int argc, char **argv)
{
    int first = 1;
    for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++) {
        all_points |= strcmp(argv[first], "--all") == 0;
        list |= strcmp(argv[first], "--list") == 0;
        if (strcmp(argv[first], "--once") == 0)
            repetitions = 1;
        if (strncmp(argv[first], "--most=", 7) == 0)
            most_points = (uint32_t)strtoul(argv[first] + 7, NULL, 10);
    }
    struct pm_error error = {0};
    const struct pm_gpu_info info = {.application = "counting_compile"};
    if (argc <= first || !pm_gpu_init(&gpu, &info, &error)) {
        fprintf(stderr, "%s\n",
                argc <= first
                    ? "usage: counting_compile [--all | --most=N] [--list] [--once] FOLDER…"
                    : error.message);
        return 2;
    }
    find_abilities();
    if (list)
        printf("| module | counted | points | words | ms |\n| --- | --- | --- | --- | --- |\n");
    for (int i = first; i < argc; i++)
        pm_dumped_each(argv[i], measure_one, NULL);
    print_all();
    pm_gpu_finish(&gpu);
    return 0;
}
