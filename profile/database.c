#include "profile/database.h"
#include "profile/wire.h"

/* Keys, environment, the small numbers and the heads of the columns. */
enum { SHADER_BYTES = 208, VARINT32_BYTES = 5 };

const char *pm_kind_name(enum pm_kind kind)
{
    switch (kind) {
    case PM_KIND_BLOCK:
        return "block";
    case PM_KIND_ZERO:
        return "zero";
    case PM_KIND_TIMING:
        return "timing";
    case PM_KIND_CONSTANT:
        return "constant";
    case PM_KIND_VARIANT:
        return "variant";
    case PM_KIND_TURNS:
        return "turns";
    }
    return "unknown";
}

const char *pm_measure_name(enum pm_kind kind, unsigned measure)
{
    static const char *const names[][PM_MEASURES] = {
        [PM_KIND_BLOCK] = {"frequency", "uniform", "subgroups"},
        [PM_KIND_ZERO] = {"zero", "writes"},
        [PM_KIND_TIMING] = {"time", "spread"},
        [PM_KIND_CONSTANT] = {"same", "zero", "loads"},
        [PM_KIND_VARIANT] = {"said"},
        [PM_KIND_TURNS] = {"frequency", "uniform", "subgroups"},
    };
    return measure < pm_measure_count(kind) ? names[kind][measure] : NULL;
}

unsigned pm_measure_count(enum pm_kind kind)
{
    switch (kind) {
    case PM_KIND_BLOCK:
    case PM_KIND_CONSTANT:
    case PM_KIND_TURNS:
        return 3;
    case PM_KIND_ZERO:
    case PM_KIND_TIMING:
        return 2;
    case PM_KIND_VARIANT:
        return 1;
    }
    return 0;
}

unsigned pm_measures_written(const struct pm_shader_estimates *shader)
{
    const bool spread = shader->kind == PM_KIND_TIMING && shader->points &&
                        shader->points[0].measures[PM_MEASURE_SPREAD].clusters > 0;
    return shader->kind == PM_KIND_TIMING && !spread ? 1 : pm_measure_count(shader->kind);
}

size_t pm_shader_estimates_bytes(const struct pm_shader_estimates *shader)
{
    const size_t measures = pm_measure_count(shader->kind);
    const size_t point =
        2 * VARINT32_BYTES + measures * (VARINT32_BYTES + PM_RATIO_VALUES * sizeof(float));
    return SHADER_BYTES + (shader->deficit ? pm_bitmap_bytes(shader->space) : 0) +
           (shader->provisional ? shader->space : 0) +
           (shader->published ? shader->space * point : 0);
}

uint32_t pm_provisional_count(const struct pm_shader_estimates *shader, enum pm_provisional level)
{
    uint32_t count = 0;
    for (uint32_t i = 0; shader->provisional && i < shader->space; i++)
        count += shader->provisional[i] == level;
    return count;
}

int pm_shader_estimates_compare(const struct pm_shader_estimates *a,
                                const struct pm_shader_estimates *b)
{
    return pm_identity_compare(&a->key, &a->environment, a->kind, 0, &b->key, &b->environment,
                               b->kind, 0);
}

/* Orders a shader against what is looked for; flags may be any. */
static int compare_to(const struct pm_shader_estimates *shader, const struct pm_shader_key *key,
                      const struct pm_environment *environment, enum pm_kind kind)
{
    return pm_identity_compare(&shader->key, &shader->environment, shader->kind, 0, key,
                               environment, kind, 0);
}

const struct pm_shader_estimates *pm_database_find(const struct pm_database *database,
                                                   const struct pm_shader_key *key,
                                                   const struct pm_environment *environment,
                                                   enum pm_kind kind)
{
    /* The first that is not before it: of several with different flags the one with the lowest. */
    size_t low = 0, high = database->shader_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_to(&database->shaders[middle], key, environment, kind) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == database->shader_count ||
        compare_to(&database->shaders[low], key, environment, kind) != 0)
        return NULL;
    return &database->shaders[low];
}

bool pm_block_is_uniform(const struct pm_point_estimate *block, double uniform_share)
{
    const struct pm_ratio *uniform = &block->measures[PM_MEASURE_UNIFORM];
    return uniform->clusters > 0 ? uniform->ratio >= uniform_share
                                 : pm_block_uniformity_is_known(block);
}

bool pm_block_uniformity_is_known(const struct pm_point_estimate *block)
{
    return block->measures[PM_MEASURE_UNIFORM].clusters > 0 ||
           block->measures[PM_MEASURE_FREQUENCY].ratio <= 0;
}

bool pm_block_subgroups_are_known(const struct pm_point_estimate *block)
{
    return block->measures[PM_MEASURE_SUBGROUPS].clusters > 0 ||
           block->measures[PM_MEASURE_FREQUENCY].ratio <= 0;
}

unsigned pm_blocks_weighed_by(const struct pm_shader_estimates *blocks)
{
    for (uint32_t i = 0; i < blocks->space; i++)
        if (!pm_block_subgroups_are_known(&blocks->points[i]))
            return PM_MEASURE_FREQUENCY;
    return PM_MEASURE_SUBGROUPS;
}
