/*
 * What specializing costs in compile time (AZP, section 4.3).
 *
 *   compile_time [--storage FILE] [--store FOLDER] [--game NAME] [--repetitions N]
 *                [--threshold P] [--transforms N] [--device NAME]
 *
 * For each shader with a zero profile that specialize_zero transforms: the time of our passes, and
 * that of the driver for the game's own module and for the specialized one, each made and used for
 * the first time on a bare device (module_run.h), the one and the other first in turn, the median
 * over the repetitions. A driver's own cache must be off: MESA_SHADER_CACHE_DISABLE=true,
 * __GL_SHADER_DISK_CACHE=0.
 *
 * Prints a row a shader and the geometric means of two ratios: (specialize_zero + driver) / driver,
 * which is what each session pays, and the same with canonicalization, which a machine pays once.
 * Ends with 1 when the latter is above AZP's 1.57.
 */
#include "base/clock.h"
#include "bench/cost/module_run.h"
#include "profile/shader_store.h"
#include "shader_rewrite/analysis/analysis_costs.h"
#include "shader_rewrite/zero/zero_profile.h"
#include "tools/common/estimates.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS_MOST = 99, CANONICALIZE = 0, SPECIALIZE, ORIGINAL, SPECIALIZED, TIMES };

struct options {
    struct pm_estimates_source source;
    const char *store, *device;
    uint64_t repetitions, transforms;
    double threshold;
};

struct bench {
    const struct options *options;
    struct pm_estimates estimates;
    struct pm_shader_store *store;
    struct pm_gpu gpu;
    double logs[2]; /* sums of the logarithms of the two ratios */
    unsigned touched, left_out;
};

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, uint64_t count)
{
    qsort(times, count, sizeof(*times), compare);
    return (times[(count - 1) / 2] + times[count / 2]) / 2;
}

static bool specialize(const struct bench *bench, const struct pm_stored_shader *shader,
                       const struct pm_zero_profile *profile, struct pm_specialized *made,
                       struct pm_error *error)
{
    const struct pm_specialize_zero_info info = {
        .profile = profile,
        .costs = pm_costs_of(bench->gpu.properties.vendorID),
        .threshold = bench->options->threshold,
        .most_transforms = (uint32_t)bench->options->transforms,
        .subgroup_quad = true,
        .target = pm_target_of_bits(shader->target),
    };
    return pm_specialize_zero(shader->canonical, shader->canonical_count, &info, made, error);
}

/* One time of our passes. */
static bool time_passes(const struct bench *bench, const struct pm_stored_shader *shader,
                        const struct pm_zero_profile *profile, double *canonicalizing,
                        double *specializing, struct pm_error *error)
{
    const struct pm_canonicalize_info info = {
        .words = shader->original,
        .word_count = shader->original_count,
        .stage = (enum pm_stage)shader->stage,
        .entry_point = shader->entry_point,
        .spec_values = shader->spec_values,
        .spec_value_count = shader->spec_value_count,
        .target = pm_target_of_bits(shader->target),
    };
    struct pm_words words;
    struct pm_specialized made;
    const double start = pm_now_ms();
    if (!pm_canonicalize(&info, &words, error))
        return false;
    const double between = pm_now_ms();
    pm_words_finish(&words);
    if (!specialize(bench, shader, profile, &made, error))
        return false;
    *specializing = pm_now_ms() - between;
    *canonicalizing = between - start;
    pm_specialized_finish(&made);
    return true;
}

static bool time_driver(struct pm_module_run *run, const struct pm_module *modules, bool swapped,
                        double *original, double *specialized, struct pm_error *error)
{
    double times[2];
    for (int i = 0; i < 2; i++)
        if (!pm_module_run_compile(run, &modules[i ^ swapped], &times[i ^ swapped], error))
            return false;
    *original = times[0];
    *specialized = times[1];
    return true;
}

static bool measure(struct bench *bench, const struct pm_stored_shader *shader,
                    const struct pm_zero_profile *profile, const struct pm_specialized *made,
                    double medians[TIMES], struct pm_error *error)
{
    const struct pm_module modules[] = {
        {shader->original, shader->original_count, shader->entry_point, shader->spec_values,
         shader->spec_value_count},
        /* The canonical module's entry point keeps its name; float constants keep their SpecId
         * with the value as the default, and so want none. */
        {made->words.data, made->words.count, shader->entry_point, NULL, 0},
    };
    struct pm_module_run *run =
        pm_module_run_create(&bench->gpu, &modules[1], (enum pm_stage)shader->stage, error);
    double times[TIMES][REPETITIONS_MOST];
    bool ok = run != NULL;
    for (uint64_t i = 0; ok && i < bench->options->repetitions; i++)
        ok = time_passes(bench, shader, profile, &times[CANONICALIZE][i], &times[SPECIALIZE][i],
                         error) &&
             time_driver(run, modules, i & 1, &times[ORIGINAL][i], &times[SPECIALIZED][i], error);
    pm_module_run_destroy(run);
    for (int i = 0; ok && i < TIMES; i++)
        medians[i] = median(times[i], bench->options->repetitions);
    return ok;
}

