#include "tests/shader_rewrite/corpus_files.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct corpus_file *)a)->name, ((const struct corpus_file *)b)->name);
}

static void read_target(struct corpus_file *file)
{
    static const struct {
        const char *text;
        spv_target_env env;
        uint32_t minor;
        bool spirv_1_4;
    } targets[] = {
        {".vulkan1.0.", SPV_ENV_VULKAN_1_0, 0, false},
        {".vulkan1.1.", SPV_ENV_VULKAN_1_1, 1, false},
        {".vulkan1.1spv1.4.", SPV_ENV_VULKAN_1_1_SPIRV_1_4, 1, true},
        {".vulkan1.2.", SPV_ENV_VULKAN_1_2, 2, false},
        {".vulkan1.3.", SPV_ENV_VULKAN_1_3, 3, false},
    };
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        if (!strstr(file->name, targets[i].text))
            continue;
        file->target = targets[i].env;
        file->vulkan_minor = targets[i].minor;
        file->spirv_1_4 = targets[i].spirv_1_4;
        return;
    }
    fail_msg("%s: no target in its name", file->name);
}

static void read_file(struct corpus_file *file)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", PM_CORPUS_DIRECTORY, file->name);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    long bytes = ftell(stream);
    assert_true(bytes > 0 && bytes % 4 == 0);
    rewind(stream);
    file->count = (size_t)bytes / 4;
    file->words = malloc((size_t)bytes);
    assert_non_null(file->words);
    assert_int_equal(fread(file->words, 4, file->count, stream), file->count);
    fclose(stream);
}

void corpus_load(struct corpus *corpus)
{
    *corpus = (struct corpus){0};
    DIR *directory = opendir(PM_CORPUS_DIRECTORY);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 4, ".spv") != 0)
            continue;
        corpus->files = realloc(corpus->files, (corpus->count + 1) * sizeof(*corpus->files));
        assert_non_null(corpus->files);
        struct corpus_file *file = &corpus->files[corpus->count++];
        *file = (struct corpus_file){0};
        snprintf(file->name, sizeof(file->name), "%s", entry->d_name);
        read_target(file);
        read_file(file);
    }
    closedir(directory);
    assert_true(corpus->count > 0);
    qsort(corpus->files, corpus->count, sizeof(*corpus->files), by_name);
}

void corpus_finish(struct corpus *corpus)
{
    for (size_t i = 0; i < corpus->count; i++)
        free(corpus->files[i].words);
    free(corpus->files);
    *corpus = (struct corpus){0};
}

const struct corpus_file *corpus_find(const struct corpus *corpus, const char *prefix)
{
    for (size_t i = 0; i < corpus->count; i++)
        if (strncmp(corpus->files[i].name, prefix, strlen(prefix)) == 0)
            return &corpus->files[i];
    fail_msg("no shader %s in the corpus", prefix);
    return NULL;
}

void corpus_assemble(const char *text, spv_target_env env, uint32_t **words, size_t *count)
{
    spv_context context = spvContextCreate(env);
    spv_binary binary = NULL;
    spv_diagnostic diagnostic = NULL;
    spv_result_t result = spvTextToBinaryWithOptions(context, text, strlen(text),
                                                     SPV_TEXT_TO_BINARY_OPTION_PRESERVE_NUMERIC_IDS,
                                                     &binary, &diagnostic);
    if (result != SPV_SUCCESS)
        fail_msg("line %zu: %s", diagnostic->position.line, diagnostic->error);
    *count = binary->wordCount;
    *words = malloc(*count * sizeof(uint32_t));
    assert_non_null(*words);
    memcpy(*words, binary->code, *count * sizeof(uint32_t));
    spvBinaryDestroy(binary);
    spvContextDestroy(context);
}

static void print_text(spv_const_context context, const uint32_t *words, size_t count)
{
    spv_text text = NULL;
    if (spvBinaryToText(context, words, count,
                        SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_NO_HEADER,
                        &text, NULL) == SPV_SUCCESS)
        fputs(text->str, stderr);
    spvTextDestroy(text);
}

void corpus_assert_valid(const char *what, const uint32_t *words, size_t count, spv_target_env env)
{
    spv_context context = spvContextCreate(env);
    spv_const_binary_t binary = {words, count};
    spv_diagnostic diagnostic = NULL;
    if (spvValidate(context, &binary, &diagnostic) != SPV_SUCCESS) {
        print_text(context, words, count);
        fail_msg("%s: word %zu: %s", what, diagnostic->position.index, diagnostic->error);
    }
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
}
