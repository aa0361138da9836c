#include "tools/report/report_zero.h"
/* Zero candidates beside the GLSL lines that write them, and the shader after specialize_zero. */
#include "shader_rewrite/zero/zero_profile.h"
#include "tools/report/report_globals.h"
#include "tools/report/report_places.h"
#include "tools/report/report_source.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- which line writes a candidate ---- */

static const char *name_candidate(const char *const *names,
                                  const struct pm_zero_candidate *candidate, uint32_t width,
                                  struct pm_arena *arena)
{
    char name[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < candidate->value_count && used < sizeof(name); i++) {
        const char *text = names[candidate->values[i]], *apart = i ? " " : "";
        /* What has no name is in the GLSL by this one, if at all. */
        used += (size_t)(text ? snprintf(name + used, sizeof(name) - used, "%s%s", apart, text)
                              : snprintf(name + used, sizeof(name) - used, "%s_%u", apart,
                                         candidate->values[i]));
    }
    if (candidate->components < width && used < sizeof(name))
        snprintf(name + used, sizeof(name) - used, ".%.*s", (int)candidate->components, "xyzw");
    return pm_arena_strdup(arena, name);
}

static uint32_t width_of(const struct pm_ir_instr *value)
{
    const struct pm_ir_instr *type = value ? pm_ir_type_of(value) : NULL;
    return type && type->opcode == SpvOpTypeVector ? pm_ir_operand_word(&type->operands[1]) : 1;
}

static int compare_zeros(const void *a, const void *b)
{
    const struct pm_report_zero *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->zero.ratio != y->zero.ratio)
        return x->zero.ratio < y->zero.ratio ? 1 : -1;
    return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

static void give_to_lines(struct pm_report_shader *shader)
{
    qsort(shader->zeros, shader->zero_count, sizeof(*shader->zeros), compare_zeros);
    for (uint32_t i = 0; i < shader->zero_count; i++) {
        struct pm_report_line *line = &shader->lines[shader->zeros[i].line];
        if (line->zero_count++ == 0)
            line->first_zero = i;
    }
}

static bool fill_zeros(const struct pm_ir_module *module, const struct pm_zero_points *candidates,
                       struct pm_arena *arena, struct pm_report_shader *shader)
{
    struct pm_report_places places;
    const char **names = pm_report_names(module, arena);
    shader->zeros = pm_arena_zalloc(arena, candidates->count + 1u, sizeof(*shader->zeros));
    if (!names || !shader->zeros || !pm_report_places_build(shader, arena, &places))
        return false;
    for (uint32_t i = 0; i < candidates->count; i++) {
        const struct pm_zero_candidate *candidate = &candidates->candidates[i];
        const struct pm_point_estimate *estimate = &shader->zero_estimates->points[i];
        const struct pm_ir_instr *value =
            pm_ir_find(module, candidate->values[candidate->value_count - 1]);
        const uint32_t line =
            value ? pm_report_places_find(&places, candidate->block, value->place) : UINT32_MAX;
        if (line == UINT32_MAX || estimate->measures[PM_MEASURE_ZERO].clusters == 0)
            continue;
        struct pm_report_zero *zero = &shader->zeros[shader->zero_count++];
        *zero = (struct pm_report_zero){
            .candidate = i,
            .line = line,
            .zero = estimate->measures[PM_MEASURE_ZERO],
            .writes = estimate->measures[PM_MEASURE_WRITES],
            .calls = estimate->calls,
        };
        zero->name = name_candidate(names, candidate, width_of(value), arena);
        if (!zero->name)
            return false;
    }
    give_to_lines(shader);
    return true;
}

/* ---- after ---- */

static const struct pm_report_zero *find_zero(const struct pm_report_shader *shader,
                                              uint32_t candidate)
{
    for (uint32_t i = 0; i < shader->zero_count; i++)
        if (shader->zeros[i].candidate == candidate)
            return &shader->zeros[i];
    return NULL;
}

static double number_of(const cJSON *candidate, const char *key)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(candidate, key);
    return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}

