/* Messages as any client may send them: what is refused, by what name, and what is taken. */
#include "piecemeal.pb-c.h"
#include "profile/profile.h"
#include "tests/cmocka_includes.h"
#include <stdlib.h>
#include <string.h>

/* One valid message of two shaders, which each case then spoils. */
struct fixture {
    Piecemeal__Profile profile;
    Piecemeal__ShaderProfile shader[2], *list[2];
    Piecemeal__Environment environment[2];
    uint8_t id[16], key[2][24], bitmap[2];
    uint32_t point[2][3], calls[2][3];
    uint64_t lanes[2][3], subgroups[2][3], counts[2][9], alone[2][3];
    uint32_t left_alone[PM_LEFT_ALONE_WHYS + 1];
    ProtobufCMessageUnknownField unknown;
};

static void fixture_init(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    piecemeal__profile__init(&f->profile);
    f->profile.version = 1;
    f->profile.upload_id = (ProtobufCBinaryData){16, f->id};
    f->profile.game = (char *)"game";
    f->profile.left_alone = f->left_alone;
    f->profile.n_shaders = 2;
    f->profile.shaders = f->list;
    for (int s = 0; s < 2; s++) {
        Piecemeal__ShaderProfile *shader = &f->shader[s];
        f->list[s] = shader;
        piecemeal__shader_profile__init(shader);
        piecemeal__environment__init(&f->environment[s]);
        f->environment[s].subgroup_size = 8;
        f->key[s][0] = (uint8_t)s;
        shader->key = (ProtobufCBinaryData){24, f->key[s]};
        shader->environment = &f->environment[s];
        shader->kind = PM_KIND_BLOCK;
        shader->space = 12;
        f->bitmap[0] = 1;
        shader->at_most_once = (ProtobufCBinaryData){2, f->bitmap};
        shader->n_point = shader->n_calls = shader->n_entry_lanes = shader->n_entry_subgroups = 3;
        shader->n_counts = 9;
        shader->point = f->point[s];
        shader->calls = f->calls[s];
        shader->entry_lanes = f->lanes[s];
        shader->entry_subgroups = f->subgroups[s];
        shader->counts = f->counts[s];
        shader->lanes_alone = f->alone[s];
        for (uint32_t i = 0; i < 3; i++) {
            f->point[s][i] = i * 5;
            f->calls[s][i] = 1;
            f->lanes[s][i] = 100;
            f->subgroups[s][i] = 13;
            f->counts[s][3 * i] = 100;
            f->counts[s][3 * i + 1] = 90;
            f->counts[s][3 * i + 2] = 13;
        }
    }
}

/* The second shader as a good profile of another kind. */
static void make_zero(struct fixture *f)
{
    f->shader[1].kind = PM_KIND_ZERO;
    for (int i = 0; i < 3; i++)
        f->counts[1][3 * i + 2] = 0;
}

static void make_timing(struct fixture *f)
{
    Piecemeal__ShaderProfile *shader = &f->shader[1];
    make_zero(f);
    shader->kind = PM_KIND_TIMING;
    shader->space = 1;
    shader->at_most_once.len = 0;
    shader->n_point = shader->n_calls = shader->n_entry_lanes = shader->n_entry_subgroups = 1;
    shader->n_counts = 3;
    f->environment[1].vendor_id = 0x10de;
    f->subgroups[1][0] = 100;
}

static void make_constant(struct fixture *f)
{
    f->shader[1].kind = PM_KIND_CONSTANT;
    f->shader[1].at_most_once.len = 0;
}

