#include "tests/aggregator/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static int64_t read_clock(void *user)
{
    return ((const struct place *)user)->now;
}

struct place *place_create(uint64_t seed)
{
    struct place *place = calloc(1, sizeof(*place));
    assert_non_null(place);
    place->folder = make_folder();
    place->path = fresh_storage(place->folder);
    place->keeping.publish_all = true;
    place->arena = pm_arena_create(0);
    pm_random_init(&place->random, seed);
    return place;
}

void place_open(struct place *place)
{
    struct pm_error error;
    place_close(place);
    place->keeping.clock = place->now ? read_clock : NULL;
    place->keeping.clock_user = place;
    place->aggregator = pm_aggregator_open(place->path, &place->keeping, &error);
    if (!place->aggregator)
        fail_msg("%s", error.message);
}

void place_reopen(struct place *place, bool publish_all)
{
    place->keeping.publish_all = publish_all;
    place_open(place);
}

void place_close(struct place *place)
{
    pm_aggregator_destroy(place->aggregator);
    place->aggregator = NULL;
}

int place_destroy(void **state)
{
    struct place *place = *state;
    place_close(place);
    pm_arena_destroy(place->arena);
    free(place->path);
    remove_folder(place->folder);
    free(place);
    return 0;
}

struct pm_profile *place_profile(struct place *place, const struct pm_shader_profile *shader)
{
    return profile_of(place->arena, &place->random, "game", shader, 1);
}

struct pm_ingest_outcome place_ingest(struct place *place, const struct pm_profile *profile)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    if (!pm_aggregator_ingest(place->aggregator, &profile, 1, &outcome, &error))
        fail_msg("%s", error.message);
    return outcome;
}

void place_store(struct place *place, const struct pm_profile *profile)
{
    const struct pm_ingest_outcome outcome = place_ingest(place, profile);
    if (outcome.result != PM_INGEST_STORED)
        fail_msg("result %d, \"%s\"", (int)outcome.result, outcome.reason.message);
}

struct pm_database place_estimates(struct place *place)
{
    struct pm_database database;
    struct pm_error error;
    if (!pm_aggregator_estimates(place->aggregator, "game", NULL, place->arena, &database, &error))
        fail_msg("%s", error.message);
    return database;
}

struct pm_database place_published(struct place *place, const char *game,
                                   char etag[static PM_ETAG_TEXT])
{
    struct pm_database database;
    struct pm_buffer body, encoded;
    struct pm_error error;
    pm_buffer_init(&body, 1 << 24);
    pm_buffer_init(&encoded, 1 << 24);
    if (!pm_aggregator_curate(place->aggregator, game, &error) ||
        !pm_aggregator_database(place->aggregator, game, etag, &body, &error) ||
        !pm_decompress(body.data, body.size, &encoded, &error) ||
        !pm_database_decode(encoded.data, encoded.size, place->arena, &database, &error))
        fail_msg("%s", error.message);
    pm_buffer_finish(&body);
    pm_buffer_finish(&encoded);
    return database;
}

bool lacks(const struct pm_shader_estimates *shader, uint32_t point)
{
    return shader->deficit && (shader->deficit[point / 8] >> (point % 8) & 1) != 0;
}

void place_refuses(struct place *place, const struct pm_profile *profile, const char *words)
{
    const struct pm_point_counts counts = block_counts(0, 8, 8);
    const struct pm_shader_profile good = block_shader(place->arena, 77, 1, &counts, 1);
    const struct pm_profile *profiles[] = {place_profile(place, &good), profile,
                                           place_profile(place, &good)};
    struct pm_ingest_outcome outcomes[3];
    struct pm_error error;
    if (!pm_aggregator_ingest(place->aggregator, profiles, 3, outcomes, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcomes[0].result, PM_INGEST_STORED);
    assert_int_equal(outcomes[2].result, PM_INGEST_STORED);
    assert_int_equal(outcomes[1].result, PM_INGEST_REFUSED);
    if (!strstr(outcomes[1].reason.message, words))
        fail_msg("\"%s\" does not say \"%s\"", outcomes[1].reason.message, words);
}

static bool add_rows(void *user, const char *game, unsigned part, uint64_t rows, uint64_t bytes,
                     struct pm_error *error)
{
    (void)game;
    (void)part;
    (void)bytes;
    (void)error;
    *(uint64_t *)user += rows;
    return true;
}

uint64_t place_rows_that_wait(struct place *place)
{
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    struct pm_error error;
    uint64_t rows = 0;
    if (!storage->operations->list_samples(storage, NULL, add_rows, &rows, &error))
        fail_msg("%s", error.message);
    return rows;
}
