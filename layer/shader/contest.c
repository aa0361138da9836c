#include "layer/shader/contest.h"

#include "layer/core/session.h"
#include "layer/shader/arm_shader.h"
#include "layer/shader/contest_race.h"
#include "layer/shader/optimized.h"
#include "layer/shader/pipeline.h"
#include "layer/shader/pipeline_build.h"
#include "layer/shader/recipe_shader.h"
#include "layer/shader/specialize.h"
#include "profile/verdicts.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Open at a time: each holds pipelines, and takes from the same budget of frame time. */
enum { MOST_OPEN = 4 };

enum { PAIRED = 3 /* the best recipes, of which each is paired with each */ };

struct pm_contests {
    struct pm_device *device;
    struct pm_journal *journal;
    struct pm_environment environment; /* but for the subgroup size */
    struct pm_contest *first, **end;   /* in the order in which they began */
    uint32_t open;
    struct pm_pipeline_list later; /* first come, first served */
};

struct pm_contests *pm_contests_create(struct pm_device *device, struct pm_journal *journal)
{
    struct pm_contests *contests = calloc(1, sizeof *contests);
    if (!contests)
        return NULL;
    contests->device = device;
    contests->journal = journal;
    contests->end = &contests->first;
    contests->environment = pm_session_device_environment(device);
    return contests;
}

static void release_pipelines(struct pm_contest *contest)
{
    pm_pipeline_release(contest->pipeline);
    contest->pipeline = NULL;
    pm_pipeline_release(atomic_exchange(&contest->won_late, NULL));
    pm_pipeline_list_finish(&contest->waiting);
}

static void finish_arm(struct pm_arm *arm)
{
    if (arm->shader)
        pm_arm_shader_finish(arm->shader);
    pm_arm_shader_release(arm->shader);
    arm->shader = NULL;
}

/* The journal outlives the device: another one has nothing of what was built for this one. */
static void unnote_arms(struct pm_contest *contest)
{
    for (uint32_t a = 0; contest->pipeline && a < contest->halving.count; a++)
        if (contest->arms[a].built)
            pm_optimized_unnote(contest->arms[a].built);
}

void pm_contests_destroy(struct pm_contests *contests)
{
    if (!contests)
        return;
    pm_pipeline_list_finish(&contests->later);
    for (struct pm_contest *contest = contests->first, *next; contest; contest = next) {
        next = contest->next;
        unnote_arms(contest);
        release_pipelines(contest);
        for (uint32_t a = 0; a < contest->halving.count; a++)
            finish_arm(&contest->arms[a]);
        free(contest->arms);
        free(contest);
    }
    free(contests);
}

/* What recipes are run over. */
static const struct pm_words *words_of(const struct pm_contest *contest)
{
    return contest->base ? &contest->base->module.words : &contest->record->canonical;
}

/* The subgroup sizes that the shader cannot tell from its own, as bits. */
static uint32_t sizes_of(const struct pm_contest *contest, const struct pm_pipeline *pipeline)
{
    const struct pm_device_abilities *abilities = &contest->owner->device->abilities;
    const struct pm_words *words = words_of(contest);
    const struct pm_subgroup_sizes sizes = {
        .own = contest->record->environment.subgroup_size,
        .least = abilities->least_subgroup_size,
        .most = pm_pipeline_may_require_size(pipeline) ? abilities->most_subgroup_size : 0,
        .most_subgroups = abilities->most_subgroups,
    };
    return pm_variant_subgroup_sizes(words->data, words->count, &sizes);
}

void pm_contest_name(const struct pm_contest *contest, char name[PM_CONTEST_NAME])
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&contest->record->key, key);
    snprintf(name, PM_CONTEST_NAME, "shader %.12s%s", key, contest->base ? ", specialized" : "");
}

