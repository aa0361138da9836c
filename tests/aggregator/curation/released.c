#include "tests/aggregator/curation/released.h"

#include "aggregator/aggregator.h"
#include "tests/cmocka_includes.h"
#include <string.h>

int release_set_up(void **state)
{
    struct place *place = place_create(12);
    place->now = RELEASE_MORNING;
    place->keeping.publish_all = false;
    place->keeping.half_width_absolute = 10; /* whatever is covered is known well enough … */
    place->keeping.sessions_for_never = 1000;
    place->keeping.scenes = 4;
    place->keeping.retention_days = PM_RETENTION_DAYS;
    place->keeping.min_tokens = RELEASE_TOKENS;
    place->keeping.token_clusters = 2;
    place->keeping.publish_seconds = HOUR;
    place_open(place);
    *state = place;
    return 0;
}

void release_send(struct place *place, uint8_t token, uint64_t lanes)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    struct pm_ingest_source source = {.fleet = token > 0};
    const struct pm_ingest_source *sources = &source;
    const struct pm_point_counts points[] = {block_counts(0, 64, lanes), block_counts(1, 64, 0)};
    const struct pm_shader_profile shaders[] = {block_shader(place->arena, 1, 1, points, 1),
                                                block_shader(place->arena, 2, 2, points, 2)};
    memset(source.digest, token, sizeof(source.digest));
    struct pm_profile *profile = profile_of(place->arena, &place->random, "game", shaders, 2);
    profile->scene = "cave";
    const struct pm_profile *profiles = profile;
    if (!pm_aggregator_ingest_from(place->aggregator, &profiles, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
}

void release_look(struct place *place, struct release_view *view)
{
    struct pm_error error;
    if (!pm_aggregator_curate(place->aggregator, "game", &error))
        fail_msg("%s", error.message);
    for (int i = 0; i < 4; i++) {
        const struct pm_publication publication = {
            .game = "game", .scene = i < 2 ? "" : "cave", .previous = i % 2 != 0};
        view->etags[i][0] = 0;
        pm_buffer_init(&view->bodies[i], 1 << 20);
        if (!pm_aggregator_publication(place->aggregator, &publication, view->etags[i],
                                       &view->bodies[i], &error))
            assert_int_equal(error.code, PM_ERROR_STATE);
    }
}

bool release_is_same(const struct release_view *a, const struct release_view *b, int which)
{
    return strcmp(a->etags[which], b->etags[which]) == 0 &&
           a->bodies[which].size == b->bodies[which].size &&
           (a->bodies[which].size == 0 ||
            memcmp(a->bodies[which].data, b->bodies[which].data, a->bodies[which].size) == 0);
}

void release_view_finish(struct release_view *view)
{
    for (int i = 0; i < 4; i++)
        pm_buffer_finish(&view->bodies[i]);
}

const struct pm_shader_estimates *
release_shader_of(struct place *place, const struct release_view *view, uint64_t number)
{
    static struct pm_database database;
    struct pm_buffer plain;
    struct pm_error error;
    const struct pm_shader_key key = key_of(number);
    pm_buffer_init(&plain, 1 << 20);
    if (!pm_decompress(view->bodies[0].data, view->bodies[0].size, &plain, &error) ||
        !pm_database_decode(plain.data, plain.size, place->arena, &database, &error))
        fail_msg("%s", error.message);
    pm_buffer_finish(&plain);
    for (size_t i = 0; i < database.shader_count; i++) {
        if (pm_shader_key_equal(&database.shaders[i].key, &key))
            return &database.shaders[i];
    }
    return NULL;
}

void release_send_shader(struct place *place, uint8_t token, const struct pm_shader_profile *shader)
{
    struct pm_ingest_outcome outcome;
    struct pm_ingest_source source = {.fleet = true};
    const struct pm_ingest_source *sources = &source;
    const struct pm_profile *profile = place_profile(place, shader);
    memset(source.digest, token, sizeof(source.digest));
    assert_true(
        pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, NULL));
}