static void spoil(struct fixture *f, int which)
{
    Piecemeal__ShaderProfile *shader = &f->shader[1];
    static const uint8_t bytes[4] = {1, 2, 3, 4};
    static char long_name[301];
    memset(long_name, 'n', 300);
    f->unknown =
        (ProtobufCMessageUnknownField){77, PROTOBUF_C_WIRE_TYPE_VARINT, 1, (uint8_t *)bytes};
    switch (which) {
    case 0:
        f->profile.version = 2;
        break;
    case 1:
        f->profile.upload_id.len = 15;
        break;
    case 2:
        f->profile.game = (char *)"";
        break;
    case 3:
        f->profile.game = long_name;
        break;
    case 4:
        f->profile.scene = (char *)"a\nb";
        break;
    case 5:
        f->profile.layer_version = (char *)"\xff";
        break;
    case 6:
        f->profile.base.n_unknown_fields = 1;
        f->profile.base.unknown_fields = &f->unknown;
        break;
    case 7:
        shader->base.n_unknown_fields = 1;
        shader->base.unknown_fields = &f->unknown;
        break;
    case 8:
        f->environment[1].base.n_unknown_fields = 1;
        f->environment[1].base.unknown_fields = &f->unknown;
        break;
    case 9:
        shader->key.len = 23;
        break;
    case 10:
        shader->environment = NULL;
        break;
    case 11:
        f->environment[1].subgroup_size = 12;
        break;
    case 12:
        f->environment[1].vendor_id = 1;
        break;
    case 13:
        shader->kind = PM_KIND_LAST + 1;
        break;
    case 14:
        shader->kind = 0;
        break;
    case 15:
        shader->flags = 4;
        break;
    case 16:
        shader->space = 0;
        shader->at_most_once.len = 0;
        break;
    case 17:
        shader->space = 10;
        break;
    case 18:
        shader->space = 0xFFFFFFFF;
        shader->at_most_once.len = 0;
        break;
    case 19:
        shader->at_most_once.len = 1;
        break;
    case 20:
        f->bitmap[1] = 0x10;
        break;
    case 21:
        shader->n_calls = 2;
        break;
    case 22:
        shader->n_entry_lanes = 0;
        break;
    case 23:
        shader->n_entry_subgroups = 2;
        break;
    case 24:
        shader->n_counts = 8;
        break;
    case 25:
        f->point[1][2] = 5;
        break;
    case 26:
        f->point[1][0] = 10;
        break;
    case 27:
        f->counts[1][4] = 101;
        break;
    case 28:
        f->counts[1][5] = 101;
        break;
    case 29:
        f->counts[1][0] = 101;
        break;
    case 30:
        f->subgroups[1][1] = 101;
        break;
    case 31:
        shader->kind = PM_KIND_ZERO;
        break;
    case 32:
        make_zero(f);
        f->counts[1][4] = 101;
        break;
    case 33:
        make_zero(f);
        f->counts[1][0] = 101;
        break;
    case 34:
        shader->flags = PM_PROFILE_NO_QUADS;
        break;
    case 35:
        make_timing(f);
        shader->space = 12;
        break;
    case 36:
        make_timing(f);
        shader->at_most_once.len = 1;
        break;
    case 37:
        make_timing(f);
        shader->flags = PM_PROFILE_OCCLUDED;
        break;
    case 38:
        make_timing(f);
        f->subgroups[1][0] = 99;
        break;
    case 39:
        make_timing(f);
        f->counts[1][PM_TIMING_ORIGINAL] = 0;
        break;
    case 40:
        make_timing(f);
        f->lanes[1][0] = f->subgroups[1][0] = 0;
        break;
    case 41:
        make_timing(f);
        f->counts[1][PM_TIMING_ORIGINAL] = f->counts[1][PM_TIMING_VARIANT] = 0;
        f->counts[1][PM_TIMING_SPREAD] = 1;
        break;
    case 42:
        make_timing(f);
        f->environment[1].subgroup_size = 0;
        break;
    case 43:
        make_timing(f);
        shader->original = (ProtobufCBinaryData){23, f->key[0]};
        break;
    case 44:
        shader->original = (ProtobufCBinaryData){24, f->key[1]};
        break;
    case 45:
        make_zero(f);
        shader->candidates = 11;
        break;
    case 46:
        make_zero(f);
        shader->candidates = 12 + (1u << PM_LEFT_OUT_BITS);
        break;
    case 47:
        make_zero(f);
        shader->candidates = UINT32_MAX;
        break;
    case 48:
        shader->candidates = 12;
        break;
    case 49:
        make_timing(f);
        shader->candidates = 1;
        break;
    case 50:
        make_constant(f);
        shader->at_most_once.len = 2;
        break;
    case 51:
        make_constant(f);
        f->counts[1][3 + PM_CONSTANT_SAME] = 101;
        break;
    case 52:
        make_constant(f);
        f->counts[1][3 + PM_CONSTANT_ZERO] = 101;
        break;
    case 53:
        make_constant(f);
        f->environment[1].device_id = 1;
        break;
    case 54:
        make_constant(f);
        shader->candidates = 12;
        break;
    case 55:
        f->profile.n_left_alone = PM_LEFT_ALONE_WHYS + 1;
        break;
    case 56:
        f->profile.n_left_alone = 2;
        f->left_alone[1] = PM_LEFT_ALONE_MOST + 1;
        break;
    case 57:
        shader->n_lanes_alone = 2;
        break;
    case 58:
        shader->n_lanes_alone = 3;
        f->alone[1][1] = 101;
        break;
    case 59: /* whole lanes of which nobody knows whether they are */
        shader->n_lanes_alone = 3;
        f->alone[1][1] = 11;
        break;
    case 60:
        shader->n_lanes_alone = 3;
        f->alone[1][1] = 88;
        f->counts[1][4] = 0;
        break;
    case 61:
        make_zero(f);
        shader->n_lanes_alone = 3;
        f->alone[1][2] = 1;
        break;
    }
}

