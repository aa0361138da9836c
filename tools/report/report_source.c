#include "tools/report/report_source.h"
#include "tools/report/report_marks.h"
#include <spirv/unified1/spirv.h>
#include <spirv_cross/spirv_cross_c.h>
#include <stdlib.h>
#include <string.h>

/* What a place in the module belongs to: its block, by the label before it. NULL: out of memory. */
static uint32_t *find_blocks(const struct pm_ir_module *module, size_t word_count,
                             const struct pm_block_points *points, struct pm_arena *arena)
{
    uint32_t *blocks = pm_arena_alloc(arena, word_count * sizeof(*blocks));
    if (!blocks)
        return NULL;
    memset(blocks, 0xff, word_count * sizeof(*blocks)); /* PM_NO_BLOCK */
    for (uint32_t p = 0; p < points->count; p++) {
        const struct pm_ir_block *block = pm_ir_find(module, points->points[p].label)->block;
        blocks[block->label->place] = p;
        for (const struct pm_ir_instr *i = block->body.first; i; i = i->next)
            blocks[i->place] = p;
    }
    return blocks;
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

struct splitting {
    const uint32_t *blocks; /* by place */
    size_t word_count;
    struct pm_report_line *lines;
    size_t count;
    uint32_t block;
    size_t place; /* of the last mark; 0: none since the function began */
};

static void take_mark(struct splitting *s, const char *text)
{
    const unsigned long place = strtoul(text, NULL, 10);
    if (place >= s->word_count)
        return;
    s->block = s->blocks[place];
    s->place = place;
}

static void take_line(struct splitting *s, char *text)
{
    /* What keeps a value apart, and the empty lines that it leaves. */
    if (strstr(text, PM_REPORT_KEPT) || (!*text && s->count > 0 && !*s->lines[s->count - 1].text))
        return;
    pm_report_shorten_numbers(text);
    /* An else without a block of its own holds only what an edge copies into a phi. */
    if (!strcmp(text + strspn(text, " "), "else"))
        s->block = PM_NO_BLOCK;
    const bool owned = !only_braces(text);
    s->lines[s->count++] = (struct pm_report_line){
        .text = text,
        .block = owned ? s->block : PM_NO_BLOCK,
        .place = owned && s->block != PM_NO_BLOCK ? s->place : 0,
    };
    if (text[0] == '}') { /* the function ends */
        s->block = PM_NO_BLOCK;
        s->place = 0;
    }
}

static bool split_lines(const char *glsl, struct splitting *s, struct pm_arena *arena)
{
    size_t most = 1;
    for (const char *at = glsl; *at; at++)
        most += *at == '\n';
    s->lines = pm_arena_zalloc(arena, most, sizeof(*s->lines));
    while (s->lines && *glsl) {
        const size_t size = strcspn(glsl, "\n");
        char *text = pm_arena_zalloc(arena, size + 1, 1);
        if (!text)
            return false;
        memcpy(text, glsl, size);
        glsl += size + (glsl[size] == '\n');
        if (!strncmp(text, "#line ", 6))
            take_mark(s, text + 6);
        /* The extension is ours: the marks asked for it. */
        else if (strncmp(text, "#extension GL_GOOGLE_cpp_style_line_directive", 45) != 0)
            take_line(s, text);
    }
    return s->lines != NULL;
}

/* As GLSL, with its marks as line directives. */
static bool make_lines(const struct pm_words *marked, struct splitting *splitting,
                       struct pm_arena *arena, struct pm_error *error)
{
    spvc_context context = NULL;
    const char *glsl = NULL;
    if (spvc_context_create(&context) != SPVC_SUCCESS)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    bool ok =
        compile_glsl(context, marked->data, marked->count, &glsl, error) &&
        (split_lines(glsl, splitting, arena) || pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
    spvc_context_destroy(context);
    return ok;
}

bool pm_report_source_lines(const uint32_t *words, size_t count,
                            const struct pm_block_points *points, struct pm_arena *arena,
                            struct pm_report_line **lines, size_t *line_count,
                            struct pm_error *error)
{
    struct splitting splitting = {.word_count = count, .block = PM_NO_BLOCK};
    struct pm_words marked = {0};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    splitting.blocks = module ? find_blocks(module, count, points, arena) : NULL;
    bool ok = splitting.blocks || (module && pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
    ok = ok && pm_report_mark(module, &marked, error) &&
         make_lines(&marked, &splitting, arena, error);
    pm_ir_module_destroy(module);
    pm_words_finish(&marked);
    *lines = splitting.lines;
    *line_count = splitting.count;
    return ok;
}
