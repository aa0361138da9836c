#include "aggregator/curation/curate.h"

#include "aggregator/curation/judgement.h"
#include "aggregator/curation/races.h"
#include "aggregator/curation/shader_list.h"
#include "aggregator/curation/vouched.h"
#include "aggregator/intake/fold_read.h"
#include "aggregator/statistics/estimate.h"
#include "aggregator/storage/fail.h"
#include "aggregator/storage/seal.h"
#include "aggregator/trust/originals.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One (key, environment, kind) while its blobs come in. */
struct curation {
    struct pm_curator *curator;
    bool everything;
    pm_curate_observe observe; /* NULL: nobody watches */
    void *user;
    struct pm_race_gathering *races; /* NULL: nobody asks for them */
    struct pm_curated *out;
    struct pm_shader_list list;
    bool open; /* the fields below are of a shader */
    struct pm_storage_key key;
    struct pm_series_blob *blobs; /* of it, within the retention; `data` is a place in `bytes` */
    size_t blob_count, blobs_allocated;
    struct pm_buffer bytes;
    struct pm_series plain, all; /* without flags; with any */
    struct pm_judged_points points;
    uint32_t flags; /* of all */
    bool too_large; /* its blobs are more than may be, and none is kept */
    uint32_t since; /* the first day of its blobs */
    uint32_t today;
    uint32_t first_day; /* of the retention */
    struct pm_vouched vouched;
    struct pm_left_alone_seen left_alone;
    struct pm_originals originals;
    struct pm_prior_moments moments; /* of what enough tokens sent of the kind that levels are of */
    const struct pm_prior *prior;    /* what levels that are shown go by; NULL: none are shown */
    size_t left_out;                 /* shaders that were too large; the last of them: */
    struct pm_shader_key last_left_out;
};

/* ---- one shader ---- */

static uint64_t clamp_wide(const struct pm_wide *wide)
{
    return (wide->limbs[1] | wide->limbs[2]) != 0 ? UINT64_MAX : wide->limbs[0];
}

static struct pm_breakdown find_breakdown(const struct pm_curator *curator,
                                          const struct pm_judgement *judged)
{
    return curator->strangers
               ? pm_breakdown_find(judged->aged, judged->points, curator->rules.half_width_absolute)
               : (struct pm_breakdown){0};
}

/* What is known of each point; *out: NULL where no levels are made of it. Only zeros have some: a
 * wrong one costs a trial, which is the only way to them. */
static bool gather_evidence(struct curation *curation, const struct pm_judgement *judged,
                            bool published, struct pm_evidence **out, struct pm_error *error)
{
    const uint32_t space = judged->statistics->space;
    if (judged->statistics->kind != PM_KIND_ZERO || curation->curator->publish_all)
        return true;
    struct pm_evidence *evidence = malloc((space + (size_t)1) * sizeof(*evidence));
    if (!evidence)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u points", space);
    for (uint32_t i = 0; i < space; i++)
        evidence[i] = pm_evidence_of(&judged->points[i].measures[PM_MEASURE_ZERO]);
    pm_prior_add(&curation->moments, evidence, space);
    if (published)
        free(evidence);
    else
        *out = evidence;
    return true;
}

/* Clusters that a level takes. */
static uint32_t least_of_level(const struct pm_curator *curator)
{
    return curator->min_tokens > 1 ? curator->min_tokens : 1;
}

static struct pm_lying lying_of(const struct pm_breakdown *breakdown)
{
    return breakdown->tokens < UINT32_MAX ? (struct pm_lying){breakdown->tokens, breakdown->error}
                                          : (struct pm_lying){0};
}