static struct pm_contest *begin(struct pm_contests *contests, const struct pm_shader_record *record,
                                const struct pm_specialized_shader *base,
                                const struct pm_pipeline *pipeline)
{
    struct pm_contest *contest = calloc(1, sizeof *contest);
    if (contest)
        contest->arms = calloc(PM_HALVING_MOST, sizeof *contest->arms);
    if (!contest || !contest->arms) {
        free(contest);
        return NULL;
    }
    contest->owner = contests;
    contest->record = record;
    contest->base = base;
    uint64_t of_key;
    memcpy(&of_key, (base ? &base->key : &record->key)->bytes, sizeof of_key);
    pm_random_init(&contest->random,
                   pm_random_mix(pm_session_seed(contests->device->instance) ^ of_key));
    struct pm_environment environment = contests->environment;
    environment.subgroup_size = record->environment.subgroup_size;
    pm_contest_field(contest, contests->device, &environment, sizes_of(contest, pipeline));
    *contests->end = contest;
    contests->end = &contest->next;
    contests->open++;
    return contest;
}

struct pm_pipeline *pm_contests_take_later(struct pm_contests *contests)
{
    return contests->open < MOST_OPEN ? pm_pipeline_list_take(&contests->later) : NULL;
}

void pm_contest_suspend(struct pm_contest *contest, bool suspended)
{
    if (contest->suspended == suspended)
        return;
    contest->suspended = suspended;
    contest->owner->open += suspended ? UINT32_MAX : 1;
}

struct pm_contest *pm_contests_idle(const struct pm_contests *contests)
{
    struct pm_contest *contest = contests->first;
    while (contest && (!contest->suspended || contest->blocked || !contest->pipeline ||
                       atomic_load(&contest->state) != PM_CONTEST_OPEN))
        contest = contest->next;
    return contest;
}

/* A base may be there twice: as it was made, and as an earlier session made it. */
static bool is_of(const struct pm_contest *contest, const struct pm_specialized_shader *base)
{
    return contest->base == base ||
           (contest->base && base && pm_shader_key_equal(&contest->base->key, &base->key));
}

struct pm_contest *pm_contests_get(struct pm_contests *contests,
                                   const struct pm_shader_request *request,
                                   const struct pm_specialized_shader *base,
                                   struct pm_pipeline *pipeline)
{
    struct pm_error error = {0};
    bool first = false;
    const struct pm_shader_record *record =
        pm_shader_records_get(contests->device->pipelines->records, request, &first, &error);
    if (!record)
        return NULL;
    for (struct pm_contest *contest = contests->first; contest; contest = contest->next)
        if (contest->record == record && is_of(contest, base))
            return contest;
    if (contests->open < MOST_OPEN)
        return begin(contests, record, base, pipeline);
    pm_pipeline_list_put(&contests->later, pipeline);
    return NULL;
}

struct pm_contest *pm_contests_due(struct pm_contests *contests)
{
    for (struct pm_contest *contest = contests->first; contest; contest = contest->next)
        if (atomic_exchange(&contest->due, false))
            return contest;
    return NULL;
}

void pm_contests_unblock(struct pm_contests *contests)
{
    for (struct pm_contest *contest = contests->first; contest; contest = contest->next)
        if (contest->blocked) {
            contest->blocked = false;
            pm_contest_suspend(contest, false);
            atomic_store(&contest->idle, false); /* nothing of it is being timed */
            atomic_store(&contest->due, true);
        }
}

/* ---- arms ---- */

static bool is_another(const struct pm_contest *contest, const struct pm_shader_key *key)
{
    for (uint32_t a = 0; a < contest->halving.count; a++) {
        const struct pm_specialized_shader *other = contest->arms[a].shader;
        if (other && pm_shader_key_equal(&other->key, key))
            return true;
    }
    return false;
}

