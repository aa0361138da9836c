#include "aggregator/intake/samples.h"

#include "tests/aggregator/support.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

#define CAP ((size_t)16 << 20)

static void assert_same_shader(const struct pm_sample *sample,
                               const struct pm_shader_profile *shader, const char *scene)
{
    const struct pm_shader_profile *got = &sample->shader;
    struct pm_error error;
    assert_memory_equal(got->key.bytes, shader->key.bytes, PM_SHADER_KEY_BYTES);
    assert_memory_equal(&got->environment, &shader->environment, sizeof(got->environment));
    assert_int_equal(got->kind, shader->kind);
    assert_int_equal(got->flags, shader->flags);
    assert_int_equal(got->space, shader->space);
    assert_int_equal(got->candidates, shader->candidates);
    assert_int_equal(sample->scene_size, strlen(scene));
    assert_memory_equal(sample->scene, scene, strlen(scene));
    assert_int_equal(got->at_most_once != NULL, shader->at_most_once != NULL);
    if (shader->at_most_once)
        assert_memory_equal(got->at_most_once, shader->at_most_once, (shader->space + 7) / 8);
    assert_int_equal(got->point_count, shader->point_count);
    struct pm_point_counts *points = calloc(got->point_count + 1, sizeof(*points));
    assert_true(pm_sample_points(sample, points, &error));
    assert_memory_equal(points, shader->points, shader->point_count * sizeof(*points));
    free(points);
}

/* All that a reader finds must be what was appended, in order. */
static void assert_reads_back(const struct pm_buffer *bytes,
                              const struct pm_shader_profile *shaders, size_t count,
                              const char *scene)
{
    struct pm_sample_reader reader;
    struct pm_error error;
    bool end = false;
    pm_sample_reader_init(&reader, bytes->data, bytes->size);
    for (size_t i = 0; i < count; i++) {
        assert_true(pm_sample_next(&reader, &end, &error));
        assert_false(end);
        assert_same_shader(&reader.sample, &shaders[i], scene);
    }
    assert_true(pm_sample_next(&reader, &end, &error));
    assert_true(end);
}

static void append_all(struct pm_buffer *out, const struct pm_profile *profile)
{
    for (size_t i = 0; i < profile->shader_count; i++)
        assert_true(pm_sample_append(out, profile->scene, &profile->shaders[i],
                                     i > 0 ? &profile->shaders[i - 1] : NULL));
}

static void test_what_was_written_is_read(void **state)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_random random;
    struct pm_buffer bytes;
    (void)state;
    pm_random_init(&random, 7);
    pm_buffer_init(&bytes, CAP);
    for (int i = 0; i < 200; i++) {
        struct pm_profile *profile =
            random_profile(arena, &random, "game", 1 + pm_random_below(&random, 5),
                           1 + pm_random_below(&random, 300));
        profile->scene = i % 3 ? "" : "a cave";
        bytes.size = 0;
        append_all(&bytes, profile);
        assert_reads_back(&bytes, profile->shaders, profile->shader_count, profile->scene);
    }
    pm_buffer_finish(&bytes);
    pm_arena_destroy(arena);
}

/* Every shortcut of the encoding, the largest numbers, points that are not in order, and heads that
 * change from one sample to the next. */
static void test_all_there_may_be(void **state)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_buffer bytes;
    static const uint8_t bitmap[] = {0x12, 0x34, 0x01};
    const uint64_t most = UINT64_MAX;
    const struct pm_point_counts points[] = {
        {9, 1, 64, 2, {64, 64, 2}},
        {3, 1, 64, 2, {64, 0, 0}},
        {4, 1, 64, 2, {5, 5, 1}},
        {5, UINT32_MAX, most, most, {most, most - 1, most - 2}},
        {6, 0, 0, 0, {0, 0, 0}},
        {7, 1, 64, 2, {0, 0, 0}},
        {16, 2, 64, 2, {63, 62, 2}},
        {0, 2, 64, 2, {63, 62, 61}},
        {1, 1, 64, 0, {64, 0, 0}, 64},
        {2, 1, 64, 0, {40, 0, 0}, 40},
        {8, 1, 64, 0, {0, 0, 0}},
        {10, 3, 64, 2, {40, 8, 2}, 30},
        {11, 1, most, most, {most, 0, 0}, most},
    };
    struct pm_shader_profile shaders[4];
    (void)state;
    shaders[0] = block_shader(arena, 1, 17, points, sizeof(points) / sizeof(*points));
    shaders[0].at_most_once = bitmap;
    shaders[0].candidates = 17;
    shaders[1] = timing_shader(arena, 2, 8, 1000, 900);
    shaders[2] = shaders[0];
    shaders[2].environment = (struct pm_environment){1, 2, 3, 4, UINT32_MAX};
    shaders[2].flags = 3;
    shaders[2].candidates = 17 + 167;
    shaders[3] = block_shader(arena, 3, UINT32_MAX, points, 0);
    const struct pm_profile profile = {.scene = "scene", .shaders = shaders, .shader_count = 4};
    pm_buffer_init(&bytes, CAP);
    append_all(&bytes, &profile);
    assert_reads_back(&bytes, shaders, 4, "scene");
    assert_in_range(pm_sample_part(&shaders[0].key), 0, PM_SAMPLE_PARTS - 1);
    pm_buffer_finish(&bytes);
    pm_arena_destroy(arena);
}