static bool tell(const struct curation *curation, const struct pm_judgement *judged,
                 const struct pm_shader_estimates *shader, bool vouched, const uint8_t *levels,
                 struct pm_error *error)
{
    struct pm_shader_estimates whole = *shader;
    if (!curation->observe)
        return true;
    whole.points = judged->points;
    if (levels)
        whole.provisional = levels;
    whole.deficit = judged->lacking > 0 ? judged->deficit : NULL;
    const uint32_t plain =
        pm_vouched_tokens(&curation->vouched, &curation->key, true, shader->space);
    const uint32_t flagged =
        pm_vouched_tokens(&curation->vouched, &curation->key, false, shader->space);
    const struct pm_judged shown = {
        .shader = &whole,
        .statistics = judged->statistics,
        .covered = judged->covered,
        .lacking = judged->lacking,
        .vouched = vouched,
        .tokens = plain > flagged ? plain : flagged,
        .days = curation->today > curation->since ? curation->today - curation->since + 1 : 1,
        .clusters_a_day = pm_judgement_clusters_a_day(judged),
        .breakdown = judged->breakdown};
    return curation->observe(curation->user, &shown, error);
}

/* With the levels of its points, where what the games have in common is known by now (prior). */
static bool show(const struct curation *curation, const struct pm_judgement *judged,
                 const struct pm_shader_estimates *shader, bool vouched,
                 const struct pm_evidence *evidence, struct pm_error *error)
{
    const uint32_t space = shader->space;
    if (!curation->observe || !curation->prior || !evidence)
        return tell(curation, judged, shader, vouched, NULL, error);
    uint8_t *levels = malloc((size_t)space + 1);
    if (!levels)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u points", space);
    pm_provisional_find(evidence, space, curation->prior, least_of_level(curation->curator),
                        levels);
    const bool done = tell(curation, judged, shader, vouched, levels, error);
    free(levels);
    return done;
}

/* Takes the deficit from *judged where it keeps it. */
static bool append(struct curation *curation, struct pm_judgement *judged, uint32_t flags,
                   bool vouched, struct pm_error *error)
{
    const uint32_t day =
        pm_vouched_last_day(&curation->vouched, &curation->key, flags, judged->statistics->space);
    const uint32_t space = judged->statistics->space;
    struct pm_shader_estimates shader = {
        .key = curation->key.key,
        .environment = curation->key.environment,
        .kind = curation->key.kind,
        .flags = flags,
        .space = space,
        .candidates = pm_statistics_candidates(judged->statistics),
        .published = judged->lacking == 0 && vouched,
        .entry_lanes = clamp_wide(&judged->statistics->entry_lanes),
    };
    if (shader.kind == PM_KIND_TIMING)
        shader.original = pm_originals_find(&curation->originals, &shader.key);
    if (curation->observe || shader.published)
        judged->breakdown = find_breakdown(curation->curator, judged);
    if (shader.published)
        shader.lying = lying_of(&judged->breakdown);
    struct pm_evidence *evidence = NULL;
    if (vouched && !gather_evidence(curation, judged, shader.published, &evidence, error))
        return false;
    const bool shown = show(curation, judged, &shader, vouched, evidence, error);
    /* What too few sent is nobody's business, not even that it is there. */
    if (!shown || (!vouched && !curation->everything)) {
        free(evidence);
        return shown;
    }
    const uint64_t sessions = pm_judgement_sessions(judged);
    if (shader.published || curation->everything) {
        shader.points = pm_judged_points_copy(&curation->points, judged->aged);
        if (!shader.points) {
            free(evidence);
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u points", space);
        }
    }
    if (judged->lacking > 0 || judged->asks) {
        shader.deficit = judged->deficit;
        judged->deficit = NULL;
    }
    curation->out->points += space;
    curation->out->points_covered += judged->covered;
    return pm_shader_list_add(&curation->list, &shader, evidence, sessions, day, error);
}

static void forget_gathered(struct curation *curation)
{
    pm_series_finish(&curation->plain);
    pm_series_finish(&curation->all);
    curation->blob_count = 0;
    curation->bytes.size = 0;
}

