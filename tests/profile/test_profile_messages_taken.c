/* Messages as any client may send them: what is taken, and within which limits. */
#include "tests/cmocka_includes.h"
#include "tests/profile/message.h"
#include <stdlib.h>
#include <string.h>

static void takes_every_kind(void **state)
{
    (void)state;
    static void (*const kinds[])(struct message *) = {message_make_zero, message_make_timing,
                                                      message_make_constant};
    static const enum pm_kind made[] = {PM_KIND_ZERO, PM_KIND_TIMING, PM_KIND_CONSTANT};
    for (int which = 0; which < 3; which++) {
        struct message f;
        message_init(&f);
        kinds[which](&f);
        uint8_t wire[4096];
        size_t size = piecemeal__profile__pack(&f.profile, wire);
        struct pm_arena *arena = pm_arena_create(0);
        struct pm_profile profile;
        struct pm_error error = {0};
        if (!pm_profile_decode(wire, size, NULL, arena, &profile, &error))
            fail_msg("%s", error.message);
        assert_int_equal(profile.shaders[1].kind, made[which]);
        assert_int_equal(profile.shaders[1].points[0].counts[1], 90);
        pm_arena_destroy(arena);
    }
}

/* Nobody before can read it, so it is there only where lanes were counted alone. */
static void says_which_lanes_were_counted_alone(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        struct pm_point_counts points[] = {
            {.point = 0, .entry_lanes = 64, .entry_subgroups = 8, .counts = {40, 8, 6}},
            {.point = 1, .entry_lanes = 64, .entry_subgroups = 8, .counts = {50, 16, 5}}};
        const struct pm_shader_profile shader = {.environment.subgroup_size = 8,
                                                 .kind = PM_KIND_BLOCK,
                                                 .space = 2,
                                                 .points = points,
                                                 .point_count = 2};
        const struct pm_profile profile = {.game = "game",
                                           .scene = "",
                                           .layer_version = "",
                                           .shaders = &shader,
                                           .shader_count = 1};
        struct pm_arena *arena = pm_arena_create(0);
        struct pm_profile decoded;
        struct pm_buffer wire, json;
        struct pm_error error;
        points[1].lanes_alone = which ? 30 : 0;
        pm_buffer_init(&wire, 1 << 16);
        pm_buffer_init(&json, 1 << 16);
        assert_true(pm_profile_encode(&profile, &wire, &error));
        assert_true(pm_profile_decode(wire.data, wire.size, NULL, arena, &decoded, &error));
        assert_memory_equal(decoded.shaders[0].points, points, sizeof(points));
        Piecemeal__Profile *message = piecemeal__profile__unpack(NULL, wire.size, wire.data);
        assert_int_equal(message->shaders[0]->n_lanes_alone, which ? 2 : 0);
        piecemeal__profile__free_unpacked(message, NULL);
        assert_true(pm_profile_to_json(&decoded, &json, &error));
        assert_int_equal(strstr((const char *)json.data, "lanes_alone") != NULL, which);
        pm_buffer_finish(&wire);
        pm_buffer_finish(&json);
        pm_arena_destroy(arena);
    }
}

/* What nobody before can read is there only where it says something. */
static void says_what_is_left_alone(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        struct pm_profile profile = {.game = "game", .scene = "", .layer_version = ""}, decoded;
        struct pm_arena *arena = pm_arena_create(0);
        struct pm_buffer wire, json;
        struct pm_error error = {0};
        pm_buffer_init(&wire, 1 << 20);
        pm_buffer_init(&json, 1 << 20);
        profile.left_alone[PM_LEFT_ALONE_LARGE] = which ? PM_LEFT_ALONE_MOST : 0;
        if (!pm_profile_encode(&profile, &wire, &error) ||
            !pm_profile_decode(wire.data, wire.size, NULL, arena, &decoded, &error))
            fail_msg("%s", error.message);
        assert_memory_equal(decoded.left_alone, profile.left_alone, sizeof(decoded.left_alone));
        Piecemeal__Profile *message = piecemeal__profile__unpack(NULL, wire.size, wire.data);
        assert_int_equal(message->n_left_alone, which ? PM_LEFT_ALONE_LARGE + 1 : 0);
        piecemeal__profile__free_unpacked(message, NULL);
        assert_true(pm_profile_to_json(&decoded, &json, &error));
        assert_true(pm_buffer_append(&json, "", 1));
        assert_int_equal(strstr((const char *)json.data, "left_alone") != NULL, which);
        assert_int_equal(strstr((const char *)json.data, "\"large\":\t65536") != NULL, which);
        pm_buffer_finish(&wire);
        pm_buffer_finish(&json);
        pm_arena_destroy(arena);
    }
}

