#include "bench/cost/module_interface.h"

#include "base/buffer.h"
#include "shader_rewrite/ir/ir_module.h"
#include <spirv-tools/libspirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The literal of a decoration; fallback when the id has none. */
static uint32_t decoration(const struct pm_ir_module *module, uint32_t id, SpvDecoration wanted,
                           uint32_t fallback, bool *found)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next)
        if (i->opcode == SpvOpDecorate && pm_ir_operand_id(&i->operands[0]) == id &&
            pm_ir_operand_word(&i->operands[1]) == wanted) {
            if (found)
                *found = true;
            return i->operand_count > 2 ? pm_ir_operand_word(&i->operands[2]) : 0;
        }
    return fallback;
}

static bool has(const struct pm_ir_module *module, uint32_t id, SpvDecoration wanted)
{
    bool found = false;
    decoration(module, id, wanted, 0, &found);
    return found;
}

static bool image_type(const struct pm_ir_instr *image, bool sampled, VkDescriptorType *type)
{
    const uint32_t dim = pm_ir_operand_word(&image->operands[1]);
    const bool storage = pm_ir_operand_word(&image->operands[5]) == 2;
    if (dim == SpvDimSubpassData)
        *type = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT;
    else if (dim == SpvDimBuffer)
        *type = storage ? VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER
                        : VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
    else if (sampled)
        *type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    else
        *type = storage ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE : VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
    return true;
}

static bool is_flat_image(const struct pm_ir_instr *type)
{
    if (type->opcode == SpvOpTypeSampledImage)
        type = pm_ir_operand_instr(type, 0);
    return type->opcode == SpvOpTypeImage &&
           pm_ir_operand_instr(type, 0)->opcode == SpvOpTypeFloat &&
           pm_ir_operand_word(&type->operands[1]) == SpvDim2D &&
           pm_ir_operand_word(&type->operands[2]) != 1 && /* depth */
           !pm_ir_operand_word(&type->operands[3]) && !pm_ir_operand_word(&type->operands[4]);
}

static bool descriptor_type(const struct pm_ir_module *module, SpvStorageClass storage,
                            const struct pm_ir_instr *type, VkDescriptorType *out)
{
    switch (type->opcode) {
    case SpvOpTypeStruct:
        *out = storage == SpvStorageClassStorageBuffer ||
                       has(module, type->result->id, SpvDecorationBufferBlock)
                   ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
                   : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
        return true;
    case SpvOpTypeSampler:
        *out = VK_DESCRIPTOR_TYPE_SAMPLER;
        return true;
    case SpvOpTypeSampledImage:
        return image_type(pm_ir_operand_instr(type, 0), true, out);
    case SpvOpTypeImage:
        return image_type(type, false, out);
    default:
        return false;
    }
}

static bool read_binding(const struct pm_ir_module *module, const struct pm_ir_instr *variable,
                         SpvStorageClass storage, const struct pm_ir_instr *type,
                         struct pm_interface *interface, struct pm_error *error)
{
    const uint32_t id = variable->result->id;
    struct pm_interface_binding binding = {
        .set = decoration(module, id, SpvDecorationDescriptorSet, 0, NULL),
        .binding = decoration(module, id, SpvDecorationBinding, 0, NULL),
        .count = 1,
    };
    if (type->opcode == SpvOpTypeArray) {
        const struct pm_ir_instr *length = pm_ir_operand_instr(type, 1);
        binding.count = length ? pm_ir_operand_word(&length->operands[0]) : 1;
        type = pm_ir_operand_instr(type, 0);
    } else if (type->opcode == SpvOpTypeRuntimeArray) {
        type = pm_ir_operand_instr(type, 0);
    }
    if (binding.set >= PM_INTERFACE_SETS || interface->binding_count == PM_INTERFACE_MOST ||
        !descriptor_type(module, storage, type, &binding.type))
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "set %u, binding %u cannot be made up",
                       binding.set, binding.binding);
    binding.flat_image = is_flat_image(type);
    /* Two variables may share a binding: the first one is taken. */
    for (size_t i = 0; i < interface->binding_count; i++)
        if (interface->bindings[i].set == binding.set &&
            interface->bindings[i].binding == binding.binding)
            return true;
    interface->bindings[interface->binding_count++] = binding;
    return true;
}

