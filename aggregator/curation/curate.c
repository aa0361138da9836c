#include "aggregator/curation/curate.h"

#include "aggregator/curation/joint.h"
#include "aggregator/curation/judged_points.h"
#include "aggregator/curation/races.h"
#include "aggregator/curation/shader_list.h"
#include "aggregator/intake/fold_read.h"
#include "aggregator/statistics/estimate.h"
#include "aggregator/statistics/series.h"
#include "aggregator/storage/fail.h"
#include "aggregator/storage/seal.h"
#include "aggregator/trust/claims.h"
#include "aggregator/trust/originals.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One (key, environment, kind) while its blobs come in. */
struct curation {
    struct pm_curator *curator;
    const char *scene; /* "": all */
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
    uint32_t first_day;              /* of the retention */
    struct pm_storage_claim *claims; /* without those of numbers of points, sorted */
    size_t claim_count, claims_allocated;
    struct pm_left_alone_seen left_alone;
    struct pm_originals originals;
    struct pm_prior_moments moments; /* of what enough tokens sent of the kind that levels are of */
    const struct pm_prior *prior;    /* what levels that are shown go by; NULL: none are shown */
    size_t left_out;                 /* shaders that were too large; the last of them: */
    struct pm_shader_key last_left_out;
};

/* ---- rules ---- */

static int compare_claims(const void *a, const void *b)
{
    const struct pm_storage_claim *left = a, *right = b;
    const int order = memcmp(left->key.bytes, right->key.bytes, PM_SHADER_KEY_BYTES);
    if (order != 0)
        return order;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    const int scopes = memcmp(left->scope, right->scope, PM_SCOPE_BYTES);
    if (scopes != 0)
        return scopes;
    return left->space < right->space ? -1 : left->space > right->space;
}

/* What tokens said of the shader in its environment and scene; NULL: nothing. plain: without flags;
 * else with some. */
static const struct pm_storage_claim *find_claim(const struct curation *curation, bool plain,
                                                 uint32_t space)
{
    struct pm_storage_claim name = {
        .key = curation->key.key, .kind = curation->key.kind, .space = space};
    if (curation->claim_count == 0)
        return NULL;
    pm_claims_scope(&curation->key.environment, plain, curation->scene, name.scope);
    return bsearch(&name, curation->claims, curation->claim_count, sizeof(name), compare_claims);
}

/* Did enough distinct tokens send profiles of the shader, within the retention, in its environment
 * and of the scene, if it is of one? plain: without flags; else with some. */
static bool is_vouched(const struct curation *curation, bool plain, uint32_t space)
{
    const uint32_t wanted = curation->curator->min_tokens;
    if (wanted <= 1)
        return true;
    const struct pm_storage_claim *claim = find_claim(curation, plain, space);
    return claim && claim->tokens >= wanted && claim->day >= curation->first_day;
}

/* The last day on which enough distinct tokens are known to have spoken of the shader: what they
 * said of it by then can be told from one another only by all of them together. */
static uint32_t vouched_day(const struct curation *curation, bool plain, uint32_t space)
{
    if (curation->curator->min_tokens <= 1)
        return curation->today;
    const struct pm_storage_claim *claim = find_claim(curation, plain, space);
    const bool enough = claim && claim->tokens >= curation->curator->min_tokens;
    return enough ? claim->day : 0;
}

/* The same of all that is judged together; flags: those of it. */
static uint32_t last_vouched_day(const struct curation *curation, uint32_t flags, uint32_t space)
{
    const uint32_t plain = vouched_day(curation, true, space);
    const uint32_t flagged = flags != 0 ? vouched_day(curation, false, space) : 0;
    return plain > flagged ? plain : flagged;
}

/* ---- one shader ---- */

struct judged {
    const struct pm_statistics *statistics;
    const struct pm_aged *aged;
    struct pm_point_estimate *points; /* `space` of them, of the curation's */
    uint8_t *deficit;
    uint32_t covered, lacking;
    struct pm_breakdown breakdown; /* where somebody sees it */
};

static bool is_lacking(const struct pm_curator *curator, enum pm_kind kind,
                       const struct pm_point_estimate *point, bool *covered)
{
    *covered = pm_is_covered(&curator->rules, kind, point);
    return !*covered || (!curator->publish_all && !pm_is_well_known(&curator->rules, kind, point));
}