/* A trial of an earlier session left it, and that is not old. */
static bool was_left(const struct pm_contests *contests, const struct pm_specialized_shader *shader)
{
    struct pm_kept_variant kept;
    const struct pm_environment environment =
        pm_session_environment(contests->device, &shader->environment);
    if (!pm_verdicts_find(pm_session_verdicts(contests->device->instance), &shader->key,
                          pm_specialized_from(shader), &environment, &kept))
        return false;
    const enum pm_verdict verdict = pm_kept_verdict(&kept, time(NULL));
    return verdict == PM_VERDICT_SLOWER || verdict == PM_VERDICT_UNDECIDED;
}

static void log_arm(const struct pm_contest *contest, const struct pm_arm *arm, const char *what)
{
    char of[PM_CONTEST_NAME], name[PM_VARIANT_NAME];
    pm_contest_name(contest, of);
    pm_variant_name(&arm->choice, name);
    pm_log_debug(contest->owner->device->instance->log, "%s, %s: %s", of, name, what);
}

/* All of the arm's shader but its module and key. */
static struct pm_specialized_shader describe(const struct pm_contest *contest)
{
    const struct pm_contests *contests = contest->owner;
    const struct pm_shader_record *record = contest->record;
    const struct pm_specialized_shader *base = contest->base;
    struct pm_specialized_shader shader = {
        .original = record->key,
        .base = base,
        .environment = contests->environment,
        .entry_point = strdup(base ? base->entry_point : record->entry_point),
    };
    shader.environment.subgroup_size = record->environment.subgroup_size;
    if (!base) {
        shader.made_of =
            pm_known_of_shader(contests->device, &record->key, shader.environment.subgroup_size);
        return shader;
    }
    shader.made_of = base->made_of;
    shader.made_by = base->made_by;
    shader.known = base->known;
    shader.is_private = base->is_private;
    shader.reads = base->reads;
    return shader;
}

static bool is_recipe(const struct pm_variant_choice *choice)
{
    return choice->recipe && choice->recipe->kind != PM_RECIPE_CANONICAL;
}

/* Over a base these are but that in another order. */
static bool changes_nothing(const struct pm_contest *contest, const struct pm_arm *arm)
{
    return contest->base && !is_recipe(&arm->choice) && !arm->choice.subgroup_size;
}

/* Its words and key. false: there are none. */
static bool make_of(struct pm_contest *contest, const struct pm_arm *arm,
                    struct pm_specialized_shader *shader)
{
    const struct pm_contests *contests = contest->owner;
    struct pm_error error = {0};
    if (!shader->entry_point ||
        !pm_recipe_shader_make(contests->device, contest->record, &arm->choice, contest->withheld,
                               shader, &error)) {
        log_arm(contest, arm, error.message);
        return false;
    }
    return shader->module.words.count > 0 && !is_another(contest, &shader->key) &&
           !was_left(contests, shader) && !pm_journal_holds(contests->journal, &shader->key);
}

/* Its shader, if it is to take part. */
static void make(struct pm_contest *contest, struct pm_arm *arm)
{
    if (changes_nothing(contest, arm))
        return;
    struct pm_specialized_shader shader = describe(contest);
    if (make_of(contest, arm, &shader))
        arm->shader = pm_arm_shader_create(&shader);
    if (!arm->shader)
        pm_arm_shader_finish(&shader);
}

/* ---- pairs ---- */

/* One recipe after another, or a recipe with a subgroup size. Of what a recipe has made a profile
 * of blocks knows nothing. */
static bool pair(const struct pm_variant_choice *first, const struct pm_variant_choice *second,
                 struct pm_variant_choice *both)
{
    *both = (struct pm_variant_choice){first->recipe, second->recipe, second->subgroup_size};
    return first != second && is_recipe(first) &&
           (second->subgroup_size ||
            (is_recipe(second) && second->recipe->kind != PM_RECIPE_BLOCKS));
}

