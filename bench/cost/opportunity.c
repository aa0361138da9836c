/* What zero specialization could save of real shaders: opportunity FOLDER…, with what
 * tests/corpus/collect.sh dumped (KEY.spv, KEY.json). Each candidate is estimated as if it were
 * always zero, with weights by the structure. Of each shader the best candidate's share of all that
 * the shader costs counts; a shader that is in several folders counts once in each.
 *
 * --pairs: also of how many pairs of points that each qualify alone, and of which neither follows
 * from the other, the second is worth something beside the first: where both are always zero, and
 * one check for both saves more than the better one alone. It is lost where the loop, which checks
 * one at a time, saves not half of that.
 *
 * --guards: also of what each guard against a driver's quirk costs (opportunity_guards.h). */
#include "bench/cost/dumped.h"
#include "bench/cost/opportunity_guards.h"
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/shader_rewrite.h"
#include "shader_rewrite/zero/choose/implied.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHADERS = 8192 };

struct shader {
    char name[256];
    double candidates;     /* values that may be zero; `points` of them are measured */
    double points, best;   /* best: share of the shader's cycles */
    double transforms;     /* of today's loop where every value is always zero */
    double saved;          /* by these, share */
    double pairs, lost;    /* --pairs: of them the second is worth something, and is lost */
    double second, gained; /* what it is worth, and what of that is saved: shares, summed */
};

static struct shader shaders[MOST_SHADERS];
static size_t shader_count, failed;
static struct pm_guard_sums guarded[PM_GUARD_ROWS];
static bool list, pairs, guards;

static double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static const char *text(const cJSON *object, const char *name)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return value ? value : "";
}

/* Today's loop. transforms: at most; together: of two values by one check too; least_share: of the
 * shader, 0 as ever. */
static cJSON *specialize(const struct pm_words *words, const struct pm_zero_profile *profile,
                         uint32_t transforms, bool together, double least_share,
                         struct pm_error *error)
{
    const struct pm_specialize_zero_info info = {.profile = profile,
                                                 .subgroup_quad = true,
                                                 .target = pm_dumped_target,
                                                 .most_transforms = transforms,
                                                 .least_share = least_share,
                                                 .beyond = {.pairs = together}};
    struct pm_specialized out;
    if (!pm_specialize_zero(words->data, words->count, &info, &out, error))
        return NULL;
    cJSON *report = cJSON_Parse(out.report);
    pm_specialized_finish(&out);
    if (!report)
        pm_fail(error, PM_ERROR_MEMORY, "no report");
    return report;
}

/* ---- pairs ---- */

enum { MOST_PAIRED = 8 };
static const double least_of_second = 50; /* cycles */
static const double any_share = 1e-9;

/* The points that would be taken alone, at most so many. */
static uint32_t qualified(const cJSON *report, uint32_t *ids)
{
    uint32_t count = 0;
    const cJSON *candidate;
    cJSON_ArrayForEach(candidate, cJSON_GetObjectItemCaseSensitive(report, "candidates"))
    {
        const char *reason = text(candidate, "reason");
        bool qualifies = number(candidate, "taken") > 0 || strncmp(reason, "others were", 11) == 0;
        if (qualifies && count < MOST_PAIRED &&
            !cJSON_GetObjectItemCaseSensitive(candidate, "copy_of"))
            ids[count++] = (uint32_t)number(candidate, "id");
    }
    return count;
}

struct relating {
    const struct pm_zero_index *index;
    bool *seen;
};

static void relate(void *user, uint32_t implied)
{
    struct relating *r = user;
    if (r->seen[implied])
        return;
    r->seen[implied] = true;
    pm_zero_implied(r->index, implied, relate, r);
}

static bool follows(const struct pm_zero_index *index, uint32_t from, uint32_t other)
{
    struct relating r = {index, calloc(index->points->count + 1u, sizeof(bool))};
    if (r.seen)
        relate(&r, from);
    const bool does = !r.seen || r.seen[other];
    free(r.seen);
    return does;
}

/* Cycles that are saved where two points are always zero; below 0: it failed. */
static double saved_by(const struct pm_words *words, const struct pm_zero_profile *profile,
                       uint32_t transforms, bool together, double *cycles, struct pm_error *error)
{
    cJSON *report = specialize(words, profile, transforms, together, any_share, error);
    const double saved = report ? number(report, "saved") : -1;
    *cycles = report ? number(report, "T_shader") : 0;
    cJSON_Delete(report);
    return saved;
}

