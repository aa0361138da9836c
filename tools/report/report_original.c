#include "tools/report/report_original.h"
#include "shader_rewrite/ir/ir_module.h"
#include "tools/report/report_costs.h"
#include <spirv/unified1/NonSemanticShaderDebugInfo100.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 64, MOST_LINES = 1 << 20 };

struct files {
    struct pm_report_text list[MOST_FILES];
    double *dearest[MOST_FILES]; /* by line: the cost of its dearest instruction so far */
    uint32_t count;
    struct pm_arena *arena;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
    return slash > back ? slash + 1 : back ? back + 1 : path;
}

/* ---- the text ---- */

/* glslang writes what it was told before the text, and then where its first line is. */
static const char *skip_preface(const char *text)
{
    static const char processed[] = "// OpModuleProcessed ", first[] = "#line 1\n";
    const char *at = text;
    while (strncmp(at, processed, strlen(processed)) == 0 && strchr(at, '\n'))
        at = strchr(at, '\n') + 1;
    return strncmp(at, first, strlen(first)) == 0 ? at + strlen(first) : text;
}

static bool split(const char *text, struct pm_arena *arena, struct pm_report_text *file)
{
    size_t most = 1;
    for (const char *at = text; *at; at++)
        most += *at == '\n';
    if (most > MOST_LINES)
        return true;
    file->lines = pm_arena_zalloc(arena, most, sizeof(*file->lines));
    while (file->lines && *text) {
        const size_t size = strcspn(text, "\n");
        file->lines[file->line_count++] = (struct pm_report_line){
            .text = pm_arena_printf(arena, "%.*s",
                                    (int)(size && text[size - 1] == '\r' ? size - 1 : size), text),
            .block = PM_NO_BLOCK,
        };
        if (!file->lines[file->line_count - 1].text)
            return false;
        text += size + (text[size] == '\n');
    }
    return file->lines != NULL;
}

static const char *text_of(const struct pm_ir_instr *string)
{
    return string && string->opcode == SpvOpString ? pm_ir_operand_text(&string->operands[0])
                                                   : NULL;
}

static bool add(struct files *files, const char *path, const char *text)
{
    if (!path || !text || !*text || files->count == MOST_FILES)
        return true;
    struct pm_report_text *file = &files->list[files->count++];
    double **dearest = &files->dearest[file - files->list];
    file->name = pm_arena_strdup(files->arena, path);
    return file->name && split(skip_preface(text), files->arena, file) &&
           (*dearest = pm_arena_zalloc(files->arena, file->line_count + 1, sizeof(**dearest)));
}

static char *join(const char *a, const char *b, struct pm_arena *arena)
{
    return a && b ? pm_arena_printf(arena, "%s%s", a, b) : NULL;
}

/* OpSource, with what continues it. */
static bool read_sources(const struct pm_ir_module *module, struct files *files)
{
    bool ok = true;
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_SOURCE].first; ok && i;
         i = i->next) {
        if (i->opcode != SpvOpSource || i->operand_count < 4)
            continue;
        const char *path = text_of(pm_ir_operand_instr(i, 2)),
                   *text = pm_ir_operand_text(&i->operands[3]);
        for (; text && i->next && i->next->opcode == SpvOpSourceContinued; i = i->next)
            text = join(text, pm_ir_operand_text(&i->next->operands[0]), files->arena);
        ok = text && add(files, path, text);
    }
    return ok;
}

static uint32_t debug_number(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *set =
        instr->opcode == SpvOpExtInst ? pm_ir_operand_instr(instr, 0) : NULL;
    const bool known =
        set && set->opcode == SpvOpExtInstImport &&
        strcmp(pm_ir_operand_text(&set->operands[0]), "NonSemantic.Shader.DebugInfo.100") == 0;
    return known ? pm_ir_operand_word(&instr->operands[1]) : 0;
}

/* DebugSource, with what continues it. */
static bool read_debug_sources(const struct pm_ir_module *module, struct files *files)
{
    bool ok = true;
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first; ok && i;
         i = i->next) {
        if (debug_number(i) != NonSemanticShaderDebugInfo100DebugSource || i->operand_count < 4)
            continue;
        const char *path = text_of(pm_ir_operand_instr(i, 2)),
                   *text = text_of(pm_ir_operand_instr(i, 3));
        for (; text && i->next &&
               debug_number(i->next) == NonSemanticShaderDebugInfo100DebugSourceContinued;
             i = i->next)
            text = join(text, text_of(pm_ir_operand_instr(i->next, 2)), files->arena);
        ok = add(files, path, text);
    }
    return ok;
}