static void print_row(struct bench *bench, const struct pm_stored_shader *shader,
                      uint32_t transforms, const double *times)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->key, key);
    const double session = (times[SPECIALIZE] + times[SPECIALIZED]) / times[ORIGINAL];
    const double machine = session + times[CANONICALIZE] / times[ORIGINAL];
    bench->logs[0] += log(session);
    bench->logs[1] += log(machine);
    bench->touched++;
    printf("| %.12s | %zu | %u | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", key,
           shader->canonical_count, transforms, times[ORIGINAL], times[CANONICALIZE],
           times[SPECIALIZE], times[SPECIALIZED], session, machine);
    fflush(stdout);
}

static bool one_shader(struct bench *bench, const struct pm_shader_estimates *zeros,
                       struct pm_error *error)
{
    struct pm_stored_shader shader;
    struct pm_zero_profile profile;
    struct pm_specialized made;
    struct pm_error why = {0};
    const struct pm_shader_estimates *blocks = pm_database_find(
        &bench->estimates.database, &zeros->key, &zeros->environment, PM_KIND_BLOCK);
    if (!pm_shader_store_read(bench->store, &zeros->key, bench->estimates.arena, &shader, &why)) {
        bench->left_out++;
        return true;
    }
    if (!pm_zero_profile_init(&profile, zeros, blocks))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    bool ok = specialize(bench, &shader, &profile, &made, error);
    if (ok && made.transforms > 0) {
        double times[TIMES];
        if (measure(bench, &shader, &profile, &made, times, &why)) {
            print_row(bench, &shader, made.transforms, times);
        } else {
            fprintf(stderr, "a shader is left out: %s\n", why.message);
            bench->left_out++;
        }
    }
    if (ok)
        pm_specialized_finish(&made);
    pm_zero_profile_finish(&profile);
    return ok;
}

static int run(struct bench *bench, struct pm_error *error)
{
    const struct pm_gpu_info info = {.application = "compile_time",
                                     .device = bench->options->device};
    if (!pm_gpu_init(&bench->gpu, &info, error))
        return -1;
    bench->store = pm_shader_store_open(bench->options->store, 0);
    if (!bench->store) {
        pm_fail(error, PM_ERROR_MEMORY, "no shader store");
        return -1;
    }
    printf("On %s, milliseconds, medians of %llu:\n\n"
           "| shader | words | transforms | driver, original | canonicalize | specialize_zero | "
           "driver, specialized | a session | a machine |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
           bench->gpu.properties.deviceName, (unsigned long long)bench->options->repetitions);
    const struct pm_database *database = &bench->estimates.database;
    for (size_t i = 0; i < database->shader_count; i++)
        if (database->shaders[i].kind == PM_KIND_ZERO && database->shaders[i].points &&
            !one_shader(bench, &database->shaders[i], error))
            return -1;
    if (bench->touched == 0) {
        pm_fail(error, PM_ERROR_STATE, "no shader is transformed");
        return -1;
    }
    const double session = exp(bench->logs[0] / bench->touched);
    const double machine = exp(bench->logs[1] / bench->touched);
    printf("\n%u shaders, %u left out; geometric means: a session %.3f, a machine %.3f\n",
           bench->touched, bench->left_out, session, machine);
    return machine <= 1.57 ? 0 : 1;
}

static bool parse_double(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && !*end && *number > 0 && *number <= 1;
}

static int parse(struct options *options, int argc, char **argv)
{
    enum { STORAGE = 256, STORE, GAME, REPETITIONS, THRESHOLD, TRANSFORMS, DEVICE };
    static const struct option known[] = {
        {"storage", 1, 0, STORAGE},     {"store", 1, 0, STORE},
        {"game", 1, 0, GAME},           {"repetitions", 1, 0, REPETITIONS},
        {"threshold", 1, 0, THRESHOLD}, {"transforms", 1, 0, TRANSFORMS},
        {"device", 1, 0, DEVICE},       {0},
    };
    bool good = true;
    for (int option; good && (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        const char **text = option == STORAGE  ? &options->source.storage
                            : option == STORE  ? &options->store
                            : option == GAME   ? &options->source.game
                            : option == DEVICE ? &options->device
                                               : NULL;
        if (text)
            *text = optarg;
        else if (option == REPETITIONS)
            good = pm_tool_number(optarg, REPETITIONS_MOST, &options->repetitions) &&
                   options->repetitions > 0;
        else if (option == TRANSFORMS)
            good = pm_tool_number(optarg, 1000, &options->transforms);
        else
            good = option == THRESHOLD && parse_double(optarg, &options->threshold);
    }
    if (good && optind == argc)
        return 0;
    fprintf(stderr, "usage: compile_time [--storage FILE] [--store FOLDER] [--game NAME] "
                    "[--repetitions N]\n"
                    "                    [--threshold P] [--transforms N] [--device NAME]\n");
    return -1;
}

int main(int argc, char **argv)
{
    struct options options = {.repetitions = 9};
    struct bench bench = {.options = &options};
    struct pm_error error = {0};
    if (parse(&options, argc, argv) != 0)
        return 2;
    int status = -1;
    if (pm_estimates_load(&options.source, &bench.estimates, &error)) {
        status = run(&bench, &error);
        pm_shader_store_close(bench.store);
        pm_gpu_finish(&bench.gpu);
        pm_estimates_finish(&bench.estimates);
    }
    if (status < 0)
        fprintf(stderr, "compile_time: %s\n", error.message);
    return status < 0 ? 1 : status;
}