/* From the shader's blobs. */
static bool gather(struct curation *curation, struct pm_error *error)
{
    struct pm_storage_key key = curation->key;
    uint32_t shifted;
    size_t bad;
    for (size_t i = 0; i < curation->blob_count; i++)
        curation->blobs[i].data = curation->bytes.data + (uintptr_t)curation->blobs[i].data;
    if (pm_series_read(curation->blobs, curation->blob_count, curation->curator->half_life_days,
                       &curation->plain, &curation->all, &shifted, &bad, error)) {
        if (shifted > curation->since)
            curation->since = shifted; /* by what came since then rates go, too */
        return true;
    }
    key.day = bad < curation->blob_count ? curation->blobs[bad].day : key.day;
    return pm_fail_blob(error, &key);
}

/* Ends the shader whose blobs came in: its profiles without flags where they cover it, else also
 * those that counted occluded pixels (HAZARDS 4) or could not count some candidates (HAZARDS 2).
 * Those without flags have to be vouched for alone; all together also are where a part of them is.
 */
static bool close_shader(struct curation *curation, struct pm_error *error)
{
    if (!curation->open)
        return true;
    curation->open = false;
    if (curation->too_large) {
        curation->left_out++;
        curation->last_left_out = curation->key.key;
        return true;
    }
    const struct pm_judging judging = {.rules = &curation->curator->rules,
                                       .publish_all = curation->curator->publish_all,
                                       .pool = &curation->points};
    struct pm_judgement judged = {0};
    uint32_t flags = 0;
    bool done = gather(curation, error), chosen = false;
    const uint32_t space =
        curation->flags == 0 ? curation->plain.exact.space : curation->all.exact.space;
    const bool plain = pm_is_vouched(&curation->vouched, &curation->key, true, space);
    const bool flagged = pm_is_vouched(&curation->vouched, &curation->key, false, space);
    /* What too few sent and nobody watches comes to nothing. */
    if (done && !plain && !flagged && !curation->everything && !curation->observe) {
        forget_gathered(curation);
        return true;
    }
    if (done && curation->plain.exact.space != 0) {
        done = pm_judge(&judging, &curation->plain, &judged, error);
        chosen = done && (curation->flags == 0 ||
                          ((plain || !flagged) && judged.covered == curation->plain.exact.space));
    }
    if (done && !chosen) {
        pm_judgement_finish(&judged, &curation->points);
        flags = curation->flags;
        done = pm_judge(&judging, &curation->all, &judged, error);
    }
    done = done && append(curation, &judged, flags, plain || (!chosen && flagged), error);
    pm_judgement_finish(&judged, &curation->points);
    forget_gathered(curation);
    return done;
}

/* ---- a game ---- */

/* A shader that cannot be read as a whole is not estimated by a part. */
static void give_up_shader(struct curation *curation)
{
    curation->too_large = true;
    curation->blob_count = 0;
    pm_buffer_finish(&curation->bytes);
    pm_buffer_init(&curation->bytes, curation->curator->shader_bytes);
}

/* Until all of the shader's are there: what waits comes before what is stored, and days have an
 * order. */
static bool keep_blob(struct curation *curation, const struct pm_storage_key *key, const void *blob,
                      size_t size, struct pm_error *error)
{
    if (curation->blob_count == curation->blobs_allocated) {
        const size_t allocated = curation->blobs_allocated ? 2 * curation->blobs_allocated : 64;
        struct pm_series_blob *blobs =
            reallocarray(curation->blobs, allocated, sizeof(*curation->blobs));
        if (!blobs)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu days", allocated);
        curation->blobs = blobs;
        curation->blobs_allocated = allocated;
    }
    const size_t at = curation->bytes.size;
    if (!curation->too_large && size > curation->curator->shader_bytes - at)
        give_up_shader(curation);
    if (curation->too_large)
        return true;
    if (!pm_buffer_append(&curation->bytes, blob, size))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a shader's statistics");
    curation->blobs[curation->blob_count++] = (struct pm_series_blob){
        /* What was counted while the clock was ahead is of today, not newer than all else. */
        .day = key->day < curation->today ? key->day : curation->today,
        .flags = key->flags,
        .data = (const void *)(uintptr_t)at,
        .size = size};
    return true;
}

