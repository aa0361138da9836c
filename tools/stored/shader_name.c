#include "tools/stored/shader_name.h"
#include "base/utf8.h"
#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/shader_rewrite.h"
#include <string.h>

enum { LONGEST = 64, DEBUG_SOURCE = 35 /* NonSemantic.Shader.DebugInfo.100 */ };

struct naming {
    const struct pm_ir_module *module;
    const char *entry_point;
    uint32_t stage;
    struct pm_arena *arena;
};

const char *pm_stored_stage(const struct pm_stored_shader *stored)
{
    return stored->stage == PM_STAGE_COMPUTE ? "compute" : "fragment";
}

/* A path's last part; NULL: there is none. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
    const char *name = slash > back ? slash + 1 : back ? back + 1 : path;
    return *name ? name : NULL;
}

static const char *text_of(const struct pm_ir_instr *string)
{
    return string && string->opcode == SpvOpString ? pm_ir_operand_text(&string->operands[0]) : "";
}

/* The file of the first source that has one. */
static const char *file_name(const struct naming *n)
{
    for (const struct pm_ir_instr *i = n->module->sections[PM_IR_SECTION_SOURCE].first; i;
         i = i->next)
        if (i->opcode == SpvOpSource && i->operand_count > 2 &&
            base_name(text_of(pm_ir_operand_instr(i, 2))))
            return base_name(text_of(pm_ir_operand_instr(i, 2)));
    for (const struct pm_ir_instr *i = n->module->sections[PM_IR_SECTION_GLOBAL].first; i;
         i = i->next) {
        if (i->opcode != SpvOpExtInst || pm_ir_operand_word(&i->operands[1]) != DEBUG_SOURCE ||
            i->operand_count < 3)
            continue;
        const struct pm_ir_instr *set = pm_ir_operand_instr(i, 0);
        if (set &&
            strncmp(pm_ir_operand_text(&set->operands[0]), "NonSemantic.Shader.DebugInfo", 28) ==
                0 &&
            base_name(text_of(pm_ir_operand_instr(i, 2))))
            return base_name(text_of(pm_ir_operand_instr(i, 2)));
    }
    return NULL;
}

static const char *name_of(const struct naming *n, const struct pm_ir_instr *variable)
{
    for (const struct pm_ir_instr *i = n->module->sections[PM_IR_SECTION_NAME].first; i;
         i = i->next)
        if (i->opcode == SpvOpName && i->operands[0].def == variable->result) {
            const char *text = pm_ir_operand_text(&i->operands[1]);
            return *text && strncmp(text, "gl_", 3) != 0 ? text : NULL;
        }
    return NULL;
}

static bool is_wanted(const struct pm_ir_instr *variable, bool output)
{
    const uint32_t class = pm_ir_operand_word(&variable->operands[0]);
    return output
               ? class == SpvStorageClassOutput
               : class == SpvStorageClassUniformConstant || class == SpvStorageClassStorageBuffer;
}

/* "a, b", as far as there is room; "": none has a name. */
static void list_variables(const struct naming *n, bool output, char list[static LONGEST])
{
    *list = '\0';
    for (const struct pm_ir_instr *i = n->module->sections[PM_IR_SECTION_GLOBAL].first; i;
         i = i->next) {
        const char *name =
            i->opcode == SpvOpVariable && is_wanted(i, output) ? name_of(n, i) : NULL;
        if (name && strlen(list) + strlen(name) + 3 < LONGEST) {
            strcat(list, *list ? ", " : "");
            strcat(list, name);
        }
    }
}

static char *name_by_words(const struct naming *n)
{
    const char *stage = n->stage == PM_STAGE_COMPUTE ? "compute" : "fragment";
    const char *file = file_name(n),
               *entry = strcmp(n->entry_point, "main") ? n->entry_point : NULL;
    char list[LONGEST];
    if (file)
        return pm_arena_printf(n->arena, "%s%s%s", file, entry ? ": " : "", entry ? entry : "");
    if (entry)
        return pm_arena_printf(n->arena, "%s", entry);
    list_variables(n, true, list);
    if (*list)
        return pm_arena_printf(n->arena, "%s → %s", stage, list);
    list_variables(n, false, list);
    return pm_arena_printf(n->arena, *list ? "%s with %s" : "%s", stage, list);
}

const char *pm_shader_name(const struct pm_stored_shader *stored, struct pm_arena *arena)
{
    if (stored->name && *stored->name)
        return stored->name;
    const bool original = stored->original_count > 0;
    struct pm_ir_module *module =
        pm_ir_parse(original ? stored->original : stored->canonical,
                    original ? stored->original_count : stored->canonical_count, NULL);
    if (!module)
        return pm_arena_strdup(arena, pm_stored_stage(stored));
    const struct naming naming = {module, stored->entry_point, stored->stage, arena};
    char *name = name_by_words(&naming);
    pm_ir_module_destroy(module);
    if (name) /* a module may say anything, and terminals obey */
        name[pm_utf8_check_line(name, strlen(name))] = '\0';
    return name && !*name ? pm_stored_stage(stored) : name;
}