/* What lacks where nobody has measured anything. */
static void judge_unmeasured(const struct pm_curator *curator, struct judged *out)
{
    const struct pm_point_estimate none = pm_judged_points_unmeasured();
    const uint32_t space = out->aged->space;
    bool covered;
    const bool lacking = is_lacking(curator, out->aged->kind, &none, &covered);
    out->covered = covered ? space : 0;
    out->lacking = lacking ? space : 0;
    memset(out->deficit, lacking ? 0xff : 0, ((size_t)space + 7) / 8);
    if (lacking && space % 8 != 0)
        out->deficit[space / 8] = (uint8_t)((1u << space % 8) - 1);
}

static void judge_point(const struct pm_curator *curator, struct judged *out, uint32_t point)
{
    const struct pm_point_estimate none = pm_judged_points_unmeasured();
    const enum pm_kind kind = out->aged->kind;
    bool covered, covered_before;
    const bool before = is_lacking(curator, kind, &none, &covered_before);
    const bool lacking = is_lacking(curator, kind, &out->points[point], &covered);
    out->covered += (uint32_t)covered - (uint32_t)covered_before;
    out->lacking += (uint32_t)lacking - (uint32_t)before;
    if (lacking != before)
        out->deficit[point / 8] = (uint8_t)(out->deficit[point / 8] ^ 1u << point % 8);
}

/* Estimates every point of the space. judged_finish is the caller's also after a failure. */
static bool judge(struct curation *curation, const struct pm_series *gathered, struct judged *out,
                  struct pm_error *error)
{
    const struct pm_curator *curator = curation->curator;
    const struct pm_aged *aged = &gathered->aged;
    out->statistics = &gathered->exact;
    out->aged = aged;
    out->points = pm_judged_points_take(&curation->points, aged);
    out->deficit = calloc(((size_t)aged->space + 7) / 8, 1);
    if (!out->points || !out->deficit)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u points", aged->space);
    judge_unmeasured(curator, out);
    for (size_t i = 0; i < aged->count; i++)
        judge_point(curator, out, aged->points[i].point);
    return out->lacking > 0 || curator->publish_all ||
           pm_joint_find(&curator->rules, aged, out->points, out->deficit, &out->lacking, error);
}

static void judged_finish(struct curation *curation, struct judged *judged)
{
    if (judged->points)
        pm_judged_points_give_back(&curation->points, judged->aged);
    free(judged->deficit);
    memset(judged, 0, sizeof(*judged));
}

static uint64_t clamp_wide(const struct pm_wide *wide)
{
    return (wide->limbs[1] | wide->limbs[2]) != 0 ? UINT64_MAX : wide->limbs[0];
}

static uint32_t tokens_of(const struct curation *curation, bool plain, uint32_t space)
{
    const struct pm_storage_claim *claim = find_claim(curation, plain, space);
    return claim && claim->day >= curation->first_day ? (uint32_t)claim->tokens : 0;
}

static double clusters_a_day(const struct pm_aged *aged)
{
    double most = 0;
    for (size_t i = 0; i < aged->count; i++) {
        for (unsigned j = 0; j < pm_measure_count(aged->kind); j++) {
            const struct pm_aged_measure *measure = &aged->points[i].measures[j];
            if (measure->n > 0 && (double)(measure->w / measure->days) > most)
                most = (double)(measure->w / measure->days);
        }
    }
    return most;
}

static struct pm_breakdown find_breakdown(const struct pm_curator *curator,
                                          const struct judged *judged)
{
    return curator->strangers
               ? pm_breakdown_find(judged->aged, judged->points, curator->rules.half_width_absolute)
               : (struct pm_breakdown){0};
}

static uint64_t most_sessions(const struct judged *judged)
{
    uint64_t most = 0;
    for (size_t i = 0; i < judged->aged->count; i++) {
        const uint32_t sessions = judged->points[judged->aged->points[i].point].sessions;
        most = sessions > most ? sessions : most;
    }
    return most;
}

/* What is known of each point; *out: NULL where no levels are made of it. Only zeros have some: a
 * wrong one costs a trial, which is the only way to them. */
