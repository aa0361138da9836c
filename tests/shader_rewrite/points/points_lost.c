/* Whether anything is lost where only points are measured: points_lost DRAWS SEED FOLDER…
 *
 * Each module of a folder (KEY.spv, with KEY.json as tests/corpus/collect.sh writes it, or without)
 * is specialized twice by one random truth: with all candidates, and with its points alone. Where
 * one transform is made it must save as much. Later transforms are made on code that the first
 * changed, and by probabilities that mostly do not know what its check found, so that zeroes count
 * that exclude one another: of their sum nearly all must be saved. Says of each folder how many
 * candidates and points there are. */
#include "base/buffer.h"
#include "base/file.h"
#include "base/random.h"
#include "shader_rewrite/analysis/analysis_costs.h"
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/points/points_blocks.h"
#include "shader_rewrite/shader_rewrite.h"
#include "shader_rewrite/zero/choose/implied.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SPECS = 64, FILE_CAP = 64 << 20 };

/* What saves nearly as much is as good: the first of two that are alike may be another. */
static const double nearly = 0.98;
/* Of several transforms, over all draws. */
static const double least_of_several = 0.99;

static const struct pm_target target = {.vulkan_minor = 3,
                                        .scalar_block_layout = true,
                                        .relaxed_block_layout = true,
                                        .uniform_buffer_standard_layout = true,
                                        .workgroup_explicit_layout = true};

struct totals {
    uint32_t shaders, candidates, points, draws, specialized, lost;
    double several, several_by_points; /* cycles saved where several transforms may be made */
};

/* A canonical module, and what a truth about it has to agree with. */
struct subject {
    const char *name;
    struct pm_words words;
    struct pm_zero_points all, points;
    struct pm_block_points blocks;
    struct pm_ir_module *module;
    struct pm_ir_function *function;
    struct pm_arena *arena;
    struct pm_float_permission permission;
    struct pm_zero_index index;
};

/* ---- modules ---- */

static bool read_file(const char *folder, const char *name, const char *suffix,
                      struct pm_buffer *bytes)
{
    char path[4096];
    struct pm_error error;
    snprintf(path, sizeof(path), "%s/%s%s", folder, name, suffix);
    pm_buffer_init(bytes, FILE_CAP);
    return pm_file_read(path, bytes, &error);
}

static uint32_t read_specs(const cJSON *about, struct pm_spec_value *specs)
{
    uint32_t count = 0;
    const cJSON *constant;
    cJSON_ArrayForEach(constant, cJSON_GetObjectItemCaseSensitive(about, "constants"))
    {
        const cJSON *id = cJSON_GetObjectItem(constant, "id");
        const cJSON *bytes = cJSON_GetObjectItem(constant, "bytes");
        const cJSON *value = cJSON_GetObjectItem(constant, "value");
        if (count < MOST_SPECS && cJSON_IsNumber(id) && cJSON_IsNumber(bytes))
            specs[count++] = (struct pm_spec_value){.spec_id = (uint32_t)id->valuedouble,
                                                    .size = (uint32_t)bytes->valuedouble,
                                                    .bits = (uint64_t)value->valuedouble};
    }
    return count;
}

/* false: it is not for us. */
static bool canonical_of(const char *folder, const char *name, struct pm_words *out)
{
    struct pm_buffer bytes, json;
    struct pm_spec_value specs[MOST_SPECS];
    bool found = read_file(folder, name, ".spv", &bytes), made = false;
    cJSON *about = read_file(folder, name, ".json", &json)
                       ? cJSON_ParseWithLength((const char *)json.data, json.size)
                       : NULL;
    const char *entry = cJSON_GetStringValue(cJSON_GetObjectItem(about, "entry"));
    struct pm_canonicalize_info info = {
        .words = (const uint32_t *)(const void *)bytes.data,
        .word_count = bytes.size / 4,
        .entry_point = entry ? entry : "main",
        .spec_values = specs,
        .spec_value_count = read_specs(about, specs),
        .target = target,
    };
    for (int stage = PM_STAGE_FRAGMENT; found && !made && stage <= PM_STAGE_COMPUTE; stage++) {
        struct pm_error error;
        info.stage = (enum pm_stage)stage;
        made = pm_canonicalize(&info, out, &error);
    }
    cJSON_Delete(about);
    pm_buffer_finish(&json);
    pm_buffer_finish(&bytes);
    return made;
}

static bool subject_init(struct subject *s, const char *name, const struct pm_words *words)
{
    struct pm_error error = {0};
    enum pm_stage stage;
    *s = (struct subject){.name = name, .words = *words, .arena = pm_arena_create(0)};
    s->module = pm_ir_parse(words->data, words->count, &error);
    bool ok =
        s->arena && s->module && (s->function = pm_entry_function(s->module, &stage, &error)) &&
        pm_analysis_require(s->function,
                            PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS,
                            &error) &&
        pm_zero_candidates(words->data, words->count, &s->all, &error) &&
        pm_points_zero(words->data, words->count, &s->points, &error) &&
        pm_points_blocks(words->data, words->count, &s->blocks, &error) &&
        pm_float_permission_compute(&s->permission, s->module, s->function, PM_FLOAT_ZERO_ALLOW,
                                    s->arena) &&
        pm_zero_index_init(&s->index, s->module, &s->permission, &s->all, s->arena);
    if (!ok)
        fprintf(stderr, "%s: %s\n", name, error.message);
    return ok;
}

