/* The part of folding about what only moves and chooses components. */
#include "shader_rewrite/analysis/analysis_casts.h"
#include "shader_rewrite/zero/fold/folding.h"

static const struct pm_zero_scalar any_zero = {PM_ZERO_ANY_SIGN, 0};

static void fold_construct(struct pm_zero_folding *f)
{
    const struct pm_ir_instr *type = pm_ir_type_of(f->instr);
    const struct pm_zero_lookup *l = f->lookup;
    bool plain = pm_zero_is_plain(type);
    if (!plain && !pm_scalar_type(type))
        return;
    bool zero = true, plus = true;
    uint32_t at = 0;
    for (uint32_t o = 0; o < f->instr->operand_count; o++) {
        struct pm_zero_value part = l->value(l->user, f->instr->operands[o].def);
        zero = zero && pm_zero_value_is_zero(&part);
        for (uint32_t i = 0; i < part.components; i++)
            plus = plus && part.c[i].kind == PM_ZERO_CONSTANT;
        for (uint32_t i = 0; plain && i < part.components && at < f->out.components; i++)
            f->out.c[at++] = part.c[i];
    }
    if (!plain && zero)
        f->out.c[0] = plus ? pm_zero_constant(0) : any_zero;
}

static void fold_extract(struct pm_zero_folding *f)
{
    const struct pm_ir_instr *type = pm_ir_type_of(f->defs[0]->instr);
    if (pm_zero_is_plain(type)) {
        uint32_t index = pm_ir_operand_word(&f->instr->operands[1]);
        if (f->instr->operand_count == 2 && index < f->operands[0].components)
            f->out.c[0] = f->operands[0].c[index];
    } else if (pm_scalar_type(type) && pm_zero_value_is_zero(&f->operands[0])) {
        for (uint32_t i = 0; i < f->out.components; i++)
            f->out.c[i] = f->operands[0].c[0];
    }
}

static void fold_insert(struct pm_zero_folding *f)
{
    const struct pm_ir_instr *type = pm_ir_type_of(f->instr);
    uint32_t index =
        f->instr->operand_count == 3 ? pm_ir_operand_word(&f->instr->operands[2]) : UINT32_MAX;
    if (!pm_zero_is_plain(type) || index >= f->out.components)
        return;
    for (uint32_t i = 0; i < f->out.components; i++)
        f->out.c[i] = i == index ? f->operands[0].c[0] : f->operands[1].c[i];
}

static void fold_shuffle(struct pm_zero_folding *f)
{
    uint32_t first = f->operands[0].components;
    for (uint32_t i = 0; i < f->out.components && i + 2 < f->instr->operand_count; i++) {
        uint32_t index = pm_ir_operand_word(&f->instr->operands[i + 2]);
        if (index < first)
            f->out.c[i] = f->operands[0].c[index];
        else if (index - first < f->operands[1].components)
            f->out.c[i] = f->operands[1].c[index - first];
    }
}

/* Of an index that is not known: any component. */
static void fold_extract_dynamic(struct pm_zero_folding *f)
{
    const struct pm_ir_instr *scalar = pm_scalar_type(pm_ir_type_of(f->instr));
    f->out.c[0] = f->operands[0].c[0];
    for (uint32_t i = 1; i < f->operands[0].components; i++)
        f->out.c[0] = pm_zero_value_meet(f->out.c[0], f->operands[0].c[i], scalar);
}

static void fold_insert_dynamic(struct pm_zero_folding *f)
{
    const struct pm_ir_instr *scalar = pm_scalar_type(pm_ir_type_of(f->instr));
    for (uint32_t i = 0; i < f->out.components; i++)
        f->out.c[i] = pm_zero_value_meet(f->operands[0].c[i], f->operands[1].c[0], scalar);
}

static void fold_select(struct pm_zero_folding *f)
{
    const struct pm_zero_value *condition = &f->operands[0];
    const struct pm_ir_instr *scalar = pm_scalar_type(pm_ir_type_of(f->instr));
    uint32_t yes = 0, no = 0;
    for (uint32_t i = 0; i < condition->components; i++) {
        yes += condition->c[i].kind == PM_ZERO_CONSTANT && condition->c[i].bits;
        no += condition->c[i].kind == PM_ZERO_CONSTANT && !condition->c[i].bits;
    }
    if (yes == condition->components || no == condition->components) {
        pm_zero_fold_same(f, yes ? 1 : 2);
        return;
    }
    for (uint32_t i = 0; i < f->out.components; i++) {
        struct pm_zero_scalar c = condition->c[condition->components == 1 ? 0 : i];
        struct pm_zero_scalar a = f->operands[1].c[i], b = f->operands[2].c[i];
        f->out.c[i] =
            c.kind == PM_ZERO_CONSTANT ? (c.bits ? a : b) : pm_zero_value_meet(a, b, scalar);
    }
}

/* Between types of other widths only zero is told. */
static void fold_cast(struct pm_zero_folding *f)
{
    const struct pm_zero_value *from = &f->operands[0];
    bool by_component = pm_is_component_cast(f->instr), zero = true;
    for (uint32_t i = 0; i < from->components; i++)
        zero = zero && from->c[i].kind == PM_ZERO_CONSTANT && !from->c[i].bits;
    for (uint32_t i = 0; i < f->out.components; i++) {
        if (by_component)
            f->out.c[i] = from->c[i];
        else if (zero)
            pm_zero_fold_set(f, i, 0);
    }
}

void pm_zero_fold_move(struct pm_zero_folding *f)
{
    switch (f->instr->opcode) {
    case SpvOpCompositeConstruct:
        fold_construct(f);
        return;
    case SpvOpCompositeExtract:
        fold_extract(f);
        return;
    case SpvOpCompositeInsert:
        fold_insert(f);
        return;
    case SpvOpVectorExtractDynamic:
        fold_extract_dynamic(f);
        return;
    case SpvOpVectorInsertDynamic:
        fold_insert_dynamic(f);
        return;
    case SpvOpVectorShuffle:
        fold_shuffle(f);
        return;
    case SpvOpBitcast:
        fold_cast(f);
        return;
    default: /* OpSelect */
        fold_select(f);
        return;
    }
}