static bool gather_evidence(struct curation *curation, const struct judged *judged, bool published,
                            struct pm_evidence **out, struct pm_error *error)
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

static bool tell(const struct curation *curation, const struct judged *judged,
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
    const uint32_t plain = tokens_of(curation, true, shader->space);
    const uint32_t flagged = tokens_of(curation, false, shader->space);
    const struct pm_judged shown = {
        .shader = &whole,
        .statistics = judged->statistics,
        .covered = judged->covered,
        .lacking = judged->lacking,
        .vouched = vouched,
        .tokens = plain > flagged ? plain : flagged,
        .days = curation->today > curation->since ? curation->today - curation->since + 1 : 1,
        .clusters_a_day = clusters_a_day(judged->aged),
        .breakdown = judged->breakdown};
    return curation->observe(curation->user, &shown, error);
}

/* With the levels of its points, where what the games have in common is known by now (prior). */
static bool show(const struct curation *curation, const struct judged *judged,
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
static bool append(struct curation *curation, struct judged *judged, uint32_t flags, bool vouched,
                   struct pm_error *error)
{
    const uint32_t day = last_vouched_day(curation, flags, judged->statistics->space);
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
    const uint64_t sessions = most_sessions(judged);
    if (shader.published || curation->everything) {
        shader.points = pm_judged_points_copy(&curation->points, judged->aged);
        if (!shader.points) {
            free(evidence);
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u points", space);
        }
    }
    if (judged->lacking > 0) {
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
    struct judged judged = {0};
    uint32_t flags = 0;
    bool done = gather(curation, error), chosen = false;
    const uint32_t space =
        curation->flags == 0 ? curation->plain.exact.space : curation->all.exact.space;
    const bool plain = is_vouched(curation, true, space);
    const bool flagged = is_vouched(curation, false, space);
    /* What too few sent and nobody watches comes to nothing. */
    if (done && !plain && !flagged && !curation->everything && !curation->observe) {
        forget_gathered(curation);
        return true;
    }
    if (done && curation->plain.exact.space != 0) {
        done = judge(curation, &curation->plain, &judged, error);
        chosen = done && (curation->flags == 0 ||
                          ((plain || !flagged) && judged.covered == curation->plain.exact.space));
    }
    if (done && !chosen) {
        judged_finish(curation, &judged);
        flags = curation->flags;
        done = judge(curation, &curation->all, &judged, error);
    }
    done = done && append(curation, &judged, flags, plain || (!chosen && flagged), error);
    judged_finish(curation, &judged);
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
    const bool done = (blob || pm_seal_fail(error)) &&
                      pm_statistics_decode(blob, size, &statistics, error) &&
                      pm_race_gather(curation->races, key, &statistics,
                                     vouched_day(curation, true, statistics.space), error);
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
    if (memcmp(claim->scope, of_points, PM_SCOPE_BYTES) == 0 ||
        pm_left_alone_claims_see(&curation->left_alone, claim) ||
        curation->curator->min_tokens <= 1)
        return true;
    if (curation->claim_count == curation->claims_allocated) {
        const size_t allocated = curation->claims_allocated ? curation->claims_allocated * 2 : 256;
        struct pm_storage_claim *claims = realloc(curation->claims, allocated * sizeof(*claims));
        if (!claims)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu claims", allocated);
        curation->claims = claims;
        curation->claims_allocated = allocated;
    }
    struct pm_storage_claim *last =
        curation->claim_count > 0 ? &curation->claims[curation->claim_count - 1] : NULL;
    if (!last || compare_claims(last, claim) != 0)
        curation->claims[curation->claim_count++] = *claim;
    else if (last->day < curation->first_day || claim->tokens >= last->tokens ||
             claim->tokens >= curation->curator->min_tokens) /* the last day with enough */
        *last = *claim;
    return true;
}

/* What curation goes by beside the blobs. */
static bool begin_curation(struct curation *curation, const char *game, struct pm_error *error)
{
    const struct pm_curator *curator = curation->curator;
    struct pm_storage *storage = curator->world->storage;
    curation->today = pm_world_today(curator->world);
    curation->first_day = pm_ageing_first_day(curation->today, curator->world->retention_days);
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
    free(curation->claims);
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
        .scene = request->scene ? request->scene : "",
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
                                .scene = "",
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
