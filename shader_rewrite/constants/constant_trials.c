#include "shader_rewrite/constants/constant_trials.h"

#include "shader_rewrite/analysis/analysis_casts.h"
#include "shader_rewrite/analysis/analysis_permission.h"

#include <string.h>

/* Users of users that are looked at. */
enum { DEEPEST = 4 };

static void add(struct pm_constant_trials *trials, uint32_t bits)
{
    for (uint32_t i = 0; i < trials->count; i++)
        if (trials->bits[i] == bits)
            return;
    if (trials->count < PM_CONSTANT_TRIALS)
        trials->bits[trials->count++] = bits;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* A number that it is compared with, one below and one above. */
static void add_limit(struct pm_constant_trials *trials, const struct pm_ir_instr *limit)
{
    const uint32_t bits = pm_ir_operand_word(&limit->operands[0]);
    float number;
    memcpy(&number, &bits, sizeof(number));
    add(trials, bits);
    if (pm_ir_type_of(limit)->opcode == SpvOpTypeFloat) {
        add(trials, bits_of(number * 2 + 1));
        add(trials, bits_of(number * 2 - 1));
        add(trials, bits_of(number / 2));
    } else {
        add(trials, bits + 1);
        add(trials, bits - 1);
    }
}

static bool is_word_constant(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = instr ? pm_ir_type_of(instr) : NULL;
    return instr && instr->opcode == SpvOpConstant &&
           (type->opcode == SpvOpTypeInt || type->opcode == SpvOpTypeFloat) &&
           pm_ir_operand_word(&type->operands[0]) == 32;
}

static void add_cases(struct pm_constant_trials *trials, const struct pm_ir_instr *choice)
{
    for (uint32_t o = 2; o + 1 < choice->operand_count; o += 2)
        if (choice->operands[o].word_count == 1)
            add(trials, pm_ir_operand_word(&choice->operands[o]));
}

/* component: of the value that is used. */
static void look_at_uses(struct pm_constant_trials *trials, const struct pm_ir_def *def,
                         uint32_t component, uint32_t depth)
{
    for (const struct pm_ir_operand *use = def->first_use; use && depth < DEEPEST;
         use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (user->opcode == SpvOpSwitch && use == &user->operands[0]) {
            add_cases(trials, user);
        } else if (user->opcode == SpvOpCompositeExtract) {
            if (user->operand_count == 2 && pm_ir_operand_word(&user->operands[1]) == component)
                look_at_uses(trials, user->result, 0, depth + 1);
        } else if (user->opcode == SpvOpBitcast) {
            if (pm_is_component_cast(user))
                look_at_uses(trials, user->result, component, depth + 1);
        } else if (pm_ir_opcode_is_core(user->opcode, PM_IR_OP_RELATIONAL | PM_IR_OP_BIT)) {
            for (uint32_t o = 0; o < user->operand_count && o < 2; o++)
                if (is_word_constant(pm_ir_operand_instr(user, o)))
                    add_limit(trials, pm_ir_operand_instr(user, o));
        }
    }
}

struct pm_constant_trials pm_constant_trials_of(const struct pm_constant_word *word)
{
    struct pm_constant_trials trials = {0};
    add(&trials, 0);
    add(&trials, word->point.is_float ? bits_of(1) : 1);
    for (uint32_t i = 0; i < word->read_count; i++)
        look_at_uses(&trials, word->reads[i].value->result, word->reads[i].component, 0);
    return trials;
}
