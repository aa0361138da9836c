#include "shader_rewrite/constants/constant_values.h"

bool pm_constant_values_init(struct pm_constant_values *values, const struct pm_ir_module *module,
                             struct pm_arena *arena)
{
    *values = (struct pm_constant_values){.id_count = module->bound};
    values->known = pm_arena_zalloc(arena, module->bound, sizeof(*values->known));
    values->values = pm_arena_zalloc(arena, module->bound, sizeof(*values->values));
    values->zeroes = pm_arena_zalloc(arena, module->bound, sizeof(*values->zeroes));
    return values->known && values->values && values->zeroes;
}

static bool is_matrix(const struct pm_ir_instr *value)
{
    return pm_ir_type_of(value)->opcode == SpvOpTypeMatrix;
}

/* Of a matrix only that it is zero can be known, once all of its words are. */
static void add_to_matrix(struct pm_constant_values *values, const struct pm_ir_instr *matrix,
                          uint32_t bits)
{
    const uint32_t id = matrix->result->id;
    if (bits || ++values->zeroes[id] < pm_constant_value_words(matrix))
        return;
    values->values[id] = pm_zero_value_all(pm_ir_type_of(matrix), PM_ZERO_CONSTANT);
    values->known[id] = &values->values[id];
}

void pm_constant_values_add(struct pm_constant_values *values,
                            const struct pm_constant_known_word *known)
{
    for (uint32_t i = 0; i < known->word->read_count; i++) {
        const struct pm_constant_read *read = &known->word->reads[i];
        const uint32_t id = read->value->result->id;
        if (is_matrix(read->value)) {
            add_to_matrix(values, read->value, known->bits);
            continue;
        }
        if (!values->known[id])
            values->values[id] = pm_zero_value_all(pm_ir_type_of(read->value), PM_ZERO_UNKNOWN);
        values->values[id].c[read->component] = pm_zero_constant(known->bits);
        values->known[id] = &values->values[id];
    }
}

void pm_constant_values_remove(struct pm_constant_values *values,
                               const struct pm_constant_known_word *known)
{
    for (uint32_t i = 0; i < known->word->read_count; i++) {
        const uint32_t id = known->word->reads[i].value->result->id;
        values->known[id] = NULL;
        values->zeroes[id] = 0;
    }
}
