/*
 * The paper's tables again (Riffel et al. 2004, Tables 1 and 2, Figure 3): fragment shaders, each
 * compiled to SPIR-V (multipass_shaders.py writes them), as their operations are partitioned.
 *
 *   partition_shaders FILE…     of each: its resources; passes and operations by RDS_h, Mio48,
 *       Mio64 and ours; milliseconds of the processor that finding them took, medians of 5
 *
 * Tables in Markdown, on standard output.
 */
#include "base/file.h"
#include "bench/cost/measured.h"
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/partition/schedule/beyond.h"
#include "shader_rewrite/partition/schedule/mio.h"
#include "shader_rewrite/partition/schedule/rds.h"
#include "shader_rewrite/partition/shader_graph.h"
#include "shader_rewrite/shader_rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum method { RDS_H, MIO48, MIO64, OURS, METHODS };
static const char *const names[METHODS] = {"RDS_h", "Mio48", "Mio64", "ours"};

enum { RUNS = 5, FILE_CAP = 16 << 20 };

static void fail(const char *what, const struct pm_error *error)
{
    fprintf(stderr, "partition_shaders: %s: %s\n", what, error->message);
    exit(1);
}

static const struct pm_pass_limits *limits_of(enum method method)
{
    return pm_pass_limits_preset(method == MIO48 ? "radeon9800-48" : "radeon9800-64");
}

static bool partition(enum method method, const struct pm_operations *graph, struct pm_plan *plan,
                      struct pm_error *error)
{
    const struct pm_pass_limits *limits = limits_of(method);
    const struct pm_mio_options options = {0};
    if (method == RDS_H)
        return pm_rds(graph, limits, false, plan, error);
    return method == OURS ? pm_beyond(graph, limits, plan, error)
                          : pm_mio(graph, limits, &options, plan, error);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct shader {
    struct pm_ir_module *module;
    struct pm_shader_graph graph;
    char name[64];
};

static void load(const char *path, struct shader *out)
{
    struct pm_error error = {0};
    struct pm_buffer file;
    struct pm_words words;
    enum pm_stage stage;
    pm_buffer_init(&file, FILE_CAP);
    if (!pm_file_read(path, &file, &error))
        fail(path, &error);
    const struct pm_canonicalize_info info = {.words = (const void *)file.data,
                                              .word_count = file.size / sizeof(uint32_t),
                                              .stage = PM_STAGE_FRAGMENT,
                                              .entry_point = "main",
                                              .target = {.vulkan_minor = 1}};
    if (!pm_canonicalize(&info, &words, &error))
        fail(path, &error);
    out->module = pm_ir_parse(words.data, words.count, &error);
    struct pm_ir_function *function =
        out->module ? pm_entry_function(out->module, &stage, &error) : NULL;
    if (!function || !pm_analysis_require(function, PM_ANALYSIS_STRUCTURE, &error) ||
        !pm_shader_graph_make(function, true, false, limits_of(MIO64), out->module->arena,
                              &out->graph, &error))
        fail(path, &error);
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    snprintf(out->name, sizeof out->name, "%.*s", (int)strcspn(base, "."), base);
    pm_words_finish(&words);
    pm_buffer_finish(&file);
}

static void print_resources(const struct shader *shader)
{
    const struct pm_operations *graph = &shader->graph.operations;
    uint64_t alu = 0, texture = 0;
    uint32_t kinds[PM_INPUT_KINDS] = {0};
    for (uint32_t i = 0; i < graph->count; i++) {
        alu += graph->operations[i].alu;
        texture += graph->operations[i].texture;
    }
    for (uint32_t i = 0; i < graph->input_count; i++)
        kinds[graph->input_kinds[i]]++;
    printf("| %s | %u | %u | %u | %llu |\n", shader->name, kinds[PM_INPUT_CONSTANT],
           kinds[PM_INPUT_VARYING], kinds[PM_INPUT_TEXTURE], (unsigned long long)(alu + texture));
}

static void print_method(const struct shader *shader, enum method method)
{
    const struct pm_operations *graph = &shader->graph.operations;
    double times[RUNS];
    struct pm_plan_cost cost;
    struct pm_error error = {0};
    for (int run = 0; run < RUNS; run++) {
        struct pm_plan plan = {0};
        const double begin = pm_processor_ms();
        const bool made = partition(method, graph, &plan, &error);
        times[run] = pm_processor_ms() - begin;
        if (made && !pm_plan_check(graph, limits_of(method), &plan, &cost, NULL, &error))
            fail(shader->name, &error);
        pm_plan_finish(&plan);
        if (!made) {
            printf("| %s | %s | %s | | | | | |\n", shader->name, names[method], error.message);
            return;
        }
    }
    qsort(times, RUNS, sizeof *times, by_size);
    printf("| %s | %s | %llu | %llu | %llu | %u | %llu | %.3f |\n", shader->name, names[method],
           (unsigned long long)cost.alu, (unsigned long long)cost.texture,
           (unsigned long long)(cost.alu + cost.texture), cost.passes,
           (unsigned long long)cost.spilled_components, times[RUNS / 2]);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: partition_shaders FILE…\n");
        return 2;
    }
    struct shader *shaders = calloc((size_t)argc - 1, sizeof *shaders);
    if (!shaders)
        return 1;
    for (int i = 1; i < argc; i++)
        load(argv[i], &shaders[i - 1]);
    printf("| shader | uniforms | varyings | textures | operations |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < argc - 1; i++)
        print_resources(&shaders[i]);
    printf("\n| shader | method | ALU | texture | operations | passes | components spilled | ms |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < argc - 1; i++)
        for (int method = 0; method < METHODS; method++)
            print_method(&shaders[i], (enum method)method);
    for (int i = 0; i < argc - 1; i++) {
        pm_operations_finish(&shaders[i].graph.operations);
        pm_ir_module_destroy(shaders[i].module);
    }
    free(shaders);
    return 0;
}
