#include "tests/aggregator/trust/trust_place.h"

#include <stdlib.h>

#include "tests/cmocka_includes.h"

char *trust_epoch_file;

int trust_set_up(void **state)
{
    struct place *place = place_create(11);
    trust_epoch_file = join(place->folder, "db-epoch");
    place->now = MORNING;
    place->keeping.half_life_days = PM_HALF_LIFE_DAYS;
    place->keeping.retention_days = PM_RETENTION_DAYS;
    place->keeping.epoch_file = trust_epoch_file;
    *state = place;
    return 0;
}

int trust_tear_down(void **state)
{
    free(trust_epoch_file);
    return place_destroy(state);
}

void trust_open(struct place *place, uint32_t clusters, uint32_t min_tokens)
{
    place->keeping.token_clusters = clusters;
    place->keeping.min_tokens = min_tokens;
    place_open(place);
}

struct pm_ingest_source trust_token(unsigned number)
{
    struct pm_ingest_source source = {0};
    struct pm_random random;
    pm_random_init(&random, 1000 + number);
    for (size_t i = 0; i < sizeof(source.digest); i++)
        source.digest[i] = (uint8_t)pm_random_below(&random, 256);
    return source;
}

/* One upload of a game by a token (0: none), of one shader with this space and share of lanes. */
struct pm_ingest_outcome trust_send(struct place *place, const char *game, unsigned from,
                                    uint64_t shader_number, uint32_t space, uint64_t lanes)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    struct pm_point_counts points[16];
    for (uint32_t i = 0; i < space; i++)
        points[i] = block_counts(i, 1000, lanes);
    const struct pm_shader_profile shader =
        block_shader(place->arena, shader_number, space, points, space);
    const struct pm_profile *profile = profile_of(place->arena, &place->random, game, &shader, 1);
    const struct pm_ingest_source source = trust_token(from), *sources = from ? &source : NULL;
    if (!pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    return outcome;
}

/* How many clusters of the shader's first point count; 0 when it is not there. */
struct pm_ratio trust_known(struct place *place, const char *game, uint64_t shader_number,
                            uint32_t *space)
{
    struct pm_database database;
    struct pm_error error;
    const struct pm_shader_key key = key_of(shader_number);
    if (!pm_aggregator_estimates(place->aggregator, game, NULL, place->arena, &database, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < database.shader_count; i++) {
        if (pm_shader_key_equal(&database.shaders[i].key, &key)) {
            *space = database.shaders[i].space;
            return database.shaders[i].points[0].measures[PM_MEASURE_FREQUENCY];
        }
    }
    *space = 0;
    return (struct pm_ratio){0};
}

uint32_t trust_clusters(struct place *place, const char *game, uint64_t shader_number)
{
    uint32_t space;
    return trust_known(place, game, shader_number, &space).clusters;
}

/* The number of shaders in the published database, and how many of them are published. */
size_t trust_published(struct place *place, const char *game, size_t *in_all)
{
    char etag[PM_ETAG_TEXT];
    const struct pm_database database = place_published(place, game, etag);
    size_t count = 0;
    for (size_t i = 0; i < database.shader_count; i++)
        count += database.shaders[i].published;
    *in_all = database.shader_count;
    return count;
}