static int compare_rounds(const void *a, const void *b)
{
    const struct pm_report_test *x = a, *y = b;
    return (x->round > y->round) - (x->round < y->round);
}

/* Which values are tested, by the pass's own report. */
static bool read_tests(const char *report, struct pm_arena *arena, struct pm_report_shader *shader)
{
    struct pm_report_specialized *out = &shader->specialized;
    cJSON *root = cJSON_Parse(report);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "candidates"), *candidate;
    const size_t most = (size_t)cJSON_GetArraySize(list) + 1;
    out->tests = pm_arena_zalloc(arena, most, sizeof(*out->tests));
    cJSON_ArrayForEach(candidate, list)
    {
        const double round = number_of(candidate, "taken");
        if (!out->tests || !(round > 0))
            continue;
        const double of = number_of(candidate, "copy_of");
        const struct pm_report_zero *zero =
            find_zero(shader, (uint32_t)(isnan(of) ? number_of(candidate, "id") : of));
        out->tests[out->test_count++] = (struct pm_report_test){
            .name = zero ? zero->name : "a value without a line",
            .line = zero ? zero->line : UINT32_MAX,
            .round = (uint32_t)round,
            .probability = number_of(candidate, "P(zero)"),
            .region = number_of(candidate, "T_R"),
            .specialized = number_of(candidate, "T_S"),
            .check = number_of(candidate, "T_check"),
            .saved = number_of(candidate, "saved"),
        };
    }
    cJSON_Delete(root);
    if (root && out->tests)
        qsort(out->tests, out->test_count, sizeof(*out->tests), compare_rounds);
    return root && out->tests;
}

static bool specialize(const struct pm_words *words, const struct pm_target *target,
                       struct pm_arena *arena, struct pm_report_shader *shader,
                       struct pm_error *error)
{
    struct pm_zero_profile profile;
    struct pm_specialized made;
    struct pm_block_points points;
    struct pm_report_specialized *out = &shader->specialized;
    struct pm_error why = {0};
    if (!pm_zero_profile_init(&profile, shader->zero_estimates, shader->estimates))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    const struct pm_specialize_zero_info info = {
        .profile = &profile, .subgroup_quad = true, .target = *target};
    bool ok = pm_specialize_zero(words->data, words->count, &info, &made, &why);
    if (ok) {
        out->transforms = made.transforms;
        if (made.transforms > 0) {
            ok = pm_points_blocks(made.words.data, made.words.count, &points, &why);
            if (ok)
                ok = pm_report_source_lines(made.words.data, made.words.count, &points, arena,
                                            &out->lines, &out->line_count, &why);
            pm_block_points_finish(&points);
            ok = ok && (read_tests(made.report, arena, shader) ||
                        pm_fail(&why, PM_ERROR_MEMORY, "out of memory"));
        }
        pm_specialized_finish(&made);
    }
    pm_zero_profile_finish(&profile);
    if (!ok)
        out->why = pm_arena_strdup(arena, why.message);
    return ok || out->why || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

bool pm_report_zero_build(const struct pm_words *words, const struct pm_target *target,
                          struct pm_arena *arena, struct pm_report_shader *shader,
                          struct pm_error *error)
{
    struct pm_zero_points candidates = {0};
    if (!shader->zero_estimates || !shader->zero_estimates->points)
        return true;
    if (!pm_points_zero(words->data, words->count, &candidates, error))
        return false;
    shader->zeros_measured = candidates.count;
    shader->zeros_left_out = candidates.left_out;
    bool ok = candidates.count == shader->zero_estimates->space ||
              pm_fail(error, PM_ERROR_INPUT, "the stored shader has %u zero points, its profile %u",
                      candidates.count, shader->zero_estimates->space);
    struct pm_ir_module *module = ok ? pm_ir_parse(words->data, words->count, error) : NULL;
    ok = module && (fill_zeros(module, &candidates, arena, shader) ||
                    pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
    pm_ir_module_destroy(module);
    pm_zero_points_finish(&candidates);
    return ok && specialize(words, target, arena, shader, error);
}
