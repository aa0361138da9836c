#include "shader_rewrite/analysis/analysis_costs.h"

#include <spirv/unified1/GLSL.std.450.h>

static const struct pm_costs table[PM_COST_TABLES] = {
    /* A GPU in general: full-rate arithmetic, special functions at a quarter of it, divisions as a
     * reciprocal with corrections, texture units at a quarter of a quad's lanes with what their
     * addresses and results cost. */
    {0,
     {
         [PM_COST_MOVE] = 0.25,
         [PM_COST_ALU] = 1,
         [PM_COST_DIVIDE] = 6,
         [PM_COST_TRANSCENDENTAL] = 4,
         [PM_COST_ROOT] = 4,
         [PM_COST_DERIVATIVE] = 2,
         [PM_COST_SAMPLE] = 32,
         [PM_COST_FETCH] = 24,
         [PM_COST_INTERPOLATE] = 2,
         [PM_COST_UNIFORM] = 2,
         [PM_COST_LOCAL] = 1,
         [PM_COST_LOAD] = 16,
         [PM_COST_STORE] = 8,
         [PM_COST_ATOMIC] = 32,
         [PM_COST_BRANCH] = 4,
         [PM_COST_CHECK] = 6,
         [PM_COST_QUAD] = 6,
     }},
    /* NVIDIA: a vote and a branch are one instruction each; texture reads take 4 lanes a cycle and
     * SM quarter, so 8 cycles of issue, and more of latency that other subgroups seldom hide whole.
     */
    {0x10de,
     {
         [PM_COST_MOVE] = 0.25,
         [PM_COST_ALU] = 1,
         [PM_COST_DIVIDE] = 8,
         [PM_COST_TRANSCENDENTAL] = 4,
         [PM_COST_ROOT] = 4,
         [PM_COST_DERIVATIVE] = 2,
         [PM_COST_SAMPLE] = 32,
         [PM_COST_FETCH] = 24,
         [PM_COST_INTERPOLATE] = 2,
         [PM_COST_UNIFORM] = 1,
         [PM_COST_LOCAL] = 1,
         [PM_COST_LOAD] = 16,
         [PM_COST_STORE] = 8,
         [PM_COST_ATOMIC] = 32,
         [PM_COST_BRANCH] = 3,
         [PM_COST_CHECK] = 4,
         [PM_COST_QUAD] = 4,
     }},
    /* Mesa's lavapipe: vectors of 8 lanes on a CPU, as bench/cost/instruction_costs measured 22.3
     * and 25.0.7 with AVX2. Special functions are polynomials, a filtered read is a few hundred
     * instructions, memory that is not read in sequence is gathered lane by lane (77; in sequence
     * 5). What asks other lanes goes through them one by one: a vote is worth some 40 additions, a
     * quad's two swaps 200, so that checks before a few instructions cost more than they save. */
    {0x10005,
     {
         [PM_COST_MOVE] = 0.1,
         [PM_COST_ALU] = 1,
         [PM_COST_DIVIDE] = 5,
         [PM_COST_TRANSCENDENTAL] = 16,
         [PM_COST_ROOT] = 8,
         [PM_COST_DERIVATIVE] = 3,
         [PM_COST_SAMPLE] = 300,
         [PM_COST_FETCH] = 130,
         [PM_COST_INTERPOLATE] = 2,
         [PM_COST_UNIFORM] = 3,
         [PM_COST_LOCAL] = 2,
         [PM_COST_LOAD] = 24,
         [PM_COST_STORE] = 24,
         [PM_COST_ATOMIC] = 60,
         [PM_COST_BRANCH] = 4,
         [PM_COST_CHECK] = 45,
         [PM_COST_QUAD] = 200,
     }},
};

const struct pm_costs *pm_costs_of(uint32_t vendor)
{
    for (size_t i = 0; i < PM_COST_TABLES; i++)
        if (table[i].vendor == vendor)
            return &table[i];
    return &table[0];
}

const struct pm_costs *pm_costs_table(uint32_t index)
{
    return &table[index];
}