/* What variants took is no estimate of the shader's. Of who has tokens it counts once their day has
 * ended: a cluster may still move until then, and be another half's. */
static bool gather_variants(struct curation *curation, const struct pm_storage_key *key,
                            const void *blob, size_t size, struct pm_error *error)
{
    struct pm_statistics statistics;
    if (!curation->races || (curation->curator->strangers && key->day >= curation->today))
        return true;
    curation->key = *key;
    pm_statistics_init(&statistics);
    const bool done =
        (blob || pm_seal_fail(error)) && pm_statistics_decode(blob, size, &statistics, error) &&
        pm_race_gather(curation->races, key, &statistics,
                       pm_vouched_day(&curation->vouched, &curation->key, true, statistics.space),
                       error);
    pm_statistics_finish(&statistics);
    return done || pm_fail_blob(error, key);
}

static bool visit_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                       struct pm_error *error)
{
    struct curation *curation = user;
    if (!pm_world_may_go_on(curation->curator->world, "while reading", error))
        return false;
    if (key->day < curation->first_day)
        return true;
    if (curation->open &&
        (!pm_shader_key_equal(&curation->key.key, &key->key) ||
         memcmp(&curation->key.environment, &key->environment, sizeof(key->environment)) != 0 ||
         curation->key.kind != key->kind) &&
        !close_shader(curation, error))
        return false;
    if (key->kind == PM_KIND_VARIANT)
        return gather_variants(curation, key, blob, size, error);
    if (!curation->open) {
        curation->open = true;
        curation->key = *key;
        curation->flags = 0;
        curation->too_large = false;
        curation->since = key->day;
    }
    const bool done = (blob || pm_seal_fail(error)) && keep_blob(curation, key, blob, size, error);
    if (key->day < curation->since)
        curation->since = key->day;
    curation->flags |= key->flags;
    return done || pm_fail_blob(error, key);
}

static bool visit_claim(void *user, const struct pm_storage_claim *claim, struct pm_error *error)
{
    static const uint8_t of_points[PM_SCOPE_BYTES];
    struct curation *curation = user;
    return memcmp(claim->scope, of_points, PM_SCOPE_BYTES) == 0 ||
           pm_left_alone_claims_see(&curation->left_alone, claim) ||
           pm_vouched_add(&curation->vouched, claim, error);
}

/* What curation goes by beside the blobs. */
static bool begin_curation(struct curation *curation, const char *game, struct pm_error *error)
{
    const struct pm_curator *curator = curation->curator;
    struct pm_storage *storage = curator->world->storage;
    curation->today = pm_world_today(curator->world);
    curation->first_day = pm_ageing_first_day(curation->today, curator->world->retention_days);
    curation->vouched.wanted = curator->min_tokens;
    curation->vouched.today = curation->today;
    curation->vouched.first_day = curation->first_day;
    curation->originals.first_day = curation->first_day;
    curation->plain.aged.strangers = curation->all.aged.strangers = curator->strangers;
    pm_buffer_init(&curation->bytes, curator->shader_bytes);
    pm_left_alone_claims_seen_init(&curation->left_alone, curator->min_tokens, curation->today);
    return pm_originals_read(&curation->originals, storage, game, error) &&
           storage->operations->read_claims(storage, game, visit_claim, curation, error);
}

static void log_damaged(const struct curation *curation, const char *game)
{
    if (curation->originals.damaged > 0)
        pm_log_error(
            curation->curator->world->log,
            "\"%s\": %zu originals of timed shaders are damaged, and are left out of what is "
            "published; look at the disk",
            game, curation->originals.damaged);
}

