#include "tests/shader_rewrite/differential/debug_information.h"

#include "base/buffer.h"
#include "base/random.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#define TEXT_LIMIT ((size_t)1 << 24)

enum { LINES = 4, WORD = 64 };

struct adding {
    struct pm_random random;
    struct pm_buffer text;
    char uint_type[WORD], void_type[WORD], function[WORD];
    bool has_extension, has_import, has_names, in_function, ordered, merging;
};

/* The result of a line of assembly, with its %; "" where it has none. */
static void result_of(const char *line, char *name)
{
    const char *equals = strstr(line, " = ");
    size_t length = line[0] == '%' && equals ? (size_t)(equals - line) : 0;
    assert_true(length < WORD);
    memcpy(name, line, length);
    name[length] = 0;
}

static bool is_of(const char *line, const char *opcode)
{
    const char *equals = strstr(line, " = ");
    return strncmp(line[0] == '%' && equals ? equals + 3 : line, opcode, strlen(opcode)) == 0;
}

static bool is_decoration(const char *line)
{
    return is_of(line, "OpDecorate") || is_of(line, "OpMemberDecorate");
}

/* The files, and names of half of all results. */
static void add_names(struct adding *a, const char *module)
{
    pm_buffer_append_string(&a->text, "%dbg_file = OpString \"shader.frag\"\n"
                                      "%dbg_text = OpString \"void main() {}\"\n"
                                      "%dbg_name = OpString \"main\"\n"
                                      "OpSource GLSL 450 %dbg_file \"void main() {}\"\n"
                                      "OpSourceExtension \"GL_GOOGLE_include_directive\"\n");
    for (const char *line = module; *line; line += strcspn(line, "\n") + 1) {
        char name[WORD];
        result_of(line, name);
        if (name[0] && !is_of(line, "OpExtInstImport") && pm_random_below(&a->random, 2))
            pm_buffer_printf(&a->text, "OpName %s \"n%u\"\n", name,
                             pm_random_below(&a->random, 1000));
        if (!line[strcspn(line, "\n")])
            break;
    }
}

static void add_globals(struct adding *a)
{
    for (int i = 0; i < LINES; i++)
        pm_buffer_printf(&a->text, "%%dbg_%d = OpConstant %s %d\n", i, a->uint_type, 1 + i);
    pm_buffer_printf(&a->text,
                     "%%dbg_source = OpExtInst %1$s %%dbg DebugSource %%dbg_file %%dbg_text\n"
                     "%%dbg_unit = OpExtInst %1$s %%dbg DebugCompilationUnit %%dbg_0 %%dbg_3 "
                     "%%dbg_source %%dbg_1\n"
                     "%%dbg_type = OpExtInst %1$s %%dbg DebugTypeFunction %%dbg_2 %1$s\n"
                     "%%dbg_expression = OpExtInst %1$s %%dbg DebugExpression\n"
                     "%%dbg_main = OpExtInst %1$s %%dbg DebugFunction %%dbg_name %%dbg_type "
                     "%%dbg_source %%dbg_0 %%dbg_0 %%dbg_unit %%dbg_name %%dbg_2 %%dbg_0\n"
                     "%%dbg_float = OpExtInst %1$s %%dbg DebugTypeBasic %%dbg_name %%dbg_3 "
                     "%%dbg_2 %%dbg_2\n"
                     "%%dbg_local = OpExtInst %1$s %%dbg DebugLocalVariable %%dbg_name %%dbg_float "
                     "%%dbg_source %%dbg_1 %%dbg_1 %%dbg_main %%dbg_2\n",
                     a->void_type);
}

/* Before an instruction of a body. */
static void add_line(struct adding *a)
{
    switch (pm_random_below(&a->random, 8)) {
    case 0:
    case 1:
        pm_buffer_printf(&a->text, "OpLine %%dbg_file %u %u\n", pm_random_below(&a->random, 99),
                         pm_random_below(&a->random, 9));
        break;
    case 2:
        pm_buffer_append_string(&a->text, "OpNoLine\n");
        break;
    case 3:
        pm_buffer_printf(&a->text,
                         "%%dbg_at%zu = OpExtInst %s %%dbg DebugLine %%dbg_source %%dbg_%u %%dbg_3 "
                         "%%dbg_0 %%dbg_1\n",
                         a->text.size, a->void_type, pm_random_below(&a->random, LINES));
        break;
    case 4:
        pm_buffer_printf(&a->text, "%%dbg_in%zu = OpExtInst %s %%dbg DebugScope %%dbg_main\n",
                         a->text.size, a->void_type);
        break;
    default:
        break;
    }
}

/* Behind an instruction of a body that has a result. */
static void add_value(struct adding *a, const char *name)
{
    if (name[0] && pm_random_below(&a->random, 6) == 0)
        pm_buffer_printf(&a->text,
                         "%%dbg_of%zu = OpExtInst %s %%dbg DebugValue %%dbg_local %s "
                         "%%dbg_expression\n",
                         a->text.size, a->void_type, name);
}

static void add_to_body(struct adding *a, const char *line, size_t size)
{
    char name[WORD];
    const bool leads = is_of(line, "OpPhi") || is_of(line, "OpVariable");
    const bool free =
        !leads && !is_of(line, "OpLabel") && !is_of(line, "OpFunction") && !a->merging;
    a->merging = is_of(line, "OpSelectionMerge") || is_of(line, "OpLoopMerge");
    if (free && !a->ordered) {
        a->ordered = true;
        pm_buffer_printf(&a->text,
                         "%%dbg_begin = OpExtInst %s %%dbg DebugFunctionDefinition %%dbg_main %s\n",
                         a->void_type, a->function);
    }
    if (free)
        add_line(a);
    pm_buffer_append(&a->text, line, size);
    result_of(line, name);
    if (free)
        add_value(a, name);
    a->in_function = !is_of(line, "OpFunctionEnd");
}

static void add_to_line(struct adding *a, const char *module, const char *line, size_t size)
{
    if (is_of(line, "OpFunction "))
        add_globals(a), a->in_function = true, result_of(line, a->function);
    if (a->in_function) {
        add_to_body(a, line, size);
        return;
    }
    if (!a->has_extension && !is_of(line, "OpCapability"))
        a->has_extension =
            pm_buffer_append_string(&a->text, "OpExtension \"SPV_KHR_non_semantic_info\"\n");
    if (!a->has_import && is_of(line, "OpMemoryModel"))
        a->has_import = pm_buffer_append_string(
            &a->text, "%dbg = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"\n");
    if (!a->has_names && is_decoration(line)) {
        a->has_names = true;
        add_names(a, module);
    }
    if (is_of(line, "OpTypeInt 32 0"))
        result_of(line, a->uint_type);
    if (is_of(line, "OpTypeVoid"))
        result_of(line, a->void_type);
    pm_buffer_append(&a->text, line, size);
}

struct pm_words pm_test_with_debug_information(const struct pm_words *words, uint64_t seed)
{
    struct adding a = {0};
    char *module = pm_test_disassemble(words);
    pm_random_init(&a.random, seed);
    pm_buffer_init(&a.text, TEXT_LIMIT);
    for (const char *line = module, *next; *line; line = next) {
        const char *end = strchr(line, '\n');
        assert_non_null(end);
        next = end + 1;
        while (*line == ' ')
            line++;
        add_to_line(&a, module, line, (size_t)(next - line));
    }
    free(module);
    struct pm_words out = pm_test_assemble((const char *)a.text.data, 3);
    pm_buffer_finish(&a.text);
    return out;
}