static enum pm_cost_class class_of_pointer(const struct pm_ir_instr *pointer)
{
    const struct pm_ir_instr *type = pointer ? pm_ir_type_of(pointer) : NULL;
    if (!type || type->opcode != SpvOpTypePointer)
        return PM_COST_LOAD;
    switch (pm_ir_operand_word(&type->operands[0])) {
    case SpvStorageClassInput:
        return PM_COST_INTERPOLATE;
    case SpvStorageClassUniform:
    case SpvStorageClassPushConstant:
        return PM_COST_UNIFORM;
    case SpvStorageClassUniformConstant: /* a descriptor */
        return PM_COST_FREE;
    case SpvStorageClassFunction:
    case SpvStorageClassPrivate:
    case SpvStorageClassOutput:
        return PM_COST_LOCAL;
    default:
        return PM_COST_LOAD;
    }
}

static enum pm_cost_class class_of_glsl(uint32_t glsl)
{
    switch (glsl) {
    case GLSLstd450Sin:
    case GLSLstd450Cos:
    case GLSLstd450Tan:
    case GLSLstd450Asin:
    case GLSLstd450Acos:
    case GLSLstd450Atan:
    case GLSLstd450Sinh:
    case GLSLstd450Cosh:
    case GLSLstd450Tanh:
    case GLSLstd450Asinh:
    case GLSLstd450Acosh:
    case GLSLstd450Atanh:
    case GLSLstd450Atan2:
    case GLSLstd450Pow:
    case GLSLstd450Exp:
    case GLSLstd450Log:
    case GLSLstd450Exp2:
    case GLSLstd450Log2:
    case GLSLstd450Determinant:
    case GLSLstd450MatrixInverse:
        return PM_COST_TRANSCENDENTAL;
    case GLSLstd450Sqrt:
    case GLSLstd450InverseSqrt:
    case GLSLstd450Length:
    case GLSLstd450Distance:
    case GLSLstd450Normalize:
        return PM_COST_ROOT;
    case GLSLstd450SmoothStep:
        return PM_COST_DIVIDE;
    case GLSLstd450InterpolateAtCentroid:
    case GLSLstd450InterpolateAtSample:
    case GLSLstd450InterpolateAtOffset:
        return PM_COST_INTERPOLATE;
    default:
        return PM_COST_ALU;
    }
}

enum pm_cost_class pm_cost_class(const struct pm_float_permission *permission,
                                 const struct pm_ir_instr *instr)
{
    uint16_t opcode = instr->opcode;
    if (pm_ir_opcode_is_core(opcode, PM_IR_OP_IMAGE_SAMPLE))
        return PM_COST_SAMPLE;
    if (pm_ir_opcode_is_core(opcode, PM_IR_OP_IMAGE_READ))
        return PM_COST_FETCH;
    if (pm_ir_opcode_is(opcode, PM_IR_OP_DERIVATIVE))
        return PM_COST_DERIVATIVE;
    if (pm_ir_opcode_is_core(opcode, PM_IR_OP_ATOMIC))
        return PM_COST_ATOMIC;
    switch (opcode) {
    case SpvOpLoad:
        return class_of_pointer(pm_ir_operand_instr(instr, 0));
    case SpvOpStore: {
        enum pm_cost_class c = class_of_pointer(pm_ir_operand_instr(instr, 0));
        return c == PM_COST_LOAD ? PM_COST_STORE : c;
    }
    case SpvOpCopyMemory:
        return PM_COST_STORE;
    case SpvOpImageWrite:
        return PM_COST_STORE;
    case SpvOpCompositeConstruct:
    case SpvOpCompositeInsert:
    case SpvOpVectorExtractDynamic:
    case SpvOpVectorInsertDynamic:
    case SpvOpSelect:
        return PM_COST_MOVE;
    case SpvOpPhi:
    case SpvOpUndef:
    case SpvOpLabel:
    case SpvOpVariable:
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpRawAccessChainNV:
    case SpvOpSampledImage:
    case SpvOpImage:
    case SpvOpCopyObject:
    case SpvOpCopyLogical:
    case SpvOpBitcast:
    case SpvOpTranspose:
    case SpvOpVectorShuffle:
    case SpvOpCompositeExtract:
    case SpvOpImageTexelPointer:
    case SpvOpSelectionMerge:
    case SpvOpLoopMerge:
    case SpvOpBranch:
    case SpvOpKill:
    case SpvOpReturn:
    case SpvOpUnreachable:
    case SpvOpTerminateInvocation:
        return PM_COST_FREE;
    case SpvOpBranchConditional:
    case SpvOpSwitch:
        return PM_COST_BRANCH;
    case SpvOpFDiv:
    case SpvOpFRem:
    case SpvOpFMod:
    case SpvOpUDiv:
    case SpvOpSDiv:
    case SpvOpUMod:
    case SpvOpSRem:
    case SpvOpSMod:
        return PM_COST_DIVIDE;
    case SpvOpExtInst:
        return class_of_glsl(pm_glsl_of(permission, instr));
    default:
        return PM_COST_ALU;
    }
}