static void subject_finish(struct subject *s)
{
    pm_words_finish(&s->words);
    pm_zero_points_finish(&s->all);
    pm_zero_points_finish(&s->points);
    pm_block_points_finish(&s->blocks);
    pm_ir_module_destroy(s->module);
    pm_arena_destroy(s->arena);
}

/* ---- a truth ---- */

/* Nothing, all, or anything between. */
static double draw_share(struct pm_random *random)
{
    switch (pm_random_below(random, 4)) {
    case 0:
        return 0;
    case 1:
        return 1;
    default:
        return pm_random_unit(random);
    }
}

/* How often each block runs: as often as its dominator where it has to, else seldomer; a loop as
 * often as its turns are. */
static void draw_weights(const struct subject *s, struct pm_random *random, double *weights)
{
    const struct pm_cfg *cfg = pm_cfg(s->function);
    const struct pm_loops *loops = pm_loops(s->function);
    const struct pm_dominators *d = pm_dominators(s->function);
    const struct pm_dominators *post = pm_postdominators(s->function);
    for (uint32_t b = 0; b < cfg->count; b++)
        weights[b] = 0;
    for (uint32_t i = 0; i < d->tree_count; i++) {
        uint32_t b = d->preorder[i], above = d->parent[b];
        if (above == PM_NO_BLOCK) {
            weights[b] = 1;
            continue;
        }
        uint32_t loop = loops->loop_of[b];
        bool header = loop != PM_NO_LOOP && loops->loops[loop].header == b;
        uint32_t around = header ? loops->loops[loop].parent : loop;
        while (loops->loop_of[above] != around && d->parent[above] != PM_NO_BLOCK &&
               !pm_loop_is_around(loops, loops->loop_of[above], around))
            above = d->parent[above];
        weights[b] = weights[above] * (pm_dominates(post, b, above) ? 1 : draw_share(random));
        if (header)
            weights[b] *= 1 + floor(63 * draw_share(random));
    }
}

struct implying {
    double *zero;
    uint32_t at;
    bool changed;
};

static void raise_implied(void *user, uint32_t implied)
{
    struct implying *m = user;
    if (m->zero[implied] >= m->zero[m->at])
        return;
    m->zero[implied] = m->zero[m->at];
    m->changed = true;
}

/* How often each candidate is zero: at least as often as what makes it so. */
static void draw_zeros(const struct subject *s, struct pm_random *random, double *zero)
{
    double often = draw_share(random);
    struct implying m = {.zero = zero, .changed = true};
    for (uint32_t i = 0; i < s->all.count; i++)
        zero[i] = pm_random_unit(random) < often ? draw_share(random) : 0;
    while (m.changed) {
        m.changed = false;
        for (m.at = 0; m.at < s->all.count; m.at++)
            pm_zero_implied(&s->index, m.at, raise_implied, &m);
    }
}

/* ---- specializing by it ---- */

static bool is_same(const struct pm_zero_candidate *a, const struct pm_zero_candidate *b)
{
    return a->value_count == b->value_count && a->components == b->components &&
           !memcmp(a->values, b->values, a->value_count * sizeof(a->values[0]));
}

/* What the points are told of what is so of all candidates. */
static void project(const struct subject *s, const double *all, double *points)
{
    for (uint32_t i = 0, at = 0; i < s->points.count; i++, at++) {
        while (!is_same(&s->all.candidates[at], &s->points.candidates[i]))
            at++;
        points[i] = all[at];
    }
}

static double saved_by(const char *report)
{
    cJSON *root = cJSON_Parse(report);
    const double saved = cJSON_GetNumberValue(cJSON_GetObjectItem(root, "saved"));
    cJSON_Delete(root);
    return saved;
}

/* Cycles that the transforms save, or less than 0: it failed. */
static double specialize(const struct subject *s, struct pm_specialize_zero_info info,
                         const struct pm_zero_points *zeros, const double *zero,
                         const double *writes, const struct pm_zero_profile *blocks)
{
    struct pm_error error = {0};
    struct pm_specialized out;
    struct pm_zero_profile profile = *blocks;
    profile.zero = zero;
    profile.writes = writes;
    profile.candidate_count = zeros->count;
    info.profile = &profile;
    info.zeros = zeros;
    if (!pm_specialize_zero(s->words.data, s->words.count, &info, &out, &error)) {
        fprintf(stderr, "%s: %s\n", s->name, error.message);
        return -1;
    }
    double saved = out.transforms > 0 ? saved_by(out.report) : 0;
    pm_specialized_finish(&out);
    return saved;
}

