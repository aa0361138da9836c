/* Any bytes as a spool file. The checksum would stop a fuzzer at the first record, so the same
 * bytes are also taken as payloads, which get their true headers here. */
#include "aggregator_client/disk/spool.h"
#include "aggregator_client/disk/spool_format.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"
#include <stdlib.h>
#include <string.h>

#define HEADER "PMSPOOL\n\x01\x00\x00\x00\x00\x00\x00\x00"

const struct pm_fuzz_input pm_fuzz_inputs[] = {
    PM_FUZZ_TEXT(HEADER),
    PM_FUZZ_TEXT(HEADER "\x05\x00\x00\x00"
                        "checksum"
                        "12345"),
    PM_FUZZ_TEXT(HEADER "\xff\xff\xff\x7f"
                        "checksum"
                        "12345"),
    PM_FUZZ_TEXT(HEADER "\x00\x00\x00\x00"
                        "checksum"),
    PM_FUZZ_TEXT("\x56" PM_FUZZ_PROFILE "\x56" PM_FUZZ_PROFILE),
    PM_FUZZ_TEXT("\x5a" PM_FUZZ_ALONE "\x56" PM_FUZZ_PROFILE),
    PM_FUZZ_TEXT("\x56" PM_FUZZ_PROFILE "\x04\x08\x02\x12\x00"),
    {NULL, 0},
};

/* Reads all that a visitor is handed, and merges it as piecemeal-sync does. */
static bool visit(void *user, const struct pm_profile *checkpoint, struct pm_error *error)
{
    for (size_t s = 0; s < checkpoint->shader_count; s++) {
        const struct pm_shader_profile *shader = &checkpoint->shaders[s];
        for (size_t i = 0; i < shader->point_count; i++)
            PM_FUZZ_CHECK(shader->points[i].point < shader->space);
    }
    return pm_profile_merge_add(user, checkpoint, error);
}

static void parse(const uint8_t *data, size_t size)
{
    struct pm_profile_merge *merge = pm_profile_merge_create();
    struct pm_error error = {0};
    uint64_t damaged_at;
    size_t count;
    if (!merge)
        return;
    if (!pm_spool_parse(data, size, visit, merge, &damaged_at, &error) || damaged_at != UINT64_MAX)
        PM_FUZZ_CHECK(error.message[0] != '\0');
    PM_FUZZ_CHECK(damaged_at == UINT64_MAX || damaged_at < size);
    struct pm_profile whole = {.game = "g", .scene = "", .layer_version = ""};
    whole.shaders = pm_profile_merge_shaders(merge, &count);
    whole.shader_count = count;
    /* What was merged of valid profiles is valid: it is what gets uploaded. */
    struct pm_buffer out;
    pm_buffer_init(&out, (size_t)64 << 20);
    if (whole.shaders && !pm_profile_encode(&whole, &out, &error))
        PM_FUZZ_CHECK(error.code == PM_ERROR_MEMORY || strstr(error.message, "more than"));
    pm_buffer_finish(&out);
    pm_profile_merge_destroy(merge);
}

/* Each payload is led by its length in one byte. */
static void parse_as_payloads(const uint8_t *data, size_t size)
{
    uint8_t *file = malloc(PM_SPOOL_HEADER + size * (PM_SPOOL_RECORD_HEADER + 1) + 1);
    if (!file)
        return;
    size_t used = PM_SPOOL_HEADER;
    pm_spool_header_fill(file, 0);
    while (size > 0) {
        uint32_t length = data[0];
        data++;
        size--;
        if (length == 0 || length > size)
            length = (uint32_t)size;
        pm_spool_record_header_fill(file + used, used, data, length);
        memcpy(file + used + PM_SPOOL_RECORD_HEADER, data, length);
        used += PM_SPOOL_RECORD_HEADER + length;
        data += length;
        size -= length;
    }
    parse(file, used);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size);
    parse_as_payloads(data, size);
    return 0;
}
