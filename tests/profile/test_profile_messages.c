/* Messages as any client may send them: what is refused, by what name. */
#include "piecemeal.pb-c.h"
#include "profile/profile.h"
#include "tests/cmocka_includes.h"
#include "tests/profile/message.h"
#include <stdlib.h>
#include <string.h>

static void spoil(struct message *f, int which)
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
        message_make_zero(f);
        f->counts[1][4] = 101;
        break;
    case 33:
        message_make_zero(f);
        f->counts[1][0] = 101;
        break;
    case 34:
        shader->flags = PM_PROFILE_NO_QUADS;
        break;
    case 35:
        message_make_timing(f);
        shader->space = 12;
        break;
    case 36:
        message_make_timing(f);
        shader->at_most_once.len = 1;
        break;
    case 37:
        message_make_timing(f);
        shader->flags = PM_PROFILE_OCCLUDED;
        break;
    case 38:
        message_make_timing(f);
        f->subgroups[1][0] = 99;
        break;
    case 39:
        message_make_timing(f);
        f->counts[1][PM_TIMING_ORIGINAL] = 0;
        break;
    case 40:
        message_make_timing(f);
        f->lanes[1][0] = f->subgroups[1][0] = 0;
        break;
    case 41:
        message_make_timing(f);
        f->counts[1][PM_TIMING_ORIGINAL] = f->counts[1][PM_TIMING_VARIANT] = 0;
        f->counts[1][PM_TIMING_SPREAD] = 1;
        break;
    case 42:
        message_make_timing(f);
        f->environment[1].subgroup_size = 0;
        break;
    case 43:
        message_make_timing(f);
        shader->original = (ProtobufCBinaryData){23, f->key[0]};
        break;
    case 44:
        shader->original = (ProtobufCBinaryData){24, f->key[1]};
        break;
    case 45:
        message_make_zero(f);
        shader->candidates = 11;
        break;
    case 46:
        message_make_zero(f);
        shader->candidates = 12 + (1u << PM_LEFT_OUT_BITS);
        break;
    case 47:
        message_make_zero(f);
        shader->candidates = UINT32_MAX;
        break;
    case 48:
        shader->candidates = 12;
        break;
    case 49:
        message_make_timing(f);
        shader->candidates = 1;
        break;
    case 50:
        message_make_constant(f);
        shader->at_most_once.len = 2;
        break;
    case 51:
        message_make_constant(f);
        f->counts[1][3 + PM_CONSTANT_SAME] = 101;
        break;
    case 52:
        message_make_constant(f);
        f->counts[1][3 + PM_CONSTANT_ZERO] = 101;
        break;
    case 53:
        message_make_constant(f);
        f->environment[1].device_id = 1;
        break;
    case 54:
        message_make_constant(f);
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
        message_make_zero(f);
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
        struct message f;
        message_init(&f);
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
        struct message f;
        message_init(&f);
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
        struct message f;
        uint8_t wire[4096];
        struct pm_profile profile;
        struct pm_error error = {0};
        message_init(&f);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(refuses_games_that_no_path_can_have),
        cmocka_unit_test(refuses_zero_bytes_in_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