static bool read_variable(const struct pm_ir_module *module, const struct pm_ir_instr *variable,
                          bool input, const struct pm_ir_instr *type,
                          struct pm_interface *interface, struct pm_error *error)
{
    const uint32_t id = variable->result->id;
    bool located = false;
    struct pm_interface_variable made = {
        .location = decoration(module, id, SpvDecorationLocation, 0, &located),
        .components = 1,
        .flat = has(module, id, SpvDecorationFlat),
    };
    if (!located)
        return true; /* a built-in */
    if (type->opcode == SpvOpTypeVector) {
        made.components = pm_ir_operand_word(&type->operands[1]);
        type = pm_ir_operand_instr(type, 0);
    }
    const bool number = type->opcode == SpvOpTypeFloat || type->opcode == SpvOpTypeInt;
    size_t *count = input ? &interface->input_count : &interface->output_count;
    if (!number || pm_ir_operand_word(&type->operands[0]) != 32 || *count == PM_INTERFACE_MOST ||
        has(module, id, SpvDecorationComponent))
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "%s at location %u cannot be made up",
                       input ? "the input" : "the output", made.location);
    made.scalar = type->opcode == SpvOpTypeFloat           ? PM_SCALAR_FLOAT
                  : pm_ir_operand_word(&type->operands[1]) ? PM_SCALAR_INT
                                                           : PM_SCALAR_UINT;
    (input ? interface->inputs : interface->outputs)[(*count)++] = made;
    return true;
}

static bool read_all(const struct pm_ir_module *module, struct pm_interface *interface,
                     struct pm_error *error)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first; i;
         i = i->next) {
        if (i->opcode != SpvOpVariable)
            continue;
        const SpvStorageClass storage = (SpvStorageClass)pm_ir_operand_word(&i->operands[0]);
        const struct pm_ir_instr *type = pm_ir_operand_instr(pm_ir_type_of(i), 1);
        bool ok = true;
        if (storage == SpvStorageClassInput || storage == SpvStorageClassOutput)
            ok = read_variable(module, i, storage == SpvStorageClassInput, type, interface, error);
        else if (storage == SpvStorageClassUniformConstant || storage == SpvStorageClassUniform ||
                 storage == SpvStorageClassStorageBuffer)
            ok = read_binding(module, i, storage, type, interface, error);
        if (!ok)
            return false;
    }
    return true;
}

bool pm_interface_read(const uint32_t *words, size_t count, struct pm_interface *interface,
                       struct pm_error *error)
{
    *interface = (struct pm_interface){0};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    const bool ok = read_all(module, interface, error);
    pm_ir_module_destroy(module);
    return ok;
}

/* ---- the vertex shader ---- */

static const char *const scalar_names[] = {"float", "int", "uint"};

static void type_name(const struct pm_interface_variable *variable, char *name, size_t size)
{
    if (variable->components == 1)
        snprintf(name, size, "%s", scalar_names[variable->scalar]);
    else
        snprintf(name, size, "%s%u", scalar_names[variable->scalar], variable->components);
}

static bool write_interface(const struct pm_interface *interface, bool covers,
                            struct pm_buffer *text)
{
    bool ok = pm_buffer_append_string(text, "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
                                            "OpEntryPoint Vertex %main \"main\" %position");
    ok = ok && (!covers || pm_buffer_append_string(text, " %place"));
    for (size_t i = 0; i < interface->input_count; i++)
        ok = ok && pm_buffer_printf(text, " %%in%zu %%out%zu", i, i);
    ok = ok && pm_buffer_append_string(text, "\nOpDecorate %position BuiltIn Position\n") &&
         (!covers ||
          pm_buffer_printf(text, "OpDecorate %%place Location %zu\n", interface->input_count));
    for (size_t i = 0; i < interface->input_count; i++) {
        const struct pm_interface_variable *v = &interface->inputs[i];
        ok = ok && pm_buffer_printf(text,
                                    "OpDecorate %%in%zu Location %zu\n"
                                    "OpDecorate %%out%zu Location %u\n",
                                    i, i, i, v->location);
        if (ok && (v->flat || v->scalar != PM_SCALAR_FLOAT))
            ok = pm_buffer_printf(text, "OpDecorate %%out%zu Flat\n", i);
    }
    return ok;
}