/* Also the words that an uploader reads: nothing where nothing is known, as in files from before.
 */
static void says_how_many_are_left_out(void **state)
{
    (void)state;
    static const struct {
        uint32_t candidates;
        const char *said;
    } cases[] = {{0, NULL}, {12, "\"left_out\":\t0"}, {179, "\"left_out\":\t167"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct message f;
        message_init(&f);
        message_make_zero(&f);
        f.shader[1].candidates = cases[i].candidates;
        uint8_t wire[4096];
        const size_t size = piecemeal__profile__pack(&f.profile, wire);
        struct pm_arena *arena = pm_arena_create(0);
        struct pm_profile profile;
        struct pm_buffer json;
        struct pm_error error = {0};
        pm_buffer_init(&json, 1 << 20);
        if (!pm_profile_decode(wire, size, NULL, arena, &profile, &error))
            fail_msg("%s", error.message);
        assert_int_equal(profile.shaders[0].candidates, 0);
        assert_int_equal(profile.shaders[1].candidates, cases[i].candidates);
        assert_true(pm_profile_to_json(&profile, &json, &error));
        assert_true(pm_buffer_append(&json, "", 1));
        const char *found = strstr((const char *)json.data, "left_out");
        assert_int_equal(found != NULL, cases[i].said != NULL);
        if (cases[i].said)
            assert_memory_equal(found - 1, cases[i].said, strlen(cases[i].said));
        pm_buffer_finish(&json);
        pm_arena_destroy(arena);
    }
}

static void the_callers_limits_hold(void **state)
{
    (void)state;
    struct message f;
    message_init(&f);
    uint8_t wire[4096];
    size_t size = piecemeal__profile__pack(&f.profile, wire);
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_profile profile;
    struct pm_error error;
    struct pm_profile_limits limits = pm_profile_limits_default;
    limits.shaders = 1;
    assert_false(pm_profile_decode(wire, size, &limits, arena, &profile, &error));
    assert_string_equal(error.message, "profile: field shaders has 2 elements, more than 1");
    assert_int_equal(error.code, PM_ERROR_LIMIT);
    limits = pm_profile_limits_default;
    limits.points_per_shader = 2;
    assert_false(pm_profile_decode(wire, size, &limits, arena, &profile, &error));
    assert_int_equal(error.code, PM_ERROR_LIMIT);
    limits = pm_profile_limits_default;
    limits.space = 11;
    assert_false(pm_profile_decode(wire, size, &limits, arena, &profile, &error));
    assert_int_equal(error.code, PM_ERROR_LIMIT);
    limits = pm_profile_limits_default;
    limits.name_bytes = 3;
    assert_false(pm_profile_decode(wire, size, &limits, arena, &profile, &error));
    limits = pm_profile_limits_default;
    limits.decompressed_bytes = size - 1;
    assert_false(pm_profile_decode(wire, size, &limits, arena, &profile, &error));
    pm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_every_kind),
        cmocka_unit_test(says_which_lanes_were_counted_alone),
        cmocka_unit_test(says_what_is_left_alone),
        cmocka_unit_test(says_how_many_are_left_out),
        cmocka_unit_test(the_callers_limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
