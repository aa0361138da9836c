#include "tools/stored/known_points.h"

#include "shader_rewrite/shader_rewrite.h"

static bool add(struct pm_known_points *facts, size_t *count, enum pm_kind kind, uint32_t space,
                struct pm_arena *arena, struct pm_error *error)
{
    if (space == 0)
        return true;
    uint8_t *bitmap = pm_arena_zalloc(arena, (space + 7) / 8, 1);
    facts[(*count)++] = (struct pm_known_points){kind, space, bitmap};
    return bitmap || pm_fail(error, PM_ERROR_MEMORY, "out of memory for a shader's points");
}

static void set(struct pm_known_points *facts, uint32_t point, bool at_most_once)
{
    if (at_most_once)
        facts->at_most_once[point / 8] |= (uint8_t)(1u << (point % 8));
}

static bool add_blocks(const struct pm_stored_shader *stored, struct pm_arena *arena,
                       struct pm_known_points *facts, size_t *count, struct pm_error *error)
{
    struct pm_block_points blocks;
    if (!pm_points_blocks(stored->canonical, stored->canonical_count, &blocks, error))
        return false;
    const size_t at = *count;
    const bool done = add(facts, count, PM_KIND_BLOCK, blocks.count, arena, error);
    for (uint32_t i = 0; done && i < blocks.count; i++)
        set(&facts[at], i, blocks.points[i].at_most_once);
    pm_block_points_finish(&blocks);
    return done;
}

static bool add_turns(const struct pm_stored_shader *stored, struct pm_arena *arena,
                      struct pm_known_points *facts, size_t *count, struct pm_error *error)
{
    struct pm_turn_points turns;
    if (!pm_points_turns(stored->canonical, stored->canonical_count, &turns, error))
        return false;
    const size_t at = *count;
    const bool done = add(facts, count, PM_KIND_TURNS, turns.count, arena, error);
    for (uint32_t i = 0; done && i < turns.count; i++)
        set(&facts[at], i, pm_turn_at_most_once(&turns, i));
    pm_turn_points_finish(&turns);
    return done;
}

static bool add_zeros(const struct pm_stored_shader *stored, struct pm_arena *arena,
                      struct pm_known_points *facts, size_t *count, struct pm_error *error)
{
    struct pm_zero_points zeros;
    if (!pm_points_zero(stored->canonical, stored->canonical_count, &zeros, error))
        return false;
    const size_t at = *count;
    const bool done = add(facts, count, PM_KIND_ZERO, zeros.count, arena, error);
    for (uint32_t i = 0; done && i < zeros.count; i++)
        set(&facts[at], i, zeros.candidates[i].at_most_once);
    pm_zero_points_finish(&zeros);
    return done;
}

static bool add_constants(const struct pm_stored_shader *stored, struct pm_arena *arena,
                          struct pm_known_points *facts, size_t *count, struct pm_error *error)
{
    struct pm_constant_points constants;
    if (!pm_points_constant(stored->canonical, stored->canonical_count, false, &constants, error))
        return false;
    const bool done = add(facts, count, PM_KIND_CONSTANT, constants.count, arena, error);
    pm_constant_points_finish(&constants);
    return done;
}

bool pm_known_points_of(const struct pm_stored_shader *stored, struct pm_arena *arena,
                        struct pm_known_points facts[static PM_KNOWN_POINTS], size_t *count,
                        struct pm_error *error)
{
    *count = 0;
    return add_blocks(stored, arena, facts, count, error) &&
           add_zeros(stored, arena, facts, count, error) &&
           add_constants(stored, arena, facts, count, error) &&
           add_turns(stored, arena, facts, count, error);
}
