#include "profile/profile.h"
#include "tests/cmocka_includes.h"
#include "tests/profile/random_profile.h"
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

static void random_profiles_round_trip(void **state)
{
    (void)state;
    struct pm_random random;
    pm_random_init(&random, 7);
    for (int i = 0; i < 300; i++) {
        struct pm_arena *arena = pm_arena_create(0);
        struct pm_profile profile = pm_random_profile(&random, arena, 1 + (uint32_t)i % 40, 30),
                          back;
        struct pm_buffer wire;
        struct pm_error error = {0};
        pm_buffer_init(&wire, 1 << 24);
        if (!pm_profile_encode(&profile, &wire, &error) ||
            !pm_profile_decode(wire.data, wire.size, NULL, arena, &back, &error))
            fail_msg("%s", error.message);
        assert_true(pm_same_profile(&profile, &back));
        pm_buffer_finish(&wire);
        pm_arena_destroy(arena);
    }
}

/* A message of 65,000 empty shaders, two bytes each: it must not grow a hundredfold in memory. */
static void small_messages_cannot_grow_large(void **state)
{
    (void)state;
    static uint8_t wire[130000];
    for (size_t i = 0; i < sizeof(wire); i += 2)
        wire[i] = 0x32;
    struct pm_arena *arena = pm_arena_create(1 << 20);
    struct pm_profile profile;
    struct pm_error error;
    assert_false(pm_profile_decode(wire, sizeof(wire), NULL, arena, &profile, &error));
    pm_arena_destroy(arena);
}

static void encoding_refuses_what_decoding_would(void **state)
{
    (void)state;
    struct pm_point_counts point = {.point = 3, .entry_lanes = 4, .counts = {5, 6, 1}};
    struct pm_shader_profile shader = {.environment = {.subgroup_size = 4},
                                       .kind = PM_KIND_BLOCK,
                                       .space = 4,
                                       .points = &point,
                                       .point_count = 1};
    struct pm_profile profile = {
        .game = "g", .scene = "", .layer_version = "", .shaders = &shader, .shader_count = 1};
    struct pm_buffer out;
    struct pm_error error;
    pm_buffer_init(&out, 4096);
    assert_false(pm_profile_encode(&profile, &out, &error));
    assert_string_equal(error.message,
                        "profile: shader 0: point 3: field counts: uniform lanes are above lanes");
    assert_int_equal(out.size, 0);
    point.counts[1] = 5;
    assert_true(pm_profile_encode(&profile, &out, &error));
    pm_buffer_finish(&out);
}

/* DESIGN: about 7.6 kB for 150 shaders of 8 points, compressed. */
static void wire_size_is_as_designed(void **state)
{
    (void)state;
    struct pm_random random;
    struct pm_arena *arena = pm_arena_create(0);
    pm_random_init(&random, 3);
    struct pm_shader_profile shaders[150] = {0};
    for (uint32_t s = 0; s < 150; s++) {
        struct pm_point_counts *points = pm_arena_zalloc(arena, 8, sizeof(*points));
        shaders[s] = (struct pm_shader_profile){.key = pm_shader_key_compute("", &s, 1),
                                                .environment = {.subgroup_size = 32},
                                                .kind = PM_KIND_BLOCK,
                                                .space = 30,
                                                .points = points,
                                                .point_count = 8};
        uint32_t lanes = 1000 + pm_random_below(&random, 2000000);
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t some = pm_random_below(&random, 2) ? lanes : pm_random_below(&random, lanes);
            points[i] = (struct pm_point_counts){.point = i * 3,
                                                 .calls = 1,
                                                 .entry_lanes = lanes,
                                                 .entry_subgroups = lanes / 30,
                                                 .counts = {some, some / 2, some / 20}};
        }
    }
    struct pm_profile profile = {
        .game = "g", .scene = "", .layer_version = "", .shaders = shaders, .shader_count = 150};
    struct pm_buffer wire, packed;
    struct pm_error error;
    pm_buffer_init(&wire, 1 << 20);
    pm_buffer_init(&packed, 1 << 20);
    assert_true(pm_profile_encode(&profile, &wire, &error));
    assert_true(pm_compress(wire.data, wire.size, &packed, &error));
    print_message("150 shaders of 8 points: %zu bytes, %zu compressed\n", wire.size, packed.size);
    assert_true(packed.size < 24000);
    pm_buffer_finish(&wire);
    pm_buffer_finish(&packed);
    pm_arena_destroy(arena);
}

static void json_says_all(void **state)
{
    (void)state;
    struct pm_random random;
    struct pm_arena *arena = pm_arena_create(0);
    pm_random_init(&random, 5);
    struct pm_profile profile = pm_random_profile(&random, arena, 20, 20);
    struct pm_buffer out;
    struct pm_error error;
    pm_buffer_init(&out, 1 << 22);
    assert_true(pm_profile_to_json(&profile, &out, &error));
    cJSON *root = cJSON_Parse((char *)out.data);
    assert_non_null(root);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(root, "game")), profile.game);
    const cJSON *shaders = cJSON_GetObjectItem(root, "shaders");
    assert_int_equal(cJSON_GetArraySize(shaders), profile.shader_count);
    for (size_t i = 0; i < profile.shader_count; i++) {
        const struct pm_shader_profile *shader = &profile.shaders[i];
        const cJSON *object = cJSON_GetArrayItem(shaders, (int)i);
        char key[PM_SHADER_KEY_TEXT];
        pm_shader_key_format(&shader->key, key);
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(object, "key")), key);
        const cJSON *original = cJSON_GetObjectItem(object, "original");
        assert_int_equal(original != NULL, !pm_shader_key_is_none(&shader->original));
        pm_shader_key_format(&shader->original, key);
        assert_true(!original || strcmp(cJSON_GetStringValue(original), key) == 0);
        const cJSON *points = cJSON_GetObjectItem(object, "points");
        assert_int_equal(cJSON_GetArraySize(points), shader->point_count);
        for (size_t p = 0; p < shader->point_count; p++) {
            static const char *const names[][3] = {
                [PM_KIND_BLOCK] = {"lanes", "uniform_lanes", "subgroups"},
                [PM_KIND_ZERO] = {"writes", "zero_writes"},
                [PM_KIND_TIMING] = {"original_ns", "variant_ns", "spread_ns"},
                [PM_KIND_CONSTANT] = {"loads", "same", "zero"},
                [PM_KIND_VARIANT] = {"most", "said"},
                [PM_KIND_TURNS] = {"lanes", "uniform_lanes", "subgroups"}};
            const cJSON *point = cJSON_GetArrayItem(points, (int)p);
            for (int c = 0; c < 3 && names[shader->kind][c]; c++)
                assert_true(
                    cJSON_GetNumberValue(cJSON_GetObjectItem(point, names[shader->kind][c])) ==
                    (double)shader->points[p].counts[c]);
            const cJSON *alone = cJSON_GetObjectItem(point, "lanes_alone");
            assert_int_equal(alone != NULL, shader->points[p].lanes_alone > 0);
            assert_true(!alone ||
                        cJSON_GetNumberValue(alone) == (double)shader->points[p].lanes_alone);
            assert_int_equal(cJSON_GetArraySize(point),
                             (names[shader->kind][2] ? 7 : 6) + (alone != NULL));
        }
    }
    cJSON_Delete(root);
    pm_buffer_finish(&out);
    pm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_profiles_round_trip),
        cmocka_unit_test(small_messages_cannot_grow_large),
        cmocka_unit_test(encoding_refuses_what_decoding_would),
        cmocka_unit_test(wire_size_is_as_designed),
        cmocka_unit_test(json_says_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
