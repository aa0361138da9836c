#include "shader_rewrite/instrument/instrument_counters.h"

static void make_types(struct pm_counting *c)
{
    struct pm_ir_module *module = c->module;
    c->boolean = pm_ir_type_bool(module);
    c->uint = pm_ir_type_int(module, 32, false);
    c->uint64 = c->wide ? pm_ir_type_int(module, 64, false) : NULL;
    c->ballot = pm_ir_type_vector(module, c->uint, 4);
    c->true_constant = pm_ir_constant_bool(module, true);
}

/* In the Vulkan memory model Device scope needs a feature (HAZARDS 5); without it one queue family
 * runs the call. */
static void make_scopes(struct pm_counting *c, bool device_scope)
{
    const struct pm_ir_instr *model = c->module->sections[PM_IR_SECTION_MEMORY_MODEL].first;
    SpvScope memory = SpvScopeDevice;
    if (pm_ir_operand_word(&model->operands[1]) == SpvMemoryModelVulkan) {
        if (device_scope)
            pm_ir_require_capability(c->module, SpvCapabilityVulkanMemoryModelDeviceScope);
        else if (!pm_ir_has_capability(c->module, SpvCapabilityVulkanMemoryModelDeviceScope))
            memory = SpvScopeQueueFamily;
    }
    c->subgroup_scope = pm_ir_constant_uint(c->module, SpvScopeSubgroup);
    c->memory_scope = pm_ir_constant_uint(c->module, (uint32_t)memory);
    c->relaxed = pm_ir_constant_uint(c->module, SpvMemorySemanticsMaskNone);
}

static void make_builtins(struct pm_counting *c, bool needs_place)
{
    struct pm_ir_module *module = c->module;
    if (c->stage == PM_STAGE_FRAGMENT)
        pm_helper_lanes_init(&c->helpers, module);
    if (c->slot_count == 1 && !needs_place)
        return;
    if (c->stage == PM_STAGE_FRAGMENT)
        c->place = pm_ir_builtin_input(module, c->entry, SpvBuiltInFragCoord,
                                       pm_ir_type_vector(module, pm_ir_type_float(module, 32), 4));
    else
        c->place = pm_ir_builtin_input(module, c->entry, SpvBuiltInWorkgroupId,
                                       pm_ir_type_vector(module, c->uint, 3));
}

bool pm_counting_init(struct pm_counting *c, struct pm_ir_module *module, enum pm_stage stage,
                      const struct pm_instrument_info *info, struct pm_error *error)
{
    *c = (struct pm_counting){
        .module = module,
        .entry = module->sections[PM_IR_SECTION_ENTRY_POINT].first,
        .stage = stage,
        .slot_count = info->slot_count,
        .slot_stride = (2 + 3 * info->point_count + 7) & ~7u,
        .wide = info->int64_atomics,
    };
    pm_ir_require_version(module, PM_SPIRV_1_3);
    pm_ir_require_capability(module, SpvCapabilityGroupNonUniform);
    pm_ir_require_capability(module, SpvCapabilityGroupNonUniformBallot);
    if (c->wide) {
        pm_ir_require_capability(module, SpvCapabilityInt64);
        pm_ir_require_capability(module, SpvCapabilityInt64Atomics);
    }
    make_types(c);
    if (!pm_device_address_init(&c->address, module, c->wide ? c->uint64 : c->uint, c->wide ? 8 : 4,
                                error))
        return false;
    make_scopes(c, info->memory_model_device_scope);
    make_builtins(c, info->count_copies);
    return true;
}

struct pm_ir_def *pm_counting_is_helper(const struct pm_counting *c, struct pm_ir_builder *b)
{
    return pm_helper_lanes_build(&c->helpers, b);
}

struct pm_ir_def *pm_counting_lanes(const struct pm_counting *c, struct pm_ir_builder *b)
{
    struct pm_ir_def *ballot =
        pm_ir_build(b, SpvOpGroupNonUniformBallot, c->ballot,
                    PM_IR_ARGS(pm_ir_id(c->subgroup_scope), pm_ir_id(c->true_constant)));
    return pm_ir_build(b, SpvOpGroupNonUniformBallotBitCount, c->uint,
                       PM_IR_ARGS(pm_ir_id(c->subgroup_scope), pm_ir_word(SpvGroupOperationReduce),
                                  pm_ir_id(ballot)));
}

