#include "profile/races.h"

#include "base/name.h"
#include "profile/variant_point.h"
#include "profile/wire.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- looking ---- */

static int compare(const struct pm_race *race, const struct pm_shader_key *key,
                   const struct pm_environment *environment)
{
    return pm_identity_compare(&race->key, &race->environment, PM_KIND_VARIANT, 0, key, environment,
                               PM_KIND_VARIANT, 0);
}

int pm_race_compare(const struct pm_race *a, const struct pm_race *b)
{
    return compare(a, &b->key, &b->environment);
}

const struct pm_race *pm_races_find(const struct pm_races *races, const struct pm_shader_key *key,
                                    const struct pm_environment *environment)
{
    size_t low = 0, high = races ? races->race_count : 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare(&races->races[middle], key, environment);
        if (order == 0)
            return &races->races[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct pm_race_variant *pm_race_find_variant(const struct pm_race *race, uint32_t point)
{
    for (size_t i = 0; i < race->variant_count; i++)
        if (race->variants[i].point == point)
            return &race->variants[i];
    return NULL;
}

/* ---- what may be ---- */

static bool is_share(double share)
{
    return share >= 0 && share <= 1;
}

static bool is_log(double log)
{
    return isfinite((float)log);
}

static const char *race_wrong(const struct pm_race *race)
{
    const struct pm_shader_key none = {0};
    struct pm_variant_id id;
    const char *wrong =
        pm_identity_wrong(&race->environment, PM_KIND_VARIANT, 0, PM_VARIANT_SPACE, &none);
    if (wrong)
        return wrong;
    if (!is_log(race->mean) || !is_log(race->low) || !is_log(race->high))
        return "the winner's gain is not finite";
    if (race->winner != 0 && !pm_race_find_variant(race, race->winner))
        return "field winner is none of its variants";
    for (size_t i = 0; i < race->variant_count; i++) {
        const struct pm_race_variant *variant = &race->variants[i];
        if (!pm_variant_id_of(variant->point, &id))
            return "field point: no recipe makes such a variant";
        if (i > 0 && variant[-1].point >= variant->point)
            return "field point is repeated or out of order";
        if (!is_share(variant->share))
            return "field share is not from 0 to 1";
        if (!is_log(variant->log_time))
            return "field log_time is not finite";
    }
    return NULL;
}

static bool check(const struct pm_races *races, struct pm_error *error)
{
    if (!pm_game_check(races->game, "field game", pm_profile_limits_default.name_bytes, error))
        return false;
    for (size_t i = 0; i < races->race_count; i++) {
        const char *wrong = race_wrong(&races->races[i]);
        if (wrong)
            return pm_fail(error, PM_ERROR_INPUT, "race %zu: %s", i, wrong);
        if (i > 0 && pm_race_compare(&races->races[i - 1], &races->races[i]) >= 0)
            return pm_fail(error, PM_ERROR_INPUT, "race %zu: is repeated or out of order", i);
    }
    return true;
}

/* ---- writing ---- */

static Piecemeal__Race *fill_race(const struct pm_race *race, struct pm_arena *arena)
{
    const size_t n = race->variant_count;
    Piecemeal__Race *message = pm_arena_alloc(arena, sizeof(*message));
    Piecemeal__Environment *environment = pm_environment_pack(&race->environment, arena);
    if (!message || !environment)
        return NULL;
    piecemeal__race__init(message);
    message->key = pm_bytes_pack(race->key.bytes, sizeof(race->key.bytes));
    message->environment = environment;
    message->as_of_day = race->as_of_day;
    message->winner = race->winner;
    message->mean = (float)race->mean;
    message->low = (float)race->low;
    message->high = (float)race->high;
    message->point = pm_arena_zalloc(arena, n, sizeof(*message->point));
    message->share = pm_arena_zalloc(arena, n, sizeof(*message->share));
    message->log_time = pm_arena_zalloc(arena, n, sizeof(*message->log_time));
    message->clusters = pm_arena_zalloc(arena, n, sizeof(*message->clusters));
    message->lost = pm_arena_zalloc(arena, n, sizeof(*message->lost));
    if (!message->point || !message->share || !message->log_time || !message->clusters ||
        !message->lost)
        return NULL;
    message->n_point = message->n_share = message->n_log_time = n;
    message->n_clusters = message->n_lost = n;
    for (size_t i = 0; i < n; i++) {
        message->point[i] = race->variants[i].point;
        message->share[i] = (float)race->variants[i].share;
        message->log_time[i] = (float)race->variants[i].log_time;
        message->clusters[i] = race->variants[i].clusters;
        message->lost[i] = race->variants[i].lost;
    }
    return message;
}

static bool fill(const struct pm_races *races, struct pm_arena *arena, Piecemeal__Races *message)
{
    piecemeal__races__init(message);
    message->version = PM_RACES_VERSION;
    message->game = (char *)(uintptr_t)races->game;
    message->judged_at = races->judged_at;
    message->races = pm_arena_zalloc(arena, races->race_count, sizeof(*message->races));
    for (size_t i = 0; message->races && i < races->race_count; i++) {
        message->races[i] = fill_race(&races->races[i], arena);
        if (!message->races[i])
            return false;
    }
    message->n_races = races->race_count;
    return message->races != NULL;
}

bool pm_races_body_encode(const struct pm_races *races, struct pm_buffer *body,
                          struct pm_error *error)
{
    if (!check(races, error))
        return pm_fail_prefix(error, "races");
    struct pm_arena *arena = pm_arena_create(8 * PM_RACES_BYTES);
    struct pm_buffer encoded;
    Piecemeal__Races message;
    pm_buffer_init(&encoded, PM_RACES_BYTES);
    const bool done =
        arena && fill(races, arena, &message)
            ? pm_message_append(&message.base, PM_RACES_BYTES, "list of races", &encoded, error) &&
                  pm_compress(encoded.data, encoded.size, body, error)
            : pm_fail(error, PM_ERROR_MEMORY, "out of memory for encoding races");
    pm_buffer_finish(&encoded);
    pm_arena_destroy(arena);
    return done;
}

/* ---- reading ---- */

static bool take_variants(const Piecemeal__Race *message, const char *what, struct pm_arena *arena,
                          struct pm_race *race, struct pm_error *error)
{
    const size_t n = message->n_point;
    if (!pm_column_check(what, "share", message->n_share, n, error) ||
        !pm_column_check(what, "log_time", message->n_log_time, n, error) ||
        !pm_column_check(what, "clusters", message->n_clusters, n, error) ||
        !pm_column_check(what, "lost", message->n_lost, n, error))
        return false;
    struct pm_race_variant *variants = pm_arena_zalloc(arena, n, sizeof(*variants));
    if (!variants)
        return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", what);
    for (size_t i = 0; i < n; i++)
        variants[i] = (struct pm_race_variant){.point = message->point[i],
                                               .share = message->share[i],
                                               .log_time = message->log_time[i],
                                               .clusters = message->clusters[i],
                                               .lost = message->lost[i]};
    race->variants = variants;
    race->variant_count = n;
    return true;
}

static bool take_race(const Piecemeal__Race *message, size_t index, struct pm_arena *arena,
                      struct pm_race *race, struct pm_error *error)
{
    const ProtobufCBinaryData no_original = {0};
    const struct pm_wire_shader from = {&message->base, message->environment, &message->key,
                                        &no_original};
    struct pm_shader_key original;
    char what[48];
    snprintf(what, sizeof(what), "race %zu", index);
    race->as_of_day = message->as_of_day;
    race->winner = message->winner;
    race->mean = message->mean;
    race->low = message->low;
    race->high = message->high;
    return pm_wire_shader_take(&from, what, &race->key, &race->environment, &original, error) &&
           take_variants(message, what, arena, race, error);
}

struct taking {
    struct pm_arena *arena;
    struct pm_races *races;
};

static bool take(void *user, const ProtobufCMessage *any, struct pm_error *error)
{
    const struct taking *taking = user;
    const Piecemeal__Races *message = (const Piecemeal__Races *)any;
    if (!pm_version_check(&message->base, message->version, PM_RACES_VERSION, error))
        return false;
    struct pm_race *races = pm_arena_zalloc(taking->arena, message->n_races, sizeof(*races));
    const struct pm_races taken = {.game = pm_arena_strdup(taking->arena, message->game),
                                   .judged_at = message->judged_at,
                                   .races = races,
                                   .race_count = message->n_races};
    if (!races || !taken.game)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < message->n_races; i++) {
        if (!take_race(message->races[i], i, taking->arena, &races[i], error))
            return false;
    }
    if (!check(&taken, error))
        return false;
    *taking->races = taken;
    return true;
}

bool pm_races_decode(const void *data, size_t size, struct pm_arena *arena, struct pm_races *races,
                     struct pm_error *error)
{
    static const struct pm_message_kind kind = {&piecemeal__races__descriptor, "races",
                                                "list of races"};
    struct taking taking = {arena, races};
    return pm_message_read(&kind, data, size, PM_RACES_BYTES, take, &taking, error);
}

bool pm_races_body_decode(const void *body, size_t size, struct pm_arena *arena,
                          struct pm_races *races, struct pm_error *error)
{
    struct pm_buffer encoded;
    pm_buffer_init(&encoded, PM_RACES_BYTES);
    const bool done = pm_decompress(body, size, &encoded, error) &&
                      pm_races_decode(encoded.data ? (const void *)encoded.data : "", encoded.size,
                                      arena, races, error);
    pm_buffer_finish(&encoded);
    return done;
}
