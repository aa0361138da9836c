/* Shaders that clients leave alone: counted by reason, by enough distinct tokens of one day. */
#include "aggregator/trust/left_alone_claims.h"

#include "aggregator/curation/summary.h"
#include "tests/aggregator/trust/trust_place.h"
#include "tests/cmocka_includes.h"
#include <string.h>

#define TOKENS 3 /* that are enough */
#define OPCODES PM_LEFT_ALONE_INSTRUCTION

/* One upload of a game by a token (0: none), which leaves so many shaders alone. */
static void send(struct place *place, const char *game, unsigned from, enum pm_left_alone_why why,
                 uint32_t shaders)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    const struct pm_point_counts point = block_counts(0, 64, 32);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
    struct pm_profile *profile = profile_of(place->arena, &place->random, game, &shader, 1);
    profile->left_alone[why] = shaders;
    const struct pm_profile *profiles = profile;
    const struct pm_ingest_source source = trust_token(from), *sources = from ? &source : NULL;
    if (!pm_aggregator_ingest_from(place->aggregator, &profiles, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
}

static struct pm_left_alone_count shown(struct place *place, enum pm_left_alone_why why)
{
    struct pm_summary *summary;
    struct pm_error error;
    if (!pm_summary_curate(pm_aggregator_curator(place->aggregator), "game", NULL, &summary,
                           &error))
        fail_msg("%s", error.message);
    const struct pm_left_alone_count count = summary->whole.left_alone[why];
    pm_summary_drop(summary);
    return count;
}

static void the_levels_ascend(void **state)
{
    (void)state;
    static const uint32_t first[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
    for (uint32_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        assert_int_equal(pm_left_alone_claims_level(i), first[i]);
    assert_int_equal(pm_left_alone_claims_level(PM_LEFT_ALONE_LEVELS - 1), PM_LEFT_ALONE_MOST);
}

static void enough_tokens_of_one_day_say_it(void **state)
{
    struct place *place = *state;
    trust_open(place, 100, TOKENS);
    for (int i = 0; i < 5; i++) /* the same one again is no other */
        send(place, "game", 1, OPCODES, 7);
    send(place, "game", 2, OPCODES, 70);
    assert_int_equal(shown(place, OPCODES).shaders, 0);
    send(place, "other", 3, OPCODES, 7);
    send(place, "game", 3, PM_LEFT_ALONE_EXTENSION, 7);
    assert_int_equal(shown(place, OPCODES).shaders, 0);
    /* The third has 5: so three have 4 or more, and two 6 or more. */
    send(place, "game", 3, OPCODES, 5);
    const struct pm_left_alone_count count = shown(place, OPCODES);
    assert_int_equal(count.shaders, 4);
    assert_int_equal(count.tokens, TOKENS);
    assert_int_equal(count.day, MORNING / DAY);
    assert_int_equal(shown(place, PM_LEFT_ALONE_EXTENSION).shaders, 0);
}

/* Two that lie cannot raise the number, and with the true ones not above what the third has. */
static void fewer_that_lie_change_nothing(void **state)
{
    struct place *place = *state;
    trust_open(place, 100, TOKENS);
    for (unsigned i = 1; i < TOKENS; i++) {
        for (enum pm_left_alone_why why = 0; why < PM_LEFT_ALONE_WHYS; why++)
            send(place, "game", i, why, PM_LEFT_ALONE_MOST);
    }
    for (enum pm_left_alone_why why = 0; why < PM_LEFT_ALONE_WHYS; why++)
        assert_int_equal(shown(place, why).shaders, 0);
    send(place, "game", 9, OPCODES, 2);
    assert_int_equal(shown(place, OPCODES).shaders, 2);
}

/* Marks of different days are not added up; what enough said stays for a month. */
static void days_are_apart(void **state)
{
    struct place *place = *state;
    trust_open(place, 100, TOKENS);
    send(place, "game", 1, OPCODES, 9);
    send(place, "game", 2, OPCODES, 9);
    place->now += DAY;
    send(place, "game", 3, OPCODES, 9);
    assert_int_equal(shown(place, OPCODES).shaders, 0);
    send(place, "game", 4, OPCODES, 9);
    send(place, "game", 5, OPCODES, 9);
    assert_int_equal(shown(place, OPCODES).shaders, 8);
    place->now += (int64_t)PM_LEFT_ALONE_DAYS * DAY;
    send(place, "game", 6, OPCODES, 9);
    assert_int_equal(shown(place, OPCODES).shaders, 8);
    assert_int_equal(shown(place, OPCODES).day, MORNING / DAY + 1);
    place->now += DAY;
    assert_int_equal(shown(place, OPCODES).shaders, 0);
}

/* With one token or none that has to vouch, what anybody says is shown. */
static void without_vouching_it_is_shown_at_once(void **state)
{
    struct place *place = *state;
    trust_open(place, 0, 0);
    send(place, "game", 0, OPCODES, 100);
    assert_int_equal(shown(place, OPCODES).shaders, 96);
    send(place, "game", 7, OPCODES, 200);
    assert_int_equal(shown(place, OPCODES).shaders, 192);
    assert_int_equal(shown(place, OPCODES).tokens, 1);
    place_close(place);
    trust_open(place, 0, 1);
    assert_int_equal(shown(place, OPCODES).shaders, 192);
}

/* Who sends without a token is nobody where some have to vouch. */
static void nobody_does_not_vouch(void **state)
{
    struct place *place = *state;
    trust_open(place, 100, TOKENS);
    for (unsigned i = 0; i < 10; i++)
        send(place, "game", 0, OPCODES, 100);
    assert_int_equal(shown(place, OPCODES).shaders, 0);
}

/* Nor is the game's name or a scene's mistaken for it. */
static void a_scene_of_that_name_is_another_thing(void **state)
{
    struct place *place = *state;
    trust_open(place, 100, TOKENS);
    for (unsigned i = 1; i <= TOKENS; i++) {
        struct pm_ingest_outcome outcome;
        struct pm_error error;
        const struct pm_point_counts point = block_counts(0, 64, 32);
        const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
        struct pm_profile *profile = profile_of(place->arena, &place->random, "game", &shader, 1);
        profile->scene = "instruction";
        const struct pm_profile *profiles = profile;
        const struct pm_ingest_source source = trust_token(i), *sources = &source;
        assert_true(
            pm_aggregator_ingest_from(place->aggregator, &profiles, &sources, 1, &outcome, &error));
    }
    assert_int_equal(shown(place, OPCODES).shaders, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, trust_set_up, trust_tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_levels_ascend),         TEST(enough_tokens_of_one_day_say_it),
        TEST(fewer_that_lie_change_nothing),         TEST(days_are_apart),
        TEST(without_vouching_it_is_shown_at_once),  TEST(nobody_does_not_vouch),
        TEST(a_scene_of_that_name_is_another_thing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