bool pm_contest_pair(struct pm_contest *contest)
{
    uint32_t best[PAIRED], winner;
    if (contest->paired || !pm_halving_winner(&contest->halving, &winner))
        return false;
    contest->paired = true;
    contest->alone = winner;
    const uint32_t count = pm_halving_best(&contest->halving, best, PAIRED);
    uint32_t added = 0;
    for (uint32_t i = 0; i < count * count; i++) {
        struct pm_variant_choice both;
        const uint32_t at = contest->halving.count;
        if (!pair(&contest->arms[best[i / count]].choice, &contest->arms[best[i % count]].choice,
                  &both) ||
            pm_halving_add(&contest->halving, 1) == 0)
            continue;
        contest->arms[at].choice = both;
        contest->halving.rank[at] = pm_contest_rank(&both);
        added++;
    }
    char of[PM_CONTEST_NAME];
    pm_contest_name(contest, of);
    pm_log_debug(contest->owner->device->instance->log, "%s: %u pairs of recipes", of, added);
    return added > 0;
}

/* ---- the winner ---- */

/* Of what a pair is shown to be faster by: there are up to six, and the fastest of them was lucky.
 */
#define ALPHA 0.02

static bool is_pair(const struct pm_variant_choice *choice)
{
    return choice->second || (choice->recipe && choice->subgroup_size);
}

/* Whether it stayed longer in the contest, or as long and is faster. */
static bool is_ahead(const struct pm_anytime *a, const struct pm_anytime *b)
{
    return a->count != b->count ? a->count > b->count : pm_anytime_mean(a) < pm_anytime_mean(b);
}

/* The best one that is no pair; none: where there is none. */
static uint32_t best_alone(const struct pm_contest *contest, uint32_t none)
{
    const struct pm_anytime *seen = contest->halving.seen;
    uint32_t single = none;
    if (contest->paired && !contest->arms[contest->alone].failed)
        return contest->alone;
    for (uint32_t a = 0; a < contest->halving.count; a++)
        if (seen[a].count > 0 && !contest->arms[a].failed && !is_pair(&contest->arms[a].choice) &&
            (single == none || is_ahead(&seen[a], &seen[single])))
            single = a;
    return single;
}

bool pm_contest_may_choose(const struct pm_contest *contest, uint32_t arm)
{
    return !contest->halving.left[arm] || best_alone(contest, PM_HALVING_MOST) == arm;
}

/* The best one that is no pair, unless the pair that wins was shown to be faster than that. */
static uint32_t simplest(const struct pm_contest *contest, uint32_t winner)
{
    const struct pm_anytime *seen = contest->halving.seen;
    if (!is_pair(&contest->arms[winner].choice))
        return winner;
    const uint32_t single = best_alone(contest, winner);
    const double alone = pm_anytime_mean(&seen[single]), both = pm_anytime_mean(&seen[winner]);
    const bool shown = both < alone && pm_anytime_excludes(&seen[winner], alone, ALPHA);
    return shown || !(alone < 0) ? winner : single;
}

bool pm_contest_winner(struct pm_contest *contest)
{
    if (!pm_halving_winner(&contest->halving, &contest->winner))
        return false;
    contest->winner = simplest(contest, contest->winner);
    return true;
}

const struct pm_specialized_shader *pm_contest_chosen(const struct pm_contest *contest)
{
    return contest->arms[contest->winner].shader;
}

void pm_contest_give_up(struct pm_contest *contest)
{
    contest->arms[contest->winner].failed = true;
    pm_halving_leave(&contest->halving, contest->winner);
}

/* ---- over sessions ---- */

/* What is kept of an arm, but for the verdict. */
static struct pm_kept_variant named(const struct pm_contest *contest, uint32_t index)
{
    const struct pm_specialized_shader *shader = contest->arms[index].shader;
    const int64_t now = time(NULL);
    return (struct pm_kept_variant){
        .key = shader->key,
        .original = *pm_specialized_from(shader),
        .environment = pm_session_environment(contest->owner->device, &shader->environment),
        .used_at = now,
        .seen = contest->halving.seen[index],
        .seen_at = now,
    };
}

