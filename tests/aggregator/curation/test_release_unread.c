/* What is published cannot be read: for a moment, which changes nothing, or ever again. */
#include "aggregator/aggregator.h"
#include "aggregator/curation/races.h"
#include "tests/aggregator/curation/released.h"
#include "tests/cmocka_includes.h"
#include <string.h>

static const struct pm_storage_operations *real;
static const char *unread; /* the scene whose database cannot be read */
static enum pm_code why;   /* PM_OK: what is read is no database */

static bool get_unread(struct pm_storage *storage, const char *game, const char *scene,
                       bool previous, char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                       struct pm_error *error)
{
    if (strcmp(scene, unread) != 0)
        return real->get_database(storage, game, scene, previous, etag, body, error);
    memset(etag, 0, PM_ETAG_TEXT);
    return why == PM_OK || pm_fail(error, why, "not now");
}

/* By one that knows more than what is published, within the hour. */
static bool curate_unread(struct place *place, const char *scene, enum pm_code code)
{
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    real = storage->operations;
    struct pm_storage_operations operations = *real;
    struct pm_error error;
    operations.get_database = get_unread;
    unread = scene;
    why = code;
    storage->operations = &operations;
    const bool done = pm_aggregator_curate(place->aggregator, "game", &error);
    storage->operations = real;
    if (!done)
        assert_int_equal(error.code, code);
    return done;
}

/* A storage that is away for a moment is no reason to publish all that is known. */
static void test_unread_for_a_moment(void **state)
{
    static const char *const scenes[] = {"", "cave", PM_RACES_PUBLICATION};
    static const enum pm_code codes[] = {PM_ERROR_NETWORK, PM_ERROR_MEMORY, PM_ERROR_IO};
    struct place *place = *state;
    struct release_view before, after;
    for (uint8_t i = 1; i <= RELEASE_TOKENS; i++)
        release_send(place, i, 32);
    release_look(place, &before);
    release_send(place, 9, 64);
    for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
        for (size_t j = 0; j < sizeof(codes) / sizeof(*codes); j++)
            assert_false(curate_unread(place, scenes[i], codes[j]));
    }
    release_look(place, &after);
    for (int i = 0; i < 4; i++)
        assert_true(release_is_same(&before, &after, i));
    release_view_finish(&before);
    release_view_finish(&after);
}

/* What is damaged will never be read again: it is made anew. */
static void test_damaged(void **state)
{
    struct place *place = *state;
    struct release_view before, after;
    for (uint8_t i = 1; i <= RELEASE_TOKENS; i++)
        release_send(place, i, 32);
    release_look(place, &before);
    release_send(place, 9, 64);
    assert_true(curate_unread(place, "", PM_ERROR_INPUT));
    release_look(place, &after);
    assert_false(release_is_same(&before, &after, 0));
    release_view_finish(&after);
    assert_true(curate_unread(place, "cave", PM_OK));
    assert_true(curate_unread(place, PM_RACES_PUBLICATION, PM_OK));
    release_look(place, &after);
    assert_false(release_is_same(&before, &after, 2));
    release_view_finish(&before);
    release_view_finish(&after);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, release_set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_unread_for_a_moment),
        TEST(test_damaged),
    };
    return cmocka_run_group_tests_name("release_unread", tests, NULL, NULL);
}