static const char *const refusals[] = {
    "profile: field version is 2; this program knows 1",
    "profile: field upload_id has 15 bytes, not 16",
    "profile: field game is empty",
    "profile: field game has 300 bytes, more than 255",
    "profile: field scene: byte 1 is a control character",
    "profile: field layer_version: byte 0 is not UTF-8",
    "profile: message: field 77 is not known to this version",
    "profile: shader 1: field 77 is not known to this version",
    "profile: shader 1: field 77 is not known to this version",
    "profile: shader 1: field key has 23 bytes, not 24",
    "profile: shader 1: field environment.subgroup_size is not a power of two from 1 to 128",
    "profile: shader 1: field environment.subgroup_size is not a power of two from 1 to 128",
    "profile: shader 1: field environment names a device, which only profiles of times may",
    "profile: shader 1: field kind is not known to this version",
    "profile: shader 1: field kind is not known to this version",
    "profile: shader 1: field flags has bits not known to this version",
    "profile: shader 1: field space is 0",
    "profile: shader 1: point 10 is outside its space of 10",
    "profile: shader 1: field space is 4294967295, more than 1048576",
    "profile: shader 1: field at_most_once has 1 bytes where a space of 12 needs 2",
    "profile: shader 0: field at_most_once has bits outside its space of 12",
    "profile: shader 1: field calls has 2 elements where 3 are needed",
    "profile: shader 1: field entry_lanes has 0 elements where 3 are needed",
    "profile: shader 1: field entry_subgroups has 2 elements where 3 are needed",
    "profile: shader 1: field counts has 8 elements where 9 are needed",
    "profile: shader 1: point 5 is repeated",
    "profile: shader 1: point 10 is repeated",
    "profile: shader 1: point 5: field counts: uniform lanes are above lanes",
    "profile: shader 1: point 5: field counts: subgroups are above lanes",
    "profile: shader 1: point 0: field counts: lanes are above entry_lanes, but it runs at most "
    "once",
    "profile: shader 1: point 5: field entry_subgroups is above entry_lanes",
    "profile: shader 1: point 0: field counts: the unused one is not 0",
    "profile: shader 1: point 5: field counts: zero writes are above writes",
    "profile: shader 1: point 0: field counts: writes are above entry_lanes, but it is written at "
    "most once",
    "profile: shader 1: field flags speaks of quads, which only zero profiles may",
    "profile: shader 1: field space is not 1, and it is a timing profile",
    "profile: shader 1: field at_most_once is there, and it is a timing profile",
    "profile: shader 1: field flags is not 0, and it is a timing profile",
    "profile: shader 1: point 0: field entry_subgroups is not entry_lanes, and it is a timing "
    "profile",
    "profile: shader 1: point 0: field counts: time with the variant, but none with the original",
    "profile: shader 1: point 0: field counts: time, but no timed pairs",
    "profile: shader 1: point 0: field counts: a spread, but no time with the original",
    "profile: shader 1: field environment.subgroup_size is not a power of two from 1 to 128",
    "profile: shader 1: field original has 23 bytes, not 24",
    "profile: shader 1: field original is there, which only timing profiles may have",
    "profile: shader 1: field candidates is below space",
    "profile: shader 1: field candidates is far above space",
    "profile: shader 1: field candidates is far above space",
    "profile: shader 1: field candidates is there, which only zero profiles may have",
    "profile: shader 1: field candidates is there, which only zero profiles may have",
    "profile: shader 1: field at_most_once is there, and it is a constant profile",
    "profile: shader 1: point 5: field counts: loads of one value are above loads",
    "profile: shader 1: point 5: field counts: loads of zero are above loads",
    "profile: shader 1: field environment names a device, which only profiles of times may",
    "profile: shader 1: field candidates is there, which only zero profiles may have",
    "profile: field left_alone has 10 elements; this version knows 9 reasons",
    "profile: field left_alone: element 1 is 65537, more than 65536",
    "profile: shader 1: field lanes_alone has 2 elements where 3 are needed",
    "profile: shader 1: point 5: field lanes_alone is above lanes",
    "profile: shader 1: point 5: field counts: uniform lanes are above lanes",
    "profile: shader 1: point 5: field counts: subgroups are above lanes",
    "profile: shader 1: point 10: field lanes_alone is there, and it is a zero profile",
};