static bool look_at_pair(const struct pm_words *words, const struct pm_zero_profile *profile,
                         double *zero, const uint32_t pair[2], struct shader *shader,
                         struct pm_error *error)
{
    double cycles;
    zero[pair[0]] = zero[pair[1]] = 1;
    const double one = saved_by(words, profile, 1, false, &cycles, error);
    const double both = saved_by(words, profile, 1, true, &cycles, error);
    const double loop = saved_by(words, profile, 0, false, &cycles, error);
    zero[pair[0]] = zero[pair[1]] = 0;
    if (one < 0 || both < 0 || loop < 0)
        return false;
    if (both - one <= least_of_second)
        return true;
    shader->pairs++;
    shader->lost += loop - one < (both - one) / 2;
    shader->second += (both - one) / cycles;
    shader->gained += fmin(loop - one, both - one) / cycles;
    return true;
}

/* What tells which points are zero whenever another is. */
struct relations {
    struct pm_arena *arena;
    struct pm_ir_module *module;
    struct pm_float_permission permission;
    struct pm_zero_index index;
};

static void relations_finish(struct relations *r)
{
    pm_ir_module_destroy(r->module);
    pm_arena_destroy(r->arena);
}

static bool relations_init(struct relations *r, const struct pm_words *words,
                           const struct pm_zero_points *points, struct pm_error *error)
{
    enum pm_stage stage;
    *r = (struct relations){.arena = pm_arena_create(0),
                            .module = pm_ir_parse(words->data, words->count, error)};
    struct pm_ir_function *function =
        r->module ? pm_entry_function(r->module, &stage, error) : NULL;
    bool ok = r->arena && function &&
              pm_float_permission_compute(&r->permission, r->module, function, PM_FLOAT_ZERO_SHADER,
                                          r->arena) &&
              pm_zero_index_init(&r->index, r->module, &r->permission, points, r->arena);
    if (!ok)
        relations_finish(r);
    return ok;
}

/* Of those of which neither follows from the other. */
static bool look_at_pairs(const struct pm_words *words, const struct pm_zero_points *points,
                          struct shader *shader, struct pm_error *error)
{
    uint32_t ids[MOST_PAIRED], found = 0, count = points->count;
    struct relations relations;
    if (!relations_init(&relations, words, points, error))
        return false;
    double *zero = malloc((count + 1u) * sizeof(*zero));
    for (uint32_t i = 0; zero && i < count; i++)
        zero[i] = 1;
    const struct pm_zero_profile profile = {.zero = zero, .candidate_count = count};
    cJSON *report = zero ? specialize(words, &profile, 1, false, 0, error) : NULL;
    if (report)
        found = qualified(report, ids);
    for (uint32_t i = 0; report && i < count; i++)
        zero[i] = 0;
    bool ok = report != NULL;
    for (uint32_t i = 0; i < found; i++)
        for (uint32_t k = i + 1; ok && k < found; k++)
            if (!follows(&relations.index, ids[i], ids[k]) &&
                !follows(&relations.index, ids[k], ids[i]))
                ok = look_at_pair(words, &profile, zero, (const uint32_t[]){ids[i], ids[k]}, shader,
                                  error);
    cJSON_Delete(report);
    free(zero);
    relations_finish(&relations);
    return ok;
}

static bool look(const struct pm_dumped *dumped, const struct pm_words *words,
                 struct shader *shader, struct pm_error *error)
{
    struct pm_zero_points points;
    if (!pm_points_zero(words->data, words->count, &points, error))
        return false;
    double *zero = malloc((points.count + 1u) * sizeof(*zero));
    for (uint32_t i = 0; zero && i < points.count; i++)
        zero[i] = 1;
    struct pm_zero_profile profile = {.zero = zero, .candidate_count = points.count};
    cJSON *one = zero ? specialize(words, &profile, 1, false, 0, error) : NULL;
    cJSON *more = one ? specialize(words, &profile, 0, false, 0, error) : NULL;
    bool ok = one && more && (!pairs || look_at_pairs(words, &points, shader, error)) &&
              (!guards || pm_guards_look(dumped, words, &points, guarded, error));
    if (ok) {
        double cycles = number(one, "T_shader");
        const cJSON *candidate;
        shader->points = points.count;
        shader->candidates = points.count + points.left_out;
        shader->transforms = number(more, "transforms");
        shader->saved = number(more, "saved") / cycles;
        cJSON_ArrayForEach(candidate, cJSON_GetObjectItemCaseSensitive(one, "candidates"))
            shader->best = fmax(shader->best, number(candidate, "saved") / cycles);
    }
    cJSON_Delete(one);
    cJSON_Delete(more);
    free(zero);
    pm_zero_points_finish(&points);
    return ok;
}

