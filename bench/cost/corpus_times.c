/*
 * What our passes and the driver's compiler take for each shader of real programs.
 *
 *   corpus_times [--repetitions N] [--device NAME] FOLDER…
 *
 * FOLDER has what tests/corpus/collect.sh dumped. Of each shader: the time of canonicalizing it, of
 * finding its points, of counting them all in batches as the layer does, and of specializing it as
 * if every value were always zero; and the time that the driver takes for the game's own module,
 * for the first batch's and for the specialized one (module_run.h). Medians over the repetitions. A
 * driver's own cache must be off: MESA_SHADER_CACHE_DISABLE=true, __GL_SHADER_DISK_CACHE=0.
 *
 * Prints a table: the median, the 99th percentile and the worst of all shaders, in milliseconds,
 * and which that is. What the driver takes is also printed over what it takes for the game's own.
 */
#include "base/clock.h"
#include "bench/cost/dumped.h"
#include "bench/cost/module_run.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_SHADERS = 8192,
    REPETITIONS_MOST = 99,
    BATCH = 8, /* points in a module: sampler.batch's default */
};

enum step { CANONICALIZE, FIND_POINTS, COUNT, SPECIALIZE, ORIGINAL, COUNTED, SPECIALIZED, STEPS };

static const char *const step_names[] = {
    [CANONICALIZE] = "canonicalize",
    [FIND_POINTS] = "find the points",
    [COUNT] = "count zeros, all batches",
    [SPECIALIZE] = "specialize",
    [ORIGINAL] = "driver: the game's module",
    [COUNTED] = "driver: the first batch",
    [SPECIALIZED] = "driver: the specialized module",
};

struct row {
    char name[256];
    uint32_t words;
    double times[STEPS]; /* milliseconds; NAN: not measured */
};

static struct {
    struct pm_gpu gpu;
    unsigned repetitions;
    struct row rows[MOST_SHADERS];
    uint32_t count, failed, not_made;
} bench = {.repetitions = 3};

/* ---- one shader, once ---- */

struct made {
    struct pm_words canonical;
    struct pm_zero_points points;
    struct pm_instrumented counted; /* the first batch, or nothing */
    struct pm_specialized specialized;
};

static void finish_made(struct made *made)
{
    pm_words_finish(&made->canonical);
    pm_zero_points_finish(&made->points);
    pm_instrumented_finish(&made->counted);
    pm_specialized_finish(&made->specialized);
}

static bool count_zeros(const struct pm_dumped *shader, struct made *made, struct pm_error *error)
{
    uint32_t ids[BATCH];
    for (uint32_t first = 0; first < made->points.count; first += BATCH) {
        struct pm_instrument_info info = {
            .points = ids,
            .slot_count = 1,
            .int64_atomics = true,
            .may_force_early_tests = true,
            .subgroup_quad = true,
            .target = shader->info.target,
        };
        while (info.point_count < BATCH && first + info.point_count < made->points.count) {
            ids[info.point_count] = first + info.point_count;
            info.point_count++;
        }
        struct pm_instrumented counted;
        if (!pm_instrument_zero(made->canonical.data, made->canonical.count, &info, &counted,
                                error))
            return false;
        if (first == 0)
            made->counted = counted;
        else
            pm_instrumented_finish(&counted);
    }
    return true;
}

static bool specialize(const struct pm_dumped *shader, struct made *made, struct pm_error *error)
{
    double *zero = malloc((made->points.count + 1u) * sizeof(*zero));
    for (uint32_t i = 0; zero && i < made->points.count; i++)
        zero[i] = 1;
    const struct pm_zero_profile profile = {.zero = zero, .candidate_count = made->points.count};
    const struct pm_specialize_zero_info info = {
        .profile = &profile, .subgroup_quad = true, .target = shader->info.target};
    const bool ok = zero && pm_specialize_zero(made->canonical.data, made->canonical.count, &info,
                                               &made->specialized, error);
    free(zero);
    return ok;
}

static bool run_passes(const struct pm_dumped *shader, struct made *made, double times[STEPS],
                       struct pm_error *error)
{
    double at[SPECIALIZE + 2] = {pm_now_ms()};
    *made = (struct made){0};
    if (!pm_canonicalize(&shader->info, &made->canonical, error))
        return false;
    at[FIND_POINTS] = pm_now_ms();
    if (!pm_points_zero(made->canonical.data, made->canonical.count, &made->points, error))
        return false;
    at[COUNT] = pm_now_ms();
    if (!count_zeros(shader, made, error))
        return false;
    at[SPECIALIZE] = pm_now_ms();
    if (!specialize(shader, made, error))
        return false;
    at[SPECIALIZE + 1] = pm_now_ms();
    for (int i = 0; i <= SPECIALIZE; i++)
        times[i] = at[i + 1] - at[i];
    return true;
}

