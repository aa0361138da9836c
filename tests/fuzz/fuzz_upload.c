/* Any bytes as an upload, a pulled database or list of races: compressed as they stand, and
 * uncompressed, since a fuzzer does not find its way through zstd's entropy coding. */
#include "profile/database.h"
#include "profile/races.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A database of one shader that is not published, with a deficit. */
#define DATABASE                                                                                   \
    "\x08\x01\x12\x01g\x18\x05\x22\x27\x0a\x18"                                                    \
    "0123456789abcdef01234567"                                                                     \
    "\x12\x02\x08\x08\x18\x01\x28\x04\x3a\x01\x03\x40\x07"

const struct pm_fuzz_input pm_fuzz_inputs[] = {
    PM_FUZZ_TEXT(PM_FUZZ_PROFILE),
    PM_FUZZ_TEXT(PM_FUZZ_ALONE),
    PM_FUZZ_TEXT(DATABASE),
    /* Frames of one raw block without a checksum, which a fuzzer can change and keep valid. */
    PM_FUZZ_TEXT("\x28\xb5\x2f\xfd\x20\x56\xb1\x02\x00" PM_FUZZ_PROFILE),
    PM_FUZZ_TEXT("\x28\xb5\x2f\xfd\x20\x30\x81\x01\x00" DATABASE),
    PM_FUZZ_TEXT("\x28\xb5\x2f\xfd\x24\x05\x29\x00\x00"
                 "hello"
                 "\x00\x00\x00\x00"),
    PM_FUZZ_TEXT("\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00"),
    PM_FUZZ_TEXT("\x50\x2a\x4d\x18\x04\x00\x00\x00skip"),
    {NULL, 0},
};

/* What is accepted is encoded and accepted again, as the same. */
static void decode_profile(const void *data, size_t size)
{
    struct pm_arena *arena = pm_arena_create((size_t)64 << 20);
    struct pm_profile profile, again;
    struct pm_error error = {0};
    if (!arena)
        return;
    if (pm_profile_decode(data, size, NULL, arena, &profile, &error)) {
        struct pm_buffer out, json;
        pm_buffer_init(&out, (size_t)64 << 20);
        pm_buffer_init(&json, (size_t)1 << 20);
        PM_FUZZ_CHECK(pm_profile_encode(&profile, &out, &error));
        PM_FUZZ_CHECK(pm_profile_decode(out.data, out.size, NULL, arena, &again, &error));
        PM_FUZZ_CHECK(profile.shader_count == again.shader_count);
        for (size_t s = 0; s < profile.shader_count; s++) {
            const struct pm_shader_profile *a = &profile.shaders[s], *b = &again.shaders[s];
            PM_FUZZ_CHECK(a->point_count == b->point_count && a->space == b->space &&
                          a->candidates == b->candidates);
            PM_FUZZ_CHECK(a->point_count == 0 ||
                          memcmp(a->points, b->points, a->point_count * sizeof(*a->points)) == 0);
        }
        pm_profile_to_json(&profile, &json, &error);
        pm_buffer_finish(&out);
        pm_buffer_finish(&json);
    } else {
        PM_FUZZ_CHECK(error.message[0] != '\0');
    }
    pm_arena_destroy(arena);
}

static void decode_races(const void *data, size_t size)
{
    struct pm_arena *arena = pm_arena_create((size_t)1 << 28);
    struct pm_races races;
    struct pm_error error = {0};
    struct pm_buffer out;
    pm_buffer_init(&out, (size_t)1 << 28);
    if (pm_races_decode(data, size, arena, &races, &error)) {
        PM_FUZZ_CHECK(pm_races_body_encode(&races, &out, &error));
        for (size_t i = 0; i < races.race_count; i++)
            PM_FUZZ_CHECK(pm_races_find(&races, &races.races[i].key, &races.races[i].environment) ==
                          &races.races[i]);
    }
    pm_buffer_finish(&out);
    pm_arena_destroy(arena);
}

static void decode_database(const void *data, size_t size)
{
    struct pm_arena *arena = pm_arena_create((size_t)64 << 20);
    struct pm_database database;
    struct pm_error error = {0};
    if (!arena)
        return;
    if (pm_database_decode(data, size, arena, &database, &error)) {
        struct pm_buffer out;
        pm_buffer_init(&out, (size_t)64 << 20);
        PM_FUZZ_CHECK(pm_database_encode(&database, &out, &error));
        for (size_t s = 0; s < database.shader_count; s++) {
            const struct pm_shader_estimates *shader = &database.shaders[s];
            PM_FUZZ_CHECK(
                pm_database_find(&database, &shader->key, &shader->environment, shader->kind));
            for (uint32_t i = 0; shader->points && i < shader->space; i++)
                PM_FUZZ_CHECK(isfinite(shader->points[i].measures[0].mean));
        }
        pm_buffer_finish(&out);
    } else {
        PM_FUZZ_CHECK(error.message[0] != '\0');
    }
    pm_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_buffer raw;
    struct pm_error error = {0};
    pm_buffer_init(&raw, (size_t)1 << 20);
    if (pm_decompress(data, size, &raw, &error)) {
        PM_FUZZ_CHECK(raw.size <= raw.cap);
        decode_profile(raw.data, raw.size);
        decode_database(raw.data, raw.size);
        decode_races(raw.data, raw.size);
    } else {
        PM_FUZZ_CHECK(error.message[0] != '\0' && raw.size == 0);
    }
    pm_buffer_finish(&raw);
    decode_profile(data, size);
    decode_database(data, size);
    decode_races(data, size);
    return 0;
}
