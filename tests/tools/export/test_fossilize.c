/* A stored pipeline in a Fossilize database: with its own shader as it is, with another one under a
 * name of its own, and so all that is linked from it. What the file looks like:
 * tests/system/foz.sh. */
#include "tools/export/fossilize_pipeline.h"

#include "profile/fossilize.h"
#include "tests/cmocka_includes.h"
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LIBRARY "00000000000000b1"
#define LINKED "00000000000000b2"
#define DOCUMENT(left_out)                                                                         \
    "{\"version\":6,\"pipelineLayouts\":{\"00000000000000a1\":{\"flags\":0}},"                     \
    "\"graphicsPipelines\":{\"" LIBRARY "\":{\"layout\":\"00000000000000a1\",\"stages\":["         \
    "{\"name\":\"own\",\"module\":\"00000000000000c1\",\"specializationInfo\":{}}]},"              \
    "\"" LINKED "\":{\"pNext\":[{\"sType\":1000290000,\"libraries\":[\"" LIBRARY "\"]}]}},"        \
    "\"piecemeal\":{\"type\":\"graphics\",\"pipeline\":\"" LINKED "\",\"owner\":\"" LIBRARY "\","  \
    "\"stage\":0,\"left_out\":[" left_out "]}}"

static char *bytes;
static size_t size;
static struct pm_fossilize_file file;

static int begin(void **state)
{
    (void)state;
    pm_fossilize_begin(&file, open_memstream(&bytes, &size));
    return 0;
}

static int end(void **state)
{
    (void)state;
    pm_fossilize_finish(&file);
    fclose(file.out);
    free(bytes);
    return 0;
}

static uint32_t number_at(size_t at)
{
    const unsigned char *from = (const unsigned char *)bytes + at;
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

/* The object of an entry, the caller's; its hash. NULL: there are not so many. */
static cJSON *entry(unsigned index, unsigned tag, uint64_t *hash)
{
    static char text[4096];
    size_t at = 16;
    fflush(file.out);
    for (; index > 0 && at < size; index--)
        at += 56 + number_at(at + 40);
    if (at >= size)
        return NULL;
    char name[17] = "";
    memcpy(name, bytes + at + 24, 16);
    *hash = strtoull(name, NULL, 16);
    assert_int_equal(bytes[at + 23], '0' + (int)tag);
    uLongf length = sizeof text - 1;
    assert_int_equal(
        uncompress((Bytef *)text, &length, (const Bytef *)bytes + at + 56, number_at(at + 40)),
        Z_OK);
    text[length] = '\0';
    cJSON *document = cJSON_Parse(text);
    cJSON *section = cJSON_DetachItemViaPointer(document, document->child->next);
    cJSON *object = cJSON_DetachItemFromObjectCaseSensitive(section, name);
    assert_non_null(object);
    cJSON_Delete(section);
    cJSON_Delete(document);
    return object;
}

static void says(const cJSON *object, const char *expected)
{
    char *text = cJSON_PrintUnformatted(object);
    assert_string_equal(text, expected);
    cJSON_free(text);
}

static void with_its_own_shader_and_with_another(void **state)
{
    (void)state;
    const struct pm_stored_pipeline pipeline = {.document = DOCUMENT("")};
    const struct pm_fossilize_shader shader = {.module = 0xd1, .entry_point = "main"};
    struct pm_error error = {0};
    uint64_t hash, library, linked;
    assert_true(pm_fossilize_pipeline(&file, &pipeline, NULL, &hash, &error));
    assert_int_equal(hash, 0xb2);
    assert_true(pm_fossilize_pipeline(&file, &pipeline, &shader, &hash, &error));
    assert_int_not_equal(hash, 0xb2);
    /* The layout is there once. */
    cJSON *object = entry(0, PM_FOSSILIZE_PIPELINE_LAYOUT, &library);
    assert_int_equal(library, 0xa1);
    cJSON_Delete(object);
    object = entry(1, PM_FOSSILIZE_GRAPHICS_PIPELINE, &library);
    assert_int_equal(library, 0xb1);
    cJSON_Delete(object);
    object = entry(2, PM_FOSSILIZE_GRAPHICS_PIPELINE, &linked);
    assert_int_equal(linked, 0xb2);
    cJSON_Delete(object);
    object = entry(3, PM_FOSSILIZE_GRAPHICS_PIPELINE, &library);
    says(object, "{\"layout\":\"00000000000000a1\",\"stages\":[{\"name\":\"main\","
                 "\"module\":\"00000000000000d1\"}]}");
    cJSON_Delete(object);
    object = entry(4, PM_FOSSILIZE_GRAPHICS_PIPELINE, &linked);
    assert_int_equal(linked, hash);
    const cJSON *libraries =
        cJSON_GetObjectItem(cJSON_GetObjectItem(object, "pNext")->child, "libraries");
    assert_int_equal(strtoull(libraries->child->valuestring, NULL, 16), library);
    cJSON_Delete(object);
    assert_null(entry(5, PM_FOSSILIZE_GRAPHICS_PIPELINE, &linked));
}

static void what_cannot_be_told_is_refused(void **state)
{
    (void)state;
    struct pm_stored_pipeline pipeline = {.document = DOCUMENT("1000099001")};
    struct pm_error error = {0};
    uint64_t hash;
    assert_false(pm_fossilize_pipeline(&file, &pipeline, NULL, &hash, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    assert_string_equal(error.message, "it has a structure of type 1000099001");
    pipeline.document = "{\"version\":6}";
    assert_false(pm_fossilize_pipeline(&file, &pipeline, NULL, &hash, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    pipeline.document = "[";
    assert_false(pm_fossilize_pipeline(&file, &pipeline, NULL, &hash, &error));
    fflush(file.out);
    assert_int_equal(size, 16); /* the head alone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(with_its_own_shader_and_with_another, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_told_is_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
