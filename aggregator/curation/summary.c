#include "aggregator/curation/summary.h"

#include "aggregator/statistics/ageing.h"
#include "aggregator/statistics/expectation.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_A_DAY 86400

/* Arrays grow to twice what is kept, and are then cut to what is worth most. */
struct summarizing {
    const struct pm_curator *curator;
    struct pm_summary *summary;
    size_t shaders_allocated, candidates_allocated;
};

/* ---- lists that keep the best ---- */

static int compare_shaders(const void *a, const void *b)
{
    const struct pm_summary_shader *left = a, *right = b;
    if (left->entry_lanes != right->entry_lanes)
        return left->entry_lanes > right->entry_lanes ? -1 : 1;
    const int keys = memcmp(left->key.bytes, right->key.bytes, PM_SHADER_KEY_BYTES);
    if (keys != 0)
        return keys;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return memcmp(&left->environment, &right->environment, sizeof(left->environment));
}

static int compare_candidates(const void *a, const void *b)
{
    const struct pm_summary_candidate *left = a, *right = b;
    if (left->hits_low != right->hits_low)
        return left->hits_low > right->hits_low ? -1 : 1;
    if (left->hits != right->hits)
        return left->hits > right->hits ? -1 : 1;
    const int keys = memcmp(left->key.bytes, right->key.bytes, PM_SHADER_KEY_BYTES);
    if (keys != 0)
        return keys;
    if (left->point != right->point)
        return left->point < right->point ? -1 : 1;
    return memcmp(&left->environment, &right->environment, sizeof(left->environment));
}

/* Room for one more; a list of twice what is kept is cut first. */
static bool make_room(void **list, size_t *count, size_t *allocated, size_t size, size_t kept,
                      int (*compare)(const void *, const void *), struct pm_error *error)
{
    if (*count < *allocated)
        return true;
    if (*count >= 2 * kept) {
        qsort(*list, *count, size, compare);
        *count = kept;
        return true;
    }
    const size_t more = *allocated ? 2 * *allocated : 64;
    void *grown = realloc(*list, (more < 2 * kept ? more : 2 * kept) * size);
    if (!grown)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for the summary of a game");
    *list = grown;
    *allocated = more < 2 * kept ? more : 2 * kept;
    return true;
}

/* Sorts, cuts, and gives back what was allocated too much. */
static void settle(void **list, size_t *count, size_t size, size_t kept,
                   int (*compare)(const void *, const void *))
{
    if (*count == 0)
        return;
    qsort(*list, *count, size, compare);
    if (*count > kept)
        *count = kept;
    void *smaller = realloc(*list, *count * size);
    if (smaller)
        *list = smaller;
}

/* ---- coverage over time ---- */

static void add_sample(struct pm_summary_history *history, const struct pm_summary_sample *sample)
{
    if (history->seen++ % history->stride != 0)
        return;
    if (history->count == PM_SUMMARY_SAMPLES) {
        for (size_t i = 0; i < PM_SUMMARY_SAMPLES / 2; i++)
            history->samples[i] = history->samples[2 * i];
        history->count = PM_SUMMARY_SAMPLES / 2;
        history->stride *= 2;
        if ((history->seen - 1) % history->stride != 0)
            return;
    }
    history->samples[history->count++] = *sample;
}

struct filling {
    struct pm_summary_history *history;
    int64_t first; /* seconds since the epoch, of the retention */
};

static bool visit_coverage(void *user, int64_t time, uint64_t uploads, uint64_t points_covered,
                           uint64_t points)
{
    const struct filling *filling = user;
    const struct pm_summary_sample sample = {time, uploads, points_covered, points};
    if (time >= filling->first)
        add_sample(filling->history, &sample);
    return true;
}

/* The samples of the retention, up to and with the one that this curation added; those of the
 * storage where the previous summary begins before the retention, or, by a clock that was ahead,
 * later than now. */
static bool fill_history(const struct pm_world *world, struct pm_summary *summary,
                         const struct pm_summary *previous, struct pm_error *error)
{
    struct filling filling = {
        &summary->history,
        (int64_t)pm_ageing_first_day(pm_world_today(world), world->retention_days) * SECONDS_A_DAY};
    const struct pm_summary_sample now = {(int64_t)summary->whole.curated_at,
                                          summary->whole.uploads, summary->whole.points_covered,
                                          summary->whole.points};
    if (previous && previous->history.count > 0 &&
        previous->history.samples[0].time >= filling.first &&
        previous->history.samples[0].time <= now.time) {
        summary->history = previous->history;
        add_sample(&summary->history, &now);
        return true;
    }
    summary->history.stride = 1;
    return world->storage->operations->read_coverage(world->storage, summary->game, visit_coverage,
                                                     &filling, error);
}

