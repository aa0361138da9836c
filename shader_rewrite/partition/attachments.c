#include "shader_rewrite/partition/attachments.h"

enum { MOST_LOCATIONS = 32, VERSION_1_4 = 0x10400, IMAGE_2D = 1, SAMPLED = 1 };

/* A literal that a decoration gives a definition; UINT32_MAX: it has no such decoration. */
static uint32_t decoration_of(const struct pm_ir_def *def, SpvDecoration decoration)
{
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (user->opcode == SpvOpDecorate && user->operands[0].def == def &&
            pm_ir_operand_word(&user->operands[1]) == (uint32_t)decoration)
            return user->operand_count > 2 ? pm_ir_operand_word(&user->operands[2]) : 0;
    }
    return UINT32_MAX;
}

static bool is_variable_of(const struct pm_ir_instr *instr, SpvStorageClass storage)
{
    return instr->opcode == SpvOpVariable &&
           pm_ir_operand_word(&instr->operands[0]) == (uint32_t)storage;
}

/* What tells samples of a pixel apart. */
static bool is_of_samples(uint32_t builtin)
{
    return builtin == SpvBuiltInSampleId || builtin == SpvBuiltInSamplePosition;
}

/* Whether an output is, or may be, one of several of its location: the passes that write those
 * would each write the attachment whole. */
static bool is_shared(const struct pm_attachments *a, const struct pm_ir_def *def,
                      uint32_t location)
{
    const uint32_t component = decoration_of(def, SpvDecorationComponent);
    const uint32_t index = decoration_of(def, SpvDecorationIndex);
    return (component != UINT32_MAX && component > 0) || (index != UINT32_MAX && index > 0) ||
           (a->locations >> location & 1) != 0;
}

/* Images that are attachments: what one pass writes of them a later one would read. */
static bool is_attachment_type(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpTypeImage &&
           (pm_ir_operand_word(&instr->operands[1]) == SpvDimSubpassData ||
            pm_ir_operand_word(&instr->operands[1]) == SpvDimTileImageDataEXT);
}

static bool look_at(struct pm_attachments *a, const struct pm_ir_instr *variable)
{
    const struct pm_ir_def *def = variable->result;
    const uint32_t builtin = decoration_of(def, SpvDecorationBuiltIn);
    const uint32_t location = decoration_of(def, SpvDecorationLocation);
    const uint32_t set = decoration_of(def, SpvDecorationDescriptorSet);
    if (set != UINT32_MAX && set >= a->set)
        a->set = set + 1;
    if (is_variable_of(variable, SpvStorageClassInput) &&
        (is_of_samples(builtin) || decoration_of(def, SpvDecorationSample) != UINT32_MAX))
        return pm_fail(a->error, PM_ERROR_UNSUPPORTED, "it runs for each sample");
    if (!is_variable_of(variable, SpvStorageClassOutput))
        return true;
    const struct pm_ir_instr *pointee = pm_ir_operand_instr(pm_ir_type_of(variable), 1);
    if (location >= MOST_LOCATIONS || pointee->opcode == SpvOpTypeArray ||
        pointee->opcode == SpvOpTypeStruct)
        return pm_fail(a->error, PM_ERROR_UNSUPPORTED,
                       "it has an output that is no color attachment");
    if (is_shared(a, def, location))
        return pm_fail(a->error, PM_ERROR_UNSUPPORTED,
                       "it has an output that is not a color attachment's only one");
    a->locations |= UINT32_C(1) << location;
    return true;
}

bool pm_attachments_init(struct pm_attachments *a, struct pm_ir_module *module,
                         const struct pm_spills *spills, struct pm_error *error)
{
    *a = (struct pm_attachments){
        .module = module,
        .entry = module->sections[PM_IR_SECTION_ENTRY_POINT].first,
        .spills = spills,
        .error = error,
    };
    size_t images = spills->image_count + (size_t)1, count = spills->attachment_count + (size_t)1;
    a->read = pm_arena_zalloc(module->arena, images, sizeof(struct pm_ir_def *));
    a->wrote = pm_arena_zalloc(module->arena, count, sizeof(struct pm_ir_def *));
    a->location = pm_arena_zalloc(module->arena, count, sizeof(*a->location));
    if (!a->read || !a->wrote || !a->location)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first; i;
         i = i->next) {
        if (is_attachment_type(i))
            return pm_fail(error, PM_ERROR_UNSUPPORTED, "it reads input attachments");
        if (i->opcode == SpvOpVariable && !look_at(a, i))
            return false;
    }
    return true;
}

static struct pm_ir_def *uint_type(const struct pm_attachments *a)
{
    return pm_ir_type_int(a->module, 32, false);
}

void pm_attachments_begin(struct pm_attachments *a, struct pm_ir_builder *b)
{
    struct pm_ir_module *module = a->module;
    struct pm_ir_def *real = pm_ir_type_float(module, 32);
    struct pm_ir_def *real4 = pm_ir_type_vector(module, real, 4);
    struct pm_ir_def *variable = pm_ir_builtin_input(module, a->entry, SpvBuiltInFragCoord, real4);
    struct pm_ir_def *whole = pm_ir_build(b, SpvOpLoad, real4, PM_IR_ARGS(pm_ir_id(variable)));
    struct pm_ir_def *place[2];
    for (uint32_t d = 0; d < 2; d++) {
        struct pm_ir_def *part =
            pm_ir_build(b, SpvOpCompositeExtract, real, PM_IR_ARGS(pm_ir_id(whole), pm_ir_word(d)));
        place[d] = pm_ir_build(b, SpvOpConvertFToU, uint_type(a), PM_IR_ARGS(pm_ir_id(part)));
    }
    a->at = pm_ir_build(b, SpvOpCompositeConstruct, pm_ir_type_vector(module, uint_type(a), 2),
                        PM_IR_ARGS(pm_ir_id(place[0]), pm_ir_id(place[1])));
}