static struct pm_specialize_zero_info draw_info(struct pm_random *random)
{
    static const enum pm_float_zero modes[] = {PM_FLOAT_ZERO_SHADER, PM_FLOAT_ZERO_ALLOW,
                                               PM_FLOAT_ZERO_NEVER};
    struct pm_specialize_zero_info info = {
        .costs = pm_costs_table(pm_random_below(random, PM_COST_TABLES)),
        .float_zero = modes[pm_random_below(random, 3)],
        .subgroup_quad = pm_random_below(random, 4) != 0,
        .target = target,
        .beyond = {.fit_regions = pm_random_below(random, 2),
                   .hoist_across = pm_random_below(random, 2)},
    };
    info.most_transforms = pm_random_below(random, 2) ? 1 : 3;
    return info;
}

static void draw(const struct subject *s, struct pm_random *random, struct totals *totals)
{
    uint32_t blocks = pm_cfg(s->function)->count, count = s->all.count;
    double *weights = calloc(blocks + 1u, sizeof(double));
    double *by_point = calloc(blocks + 1u, sizeof(double));
    double *numbers = calloc(4 * (count + 1u), sizeof(double));
    double *zero = numbers, *writes = zero + count + 1, *some_zero = writes + count + 1,
           *some_writes = some_zero + count + 1;
    draw_weights(s, random, weights);
    draw_zeros(s, random, zero);
    for (uint32_t i = 0; i < s->blocks.count; i++)
        by_point[i] = weights[pm_ir_find(s->module, s->blocks.points[i].label)->block->index];
    for (uint32_t i = 0; i < count; i++)
        writes[i] = by_point[s->all.candidates[i].block];
    project(s, zero, some_zero);
    project(s, writes, some_writes);
    const bool measured = pm_random_below(random, 2);
    const struct pm_zero_profile profile = {.blocks = measured ? by_point : NULL,
                                            .block_count = s->blocks.count};
    const struct pm_specialize_zero_info info = draw_info(random);
    double all = specialize(s, info, &s->all, zero, writes, &profile);
    double points = specialize(s, info, &s->points, some_zero, some_writes, &profile);
    totals->draws++;
    totals->specialized += all > 0;
    if (all >= 0 && points >= 0 && info.most_transforms > 1) {
        totals->several += all;
        totals->several_by_points += fmin(points, all);
    } else if (all < 0 || points < all * nearly) {
        totals->lost++;
        fprintf(stderr, "%s: draw %u: saves %g cycles, of which the points save %g%s\n", s->name,
                totals->draws, all, points, measured ? "" : "; no blocks are measured");
    }
    free(weights);
    free(by_point);
    free(numbers);
}

static void look_at(const char *folder, const char *name, uint32_t draws, uint64_t seed,
                    struct totals *totals)
{
    struct pm_words words;
    struct subject s;
    struct pm_random random;
    if (!canonical_of(folder, name, &words))
        return;
    pm_random_init(&random, seed);
    bool ok = subject_init(&s, name, &words);
    totals->lost += !ok;
    totals->shaders++;
    totals->candidates += s.all.count;
    totals->points += s.points.count;
    for (uint32_t i = 0; ok && s.all.count && i < draws; i++)
        draw(&s, &random, totals);
    subject_finish(&s);
}

static void look_through(const char *folder, uint32_t draws, uint64_t seed, struct totals *totals)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char name[256];
        size_t length = strlen(entries[i]->d_name);
        if (length > 4 && strcmp(entries[i]->d_name + length - 4, ".spv") == 0) {
            snprintf(name, sizeof(name), "%.*s", (int)(length - 4), entries[i]->d_name);
            look_at(folder, name, draws, seed, totals);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void print(const char *name, const struct totals *t)
{
    printf("%-44s %4u shaders: %6u candidates, %5u points (%.1f times fewer); %u of %u draws "
           "specialize something, %u lose some of it; several transforms save %.2f %% of it\n",
           name, t->shaders, t->candidates, t->points,
           t->points ? (double)t->candidates / t->points : INFINITY, t->specialized, t->draws,
           t->lost, t->several > 0 ? 100 * t->several_by_points / t->several : 100);
}

int main(int argc, char **argv)
{
    struct totals sum = {0};
    if (argc < 4) {
        fprintf(stderr, "usage: points_lost DRAWS SEED FOLDER…\n");
        return 2;
    }
    for (int i = 3; i < argc; i++) {
        struct totals t = {0};
        look_through(argv[i], (uint32_t)strtoul(argv[1], NULL, 10), strtoull(argv[2], NULL, 10),
                     &t);
        print(argv[i], &t);
        sum.shaders += t.shaders;
        sum.candidates += t.candidates;
        sum.points += t.points;
        sum.draws += t.draws;
        sum.specialized += t.specialized;
        sum.lost += t.lost;
        sum.several += t.several;
        sum.several_by_points += t.several_by_points;
    }
    print("all", &sum);
    return sum.lost > 0 || sum.shaders == 0 ||
           sum.several_by_points < least_of_several * sum.several;
}