/* One shader's part: its calls are so many samples of PM_SUMMARY_BATCH points, here taken to have
 * been of `batch` points. */
static void add_expectation(const struct pm_summary_shader *shader, uint32_t batch,
                            double curve[static PM_SUMMARY_CURVE])
{
    const uint32_t size = shader->space < PM_SUMMARY_BATCH ? shader->space : PM_SUMMARY_BATCH;
    const double samples = (double)shader->calls / (size ? size : 1);
    for (unsigned i = 1; i < PM_SUMMARY_CURVE; i++) {
        const double root = (double)i / (PM_SUMMARY_CURVE - 1);
        curve[i] += shader->space * pm_expected_share(shader->space, batch, samples * root * root);
    }
}

double pm_summary_expected(const double curve[static PM_SUMMARY_CURVE], double share)
{
    const double at = sqrt(share > 0 ? share : 0) * (PM_SUMMARY_CURVE - 1);
    const unsigned below = at < PM_SUMMARY_CURVE - 2 ? (unsigned)at : PM_SUMMARY_CURVE - 2;
    /* Between two points the curve is a line over the share, not over its root. */
    const double scale = (double)(PM_SUMMARY_CURVE - 1) * (PM_SUMMARY_CURVE - 1);
    const double low = (double)below * below / scale,
                 high = (double)(below + 1) * (below + 1) / scale;
    const double part = fmin(fmax((share - low) / (high - low), 0), 1);
    return curve[below] + part * (curve[below + 1] - curve[below]);
}

/* ---- a shader ---- */

static bool add_candidate(struct summarizing *all, const struct pm_shader_estimates *shader,
                          uint32_t point, double subgroups, struct pm_error *error)
{
    struct pm_summary *summary = all->summary;
    const struct pm_point_estimate *estimate = &shader->points[point];
    const struct pm_ratio *zero = &estimate->measures[PM_MEASURE_ZERO],
                          *writes = &estimate->measures[PM_MEASURE_WRITES];
    if (zero->clusters == 0)
        return true;
    summary->candidates_known++;
    const double hits = zero->ratio * writes->ratio * subgroups;
    if (!(hits > 0))
        return true;
    if (!make_room((void **)&summary->candidates, &summary->candidate_count,
                   &all->candidates_allocated, sizeof(*summary->candidates), PM_SUMMARY_CANDIDATES,
                   compare_candidates, error))
        return false;
    summary->candidates[summary->candidate_count++] =
        (struct pm_summary_candidate){.key = shader->key,
                                      .environment = shader->environment,
                                      .point = point,
                                      .clusters = zero->clusters,
                                      .probability = zero->ratio,
                                      .low = zero->ratio_low,
                                      .high = zero->ratio_high,
                                      .writes = writes->ratio,
                                      .subgroups = subgroups,
                                      .hits = hits,
                                      .hits_low = zero->ratio_low * writes->ratio * subgroups};
    return true;
}

/* As the layer goes by it (specialized_shader.c): the mean over sessions. */
static struct pm_summary_time time_of(const struct pm_shader_estimates *shader)
{
    if (shader->kind != PM_KIND_TIMING)
        return (struct pm_summary_time){0};
    const struct pm_ratio *time = &shader->points[0].measures[PM_MEASURE_TIME];
    const struct pm_ratio *spread = &shader->points[0].measures[PM_MEASURE_SPREAD];
    return (struct pm_summary_time){.mean = (float)time->mean,
                                    .low = (float)time->mean_low,
                                    .high = (float)time->mean_high,
                                    .sessions = time->clusters,
                                    .spread = (float)spread->mean,
                                    .spreads = spread->clusters};
}

