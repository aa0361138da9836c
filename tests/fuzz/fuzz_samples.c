/* Any bytes as samples that wait in the storage; and as a profile, whose samples must say what it
 * says. */
#include "aggregator/intake/samples.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"
#include <stdlib.h>
#include <string.h>

/* The profile's sample. */
#define SAMPLE                                                                                     \
    "\x2e"                                                                                         \
    "0123456789abcdef01234567"                                                                     \
    "\x00\x01\x00\x08\x00\x00\x00\x00\x00\x04\x01\x01\x02\x00\x2c\x01\x20\x04\x01\x11\x10\x02"

const struct pm_fuzz_input pm_fuzz_inputs[] = {
    PM_FUZZ_TEXT(SAMPLE),
    PM_FUZZ_TEXT(SAMPLE SAMPLE),
    PM_FUZZ_TEXT(PM_FUZZ_PROFILE),
    PM_FUZZ_TEXT(PM_FUZZ_ALONE),
    PM_FUZZ_TEXT(""),
    {NULL, 0},
};

/* Reads all samples there are; how many could be read. */
static size_t read_all(const void *data, size_t size)
{
    struct pm_sample_reader reader;
    size_t count = 0;
    bool end = false;
    pm_sample_reader_init(&reader, data, size);
    for (;;) {
        struct pm_error error = {0};
        const size_t before = reader.at;
        if (!pm_sample_next(&reader, &end, &error)) {
            PM_FUZZ_CHECK(error.message[0] != '\0');
            return count;
        }
        if (end)
            return count;
        PM_FUZZ_CHECK(reader.at > before && reader.at <= size);
        const struct pm_shader_profile *shader = &reader.sample.shader;
        PM_FUZZ_CHECK(shader->point_count <= reader.sample.points_size);
        struct pm_point_counts *points = malloc((shader->point_count + 1) * sizeof(*points));
        if (points && !pm_sample_points(&reader.sample, points, &error))
            PM_FUZZ_CHECK(error.message[0] != '\0');
        free(points);
        count++;
    }
}

static void compare(const struct pm_sample *sample, const struct pm_shader_profile *shader)
{
    struct pm_error error = {0};
    struct pm_point_counts *points = malloc((shader->point_count + 1) * sizeof(*points));
    if (!points)
        return;
    PM_FUZZ_CHECK(sample->shader.point_count == shader->point_count &&
                  sample->shader.space == shader->space &&
                  sample->shader.candidates == shader->candidates &&
                  sample->shader.kind == shader->kind &&
                  memcmp(&sample->shader.key, &shader->key, sizeof(shader->key)) == 0);
    PM_FUZZ_CHECK(pm_sample_points(sample, points, &error));
    for (size_t i = 0; i < shader->point_count; i++)
        PM_FUZZ_CHECK(
            points[i].point == shader->points[i].point &&
            points[i].calls == shader->points[i].calls &&
            points[i].entry_lanes == shader->points[i].entry_lanes &&
            points[i].entry_subgroups == shader->points[i].entry_subgroups &&
            points[i].lanes_alone == shader->points[i].lanes_alone &&
            memcmp(points[i].counts, shader->points[i].counts, sizeof(points[i].counts)) == 0);
    free(points);
}

static void round_trip(const void *data, size_t size)
{
    struct pm_arena *arena = pm_arena_create((size_t)64 << 20);
    struct pm_profile profile;
    struct pm_buffer out;
    struct pm_error error = {0};
    struct pm_sample_reader reader;
    bool end = false;
    pm_buffer_init(&out, (size_t)64 << 20);
    if (arena && pm_profile_decode(data, size, NULL, arena, &profile, &error)) {
        for (size_t i = 0; i < profile.shader_count; i++)
            PM_FUZZ_CHECK(pm_sample_append(&out, profile.scene, &profile.shaders[i],
                                           i > 0 ? &profile.shaders[i - 1] : NULL));
        pm_sample_reader_init(&reader, out.data, out.size);
        for (size_t i = 0; i < profile.shader_count; i++) {
            PM_FUZZ_CHECK(pm_sample_next(&reader, &end, &error) && !end);
            compare(&reader.sample, &profile.shaders[i]);
        }
        PM_FUZZ_CHECK(pm_sample_next(&reader, &end, &error) && end);
    }
    pm_buffer_finish(&out);
    pm_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_all(data, size);
    round_trip(data, size);
    return 0;
}