static void look_at(void *user, const char *folder, const char *name)
{
    (void)user;
    struct pm_error error = {0};
    struct pm_words words = {0};
    struct shader shader = {0};
    struct pm_dumped dumped;
    snprintf(shader.name, sizeof(shader.name), "%s", name);
    const bool read = shader_count < MOST_SHADERS && pm_dumped_read(folder, name, &dumped, &error);
    if (read && pm_canonicalize(&dumped.info, &words, &error) &&
        look(&dumped, &words, &shader, &error)) {
        shaders[shader_count++] = shader;
    } else {
        failed++;
        fprintf(stderr, "%s/%s: %s\n", folder, name, error.message);
    }
    pm_words_finish(&words);
    if (read)
        pm_dumped_finish(&dumped);
}

static int by_best(const void *a, const void *b)
{
    const struct shader *x = a, *y = b;
    return (x->best > y->best) - (x->best < y->best);
}

static void print_pairs(void)
{
    double all = 0, lost = 0, second = 0, gained = 0;
    for (size_t i = 0; i < shader_count; i++) {
        all += shaders[i].pairs;
        lost += shaders[i].lost;
        second += shaders[i].second;
        gained += shaders[i].gained;
    }
    printf("    %.0f pairs, the second is lost in %.0f; it is worth %.1f %% of its shader on "
           "average, of which %.1f %% are saved\n",
           all, lost, all > 0 ? 100 * second / all : 0, all > 0 ? 100 * gained / all : 0);
}

static void print(const char *folder)
{
    double candidates = 0, points = 0, saved = 0;
    uint32_t above = 0, taken = 0;
    qsort(shaders, shader_count, sizeof(*shaders), by_best);
    for (size_t i = 0; i < shader_count; i++) {
        candidates += shaders[i].candidates;
        points += shaders[i].points;
        saved += shaders[i].transforms > 0 ? shaders[i].saved : 0;
        above += shaders[i].best > 0.05;
        taken += shaders[i].transforms > 0;
        if (list)
            printf("%s points %.0f best %.2f %% transforms %.0f saved %.2f %%\n", shaders[i].name,
                   shaders[i].points, 100 * shaders[i].best, shaders[i].transforms,
                   100 * shaders[i].saved);
    }
    size_t last = shader_count ? shader_count - 1 : 0;
    printf("%-40s %4zu shaders, %6.0f candidates, %5.0f points; best point's share: quartiles %.1f "
           "%.1f %.1f, most "
           "%.1f %%; %u above 5 %%; specialized: %u, by %.1f %% of their cycles; %zu failed\n",
           folder, shader_count, candidates, points, 100 * shaders[last / 4].best,
           100 * shaders[last / 2].best, 100 * shaders[last * 3 / 4].best, 100 * shaders[last].best,
           above, taken, taken ? 100 * saved / taken : 0, failed);
    if (pairs)
        print_pairs();
    if (guards)
        pm_guards_print(guarded);
}

static void look_through(const char *folder)
{
    memset(shaders, 0, sizeof(shaders));
    memset(guarded, 0, sizeof(guarded));
    shader_count = failed = 0;
    pm_dumped_each(folder, look_at, NULL);
    print(folder);
}

int main(int argc, char **argv)
{
    int first = 1;
    for (; first < argc && argv[first][0] == '-'; first++) {
        list = list || strcmp(argv[first], "--list") == 0;
        pairs = pairs || strcmp(argv[first], "--pairs") == 0;
        guards = guards || strcmp(argv[first], "--guards") == 0;
    }
    if (argc <= first) {
        fprintf(stderr, "usage: opportunity [--list] [--pairs] [--guards] FOLDER…\n");
        return 2;
    }
    for (int i = first; i < argc; i++)
        look_through(argv[i]);
    return 0;
}