void pm_contest_keep(const struct pm_contest *contest, uint32_t arm)
{
    const struct pm_kept_variant kept = named(contest, arm);
    pm_verdicts_put_seen(pm_session_verdicts(contest->owner->device->instance), &kept);
}

/* What earlier sessions found of it. */
static void recall(struct pm_contest *contest, uint32_t arm)
{
    const struct pm_kept_variant by = named(contest, arm);
    struct pm_kept_variant kept;
    const int64_t oldest = by.seen_at - PM_DAYS_UNDECIDED * INT64_C(86400);
    if (!pm_verdicts_find(pm_session_verdicts(contest->owner->device->instance), &by.key,
                          &by.original, &by.environment, &kept))
        return;
    if (kept.verdict == PM_VERDICT_FASTER) /* however old */
        contest->halving.rank[arm] = PM_CONTEST_KNOWN;
    if (kept.seen.count > 0 && kept.seen_at >= oldest && kept.seen_at <= by.seen_at)
        pm_halving_take(&contest->halving, arm, &kept.seen);
}

bool pm_contest_make(struct pm_contest *contest, uint32_t index)
{
    for (uint32_t a = 0; a <= index; a++) {
        struct pm_arm *arm = &contest->arms[a];
        if (arm->made)
            continue;
        arm->made = true;
        make(contest, arm);
        if (arm->shader)
            recall(contest, a);
    }
    return contest->arms[index].shader != NULL;
}

/* ---- the end ---- */

/* For some days it is not tried again: it was not the fastest, or not faster. */
static void keep_loser(const struct pm_contest *contest, uint32_t index)
{
    struct pm_kept_variant kept = named(contest, index);
    const struct pm_anytime_interval at = pm_anytime_interval(&kept.seen, 0.05);
    kept.verdict = at.low > 0 ? PM_VERDICT_SLOWER : PM_VERDICT_UNDECIDED;
    kept.kind = PM_TIMED_CALLS;
    kept.ratio = exp(pm_anytime_mean(&kept.seen));
    kept.low = exp(at.low);
    kept.high = exp(at.high);
    kept.pairs = (uint32_t)kept.seen.count;
    kept.decided_at = kept.used_at;
    kept.seen = (struct pm_anytime){0};
    pm_verdicts_put(pm_session_verdicts(contest->owner->device->instance), &kept);
}

/* Of what was not chosen nothing is made any more. */
static void keep_chosen(struct pm_contest *contest, bool won)
{
    for (uint32_t a = 0; a < contest->halving.count; a++)
        if (a != contest->winner || !contest->arms[a].tried)
            finish_arm(&contest->arms[a]);
    contest->arms[0] = contest->arms[contest->winner];
    contest->winner = contest->current = 0;
    contest->halving.count = 1;
    if (contest->arms[0].shader)
        contest->arms[0].shader->timing = won ? PM_TIMING_FASTER : PM_TIMING_UNDECIDED;
    struct pm_arm *chosen = realloc(contest->arms, sizeof *chosen);
    if (chosen)
        contest->arms = chosen;
}

void pm_contest_finish(struct pm_contest *contest, bool won)
{
    char of[PM_CONTEST_NAME], name[PM_VARIANT_NAME] = "";
    /* A driver that builds nothing just now says nothing of what was measured before. */
    const bool says_nothing = contest->refused && !contest->built;
    uint32_t tried = 0;
    pm_contest_name(contest, of);
    if (won)
        pm_variant_name(&contest->arms[contest->winner].choice, name);
    for (uint32_t a = 0; a < contest->halving.count; a++) {
        if (contest->halving.seen[a].count == 0)
            continue;
        tried++;
        if (!contest->arms[a].tried && !says_nothing)
            keep_loser(contest, a);
    }
    pm_log_info(contest->owner->device->instance->log, "%s: of %u variants %s%s", of, tried,
                won ? "the fastest is " : "none is faster", name);
    keep_chosen(contest, won);
    contest->owner->open--;
}
