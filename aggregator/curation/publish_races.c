#include "aggregator/curation/publish_races.h"

#include "aggregator/curation/publish.h"
#include "aggregator/curation/quantize.h"
#include "aggregator/curation/release.h"
#include "aggregator/storage/etag.h"
#include <math.h>
#include <string.h>

#define SECONDS_A_DAY 86400
#define LOG_STEP (1.0 / 512)   /* of what is published of logarithms: 0.2 % */
#define SHARE_STEP (1.0 / 256) /* of shares */
#define MEMORY_CAP ((size_t)256 << 20)

/* ---- how exactly ---- */

/* A winner stays one, and what is not shown to be below 0 does not become so. */
static void quantize(struct pm_race *race, struct pm_race_variant *variants)
{
    race->mean = round(race->mean / LOG_STEP) * LOG_STEP;
    race->low = floor(race->low / LOG_STEP) * LOG_STEP;
    race->high = ceil(race->high / LOG_STEP) * LOG_STEP;
    for (size_t i = 0; i < race->variant_count; i++) {
        variants[i].share = fmin(fmax(round(variants[i].share / SHARE_STEP), 1) * SHARE_STEP, 1);
        variants[i].log_time = round(variants[i].log_time / LOG_STEP) * LOG_STEP;
        variants[i].clusters = (uint32_t)pm_quantize_count(variants[i].clusters);
    }
    race->variants = variants;
}

/* ---- which ---- */

static bool release(const struct pm_curator *curator, const struct pm_races *before,
                    struct pm_races *races, const uint32_t *vouched_days, struct pm_arena *arena,
                    struct pm_error *error)
{
    const uint32_t today = (uint32_t)(races->judged_at / SECONDS_A_DAY);
    struct pm_race *list = pm_arena_dup(arena, races->races, races->race_count * sizeof(*list) + 1);
    if (!list)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for races of variants");
    for (size_t i = 0; curator->publish_seconds > 0 && i < races->race_count; i++) {
        const struct pm_race *old = pm_races_find(before, &list[i].key, &list[i].environment);
        if (old && old->as_of_day <= today && vouched_days[i] <= old->as_of_day) {
            list[i] = *old;
            continue;
        }
        struct pm_race_variant *variants =
            pm_arena_dup(arena, list[i].variants, list[i].variant_count * sizeof(*variants));
        if (!variants)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for races of variants");
        list[i].as_of_day = today;
        quantize(&list[i], variants);
    }
    races->races = list;
    return true;
}

/* ---- bodies ---- */

static bool make_body(const struct pm_races *races, struct pm_buffer *body,
                      char etag[static PM_ETAG_TEXT], struct pm_error *error)
{
    body->size = 0;
    return pm_races_body_encode(races, body, error) &&
           (pm_etag_make(body->data, body->size, etag) ||
            pm_fail(error, PM_ERROR_MEMORY, "cannot digest races of variants"));
}

bool pm_races_none(const char *game, struct pm_buffer *body, char etag[static PM_ETAG_TEXT],
                   struct pm_error *error)
{
    return make_body(&(struct pm_races){.game = game}, body, etag, error);
}

bool pm_races_published(struct pm_storage *storage, const char *game, struct pm_arena *arena,
                        struct pm_races *races, char etag[static PM_ETAG_TEXT],
                        struct pm_error *error)
{
    struct pm_buffer body;
    pm_buffer_init(&body, PM_RACES_BODY_BYTES);
    const bool done = storage->operations->get_database(storage, game, PM_RACES_PUBLICATION, false,
                                                        etag, &body, error) &&
                      pm_races_body_decode(body.data, body.size, arena, races, error);
    pm_buffer_finish(&body);
    return done;
}

/* *changed: whether it says anything else than before, but for the time. */
static bool make(const struct pm_races *before, const char *old_etag, struct pm_races *races,
                 struct pm_buffer *body, char etag[static PM_ETAG_TEXT], bool *changed,
                 struct pm_error *error)
{
    const uint64_t now = races->judged_at;
    *changed = true;
    if (before) {
        races->judged_at = before->judged_at;
        if (!make_body(races, body, etag, error))
            return false;
        *changed = strcmp(etag, old_etag) != 0;
        races->judged_at = now;
    } else if (races->race_count == 0) {
        *changed = false;
    }
    return !*changed || make_body(races, body, etag, error);
}

static bool publish(struct pm_curator *curator, const char *game,
                    const struct pm_race_gathering *gathering, bool at_once, struct pm_arena *arena,
                    struct pm_buffer *body, struct pm_error *error)
{
    char old_etag[PM_ETAG_TEXT], etag[PM_ETAG_TEXT];
    struct pm_races before,
        races = {.game = game, .judged_at = (uint64_t)pm_world_now(curator->world)};
    const uint32_t *vouched_days;
    bool changed;
    struct pm_error why = {0};
    const bool known =
        pm_races_published(curator->world->storage, game, arena, &before, old_etag, &why);
    if (!known && !pm_publish_anew(curator->world, game, &why, error))
        return false;
    if (known && !at_once && !pm_release_is_due(curator, before.judged_at, races.judged_at))
        return true;
    const struct pm_races *old = known ? &before : NULL;
    return pm_races_judge(gathering, curator, old, arena, &races, &vouched_days, error) &&
           release(curator, old, &races, vouched_days, arena, error) &&
           make(old, old_etag, &races, body, etag, &changed, error) &&
           (!changed || pm_publish_body(curator, game, PM_RACES_PUBLICATION, etag, body, error));
}

bool pm_publish_races(struct pm_curator *curator, const char *game,
                      const struct pm_race_gathering *gathering, bool at_once,
                      struct pm_error *error)
{
    struct pm_buffer body;
    struct pm_arena *arena = pm_arena_create(MEMORY_CAP);
    if (!arena)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for races of variants");
    pm_buffer_init(&body, PM_RACES_BODY_BYTES);
    const bool done = publish(curator, game, gathering, at_once, arena, &body, error);
    pm_buffer_finish(&body);
    pm_arena_destroy(arena);
    return done;
}
