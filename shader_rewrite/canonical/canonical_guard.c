/*
 * The float guard (HAZARDS 3): spirv-opt folds and reassociates float arithmetic unless it is
 * NoContraction. While it runs, every instruction that computes or consumes a float is decorated;
 * decorations that were there before are told apart by a marker, which passes copy along as they
 * copy the decoration. Some rules make new instructions, which carry no decoration; a
 * float-controls capability stops SPIRV-Tools from folding any float, so one is declared for the
 * time too.
 */
#include "shader_rewrite/canonical/canonical_words.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

/* pm_words_select drops this decoration from the input, so whatever has it is ours. */
#define MARKER_DECORATION SpvDecorationUserSemantic
static const uint32_t marker_text = 0x00006d70; /* "pm" */

#define CAPABILITY_WORDS 2
#define DECORATE_WORDS 3
#define MARKER_WORDS 4

struct guard {
    bool *float_type;  /* by id: a type with a float in it */
    bool *float_value; /* by id: a value of such a type */
    bool *contraction; /* by id: decorated NoContraction already */
};

static bool is_float_type(const struct guard *guard, const struct pm_walk *walk)
{
    const uint32_t *operands = walk->words + walk->at + 1;
    switch (walk->opcode) {
    case SpvOpTypeFloat:
        return true;
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
    case SpvOpTypeArray:
        return guard->float_type[operands[1]];
    case SpvOpTypeStruct:
        for (uint32_t i = 1; i + 1 < walk->length; i++) {
            if (guard->float_type[operands[i]])
                return true;
        }
        return false;
    default:
        return false;
    }
}

/* Moves, loads and phis compute nothing. */
static bool computes(uint32_t opcode)
{
    return opcode == SpvOpExtInst || opcode == SpvOpSelect ||
           (opcode >= SpvOpConvertFToU && opcode <= SpvOpBitcast) ||
           (opcode >= SpvOpSNegate && opcode <= SpvOpSMulExtended) ||
           (opcode >= SpvOpIsNan && opcode <= SpvOpUnordered) ||
           (opcode >= SpvOpFOrdEqual && opcode <= SpvOpFUnordGreaterThanEqual) ||
           (opcode >= SpvOpDPdx && opcode <= SpvOpFwidthCoarse);
}

/* Literals among the operands are taken for ids: at worst something is decorated in vain. */
static bool touches_float(const struct guard *guard, const struct pm_walk *walk, uint32_t bound)
{
    const uint32_t *operands = walk->words + walk->at + 1;
    for (uint32_t i = 1; i + 1 < walk->length; i++) {
        if (operands[i] < bound && guard->float_value[operands[i]])
            return true;
    }
    return false;
}

static bool is_no_contraction(const struct pm_walk *walk)
{
    return walk->opcode == SpvOpDecorate && walk->words[walk->at + 2] == SpvDecorationNoContraction;
}

static bool is_float_controls(uint32_t capability)
{
    return capability >= SpvCapabilityDenormPreserve && capability <= SpvCapabilityRoundingModeRTZ;
}

static void put_decoration(uint32_t *out, size_t *at, uint32_t id)
{
    out[(*at)++] = DECORATE_WORDS << SpvWordCountShift | SpvOpDecorate;
    out[(*at)++] = id;
    out[(*at)++] = SpvDecorationNoContraction;
}

static void put_marker(uint32_t *out, size_t *at, uint32_t id)
{
    out[(*at)++] = MARKER_WORDS << SpvWordCountShift | SpvOpDecorateString;
    out[(*at)++] = id;
    out[(*at)++] = MARKER_DECORATION;
    out[(*at)++] = marker_text;
}

/* Fills the tables; returns the offset where the decorations go, before the first type or constant.
 */