struct pm_ir_def *pm_counting_elect(const struct pm_counting *c, struct pm_ir_builder *b)
{
    return pm_ir_build(b, SpvOpGroupNonUniformElect, c->boolean,
                       PM_IR_ARGS(pm_ir_id(c->subgroup_scope)));
}

static struct pm_ir_def *component(const struct pm_counting *c, struct pm_ir_builder *b,
                                   struct pm_ir_def *vector, uint32_t index)
{
    return pm_ir_build(b, SpvOpCompositeExtract, c->uint,
                       PM_IR_ARGS(pm_ir_id(vector), pm_ir_word(index)));
}

/* a + b * factor, on 32-bit unsigned values */
static struct pm_ir_def *mix(const struct pm_counting *c, struct pm_ir_builder *b,
                             struct pm_ir_def *a, struct pm_ir_def *other, uint32_t factor)
{
    struct pm_ir_def *product =
        pm_ir_build(b, SpvOpIMul, c->uint,
                    PM_IR_ARGS(pm_ir_id(other), pm_ir_id(pm_ir_constant_uint(c->module, factor))));
    return pm_ir_build(b, SpvOpIAdd, c->uint, PM_IR_ARGS(pm_ir_id(a), pm_ir_id(product)));
}

struct pm_ir_def *pm_counting_place(const struct pm_counting *c, struct pm_ir_builder *b)
{
    struct pm_ir_module *module = c->module;
    struct pm_ir_def *uvec3 = pm_ir_type_vector(module, c->uint, 3);
    if (c->stage == PM_STAGE_COMPUTE) {
        struct pm_ir_def *group = pm_ir_build_load_as(b, c->place, uvec3);
        struct pm_ir_def *xy = mix(c, b, component(c, b, group, 0), component(c, b, group, 1), 7);
        return mix(c, b, xy, component(c, b, group, 2), 31);
    }
    struct pm_ir_def *vec4 = pm_ir_type_vector(module, pm_ir_type_float(module, 32), 4);
    struct pm_ir_def *pixel =
        pm_ir_build(b, SpvOpConvertFToU, c->ballot,
                    PM_IR_ARGS(pm_ir_id(pm_ir_build_load_as(b, c->place, vec4))));
    struct pm_ir_def *three = pm_ir_constant_uint(module, 3);
    struct pm_ir_def *x =
        pm_ir_build(b, SpvOpShiftRightLogical, c->uint,
                    PM_IR_ARGS(pm_ir_id(component(c, b, pixel, 0)), pm_ir_id(three)));
    struct pm_ir_def *y =
        pm_ir_build(b, SpvOpShiftRightLogical, c->uint,
                    PM_IR_ARGS(pm_ir_id(component(c, b, pixel, 1)), pm_ir_id(three)));
    return mix(c, b, x, y, 7);
}

struct pm_counting_slot pm_counting_slot(const struct pm_counting *c, struct pm_ir_builder *b)
{
    struct pm_counting_slot slot = {
        .base = pm_device_address_base(&c->address, b),
    };
    if (c->slot_count == 1)
        return slot;
    struct pm_ir_def *last = pm_ir_constant_uint(c->module, c->slot_count - 1);
    struct pm_ir_def *number = pm_ir_build(
        b, SpvOpBitwiseAnd, c->uint, PM_IR_ARGS(pm_ir_id(pm_counting_place(c, b)), pm_ir_id(last)));
    struct pm_ir_def *stride = pm_ir_constant_uint(c->module, c->slot_stride * (c->wide ? 1 : 2));
    slot.first = pm_ir_build(b, SpvOpIMul, c->uint, PM_IR_ARGS(pm_ir_id(number), pm_ir_id(stride)));
    return slot;
}

/* A pointer to a slot's element, counted in counters or, without 64-bit atomics, in halves of one.
 */
static struct pm_ir_def *element(const struct pm_counting *c, struct pm_ir_builder *b,
                                 struct pm_counting_slot slot, struct pm_ir_def *at)
{
    if (slot.first)
        at = pm_ir_build(b, SpvOpIAdd, c->uint, PM_IR_ARGS(pm_ir_id(slot.first), pm_ir_id(at)));
    return pm_device_address_element(&c->address, b, slot.base, at);
}