static bool observe(void *user, const struct pm_judged *judged, struct pm_error *error)
{
    struct summarizing *all = user;
    struct pm_summary *summary = all->summary;
    const struct pm_shader_estimates *shader = judged->shader;
    struct pm_summary_shader one = {.key = shader->key,
                                    .environment = shader->environment,
                                    .kind = shader->kind,
                                    .flags = shader->flags,
                                    .space = shader->space,
                                    .candidates = shader->candidates,
                                    .covered = judged->covered,
                                    .lacking = judged->lacking,
                                    .published = shader->published,
                                    .breakdown = judged->breakdown,
                                    .strangers = all->curator->strangers,
                                    .waits = pm_reason_of(all->curator, judged),
                                    .entry_lanes = shader->entry_lanes,
                                    .time = time_of(shader),
                                    .original = shader->original};
    const double size = shader->environment.subgroup_size ? shader->environment.subgroup_size : 1;
    const double subgroups = (double)shader->entry_lanes / size;
    for (size_t i = 0; i < judged->statistics->count; i++) {
        const uint32_t point = judged->statistics->points[i].point;
        one.measured += shader->points[point].sessions > 0;
        one.calls += shader->points[point].calls;
        if (shader->kind == PM_KIND_ZERO && !add_candidate(all, shader, point, subgroups, error))
            return false;
    }
    if (!make_room((void **)&summary->shaders, &summary->shader_count, &all->shaders_allocated,
                   sizeof(*summary->shaders), PM_SUMMARY_SHADERS, compare_shaders, error))
        return false;
    summary->shaders[summary->shader_count++] = one;
    /* Beside the points that are counted as known: those of shaders that may be published. */
    if (judged->vouched) {
        add_expectation(&one, PM_SUMMARY_BATCH, summary->curve.batches);
        add_expectation(&one, 1, summary->curve.singles);
        summary->measured += one.measured;
    }
    summary->waiting[one.waits.kind] += !one.published;
    summary->shaders_known++;
    summary->shaders_published += one.published;
    summary->calls += one.calls;
    summary->entry_lanes += one.entry_lanes;
    if (shader->kind == PM_KIND_ZERO)
        summary->subgroups += subgroups;
    return true;
}

/* ---- what was measured beside what is estimated ---- */

/* By original and subgroup size: what a zero profile leads to is of one of both. */
static int compare_origins(const struct pm_shader_key *original, uint32_t subgroup_size,
                           const struct pm_summary_shader *timing)
{
    const int keys = memcmp(original->bytes, timing->original.bytes, PM_SHADER_KEY_BYTES);
    if (keys != 0)
        return keys;
    return (subgroup_size > timing->environment.subgroup_size) -
           (subgroup_size < timing->environment.subgroup_size);
}

/* Most sessions first where the rest is the same. */
static int compare_timings(const void *a, const void *b)
{
    const struct pm_summary_shader *left = *(const struct pm_summary_shader *const *)a,
                                   *right = *(const struct pm_summary_shader *const *)b;
    const int order = compare_origins(&left->original, left->environment.subgroup_size, right);
    if (order != 0)
        return order;
    if (left->time.sessions != right->time.sessions)
        return left->time.sessions > right->time.sessions ? -1 : 1;
    return left < right ? -1 : left > right;
}

static void link_candidate(struct pm_summary_candidate *candidate,
                           const struct pm_summary_shader *const *timings, size_t count)
{
    const uint32_t size = candidate->environment.subgroup_size;
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_origins(&candidate->key, size, timings[middle]) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && compare_origins(&candidate->key, size, timings[low]) == 0; low++) {
        if (candidate->timings++ == 0)
            candidate->measured = timings[low];
    }
}

/* Once both lists stay where they are. What is not published may be the word of one alone. */
static bool link_timings(struct pm_summary *summary, struct pm_error *error)
{
    size_t count = 0;
    const struct pm_summary_shader **timings = calloc(summary->shader_count + 1, sizeof(*timings));
    if (!timings)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for the summary of a game");
    for (size_t i = 0; i < summary->shader_count; i++) {
        const struct pm_summary_shader *shader = &summary->shaders[i];
        if (shader->published && shader->time.sessions > 0 &&
            !pm_shader_key_is_none(&shader->original))
            timings[count++] = shader;
    }
    qsort(timings, count, sizeof(*timings), compare_timings);
    for (size_t i = 0; i < summary->candidate_count; i++)
        link_candidate(&summary->candidates[i], timings, count);
    free(timings);
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct pm_shader_key));
}

