/* What a shader uses and writes, by which its author tells it from others. */
#include "tools/report/report_globals.h"
#include "shader_rewrite/canonical/canonical_words.h"
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

bool pm_report_globals(const struct pm_words *module, struct pm_arena *arena,
                       struct pm_report_shader *shader)
{
    size_t *name = pm_arena_zalloc(arena, module->data[3], sizeof(*name)); /* by id: its offset */
    char *uses = pm_arena_zalloc(arena, LONGEST, 1), *writes = pm_arena_zalloc(arena, LONGEST, 1);
    if (!name || !uses || !writes)
        return false;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        const uint32_t *operands = module->data + walk.at + 1;
        if (walk.opcode == SpvOpFunction)
            break;
        if (walk.opcode == SpvOpName)
            name[operands[0]] = walk.length > 2 ? walk.at + 2 : 0;
        if (walk.opcode != SpvOpVariable || !name[operands[1]])
            continue;
        const char *text = (const char *)(module->data + name[operands[1]]);
        if (!*text || strncmp(text, "gl_", 3) == 0)
            continue;
        if (is_written(operands[2]))
            append(writes, text);
        else if (is_used(operands[2]))
            append(uses, text);
    }
    shader->uses = uses;
    shader->writes = writes;
    return true;
}
