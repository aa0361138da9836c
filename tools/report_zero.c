/* Zero candidates beside the GLSL lines that write them, and the shader after specialize_zero. */
#include "shader_rewrite/ir_module.h"
#include "shader_rewrite/zero_profile.h"
#include "tools/report_shader.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- which line writes a candidate ---- */

struct place {
    uint32_t block;
    size_t place;
    uint32_t line;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* The lines that have instructions in them, by block and place. */
static struct place *sort_lines(const struct pm_report_shader *shader, struct pm_arena *arena,
                                size_t *count)
{
    struct place *places = pm_arena_alloc(arena, (shader->line_count + 1) * sizeof(*places));
    *count = 0;
    for (size_t i = 0; places && i < shader->line_count; i++)
        if (shader->lines[i].place)
            places[(*count)++] =
                (struct place){shader->lines[i].block, shader->lines[i].place, (uint32_t)i};
    if (places)
        qsort(places, *count, sizeof(*places), compare_places);
    return places;
}

/* The first line of the block that was made of instructions up to the place or later: a value that
 * SPIRV-Cross folds away is in the line that uses it. The block's last line where there is none
 * such; UINT32_MAX: the block has no lines. */
static uint32_t find_line(const struct place *places, size_t count, uint32_t block, size_t place)
{
    const struct place wanted = {.block = block, .place = place};
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_places(&places[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < count && places[low].block == block)
        return places[low].line;
    return low > 0 && places[low - 1].block == block ? places[low - 1].line : UINT32_MAX;
}

static void name_candidate(const struct pm_zero_candidate *candidate, uint32_t width, char *name,
                           size_t size)
{
    size_t used = 0;
    for (uint32_t i = 0; i < candidate->value_count && used < size; i++)
        used += (size_t)snprintf(name + used, size - used, "%s%%%u", i ? " " : "",
                                 candidate->values[i]);
    if (candidate->components < width && used < size)
        snprintf(name + used, size - used, ".%.*s", (int)candidate->components, "xyzw");
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
    size_t place_count;
    const struct place *places = sort_lines(shader, arena, &place_count);
    shader->zeros = pm_arena_zalloc(arena, candidates->count + 1u, sizeof(*shader->zeros));
    if (!places || !shader->zeros)
        return false;
    for (uint32_t i = 0; i < candidates->count; i++) {
        const struct pm_zero_candidate *candidate = &candidates->candidates[i];
        const struct pm_point_estimate *estimate = &shader->zero_estimates->points[i];
        const struct pm_ir_instr *value =
            pm_ir_find(module, candidate->values[candidate->value_count - 1]);
        const uint32_t line =
            value ? find_line(places, place_count, candidate->block, value->place) : UINT32_MAX;
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
        name_candidate(candidate, width_of(value), zero->name, sizeof(zero->name));
    }
    give_to_lines(shader);
    return true;
}

/* ---- after ---- */

static bool specialize(const struct pm_words *words, struct pm_arena *arena,
                       struct pm_report_shader *shader, struct pm_error *error)
{
    struct pm_zero_profile profile;
    struct pm_specialized made;
    struct pm_block_points points;
    struct pm_report_specialized *out = &shader->specialized;
    struct pm_error why = {0};
    if (!pm_zero_profile_init(&profile, shader->zero_estimates, shader->estimates))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    const struct pm_specialize_zero_info info = {
        .profile = &profile, .subgroup_quad = true, .target = {.vulkan_minor = 3}};
    bool ok = pm_specialize_zero(words->data, words->count, &info, &made, &why);
    if (ok) {
        out->transforms = made.transforms;
        if (made.transforms > 0) {
            ok = pm_points_blocks(made.words.data, made.words.count, &points, &why);
            if (ok)
                ok = pm_report_source_lines(made.words.data, made.words.count, &points, arena,
                                            &out->lines, &out->line_count, &why);
            pm_block_points_finish(&points);
        }
        pm_specialized_finish(&made);
    }
    pm_zero_profile_finish(&profile);
    if (!ok)
        out->why = pm_arena_strdup(arena, why.message);
    return ok || out->why || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

bool pm_report_zero_build(const struct pm_words *words, struct pm_arena *arena,
                          struct pm_report_shader *shader, struct pm_error *error)
{
    struct pm_zero_points candidates = {0};
    if (!shader->zero_estimates || !shader->zero_estimates->points)
        return true;
    if (!pm_points_zero(words->data, words->count, &candidates, error))
        return false;
    bool ok = candidates.count == shader->zero_estimates->space ||
              pm_fail(error, PM_ERROR_INPUT, "the stored shader has %u candidates, its profile %u",
                      candidates.count, shader->zero_estimates->space);
    struct pm_ir_module *module = ok ? pm_ir_parse(words->data, words->count, error) : NULL;
    ok = module && (fill_zeros(module, &candidates, arena, shader) ||
                    pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
    pm_ir_module_destroy(module);
    pm_zero_points_finish(&candidates);
    return ok && specialize(words, arena, shader, error);
}