static void log_left_out(const struct curation *curation, const char *game)
{
    char text[PM_SHADER_KEY_TEXT];
    if (curation->left_out == 0)
        return;
    pm_shader_key_format(&curation->last_left_out, text);
    pm_log_warning(curation->curator->world->log,
                   "\"%s\": %zu shaders have more than %zu bytes of statistics each, and are left "
                   "out; one is %s",
                   game, curation->left_out, curation->curator->shader_bytes, text);
}

/* How the levels are found: by all that there is of the kind, of this game and the others. */
static struct pm_leveling level_by(const struct curation *curation, const char *game)
{
    const struct pm_curator *curator = curation->curator;
    return (struct pm_leveling){.prior =
                                    pm_prior_pool_fit(curator->priors, game, &curation->moments),
                                .least = least_of_level(curator)};
}

static void curation_finish(struct curation *curation)
{
    pm_vouched_finish(&curation->vouched);
    free(curation->blobs);
    pm_buffer_finish(&curation->bytes);
    pm_originals_finish(&curation->originals);
    pm_judged_points_finish(&curation->points);
    forget_gathered(curation);
    pm_shader_list_finish(&curation->list);
}

bool pm_curate_read(struct pm_curator *curator, const struct pm_curate_request *request,
                    struct pm_arena *arena, struct pm_curated *out, struct pm_error *error)
{
    struct pm_storage *storage = curator->world->storage;
    const char *game = request->game;
    struct curation curation = {
        .curator = curator,
        .vouched = {.scene = request->scene ? request->scene : ""},
        .everything = request->everything,
        .observe = request->observe,
        .user = request->user,
        .races = request->races,
        .list = {.most_bytes = request->everything ? SIZE_MAX : curator->database_bytes},
        .out = out};
    memset(out, 0, sizeof(*out));
    bool known;
    if (!storage->operations->find_game(storage, game, &known, &out->uploads, error))
        return false;
    if (!known)
        return pm_fail(error, PM_ERROR_STATE, "the game \"%s\" is not known", game);
    out->database.game = pm_arena_strdup(arena, game);
    if (!out->database.game)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database");
    out->database.curated_at = (uint64_t)pm_world_now(curator->world);
    bool done =
        pm_fold_what_can_be(curator->folding, request->game, error) &&
        begin_curation(&curation, game, error) &&
        pm_fold_read_game(curator->folding, game, request->scene, visit_blob, &curation, error) &&
        close_shader(&curation, error);
    if (done) {
        const struct pm_leveling leveling = level_by(&curation, game);
        if (!request->scene)
            pm_prior_pool_put(curator->priors, game, &curation.moments);
        done = pm_shader_list_settle(&curation.list, &leveling, arena, out, error);
    }
    memcpy(out->left_alone, curation.left_alone.counts, sizeof(out->left_alone));
    if (!request->scene) { /* once for all scenes */
        log_damaged(&curation, game);
        log_left_out(&curation, game);
    }
    curation_finish(&curation);
    return done;
}

bool pm_curate_read_shader(struct pm_curator *curator, const char *game,
                           const struct pm_shader_key *key, pm_curate_observe observe, void *user,
                           struct pm_error *error)
{
    struct pm_curated curated = {0};
    const struct pm_prior prior = pm_prior_pool_fit(curator->priors, game, NULL);
    struct curation curation = {.curator = curator,
                                .vouched = {.scene = ""},
                                .prior = &prior,
                                .observe = observe,
                                .user = user,
                                .out = &curated,
                                .list = {.most_bytes = curator->database_bytes}};
    const bool done =
        begin_curation(&curation, game, error) &&
        pm_fold_read_shader(curator->folding, game, key, visit_blob, &curation, error) &&
        close_shader(&curation, error) &&
        (curation.left_out == 0 ||
         pm_fail(error, PM_ERROR_LIMIT, "the shader has more than %zu bytes of statistics",
                 curator->shader_bytes));
    curation_finish(&curation);
    return done;
}