/* One that waits since before samples said how many candidates are left out. */
static void test_before_what_is_left_out(void **state)
{
    struct pm_arena *arena = pm_arena_create(0);
    const struct pm_shader_profile shader = zero_shader(arena, 1, 3, NULL, 0);
    /* The rest's size, a key, not as before, kind, flags, environment, scene, space, no bitmap, no
     * points. */
    uint8_t before[] = {36, [25] = 0, 2, 0, 8, 0, 0, 0, 0, 0, 3, 0, 0};
    struct pm_sample_reader reader;
    struct pm_buffer bytes;
    struct pm_error error;
    bool end;
    (void)state;
    memcpy(before + 1, shader.key.bytes, PM_SHADER_KEY_BYTES);
    pm_sample_reader_init(&reader, before, sizeof(before));
    assert_true(pm_sample_next(&reader, &end, &error));
    assert_same_shader(&reader.sample, &shader, "");
    assert_int_equal(reader.sample.shader.candidates, 0);
    pm_buffer_init(&bytes, CAP);
    assert_true(pm_sample_append(&bytes, "", &shader, NULL));
    assert_int_equal(bytes.size, sizeof(before));
    assert_memory_equal(bytes.data, before, sizeof(before));
    /* What is said later is not known yet. */
    before[sizeof(before) - 2] = 4;
    pm_sample_reader_init(&reader, before, sizeof(before));
    assert_false(pm_sample_next(&reader, &end, &error));
    pm_buffer_finish(&bytes);
    pm_arena_destroy(arena);
}

/* A mark under which nothing is left is followed by the next one. */
static void test_marks_without_samples(void **state)
{
    static const uint8_t marks[3][PM_SAMPLE_MARK_BYTES] = {"first..", "second.", "third.."};
    struct pm_arena *arena = pm_arena_create(0);
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile shader = block_shader(arena, 1, 1, &point, 1);
    struct pm_sample_reader reader;
    struct pm_buffer bytes;
    struct pm_error error;
    bool end;
    (void)state;
    pm_buffer_init(&bytes, CAP);
    for (int i = 0; i < 3; i++) {
        assert_true(pm_sample_append_mark(&bytes, marks[i]));
        assert_true(i != 1 || pm_sample_append(&bytes, "", &shader, NULL));
    }
    pm_sample_reader_init(&reader, bytes.data, bytes.size);
    assert_true(pm_sample_next(&reader, &end, &error));
    assert_false(end);
    assert_memory_equal(reader.mark, marks[1], PM_SAMPLE_MARK_BYTES);
    assert_same_shader(&reader.sample, &shader, "");
    assert_true(pm_sample_next(&reader, &end, &error));
    assert_true(end);
    pm_buffer_finish(&bytes);
    pm_arena_destroy(arena);
}

/* Reads as far as it goes; the sanitizers say whether it went too far. */
static bool read_all(const uint8_t *data, size_t size)
{
    struct pm_sample_reader reader;
    struct pm_error error;
    bool end = false, good = true;
    pm_sample_reader_init(&reader, data, size);
    while (good && !end) {
        good = pm_sample_next(&reader, &end, &error);
        if (!good || end)
            break;
        struct pm_point_counts *points =
            calloc(reader.sample.shader.point_count + 1, sizeof(*points));
        good = pm_sample_points(&reader.sample, points, &error);
        free(points);
    }
    if (!good)
        assert_int_equal(error.code, PM_ERROR_INPUT);
    return good;
}

static void test_damage(void **state)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_random random;
    struct pm_buffer bytes;
    (void)state;
    pm_random_init(&random, 8);
    pm_buffer_init(&bytes, CAP);
    struct pm_profile *profile = random_profile(arena, &random, "game", 3, 20);
    profile->scene = "scene";
    append_all(&bytes, profile);
    for (size_t cut = 1; cut < bytes.size; cut++) {
        uint8_t *copy = malloc(cut); /* of its own size, so that reading beyond is seen */
        memcpy(copy, bytes.data, cut);
        read_all(copy, cut);
        free(copy);
    }
    assert_true(read_all(bytes.data, bytes.size));
    assert_false(read_all(bytes.data, bytes.size - 1));
    for (size_t bit = 0; bit < bytes.size * 8; bit++) {
        bytes.data[bit / 8] = (uint8_t)(bytes.data[bit / 8] ^ 1u << bit % 8);
        read_all(bytes.data, bytes.size);
        bytes.data[bit / 8] = (uint8_t)(bytes.data[bit / 8] ^ 1u << bit % 8);
    }
    pm_buffer_finish(&bytes);
    pm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written_is_read),
        cmocka_unit_test(test_all_there_may_be),
        cmocka_unit_test(test_before_what_is_left_out),
        cmocka_unit_test(test_marks_without_samples),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests_name("samples", tests, NULL, NULL);
}