static size_t scan(const struct pm_words *module, struct guard *guard, bool *float_controls)
{
    size_t annotations_end = 0;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        const uint32_t *operands = module->data + walk.at + 1;
        uint32_t type, result;
        pm_walk_result(&walk, &type, &result);
        if (walk.opcode == SpvOpCapability)
            *float_controls |= is_float_controls(operands[0]);
        else if (is_no_contraction(&walk))
            guard->contraction[operands[0]] = true;
        if (!annotations_end && result && walk.opcode != SpvOpExtInstImport &&
            walk.opcode != SpvOpDecorationGroup)
            annotations_end = walk.at;
        if (is_float_type(guard, &walk))
            guard->float_type[result] = true;
        if (type && guard->float_type[type])
            guard->float_value[result] = true;
    }
    return annotations_end;
}

static size_t write_guarded(const struct pm_words *module, const struct guard *guard,
                            size_t annotations_end, bool add_capability, uint32_t *out)
{
    size_t at = PM_SPIRV_HEADER_WORDS;
    memcpy(out, module->data, PM_SPIRV_HEADER_WORDS * sizeof(uint32_t));
    if (add_capability) {
        out[at++] = CAPABILITY_WORDS << SpvWordCountShift | SpvOpCapability;
        out[at++] = SpvCapabilitySignedZeroInfNanPreserve;
    }
    size_t head = annotations_end - PM_SPIRV_HEADER_WORDS;
    memcpy(out + at, module->data + PM_SPIRV_HEADER_WORDS, head * sizeof(uint32_t));
    at += head;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        if (is_no_contraction(&walk)) {
            put_marker(out, &at, module->data[walk.at + 1]);
        } else if (computes(walk.opcode)) {
            uint32_t type, result;
            pm_walk_result(&walk, &type, &result);
            if (!guard->contraction[result] && touches_float(guard, &walk, module->data[3]))
                put_decoration(out, &at, result);
        }
    }
    size_t rest = module->count - annotations_end;
    memcpy(out + at, module->data + annotations_end, rest * sizeof(uint32_t));
    return at + rest;
}

bool pm_words_guard_floats(struct pm_words *module, struct pm_float_guard *state,
                           struct pm_error *error)
{
    uint32_t bound = module->data[3];
    struct guard guard = {.float_type = calloc(bound, sizeof(bool)),
                          .float_value = calloc(bound, sizeof(bool)),
                          .contraction = calloc(bound, sizeof(bool))};
    /* Each instruction adds one decoration at most, and none is shorter than a marker's reason. */
    size_t most = module->count * 4 + CAPABILITY_WORDS;
    uint32_t *out = malloc(most * sizeof(uint32_t));
    bool ok = guard.float_type && guard.float_value && guard.contraction && out;
    if (ok) {
        bool float_controls = false;
        size_t annotations_end = scan(module, &guard, &float_controls);
        state->added_capability = !float_controls;
        size_t count = write_guarded(module, &guard, annotations_end, !float_controls, out);
        free(module->data);
        *module = (struct pm_words){out, count};
    } else {
        free(out);
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for a module of %zu words", module->count);
    }
    free(guard.float_type);
    free(guard.float_value);
    free(guard.contraction);
    return ok;
}

static bool is_marker(const struct pm_walk *walk)
{
    const uint32_t *operands = walk->words + walk->at + 1;
    return walk->opcode == SpvOpDecorateString && walk->length == MARKER_WORDS &&
           operands[1] == MARKER_DECORATION && operands[2] == marker_text;
}

bool pm_words_unguard_floats(struct pm_words *module, const struct pm_float_guard *state,
                             struct pm_error *error)
{
    bool *marked = calloc(module->data[3], sizeof(bool));
    if (!marked)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u ids", module->data[3]);
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        if (is_marker(&walk))
            marked[module->data[walk.at + 1]] = true;
    }
    size_t kept = PM_SPIRV_HEADER_WORDS;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        uint32_t first = walk.length > 1 ? module->data[walk.at + 1] : 0;
        bool ours = is_marker(&walk) || (is_no_contraction(&walk) && !marked[first]) ||
                    (walk.opcode == SpvOpCapability && state->added_capability &&
                     first == SpvCapabilitySignedZeroInfNanPreserve);
        if (ours)
            continue;
        memmove(module->data + kept, module->data + walk.at, walk.length * sizeof(uint32_t));
        kept += walk.length;
    }
    module->count = kept;
    free(marked);
    return true;
}
