#include "tests/shader_rewrite/spirv_text.h"

#include "base/file.h"
#include "shader_rewrite/ir/spirv_tools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static spv_target_env environment_of(int spirv_minor)
{
    static const spv_target_env environments[] = {
        SPV_ENV_UNIVERSAL_1_0, SPV_ENV_UNIVERSAL_1_1, SPV_ENV_UNIVERSAL_1_2, SPV_ENV_UNIVERSAL_1_3,
        SPV_ENV_UNIVERSAL_1_4, SPV_ENV_UNIVERSAL_1_5, SPV_ENV_UNIVERSAL_1_6};
    return environments[spirv_minor];
}

struct pm_words pm_test_assemble(const char *text, int spirv_minor)
{
    spv_context context = spvContextCreate(environment_of(spirv_minor));
    spv_binary binary = NULL;
    spv_diagnostic diagnostic = NULL;
    if (spvTextToBinary(context, text, strlen(text), &binary, &diagnostic) != SPV_SUCCESS)
        fail_msg("line %zu: %s", diagnostic->position.line + 1, diagnostic->error);
    struct pm_words words = {malloc(binary->wordCount * sizeof(uint32_t)), binary->wordCount};
    assert_non_null(words.data);
    memcpy(words.data, binary->code, binary->wordCount * sizeof(uint32_t));
    spvBinaryDestroy(binary);
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return words;
}

struct pm_words pm_test_assemble_file(const char *name, int spirv_minor)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", PM_TEST_SPVASM, name);
    struct pm_buffer text;
    struct pm_error error = {0};
    pm_buffer_init(&text, 1 << 20);
    if (!pm_file_read(path, &text, &error))
        fail_msg("%s", error.message);
    struct pm_words words = pm_test_assemble((const char *)text.data, spirv_minor);
    pm_buffer_finish(&text);
    return words;
}

char *pm_test_disassemble(const struct pm_words *words)
{
    spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_6);
    spv_text text = NULL;
    assert_int_equal(spvBinaryToText(context, words->data, words->count,
                                     SPV_BINARY_TO_TEXT_OPTION_NO_HEADER |
                                         SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES,
                                     &text, NULL),
                     SPV_SUCCESS);
    char *copy = strdup(text->str);
    spvTextDestroy(text);
    spvContextDestroy(context);
    return copy;
}

int pm_test_count(const struct pm_words *words, const char *needle)
{
    char *text = pm_test_disassemble(words);
    int count = 0;
    for (const char *at = text; (at = strstr(at, needle)) != NULL; at += strlen(needle))
        count++;
    free(text);
    return count;
}