static bool write_types(const struct pm_interface *interface, struct pm_buffer *text)
{
    bool ok = pm_buffer_append_string(
        text, "%void = OpTypeVoid\n%signature = OpTypeFunction %void\n"
              "%float = OpTypeFloat 32\n%int = OpTypeInt 32 1\n%uint = OpTypeInt 32 0\n");
    for (unsigned scalar = 0; scalar < 3; scalar++)
        for (unsigned n = 1; n <= 4; n++) {
            char name[16];
            type_name(&(struct pm_interface_variable){.scalar = scalar, .components = n}, name,
                      sizeof(name));
            if (n > 1)
                ok = ok && pm_buffer_printf(text, "%%%s = OpTypeVector %%%s %u\n", name,
                                            scalar_names[scalar], n);
            ok = ok && pm_buffer_printf(text,
                                        "%%in_%s = OpTypePointer Input %%%s\n"
                                        "%%out_%s = OpTypePointer Output %%%s\n",
                                        name, name, name, name);
        }
    for (size_t i = 0; i < interface->input_count; i++) {
        char name[16];
        type_name(&interface->inputs[i], name, sizeof(name));
        ok = ok && pm_buffer_printf(text,
                                    "%%in%zu = OpVariable %%in_%s Input\n"
                                    "%%out%zu = OpVariable %%out_%s Output\n",
                                    i, name, i, name);
    }
    return ok && pm_buffer_append_string(text, "%place = OpVariable %in_float4 Input\n"
                                               "%position = OpVariable %out_float4 Output\n"
                                               "%outside = OpConstant %float 2\n"
                                               "%corner = OpConstantComposite %float4 %outside "
                                               "%outside %outside %outside\n");
}

static bool write_body(const struct pm_interface *interface, bool covers, struct pm_buffer *text)
{
    bool ok = pm_buffer_append_string(text, "%main = OpFunction %void None %signature\n"
                                            "%entry = OpLabel\n") &&
              pm_buffer_append_string(text, covers ? "%at = OpLoad %float4 %place\n"
                                                     "OpStore %position %at\n"
                                                   : "OpStore %position %corner\n");
    for (size_t i = 0; i < interface->input_count; i++) {
        char name[16];
        type_name(&interface->inputs[i], name, sizeof(name));
        ok = ok && pm_buffer_printf(text,
                                    "%%value%zu = OpLoad %%%s %%in%zu\n"
                                    "OpStore %%out%zu %%value%zu\n",
                                    i, name, i, i, i);
    }
    return ok && pm_buffer_append_string(text, "OpReturn\nOpFunctionEnd\n");
}

static bool assemble(const struct pm_buffer *text, struct pm_words *words, struct pm_error *error)
{
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
    spv_binary binary = NULL;
    spv_diagnostic why = NULL;
    bool ok = context && spvTextToBinary(context, (const char *)text->data, text->size, &binary,
                                         &why) == SPV_SUCCESS;
    if (!ok)
        pm_fail(error, PM_ERROR_STATE, "the vertex shader: %s", why ? why->error : "out of memory");
    if (ok) {
        *words = (struct pm_words){malloc(binary->wordCount * sizeof(uint32_t)), binary->wordCount};
        ok = words->data || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    if (ok)
        memcpy(words->data, binary->code, binary->wordCount * sizeof(uint32_t));
    spvDiagnosticDestroy(why);
    spvBinaryDestroy(binary);
    spvContextDestroy(context);
    return ok;
}

bool pm_interface_vertex(const struct pm_interface *interface, bool covers, struct pm_words *words,
                         struct pm_error *error)
{
    struct pm_buffer text;
    *words = (struct pm_words){0};
    pm_buffer_init(&text, 1u << 20);
    const bool ok = (write_interface(interface, covers, &text) && write_types(interface, &text) &&
                     write_body(interface, covers, &text)) ||
                    pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    const bool assembled = ok && assemble(&text, words, error);
    pm_buffer_finish(&text);
    return assembled;
}