/* What the driver takes; NAN where there is no such module, or it wants what cannot be made up. */
static void run_driver(const struct pm_dumped *shader, const struct made *made, double times[STEPS])
{
    const struct pm_canonicalize_info *info = &shader->info;
    const struct pm_module modules[] = {
        {info->words, info->word_count, info->entry_point, info->spec_values,
         info->spec_value_count},
        {made->counted.words.data, made->counted.words.count, info->entry_point, NULL, 0},
        {made->specialized.words.data, made->specialized.words.count, info->entry_point, NULL, 0},
    };
    for (int i = 0; i < 3; i++) {
        times[ORIGINAL + i] = NAN;
        struct pm_error error;
        struct pm_module_run *run =
            modules[i].word_count > 0
                ? pm_module_run_create(&bench.gpu, &modules[i], info->stage, &error)
                : NULL;
        if (run && !pm_module_run_compile(run, &modules[i], &times[ORIGINAL + i], &error))
            times[ORIGINAL + i] = NAN;
        pm_module_run_destroy(run);
    }
}

/* ---- all shaders ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, uint32_t count)
{
    qsort(times, count, sizeof(*times), compare);
    return (times[(count - 1) / 2] + times[count / 2]) / 2;
}

static bool measure(const struct pm_dumped *shader, struct row *row, struct pm_error *error)
{
    double times[STEPS][REPETITIONS_MOST];
    bool ok = true;
    for (unsigned i = 0; ok && i < bench.repetitions; i++) {
        double once[STEPS];
        struct made made;
        ok = run_passes(shader, &made, once, error);
        if (ok)
            run_driver(shader, &made, once);
        row->words = (uint32_t)made.canonical.count;
        finish_made(&made);
        for (int step = 0; ok && step < STEPS; step++)
            times[step][i] = once[step];
    }
    for (int step = 0; ok && step < STEPS; step++)
        row->times[step] = isnan(times[step][0]) ? NAN : median(times[step], bench.repetitions);
    return ok;
}

static void look_at(void *user, const char *folder, const char *name)
{
    (void)user;
    struct pm_error error = {0};
    struct pm_dumped shader;
    if (bench.count == MOST_SHADERS)
        return;
    struct row *row = &bench.rows[bench.count];
    snprintf(row->name, sizeof(row->name), "%s", name);
    bool ok = pm_dumped_read(folder, name, &shader, &error);
    if (ok) {
        ok = measure(&shader, row, &error);
        pm_dumped_finish(&shader);
    }
    if (ok) {
        bench.not_made += isnan(row->times[ORIGINAL]) ? 1 : 0;
        bench.count++;
    } else {
        bench.failed++;
        fprintf(stderr, "%s/%s: %s\n", folder, name, error.message);
    }
}


struct value {
    double value; /* first: it is what is compared */
    const struct row *row;
};

static void print_row(const char *name, struct value *values, uint32_t count)
{
    if (count == 0)
        return;
    qsort(values, count, sizeof(*values), compare);
    const struct value *worst = &values[count - 1];
    printf("| %s | %u | %.2f | %.2f | %.2f | %.12s, %u words |\n", name, count,
           values[count / 2].value, values[(uint32_t)(0.99 * (count - 1) + 0.5)].value,
           worst->value, worst->row->name, worst->row->words);
}

static void print(void)
{
    static struct value values[MOST_SHADERS];
    printf("On %s, %u shaders, milliseconds, medians of %u; %u left out, of %u more the driver was "
           "not asked:\n\n"
           "| step | shaders | median | 99th percentile | worst | which |\n"
           "| --- | --- | --- | --- | --- | --- |\n",
           bench.gpu.properties.deviceName, bench.count, bench.repetitions, bench.failed,
           bench.not_made);
    for (int step = 0; step < STEPS; step++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < bench.count; i++)
            if (!isnan(bench.rows[i].times[step]))
                values[count++] = (struct value){bench.rows[i].times[step], &bench.rows[i]};
        print_row(step_names[step], values, count);
    }
    for (int step = COUNTED; step < STEPS; step++) {
        uint32_t count = 0;
        char name[80];
        for (uint32_t i = 0; i < bench.count; i++) {
            const double over = bench.rows[i].times[step] / bench.rows[i].times[ORIGINAL];
            if (!isnan(over))
                values[count++] = (struct value){over, &bench.rows[i]};
        }
        snprintf(name, sizeof(name), "%s, over the game's", step_names[step]);
        print_row(name, values, count);
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"repetitions", required_argument, NULL, 'r'},
                                            {"device", required_argument, NULL, 'd'},
                                            {NULL, 0, NULL, 0}};
    struct pm_gpu_info info = {.application = "corpus_times"};
    struct pm_error error;
    bool usage = false;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'r')
            bench.repetitions = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'd')
            info.device = optarg;
        else
            usage = true;
    }
    if (usage || optind == argc || bench.repetitions < 1 || bench.repetitions > REPETITIONS_MOST) {
        fprintf(stderr, "usage: corpus_times [--repetitions N] [--device NAME] FOLDER…\n");
        return 2;
    }
    if (!pm_gpu_init(&bench.gpu, &info, &error)) {
        fprintf(stderr, "corpus_times: %s\n", error.message);
        return 1;
    }
    for (int i = optind; i < argc; i++)
        pm_dumped_each(argv[i], look_at, NULL);
    print();
    pm_gpu_finish(&bench.gpu);
    return bench.failed > 0;
}
