#include "shader_rewrite/partition/scratch.h"

#include "shader_rewrite/ir/workgroup_size.h"

bool pm_scratch_init(struct pm_scratch *s, struct pm_ir_module *module, bool regions,
                     struct pm_error *error)
{
    *s = (struct pm_scratch){.module = module, .regions = regions};
    if (!pm_workgroup_invocations(module))
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "the size of its workgroups is not known");
    pm_ir_require_version(module, PM_SPIRV_1_3);
    return pm_device_address_init(&s->address, module, pm_ir_type_int(module, 32, false), 4,
                                  error) &&
           (!regions || pm_region_init(&s->region, module, error));
}

static struct pm_ir_def *load_vector(const struct pm_scratch *s, struct pm_ir_builder *b,
                                     SpvBuiltIn builtin, struct pm_ir_def *type)
{
    struct pm_ir_instr *entry = s->module->sections[PM_IR_SECTION_ENTRY_POINT].first;
    struct pm_ir_def *variable = pm_ir_builtin_input(s->module, entry, builtin, type);
    return pm_ir_build_load_as(b, variable, type);
}

static struct pm_ir_def *binary(struct pm_ir_builder *b, uint16_t opcode, struct pm_ir_def *x,
                                struct pm_ir_def *y)
{
    return pm_ir_build(b, opcode, pm_ir_type_int(b->module, 32, false),
                       PM_IR_ARGS(pm_ir_id(x), pm_ir_id(y)));
}

void pm_scratch_begin(struct pm_scratch *s, struct pm_ir_builder *b)
{
    struct pm_ir_def *uint = pm_ir_type_int(s->module, 32, false);
    struct pm_ir_def *uvec3 = pm_ir_type_vector(s->module, uint, 3);
    if (s->regions)
        pm_region_begin(&s->region, b);
    struct pm_ir_def *group = load_vector(s, b, SpvBuiltInWorkgroupId, uvec3);
    struct pm_ir_def *groups = load_vector(s, b, SpvBuiltInNumWorkgroups, uvec3);
    struct pm_ir_def *local = load_vector(s, b, SpvBuiltInLocalInvocationIndex, uint);
    struct pm_ir_def *at[3], *count[3];
    for (uint32_t d = 0; d < 3; d++) {
        at[d] =
            pm_ir_build(b, SpvOpCompositeExtract, uint, PM_IR_ARGS(pm_ir_id(group), pm_ir_word(d)));
        count[d] = pm_ir_build(b, SpvOpCompositeExtract, uint,
                               PM_IR_ARGS(pm_ir_id(groups), pm_ir_word(d)));
    }
    uint32_t size[3];
    pm_workgroup_size(s->module, size);
    if (s->regions)
        s->first = pm_region_find(&s->region, b, &at[2], count[2], size[2]);
    struct pm_ir_def *each = pm_ir_constant_uint(s->module, pm_workgroup_invocations(s->module));
    struct pm_ir_def *row = binary(b, SpvOpIAdd, binary(b, SpvOpIMul, at[2], count[1]), at[1]);
    struct pm_ir_def *number = binary(b, SpvOpIAdd, binary(b, SpvOpIMul, row, count[0]), at[0]);
    struct pm_ir_def *all =
        binary(b, SpvOpIMul, binary(b, SpvOpIMul, count[0], count[1]), count[2]);
    s->invocation = binary(b, SpvOpIAdd, binary(b, SpvOpIMul, number, each), local);
    s->invocations = binary(b, SpvOpIMul, all, each);
    s->base = pm_device_address_base(&s->address, b);
}

static struct pm_ir_def *place_of(const struct pm_scratch *s, struct pm_ir_builder *b,
                                  uint32_t word, struct pm_ir_def *more)
{
    struct pm_ir_def *at = pm_ir_constant_uint(s->module, word);
    if (more)
        at = binary(b, SpvOpIAdd, more, at);
    struct pm_ir_def *index =
        binary(b, SpvOpIAdd, binary(b, SpvOpIMul, s->invocations, at), s->invocation);
    if (s->regions)
        index = binary(b, SpvOpIAdd, index, s->first);
    return pm_device_address_element(&s->address, b, s->base, index);
}

struct pm_ir_def *pm_scratch_load(const struct pm_scratch *s, struct pm_ir_builder *b,
                                  uint32_t word, struct pm_ir_def *more)
{
    return pm_ir_build(b, SpvOpLoad, pm_ir_type_int(s->module, 32, false),
                       PM_IR_ARGS(pm_ir_id(place_of(s, b, word, more)),
                                  pm_ir_word(SpvMemoryAccessAlignedMask), pm_ir_word(4)));
}

void pm_scratch_store(const struct pm_scratch *s, struct pm_ir_builder *b, uint32_t word,
                      struct pm_ir_def *more, struct pm_ir_def *value)
{
    pm_ir_build_instr(b, SpvOpStore, NULL,
                      PM_IR_ARGS(pm_ir_id(place_of(s, b, word, more)), pm_ir_id(value),
                                 pm_ir_word(SpvMemoryAccessAlignedMask), pm_ir_word(4)));
}