/* Of a counter's number: that of its low half. */
static struct pm_ir_def *low_half(const struct pm_counting *c, struct pm_ir_builder *b,
                                  struct pm_ir_def *index)
{
    if (c->wide || !index)
        return index;
    if (index->instr->opcode == SpvOpConstant)
        return pm_ir_constant_uint(c->module, pm_ir_operand_word(&index->instr->operands[0]) * 2);
    return pm_ir_build(b, SpvOpIMul, c->uint,
                       PM_IR_ARGS(pm_ir_id(index), pm_ir_id(pm_ir_constant_uint(c->module, 2))));
}

static struct pm_ir_def *high_half(const struct pm_counting *c, struct pm_ir_builder *b,
                                   struct pm_ir_def *low)
{
    if (low && low->instr->opcode == SpvOpConstant)
        return pm_ir_constant_uint(c->module, pm_ir_operand_word(&low->instr->operands[0]) + 1);
    return pm_ir_build(b, SpvOpIAdd, c->uint,
                       PM_IR_ARGS(pm_ir_id(low), pm_ir_id(pm_ir_constant_uint(c->module, 1))));
}

static struct pm_ir_def *atomic_add(const struct pm_counting *c, struct pm_ir_builder *b,
                                    struct pm_ir_def *type, struct pm_ir_def *pointer,
                                    struct pm_ir_def *value)
{
    return pm_ir_build(b, SpvOpAtomicIAdd, type,
                       PM_IR_ARGS(pm_ir_id(pointer), pm_ir_id(c->memory_scope),
                                  pm_ir_id(c->relaxed), pm_ir_id(value)));
}

void pm_counting_add_at(const struct pm_counting *c, struct pm_ir_builder *b,
                        struct pm_counting_slot slot, struct pm_ir_def *index,
                        struct pm_ir_def *value)
{
    if (c->wide) {
        bool constant = value && value->instr->opcode == SpvOpConstant;
        struct pm_ir_def *wide =
            constant ? pm_ir_constant_int64(c->module, c->uint64,
                                            pm_ir_operand_word(&value->instr->operands[0]))
                     : pm_ir_build(b, SpvOpUConvert, c->uint64, PM_IR_ARGS(pm_ir_id(value)));
        atomic_add(c, b, c->uint64, element(c, b, slot, index), wide);
        return;
    }
    struct pm_ir_def *low = low_half(c, b, index);
    struct pm_ir_def *before = atomic_add(c, b, c->uint, element(c, b, slot, low), value);
    struct pm_ir_def *after =
        pm_ir_build(b, SpvOpIAdd, c->uint, PM_IR_ARGS(pm_ir_id(before), pm_ir_id(value)));
    struct pm_ir_def *wrapped =
        pm_ir_build(b, SpvOpULessThan, c->boolean, PM_IR_ARGS(pm_ir_id(after), pm_ir_id(before)));
    struct pm_ir_block *merge = pm_ir_build_if(b, wrapped, true, NULL);
    atomic_add(c, b, c->uint, element(c, b, slot, high_half(c, b, low)),
               pm_ir_constant_uint(c->module, 1));
    pm_ir_build_end_if(b, merge);
}

void pm_counting_add(const struct pm_counting *c, struct pm_ir_builder *b,
                     struct pm_counting_slot slot, uint32_t index, struct pm_ir_def *value)
{
    pm_counting_add_at(c, b, slot, pm_ir_constant_uint(c->module, index), value);
}

struct pm_ir_def *pm_counting_claim_at(const struct pm_counting *c, struct pm_ir_builder *b,
                                       struct pm_counting_slot slot, struct pm_ir_def *index,
                                       struct pm_ir_def *value)
{
    struct pm_ir_def *type = c->wide ? c->uint64 : c->uint;
    struct pm_ir_def *none =
        c->wide ? pm_ir_constant_int64(c->module, type, 0) : pm_ir_constant_uint(c->module, 0);
    struct pm_ir_def *place = element(c, b, slot, low_half(c, b, index));
    if (c->wide)
        value = pm_ir_build(b, SpvOpUConvert, type, PM_IR_ARGS(pm_ir_id(value)));
    struct pm_ir_def *before =
        pm_ir_build(b, SpvOpAtomicCompareExchange, type,
                    PM_IR_ARGS(pm_ir_id(place), pm_ir_id(c->memory_scope), pm_ir_id(c->relaxed),
                               pm_ir_id(c->relaxed), pm_ir_id(value), pm_ir_id(none)));
    return c->wide ? pm_ir_build(b, SpvOpUConvert, c->uint, PM_IR_ARGS(pm_ir_id(before))) : before;
}