static struct pm_ir_def *image_type(const struct pm_attachments *a)
{
    return pm_ir_global(a->module, SpvOpTypeImage, NULL,
                        PM_IR_ARGS(pm_ir_id(uint_type(a)), pm_ir_word(IMAGE_2D), pm_ir_word(0),
                                   pm_ir_word(0), pm_ir_word(0), pm_ir_word(SAMPLED),
                                   pm_ir_word(SpvImageFormatUnknown)));
}

static struct pm_ir_def *image_variable(struct pm_attachments *a, uint32_t image)
{
    struct pm_ir_module *module = a->module;
    if (a->read[image])
        return a->read[image];
    struct pm_ir_def *pointer =
        pm_ir_type_pointer(module, SpvStorageClassUniformConstant, image_type(a));
    struct pm_ir_def *variable = pm_ir_global_new(
        module, SpvOpVariable, pointer, PM_IR_ARGS(pm_ir_word(SpvStorageClassUniformConstant)));
    pm_ir_decorate(module, variable, SpvDecorationDescriptorSet, PM_IR_ARGS(pm_ir_word(a->set)));
    pm_ir_decorate(module, variable, SpvDecorationBinding, PM_IR_ARGS(pm_ir_word(image)));
    if (module->version >= VERSION_1_4)
        pm_ir_interface_add(module, a->entry, variable);
    return a->read[image] = variable;
}

struct pm_ir_def *pm_attachments_load(struct pm_attachments *a, struct pm_ir_builder *b,
                                      uint32_t place)
{
    struct pm_ir_def *variable = image_variable(a, a->spills->attachments[place / 4].image);
    struct pm_ir_def *image =
        pm_ir_build(b, SpvOpLoad, image_type(a), PM_IR_ARGS(pm_ir_id(variable)));
    struct pm_ir_def *texel = pm_ir_build(
        b, SpvOpImageFetch, pm_ir_type_vector(a->module, uint_type(a), 4),
        PM_IR_ARGS(pm_ir_id(image), pm_ir_id(a->at), pm_ir_word(SpvImageOperandsLodMask),
                   pm_ir_id(pm_ir_constant_uint(a->module, 0))));
    return pm_ir_build(b, SpvOpCompositeExtract, uint_type(a),
                       PM_IR_ARGS(pm_ir_id(texel), pm_ir_word(place % 4)));
}

static struct pm_ir_def *output_variable(struct pm_attachments *a, uint32_t attachment)
{
    struct pm_ir_module *module = a->module;
    uint32_t location = 0;
    if (a->wrote[attachment])
        return a->wrote[attachment];
    while (location < MOST_LOCATIONS && a->locations >> location & 1)
        location++;
    if (location == MOST_LOCATIONS) {
        pm_fail(a->error, PM_ERROR_UNSUPPORTED, "a pass would have more than %d color attachments",
                MOST_LOCATIONS);
        module->failed = true;
        return NULL;
    }
    struct pm_ir_def *type = pm_ir_type_pointer(module, SpvStorageClassOutput,
                                                pm_ir_type_vector(module, uint_type(a), 4));
    struct pm_ir_def *variable = pm_ir_global_new(module, SpvOpVariable, type,
                                                  PM_IR_ARGS(pm_ir_word(SpvStorageClassOutput)));
    pm_ir_decorate(module, variable, SpvDecorationLocation, PM_IR_ARGS(pm_ir_word(location)));
    pm_ir_interface_add(module, a->entry, variable);
    a->locations |= UINT32_C(1) << location;
    a->location[attachment] = location;
    return a->wrote[attachment] = variable;
}

void pm_attachments_store(struct pm_attachments *a, struct pm_ir_builder *b, uint32_t place,
                          struct pm_ir_def *value)
{
    struct pm_ir_def *variable = output_variable(a, place / 4);
    struct pm_ir_def *component =
        pm_ir_type_pointer(a->module, SpvStorageClassOutput, uint_type(a));
    struct pm_ir_def *to = pm_ir_build(
        b, SpvOpAccessChain, component,
        PM_IR_ARGS(pm_ir_id(variable), pm_ir_id(pm_ir_constant_uint(a->module, place % 4))));
    pm_ir_build_instr(b, SpvOpStore, NULL, PM_IR_ARGS(pm_ir_id(to), pm_ir_id(value)));
}

uint32_t pm_attachments_own(const struct pm_attachments *a)
{
    uint32_t own = 0;
    for (const struct pm_ir_instr *i = a->module->sections[PM_IR_SECTION_GLOBAL].first; i;
         i = i->next) {
        bool ours = false, stored = false;
        if (!is_variable_of(i, SpvStorageClassOutput))
            continue;
        for (uint32_t w = 0; w < a->spills->attachment_count; w++)
            ours |= a->wrote[w] == i->result;
        for (const struct pm_ir_operand *use = i->result->first_use; use; use = use->next_use)
            stored |= use->user->block != NULL;
        if (!ours && stored)
            own |= UINT32_C(1) << decoration_of(i->result, SpvDecorationLocation);
    }
    return own;
}