/* Which originals are in the list, once it stays as it is. */
static bool find_originals(struct pm_summary *summary, struct pm_error *error)
{
    const size_t count = summary->shader_count;
    struct pm_shader_key *keys = calloc(count + 1, sizeof(*keys));
    if (!keys)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for the summary of a game");
    for (size_t i = 0; i < count; i++)
        keys[i] = summary->shaders[i].key;
    qsort(keys, count, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < count; i++) {
        struct pm_summary_shader *shader = &summary->shaders[i];
        shader->original_known =
            !pm_shader_key_is_none(&shader->original) &&
            bsearch(&shader->original, keys, count, sizeof(*keys), compare_keys) != NULL;
    }
    free(keys);
    return true;
}

/* ---- names ---- */

struct gathering {
    struct pm_summary *summary;
    size_t allocated;
};

static bool take_name(void *user, const struct pm_shader_key *key, const char *name,
                      struct pm_error *error)
{
    struct gathering *all = user;
    struct pm_summary *summary = all->summary;
    if (summary->name_count == PM_SUMMARY_SHADERS)
        return true;
    if (summary->name_count == all->allocated) {
        const size_t allocated = all->allocated ? 2 * all->allocated : 64;
        void *names = reallocarray(summary->names, allocated, sizeof(*summary->names));
        if (!names)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for the names of shaders");
        summary->names = names;
        all->allocated = allocated;
    }
    struct pm_summary_name *one = &summary->names[summary->name_count];
    *one = (struct pm_summary_name){*key, strdup(name)};
    if (!one->name)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for the name of a shader");
    summary->name_count++;
    summary->name_bytes += sizeof(*one) + strlen(name) + 1;
    return true;
}

static bool read_names(struct pm_storage *storage, struct pm_summary *summary,
                       struct pm_error *error)
{
    struct gathering all = {.summary = summary};
    return storage->operations->read_names(storage, summary->game, take_name, &all, error);
}

static int compare_names(const void *key, const void *name)
{
    return memcmp(key, ((const struct pm_summary_name *)name)->key.bytes, PM_SHADER_KEY_BYTES);
}

const char *pm_summary_name_of(const struct pm_summary *summary, const struct pm_shader_key *key)
{
    const struct pm_summary_name *found =
        summary->name_count > 0 ? bsearch(key->bytes, summary->names, summary->name_count,
                                          sizeof(*summary->names), compare_names)
                                : NULL;
    return found ? found->name : NULL;
}

/* ---- a game ---- */

bool pm_summary_curate(struct pm_curator *curator, const char *game,
                       const struct pm_summary *previous, struct pm_summary **out,
                       struct pm_error *error)
{
    struct summarizing all = {.curator = curator, .summary = calloc(1, sizeof(*all.summary))};
    struct pm_summary *summary = all.summary;
    if (!summary || !(summary->game = strdup(game))) {
        free(summary);
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for the summary of a game");
    }
    atomic_init(&summary->references, 1);
    const bool done = pm_curate_publish(curator, game, observe, &all, &summary->whole, error);
    /* One with more uploads is of a game that was dropped, and has come back. */
    if (done && previous && previous->whole.uploads > summary->whole.uploads)
        previous = NULL;
    if (!done || !fill_history(curator->world, summary, previous, error) ||
        !read_names(curator->world->storage, summary, error)) {
        pm_summary_drop(summary);
        return false;
    }
    settle((void **)&summary->shaders, &summary->shader_count, sizeof(*summary->shaders),
           PM_SUMMARY_SHADERS, compare_shaders);
    settle((void **)&summary->candidates, &summary->candidate_count, sizeof(*summary->candidates),
           PM_SUMMARY_CANDIDATES, compare_candidates);
    if (!link_timings(summary, error) || !find_originals(summary, error)) {
        pm_summary_drop(summary);
        return false;
    }
    *out = summary;
    return true;
}

struct pm_summary *pm_summary_take(struct pm_summary *summary)
{
    atomic_fetch_add(&summary->references, 1);
    return summary;
}

void pm_summary_drop(struct pm_summary *summary)
{
    if (!summary || atomic_fetch_sub(&summary->references, 1) != 1)
        return;
    free(summary->game);
    free(summary->shaders);
    free(summary->candidates);
    for (size_t i = 0; i < summary->name_count; i++)
        free(summary->names[i].name);
    free(summary->names);
    free(summary);
}

size_t pm_summary_bytes(const struct pm_summary *summary)
{
    return sizeof(*summary) + strlen(summary->game) + 1 + summary->name_bytes +
           summary->shader_count * sizeof(*summary->shaders) +
           summary->candidate_count * sizeof(*summary->candidates);
}