/* ---- what its lines cost ---- */

static struct pm_report_text *find(struct files *files, const char *path)
{
    for (uint32_t i = 0; path && i < files->count; i++)
        if (strcmp(files->list[i].name, path) == 0)
            return &files->list[i];
    return NULL;
}

/* A line is of the block of its dearest instruction. */
static void give(struct files *files, const struct pm_ir_instr *line, uint32_t block, double cost)
{
    struct pm_report_text *file = find(files, text_of(pm_ir_operand_instr(line, 0)));
    const uint32_t number = pm_ir_operand_word(&line->operands[1]);
    if (!file || number == 0 || number > file->line_count)
        return;
    struct pm_report_line *to = &file->lines[number - 1];
    double *dearest = &files->dearest[file - files->list][number - 1];
    to->cost += cost;
    if (to->block == PM_NO_BLOCK || cost > *dearest) {
        to->block = block;
        *dearest = cost;
    }
}

static void give_block(struct files *files, const struct pm_ir_block *block, uint32_t number,
                       const struct pm_report_costs *costs)
{
    const struct pm_ir_instr *line = NULL;
    for (const struct pm_ir_instr *i = block->body.first; i; i = i->next) {
        if (i->opcode == SpvOpLine)
            line = i;
        else if (i->opcode == SpvOpNoLine)
            line = NULL;
        else if (line && i->opcode != SpvOpPhi)
            give(files, line, number, pm_report_cost_share(costs, i->place));
    }
}

static int compare_costs(const void *a, const void *b)
{
    const struct pm_report_text *x = a, *y = b;
    double cost[2] = {0, 0};
    for (size_t i = 0; i < x->line_count; i++)
        cost[0] += x->lines[i].cost;
    for (size_t i = 0; i < y->line_count; i++)
        cost[1] += y->lines[i].cost;
    return (cost[0] < cost[1]) - (cost[0] > cost[1]);
}

static bool give_lines(const struct pm_report_source *source, struct files *files,
                       struct pm_report_shader *shader)
{
    const struct pm_canonicalize_info info = {
        .words = source->original,
        .word_count = source->original_count,
        .stage = source->stage,
        .entry_point = source->entry_point,
        .spec_values = source->spec_values,
        .spec_value_count = source->spec_value_count,
        .target = source->target,
        .keep_lines = true,
    };
    struct pm_words words = {0};
    struct pm_block_points points = {0};
    struct pm_report_costs costs;
    struct pm_ir_module *module = NULL;
    bool ok = pm_canonicalize(&info, &words, NULL) &&
              pm_points_blocks(words.data, words.count, &points, NULL) &&
              points.count == shader->block_count &&
              pm_report_costs_build(words.data, words.count, &points, shader->estimates,
                                    source->vendor, files->arena, &costs, NULL) &&
              (module = pm_ir_parse(words.data, words.count, NULL));
    for (uint32_t i = 0; ok && i < points.count; i++)
        give_block(files, pm_ir_find(module, points.points[i].label)->block, i, &costs);
    pm_ir_module_destroy(module);
    pm_block_points_finish(&points);
    pm_words_finish(&words);
    return ok;
}

/* Files of which nothing runs are left out. */
static bool keep(struct files *files, struct pm_report_shader *shader)
{
    shader->files = pm_arena_zalloc(files->arena, files->count + 1u, sizeof(*shader->files));
    for (uint32_t i = 0; shader->files && i < files->count; i++) {
        bool used = false;
        for (size_t line = 0; line < files->list[i].line_count; line++)
            used = used || files->list[i].lines[line].block != PM_NO_BLOCK;
        files->list[i].name = base_name(files->list[i].name);
        if (used)
            shader->files[shader->file_count++] = files->list[i];
    }
    if (shader->files)
        qsort(shader->files, shader->file_count, sizeof(*shader->files), compare_costs);
    return shader->files != NULL;
}

bool pm_report_original_build(const struct pm_report_source *source, struct pm_arena *arena,
                              struct pm_report_shader *shader, struct pm_error *error)
{
    struct files *files = pm_arena_zalloc(arena, 1, sizeof(*files));
    struct pm_ir_module *module = source->original && files
                                      ? pm_ir_parse(source->original, source->original_count, NULL)
                                      : NULL;
    bool ok = files != NULL;
    if (module) {
        files->arena = arena;
        ok = read_sources(module, files) && read_debug_sources(module, files);
    }
    if (ok && module && files->count > 0 && give_lines(source, files, shader))
        ok = keep(files, shader);
    pm_ir_module_destroy(module);
    return ok || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}
