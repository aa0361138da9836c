/* The author's lines, told the one way that the optimizer carries along. canonical_passes.h. */
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/ir/ir_walk.h"

#include <spirv/unified1/NonSemanticShaderDebugInfo100.h>
#include <string.h>

static bool is_shader_debug(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *set = pm_ir_operand_instr(instr, 0);
    return set && set->opcode == SpvOpExtInstImport &&
           strcmp(pm_ir_operand_text(&set->operands[0]), "NonSemantic.Shader.DebugInfo.100") == 0;
}

/* The OpString of the file that a DebugSource is; NULL: it is none. */
static struct pm_ir_instr *file_of(const struct pm_ir_instr *source)
{
    struct pm_ir_instr *file = source && source->opcode == SpvOpExtInst && is_shader_debug(source)
                                   ? pm_ir_operand_instr(source, 2)
                                   : NULL;
    return file && file->opcode == SpvOpString ? file : NULL;
}

static struct pm_ir_instr *make_line(struct pm_ir_module *module, const struct pm_ir_instr *debug)
{
    const uint32_t number = pm_ir_operand_word(&debug->operands[1]);
    if (number == NonSemanticShaderDebugInfo100DebugNoLine)
        return pm_ir_instr_with(module, SpvOpNoLine, NULL, NULL, 0);
    if (number != NonSemanticShaderDebugInfo100DebugLine)
        return NULL;
    const struct pm_ir_instr *file = file_of(pm_ir_operand_instr(debug, 2));
    const struct pm_ir_instr *line = pm_ir_operand_instr(debug, 3);
    if (!file || !line || line->opcode != SpvOpConstant)
        return NULL;
    return pm_ir_instr_with(module, SpvOpLine, NULL,
                            PM_IR_ARGS(pm_ir_id(file->result),
                                       pm_ir_word(pm_ir_operand_word(&line->operands[0])),
                                       pm_ir_word(0)));
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    bool changed = false;
    (void)context;
    (void)error;
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        struct pm_ir_instr *debug = walk.instr;
        if (!debug->block || debug->opcode != SpvOpExtInst || !is_shader_debug(debug))
            continue;
        struct pm_ir_instr *line = make_line(module, debug);
        if (!line)
            continue;
        pm_ir_insert(&debug->block->body, debug->block, debug, line);
        pm_ir_remove_alone(debug);
        changed = true;
    }
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_take_lines = {"take lines", 0, PM_ANALYSIS_ALL, run};