/* What the profile's name is after that refusal: it is left alone until the message is a profile.
 */
static const char *game_after(int which)
{
    return which < 2 || which == 6 ? "untouched" : which < 4 ? "" : "game";
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    for (int which = -1; which < (int)(sizeof(refusals) / sizeof(refusals[0])); which++) {
        struct fixture f;
        fixture_init(&f);
        spoil(&f, which);
        uint8_t wire[4096];
        size_t size = piecemeal__profile__get_packed_size(&f.profile);
        assert_true(size < sizeof(wire));
        piecemeal__profile__pack(&f.profile, wire);
        struct pm_arena *arena = pm_arena_create(0);
        struct pm_profile profile = {.game = "untouched"};
        struct pm_error error = {0};
        bool decoded = pm_profile_decode(wire, size, NULL, arena, &profile, &error);
        if (which < 0) {
            if (!decoded)
                fail_msg("%s", error.message);
            assert_int_equal(profile.shaders[1].points[2].counts[PM_BLOCK_UNIFORM_LANES], 90);
        } else {
            if (decoded)
                fail_msg("accepted: %s", refusals[which]);
            assert_string_equal(error.message, refusals[which]);
            assert_int_equal(error.code, strstr(refusals[which], "more than 1048576") ||
                                                 strstr(refusals[which], "more than 65536")
                                             ? PM_ERROR_LIMIT
                                             : PM_ERROR_INPUT);
            assert_string_equal(profile.game, game_after(which));
        }
        pm_arena_destroy(arena);
    }
}

static void refuses_games_that_no_path_can_have(void **state)
{
    (void)state;
    static const char *const games[] = {".", "..", "...", ".a", " "};
    for (size_t i = 0; i < sizeof(games) / sizeof(games[0]); i++) {
        struct fixture f;
        fixture_init(&f);
        f.profile.game = (char *)(uintptr_t)games[i];
        uint8_t wire[4096];
        size_t size = piecemeal__profile__pack(&f.profile, wire);
        struct pm_arena *arena = pm_arena_create(0);
        struct pm_profile profile;
        struct pm_error error = {0};
        assert_int_equal(pm_profile_decode(wire, size, NULL, arena, &profile, &error), i > 1);
        assert_int_equal(error.code, i > 1 ? PM_OK : PM_ERROR_INPUT);
        assert_string_equal(profile.game, i > 1 ? games[i] : "");
        pm_arena_destroy(arena);
    }
}

/* The text that a string ends at is not the one that was sent. */
static void refuses_zero_bytes_in_names(void **state)
{
    static const char *const names[] = {"gXme", "scXne", "versXon"};
    (void)state;
    for (int which = 0; which < 3; which++) {
        struct fixture f;
        uint8_t wire[4096];
        struct pm_profile profile;
        struct pm_error error = {0};
        fixture_init(&f);
        char **const fields[] = {&f.profile.game, &f.profile.scene, &f.profile.layer_version};
        *fields[which] = (char *)(uintptr_t)names[which];
        const size_t size = piecemeal__profile__pack(&f.profile, wire);
        struct pm_arena *arena = pm_arena_create(0);
        assert_true(pm_profile_decode(wire, size, NULL, arena, &profile, &error));
        *(uint8_t *)memchr(wire, 'X', size) = 0;
        assert_false(pm_profile_decode(wire, size, NULL, arena, &profile, &error));
        assert_int_equal(error.code, PM_ERROR_INPUT);
        assert_non_null(strstr(error.message, "has a zero byte"));
        pm_arena_destroy(arena);
    }
}

static void takes_every_kind(void **state)
{
    (void)state;
    static void (*const kinds[])(struct fixture *) = {make_zero, make_timing, make_constant};
    static const enum pm_kind made[] = {PM_KIND_ZERO, PM_KIND_TIMING, PM_KIND_CONSTANT};
    for (int which = 0; which < 3; which++) {
        struct fixture f;
        fixture_init(&f);
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
        struct fixture f;
        fixture_init(&f);
        make_zero(&f);
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
    struct fixture f;
    fixture_init(&f);
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
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(refuses_games_that_no_path_can_have),
        cmocka_unit_test(refuses_zero_bytes_in_names),
        cmocka_unit_test(takes_every_kind),
        cmocka_unit_test(says_how_many_are_left_out),
        cmocka_unit_test(says_which_lanes_were_counted_alone),
        cmocka_unit_test(says_what_is_left_alone),
        cmocka_unit_test(the_callers_limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
