#include "tools/report/report_spirv.h"
#include "shader_rewrite/ir/spirv_tools.h"
#include <spirv/unified1/spirv.h>
#include <string.h>

enum { HEADER_WORDS = 5 };

static size_t count_lines(const char *text)
{
    size_t count = 1;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* The assembly has an instruction a line, in the order of the words. */
static bool split(char *assembly, const uint32_t *words, size_t count,
                  const struct pm_report_costs *costs, struct pm_arena *arena,
                  struct pm_report_text *text)
{
    size_t place = HEADER_WORDS;
    text->lines = pm_arena_zalloc(arena, count_lines(assembly), sizeof(*text->lines));
    for (char *at = assembly, *end; text->lines && *at && place < count; at = end) {
        const size_t size = strcspn(at, "\n");
        const uint32_t length = words[place] >> 16;
        uint32_t block = costs->block[place];
        end = at + size + (at[size] == '\n');
        at[size] = '\0';
        /* A label is not counted, and belongs to what follows. */
        if ((words[place] & 0xffff) == SpvOpLabel && place + length < count)
            block = costs->block[place + length];
        text->lines[text->line_count++] = (struct pm_report_line){
            .text = pm_arena_strdup(arena, at),
            .block = block,
            .place = block == PM_NO_BLOCK ? 0 : place,
            .cost = pm_report_cost_share(costs, place),
        };
        if (!text->lines[text->line_count - 1].text || length == 0)
            return false;
        place += length;
    }
    return text->lines != NULL;
}

bool pm_report_spirv_build(const uint32_t *words, size_t count, const struct pm_report_costs *costs,
                           struct pm_arena *arena, struct pm_report_text *text,
                           struct pm_error *error)
{
    spv_text assembly = NULL;
    spv_context context = pm_spirv_context(SPV_ENV_UNIVERSAL_1_6);
    *text = (struct pm_report_text){.name = "SPIR-V"};
    bool ok = context && spvBinaryToText(context, words, count,
                                         SPV_BINARY_TO_TEXT_OPTION_NO_HEADER |
                                             SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES,
                                         &assembly, NULL) == SPV_SUCCESS;
    char *copy = ok ? pm_arena_strdup(arena, assembly->str) : NULL;
    ok = copy && split(copy, words, count, costs, arena, text);
    spvTextDestroy(assembly);
    spvContextDestroy(context);
    return ok || pm_fail(error, PM_ERROR_UNSUPPORTED, "SPIRV-Tools cannot write it down");
}