static uint32_t scalars(const struct pm_ir_instr *type)
{
    uint32_t count = 1;
    while (type && (type->opcode == SpvOpTypeVector || type->opcode == SpvOpTypeMatrix)) {
        count *= pm_ir_operand_word(&type->operands[1]);
        type = pm_ir_operand_instr(type, 0);
    }
    return count < 16 ? count : 16;
}

static uint32_t scalars_of_operand(const struct pm_ir_instr *instr, uint32_t index)
{
    const struct pm_ir_instr *operand = pm_ir_operand_instr(instr, index);
    return operand ? scalars(pm_ir_type_of(operand)) : 1;
}

/* How often the class's cycles are spent. */
static uint32_t times(enum pm_cost_class class, const struct pm_ir_instr *instr)
{
    switch (class) {
    case PM_COST_SAMPLE:
    case PM_COST_FETCH:
    case PM_COST_UNIFORM:
    case PM_COST_LOAD:
    case PM_COST_STORE:
    case PM_COST_ATOMIC:
    case PM_COST_BRANCH:
    case PM_COST_CHECK:
    case PM_COST_QUAD:
        return 1;
    default:
        break;
    }
    switch (instr->opcode) {
    case SpvOpStore:
        return scalars_of_operand(instr, 1);
    case SpvOpDot:
    case SpvOpMatrixTimesVector:
        return scalars_of_operand(instr, 0);
    case SpvOpVectorTimesMatrix:
        return scalars_of_operand(instr, 1);
    case SpvOpMatrixTimesMatrix:
        return 4 * scalars(pm_ir_type_of(instr));
    default:
        return scalars(pm_ir_type_of(instr));
    }
}

/* What is made of several classes; 0: the instruction is none such. */
static double composed(const struct pm_costs *costs, uint32_t glsl, const struct pm_ir_instr *instr)
{
    const double *cycles = costs->cycles;
    switch (glsl) {
    case GLSLstd450Pow: /* exp2(y * log2(x)) */
        return scalars(pm_ir_type_of(instr)) *
               (2 * cycles[PM_COST_TRANSCENDENTAL] + cycles[PM_COST_ALU]);
    case GLSLstd450Length:
        return scalars_of_operand(instr, 2) * cycles[PM_COST_ALU] + cycles[PM_COST_ROOT];
    case GLSLstd450Distance:
    case GLSLstd450Normalize:
        return 2 * scalars_of_operand(instr, 2) * cycles[PM_COST_ALU] + cycles[PM_COST_ROOT];
    default:
        return 0;
    }
}

double pm_costs_instr(const struct pm_costs *costs, const struct pm_float_permission *permission,
                      const struct pm_ir_instr *instr)
{
    enum pm_cost_class class = pm_cost_class(permission, instr);
    double cycles =
        instr->opcode == SpvOpExtInst ? composed(costs, pm_glsl_of(permission, instr), instr) : 0;
    return cycles > 0 ? cycles : costs->cycles[class] * times(class, instr);
}

bool pm_cost_is_memory(enum pm_cost_class class)
{
    return class == PM_COST_SAMPLE || class == PM_COST_FETCH || class == PM_COST_LOAD ||
           class == PM_COST_STORE || class == PM_COST_ATOMIC || class == PM_COST_UNIFORM;
}
