/*
 * SPIRV-Cross says nothing of where a line of its output comes from, but it passes line directives
 * on: the module gets an OpLine at the head of every block, whose line number is the block's, and
 * the #line directives in the output say which block the lines after them belong to.
 */
#include "tools/report_shader.h"
#include <spirv_cross/spirv_cross_c.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_WORDS = 5,
    OP_LINE = 8,
    OP_EXTENSION = 10,
    OP_EXT_INST_IMPORT = 11,
    OP_STRING = 7,
    OP_MEMORY_MODEL = 14,
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_CAPABILITY = 17,
    OP_VARIABLE = 59,
    OP_PHI = 245,
    OP_LABEL = 248,
    OP_NO_LINE = 317,
    OP_EXECUTION_MODE_ID = 331,
};

static bool is_preamble(uint32_t opcode)
{
    switch (opcode) {
    case OP_CAPABILITY:
    case OP_EXTENSION:
    case OP_EXT_INST_IMPORT:
    case OP_MEMORY_MODEL:
    case OP_ENTRY_POINT:
    case OP_EXECUTION_MODE:
    case OP_EXECUTION_MODE_ID:
        return true;
    default:
        return false;
    }
}

static uint32_t block_of(const struct pm_block_points *points, uint32_t label)
{
    for (uint32_t i = 0; i < points->count; i++)
        if (points->points[i].label == label)
            return i;
    return PM_NO_BLOCK;
}

/* words with the marks; room for them was allocated. The input is a validated module. */
static size_t mark_blocks(const uint32_t *words, size_t count, const struct pm_block_points *points,
                          uint32_t *out)
{
    size_t used = HEADER_WORDS;
    uint32_t file = words[3], pending = PM_NO_BLOCK;
    bool named = false;
    memcpy(out, words, HEADER_WORDS * sizeof(*out));
    out[3] = file + 1;
    for (size_t at = HEADER_WORDS; at < count;) {
        uint32_t size = words[at] >> 16, opcode = words[at] & 0xffff;
        if (!named && !is_preamble(opcode)) {
            out[used++] = 3u << 16 | OP_STRING;
            out[used++] = file;
            out[used++] = 'b';
            named = true;
        }
        if (pending != PM_NO_BLOCK && opcode != OP_PHI && opcode != OP_VARIABLE &&
            opcode != OP_LINE) {
            out[used++] = 4u << 16 | OP_LINE;
            out[used++] = file;
            out[used++] = pending;
            out[used++] = 0;
            pending = PM_NO_BLOCK;
        }
        if (opcode == OP_LABEL)
            pending = block_of(points, words[at + 1]);
        if (opcode != OP_LINE && opcode != OP_NO_LINE) {
            memcpy(&out[used], &words[at], size * sizeof(*out));
            used += size;
        }
        at += size;
    }
    return used;
}

static bool cross_failed(spvc_context context, struct pm_error *error)
{
    const char *why = spvc_context_get_last_error_string(context);
    return pm_fail(error, PM_ERROR_UNSUPPORTED, "SPIRV-Cross: %s",
                   why && *why ? why : "failed without a reason");
}

static bool compile_glsl(spvc_context context, const uint32_t *words, size_t count,
                         const char **glsl, struct pm_error *error)
{
    spvc_parsed_ir ir;
    spvc_compiler compiler;
    spvc_compiler_options options;
    if (spvc_context_parse_spirv(context, words, count, &ir) != SPVC_SUCCESS ||
        spvc_context_create_compiler(context, SPVC_BACKEND_GLSL, ir,
                                     SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler) != SPVC_SUCCESS ||
        spvc_compiler_create_compiler_options(compiler, &options) != SPVC_SUCCESS)
        return cross_failed(context, error);
    spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_GLSL_VULKAN_SEMANTICS, SPVC_TRUE);
    spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_GLSL_VERSION, 450);
    spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_EMIT_LINE_DIRECTIVES, SPVC_TRUE);
    if (spvc_compiler_install_compiler_options(compiler, options) != SPVC_SUCCESS ||
        spvc_compiler_compile(compiler, glsl) != SPVC_SUCCESS)
        return cross_failed(context, error);
    return true;
}

/* Nothing but braces: a line that no block owns. */
static bool only_braces(const char *text)
{
    return text[strspn(text, " \t{};")] == 0 || !strcmp(text + strspn(text, " \t"), "else");
}

static bool split_lines(const char *glsl, uint32_t blocks, struct pm_arena *arena,
                        struct pm_report_line **lines, size_t *line_count)
{
    size_t most = 1, used = 0;
    for (const char *at = glsl; *at; at++)
        most += *at == '\n';
    *lines = pm_arena_zalloc(arena, most, sizeof(**lines));
    uint32_t block = PM_NO_BLOCK;
    for (const char *at = glsl; *lines && *at;) {
        size_t size = strcspn(at, "\n");
        char *text = pm_arena_zalloc(arena, size + 1, 1);
        if (!text)
            return false;
        memcpy(text, at, size);
        at += size + (at[size] == '\n');
        unsigned long number;
        if (!strncmp(text, "#line ", 6)) {
            number = strtoul(text + 6, NULL, 10);
            block = number < blocks ? (uint32_t)number : PM_NO_BLOCK;
            continue;
        }
        if (!strncmp(text, "#extension GL_GOOGLE_cpp_style_line_directive", 45))
            continue; /* ours: the marks asked for it */
        /* An else without a block of its own holds only what an edge copies into a phi. */
        if (!strcmp(text + strspn(text, " "), "else"))
            block = PM_NO_BLOCK;
        (*lines)[used].text = text;
        (*lines)[used++].block = only_braces(text) ? PM_NO_BLOCK : block;
        if (text[0] == '}')
            block = PM_NO_BLOCK; /* the function ends */
    }
    *line_count = used;
    return *lines != NULL;
}

bool pm_report_source_lines(const uint32_t *words, size_t count,
                            const struct pm_block_points *points, struct pm_arena *arena,
                            struct pm_report_line **lines, size_t *line_count,
                            struct pm_error *error)
{
    uint32_t *marked =
        pm_arena_zalloc(arena, count + 3 + 4u * (size_t)points->count, sizeof(*marked));
    if (!marked)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    size_t marked_count = mark_blocks(words, count, points, marked);
    spvc_context context = NULL;
    if (spvc_context_create(&context) != SPVC_SUCCESS)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    const char *glsl = NULL;
    bool ok = compile_glsl(context, marked, marked_count, &glsl, error);
    if (ok && !split_lines(glsl, points->count, arena, lines, line_count))
        ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    spvc_context_destroy(context);
    return ok;
}
