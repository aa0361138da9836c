/* What a shader uses and writes, by which its author tells it from others. */
#include "tools/report/report_globals.h"
#include <spirv/unified1/spirv.h>
#include <string.h>

enum { LONGEST = 400 };

static bool is_written(uint32_t class)
{
    return class == SpvStorageClassOutput;
}

static bool is_used(uint32_t class)
{
    return class == SpvStorageClassInput || class == SpvStorageClassUniform ||
           class == SpvStorageClassUniformConstant || class == SpvStorageClassPushConstant ||
           class == SpvStorageClassStorageBuffer;
}

static void append(char *list, const char *name)
{
    const size_t used = strlen(list), length = strlen(name);
    if (used + length + 8 > LONGEST)
        return;
    strcat(list, used ? ", " : "");
    strcat(list, name);
}

const char **pm_report_names(const struct pm_ir_module *module, struct pm_arena *arena)
{
    const char **names = pm_arena_zalloc(arena, module->bound, sizeof(*names));
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_NAME].first; names && i;
         i = i->next)
        if (i->opcode == SpvOpName && *pm_ir_operand_text(&i->operands[1]))
            names[pm_ir_operand_id(&i->operands[0])] = pm_ir_operand_text(&i->operands[1]);
    return names;
}

static bool fill(const struct pm_ir_module *module, struct pm_arena *arena,
                 struct pm_report_shader *shader)
{
    const char **names = pm_report_names(module, arena);
    char *uses = pm_arena_zalloc(arena, LONGEST, 1), *writes = pm_arena_zalloc(arena, LONGEST, 1);
    if (!names || !uses || !writes)
        return false;
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first; i;
         i = i->next) {
        const char *text = i->opcode == SpvOpVariable ? names[i->result->id] : NULL;
        if (!text || strncmp(text, "gl_", 3) == 0)
            continue;
        const uint32_t class = pm_ir_operand_word(&i->operands[0]);
        if (is_written(class))
            append(writes, text);
        else if (is_used(class))
            append(uses, text);
    }
    shader->uses = uses;
    shader->writes = writes;
    return true;
}

bool pm_report_globals(const struct pm_words *words, struct pm_arena *arena,
                       struct pm_report_shader *shader, struct pm_error *error)
{
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, error);
    const bool ok =
        module && (fill(module, arena, shader) || pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
    pm_ir_module_destroy(module);
    return ok;
}
