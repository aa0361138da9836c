#include "shader_rewrite/ir/device_address.h"

enum {
    VERSION_1_5 = 0x10500,
    FIRST_SPEC_ID = 0x504d0000, /* far from those that shaders number from 0 */
};

static bool spec_id_is_used(const struct pm_ir_module *module, uint32_t id)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next)
        if (i->opcode == SpvOpDecorate && i->operand_count == 3 &&
            pm_ir_operand_word(&i->operands[1]) == SpvDecorationSpecId &&
            pm_ir_operand_word(&i->operands[2]) == id)
            return true;
    return false;
}

static uint32_t unused_spec_id(const struct pm_ir_module *module, uint32_t from)
{
    while (spec_id_is_used(module, from))
        from++;
    return from;
}

struct pm_ir_def *pm_spec_constant_new(struct pm_ir_module *module, uint32_t *spec_id)
{
    *spec_id = unused_spec_id(module, FIRST_SPEC_ID);
    struct pm_ir_def *constant = pm_ir_global_new(
        module, SpvOpSpecConstant, pm_ir_type_int(module, 32, false), PM_IR_ARGS(pm_ir_word(0)));
    pm_ir_decorate(module, constant, SpvDecorationSpecId, PM_IR_ARGS(pm_ir_word(*spec_id)));
    return constant;
}

static bool set_addressing(struct pm_ir_module *module, struct pm_error *error)
{
    struct pm_ir_instr *model = module->sections[PM_IR_SECTION_MEMORY_MODEL].first;
    uint32_t addressing = model ? pm_ir_operand_word(&model->operands[0]) : UINT32_MAX;
    if (addressing != SpvAddressingModelLogical &&
        addressing != SpvAddressingModelPhysicalStorageBuffer64)
        return pm_fail(error, PM_ERROR_UNSUPPORTED,
                       "SPIR-V: addressing model %u leaves no room for memory of ours", addressing);
    pm_ir_operand_set_word(&model->operands[0], SpvAddressingModelPhysicalStorageBuffer64);
    pm_ir_require_capability(module, SpvCapabilityPhysicalStorageBufferAddresses);
    /* Also where it has the EXT one, which lets no two 32-bit words become a pointer. */
    if (module->version < VERSION_1_5)
        pm_ir_require_extension(module, "SPV_KHR_physical_storage_buffer");
    return true;
}

static void make_types(struct pm_device_address *a, struct pm_ir_module *module,
                       struct pm_ir_def *element, uint32_t bytes)
{
    struct pm_ir_def *array =
        pm_ir_global_new(module, SpvOpTypeRuntimeArray, NULL, PM_IR_ARGS(pm_ir_id(element)));
    pm_ir_decorate(module, array, SpvDecorationArrayStride, PM_IR_ARGS(pm_ir_word(bytes)));
    struct pm_ir_def *block =
        pm_ir_global_new(module, SpvOpTypeStruct, NULL, PM_IR_ARGS(pm_ir_id(array)));
    pm_ir_decorate(module, block, SpvDecorationBlock, NULL, 0);
    pm_ir_decorate_member(module, block, 0, SpvDecorationOffset, PM_IR_ARGS(pm_ir_word(0)));
    a->block_pointer = pm_ir_type_pointer(module, SpvStorageClassPhysicalStorageBuffer, block);
    a->element_pointer = pm_ir_type_pointer(module, SpvStorageClassPhysicalStorageBuffer, element);
}

bool pm_device_address_init(struct pm_device_address *a, struct pm_ir_module *module,
                            struct pm_ir_def *element, uint32_t bytes, struct pm_error *error)
{
    if (!set_addressing(module, error))
        return false;
    struct pm_ir_def *uint = pm_ir_type_int(module, 32, false);
    make_types(a, module, element, bytes);
    struct pm_ir_def *low = pm_spec_constant_new(module, &a->spec_id_low);
    struct pm_ir_def *high = pm_spec_constant_new(module, &a->spec_id_high);
    a->address =
        pm_ir_global_new(module, SpvOpSpecConstantComposite, pm_ir_type_vector(module, uint, 2),
                         PM_IR_ARGS(pm_ir_id(low), pm_ir_id(high)));
    return true;
}

struct pm_ir_def *pm_device_address_base(const struct pm_device_address *a, struct pm_ir_builder *b)
{
    return pm_ir_build(b, SpvOpBitcast, a->block_pointer, PM_IR_ARGS(pm_ir_id(a->address)));
}

struct pm_ir_def *pm_device_address_element(const struct pm_device_address *a,
                                            struct pm_ir_builder *b, struct pm_ir_def *base,
                                            struct pm_ir_def *index)
{
    struct pm_ir_def *zero = pm_ir_constant_uint(b->module, 0);
    return pm_ir_build(b, SpvOpAccessChain, a->element_pointer,
                       PM_IR_ARGS(pm_ir_id(base), pm_ir_id(zero), pm_ir_id(index)));
}
