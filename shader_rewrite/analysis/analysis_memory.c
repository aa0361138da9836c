#include "shader_rewrite/analysis/analysis_memory.h"

#include "shader_rewrite/analysis/analysis_volatile.h"
#include "shader_rewrite/ir/ir_builder.h"

#include <spirv/unified1/GLSL.std.450.h>

enum { OWN = 1, PRIVATE = 2, OUTPUT = 4, SHARED = 8, DEVICE = 16, LANE = 32, EVERYTHING = 63 };

static bool decorates(const struct pm_ir_instr *instr, uint16_t opcode, uint32_t decoration)
{
    uint32_t at = opcode == SpvOpMemberDecorate ? 2 : 1;
    return instr->opcode == opcode && instr->operand_count > at &&
           pm_ir_operand_word(&instr->operands[at]) == decoration;
}

struct pm_memory pm_memory_of(const struct pm_ir_module *module)
{
    struct pm_memory memory = {
        .volatiles = pm_volatile_is_declared(module),
        .coherent = pm_ir_has_capability(module, SpvCapabilityVulkanMemoryModel),
    };
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next) {
        memory.writable_uniforms |= decorates(i, SpvOpDecorate, SpvDecorationBufferBlock);
        memory.coherent |= decorates(i, SpvOpDecorate, SpvDecorationCoherent) ||
                           decorates(i, SpvOpMemberDecorate, SpvDecorationCoherent);
    }
    return memory;
}

/* The kind of memory that operand `index` points to; 0: nothing that is ever written. */
static uint32_t kind_of(const struct pm_memory *memory, const struct pm_ir_instr *instr,
                        uint32_t index)
{
    const struct pm_ir_instr *pointer = pm_ir_operand_instr(instr, index);
    const struct pm_ir_instr *type = pointer ? pm_ir_type_of(pointer) : NULL;
    if (!type || type->opcode != SpvOpTypePointer)
        return EVERYTHING;
    switch (pm_ir_operand_word(&type->operands[0])) {
    case SpvStorageClassInput:
    case SpvStorageClassUniformConstant:
    case SpvStorageClassPushConstant:
        return 0;
    case SpvStorageClassUniform:
        return memory->writable_uniforms ? DEVICE : 0;
    case SpvStorageClassFunction:
        return OWN;
    case SpvStorageClassPrivate:
        return PRIVATE;
    case SpvStorageClassOutput:
        return OUTPUT;
    case SpvStorageClassWorkgroup:
        return SHARED;
    case SpvStorageClassStorageBuffer:
    case SpvStorageClassPhysicalStorageBuffer:
    case SpvStorageClassImage:
        return DEVICE;
    default:
        return EVERYTHING;
    }
}

/* By its memory operands, which begin at this index; of a copy's second ones any word counts. */
static bool has_volatile_operands(const struct pm_ir_instr *instr, uint32_t index)
{
    for (uint32_t o = index; o < instr->operand_count; o++)
        if ((o == index || instr->opcode == SpvOpCopyMemory) && !instr->operands[o].def &&
            (pm_ir_operand_word(&instr->operands[o]) & SpvMemoryAccessVolatileMask))
            return true;
    return false;
}

static bool is_volatile(const struct pm_memory *memory, const struct pm_ir_instr *instr,
                        uint32_t index)
{
    if (has_volatile_operands(instr, index))
        return true;
    if (!memory->volatiles)
        return false;
    return pm_volatile_is(pm_ir_operand_instr(instr, 0)) ||
           (instr->opcode == SpvOpCopyMemory && pm_volatile_is(pm_ir_operand_instr(instr, 1)));
}

/* A read of an image. */
static bool is_volatile_texel(const struct pm_memory *memory, const struct pm_ir_instr *instr)
{
    bool reads = instr->opcode == SpvOpImageRead || instr->opcode == SpvOpImageSparseRead;
    bool says = instr->operand_count > 2 &&
                (pm_ir_operand_word(&instr->operands[2]) & SpvImageOperandsVolatileTexelMask);
    return reads && (says || (memory->volatiles && pm_volatile_is(pm_ir_operand_instr(instr, 0))));
}

/* Loads of the demoted state and the like come from built-ins that change. */
static bool is_pure(const struct pm_ir_instr *instr)
{
    uint16_t opcode = instr->opcode;
    if (opcode == SpvOpExtInst) {
        uint32_t glsl = pm_ir_operand_word(&instr->operands[1]);
        return pm_ir_is_glsl(instr) && glsl != GLSLstd450Modf && glsl != GLSLstd450Frexp;
    }
    switch (opcode) {
    case SpvOpPhi:
    case SpvOpUndef:
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpRawAccessChainNV:
    case SpvOpArrayLength:
    case SpvOpImageTexelPointer:
        return true;
    default:
        return pm_ir_opcode_is_core(opcode, PM_IR_OP_COMPUTES | PM_IR_OP_IMAGE_QUERY);
    }
}

struct pm_memory_access pm_memory_access_of(const struct pm_memory *memory,
                                            const struct pm_ir_instr *instr)
{
    struct pm_memory_access access = {0};
    switch (instr->opcode) {
    case SpvOpLoad:
        access.reads = kind_of(memory, instr, 0);
        access.writes = is_volatile(memory, instr, 1) ? EVERYTHING : 0;
        return access;
    case SpvOpStore:
        access.writes = is_volatile(memory, instr, 2) ? EVERYTHING : kind_of(memory, instr, 0);
        return access;
    case SpvOpCopyMemory:
        access.writes = is_volatile(memory, instr, 2) ? EVERYTHING : kind_of(memory, instr, 0);
        access.reads = kind_of(memory, instr, 1);
        return access;
    case SpvOpImageWrite:
        access.writes = DEVICE;
        return access;
    case SpvOpMemoryBarrier:
    case SpvOpDemoteToHelperInvocationEXT:
        access.writes = EVERYTHING;
        return access;
    case SpvOpAssumeTrueKHR:
    case SpvOpExpectKHR:
        return access;
    case SpvOpIsHelperInvocationEXT:
        access.reads = LANE;
        return access;
    default:
        break;
    }
    if (pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_ATOMIC)) {
        access.reads = access.writes = DEVICE | SHARED;
        return access;
    }
    if (pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_IMAGE_READ)) {
        access.reads = DEVICE;
        access.writes = is_volatile_texel(memory, instr) ? EVERYTHING : 0;
    } else if (!is_pure(instr)) {
        return (struct pm_memory_access){EVERYTHING, EVERYTHING, true};
    }
    return access;
}
