#include "tools/run/ab.h"
#include "tools/common/gain.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOST_PAIRS = 1 << 20,
    KEY_SHOWN = 12,
    /* A program that ran so long and began a command buffer less than every so many heartbeats
     * records them once. */
    MANY_HEARTBEATS = 64,
    FEW_RECORDINGS = 8,
};

/* A block, as its line has it. */
struct block {
    int process;
    uint32_t pair;
    bool optimized;
    double frames, nanoseconds, recordings, binds, shaders;
};

struct blocks {
    struct block *list;
    size_t count, capacity;
};

static double number(const cJSON *line, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, name);
    return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : -1;
}

static bool add_block(struct blocks *blocks, const cJSON *line, struct pm_error *error)
{
    const struct block block = {
        .process = (int)number(line, "process"),
        .pair = (uint32_t)number(line, "pair"),
        .optimized = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line, "optimized")),
        .frames = number(line, "frames"),
        .nanoseconds = number(line, "nanoseconds"),
        .recordings = number(line, "recordings"),
        .binds = number(line, "binds"),
        .shaders = number(line, "shaders"),
    };
    if (!(block.frames > 0) || !(block.nanoseconds > 0))
        return true;
    if (blocks->count == blocks->capacity) {
        size_t capacity = blocks->capacity ? 2 * blocks->capacity : 64;
        struct block *list =
            capacity <= 2 * MOST_PAIRS ? realloc(blocks->list, capacity * sizeof(*list)) : NULL;
        if (!list)
            return pm_fail(error, PM_ERROR_MEMORY, "no memory for what --ab measured");
        blocks->list = list;
        blocks->capacity = capacity;
    }
    blocks->list[blocks->count++] = block;
    return true;
}

static bool add_shader(struct pm_ab_report *report, const char *key, struct pm_error *error)
{
    for (uint32_t i = 0; i < report->shader_count; i++) {
        if (strcmp(report->shaders[i], key) == 0)
            return true;
    }
    char **shaders = realloc(report->shaders, (report->shader_count + 1) * sizeof(*shaders));
    char *copy = strdup(key);
    if (shaders)
        report->shaders = shaders;
    if (!shaders || !copy) {
        free(copy);
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for what --ab measured");
    }
    report->shaders[report->shader_count++] = copy;
    return true;
}

static bool take_line(struct pm_ab_report *report, struct blocks *blocks, const char *text,
                      struct pm_error *error)
{
    cJSON *line = cJSON_Parse(text);
    const cJSON *shader = cJSON_GetObjectItemCaseSensitive(line, "shader");
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(line, "device");
    bool ok = true;
    if (cJSON_IsString(shader)) {
        ok = add_shader(report, shader->valuestring, error);
    } else if (cJSON_IsString(device)) {
        report->outcome = PM_AB_NOTHING;
        snprintf(report->device, sizeof(report->device), "%s", device->valuestring);
        report->block = (uint32_t)fmax(number(line, "block"), 0);
        report->dropped = (uint32_t)fmax(number(line, "dropped"), 0);
    } else if (number(line, "pair") >= 0 && number(line, "pair") < MOST_PAIRS) {
        ok = add_block(blocks, line, error);
    } else if (number(line, "heartbeats") >= 0) {
        report->heartbeats += (uint64_t)number(line, "heartbeats");
        report->recordings += (uint64_t)fmax(number(line, "recordings"), 0);
    }
    cJSON_Delete(line);
    return ok;
}

static bool read_lines(FILE *file, struct pm_ab_report *report, struct blocks *blocks,
                       struct pm_error *error)
{
    char *text = NULL;
    size_t size = 0;
    bool ok = true;
    while (ok && getline(&text, &size, file) > 0)
        ok = take_line(report, blocks, text, error);
    free(text);
    return ok;
}

/* Of which process the blocks are judged: the one with the most of them. A launcher may have a
 * device too. */
static int busiest(const struct blocks *blocks)
{
    int found = 0;
    size_t most = 0;
    for (size_t i = 0; i < blocks->count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < blocks->count; j++)
            same += blocks->list[j].process == blocks->list[i].process;
        if (same > most) {
            most = same;
            found = blocks->list[i].process;
        }
        if (most > blocks->count / 2)
            break;
    }
    return found;
}

/* Compares the pairs with all shaders in use that there ever were. */
static void compare(struct pm_ab_report *report, const struct blocks *blocks, double *ratios)
{
    const int process = busiest(blocks);
    double shaders = 0, recordings = 0;
    for (size_t i = 0; i < blocks->count; i++) {
        const struct block *block = &blocks->list[i];
        if (block->process == process && block->optimized)
            shaders = fmax(shaders, block->shaders);
    }
    for (size_t i = 0; i + 1 < blocks->count; i++) {
        const struct block *first = &blocks->list[i];
        const struct block *second = NULL;
        for (size_t j = i + 1; j < blocks->count && !second; j++) {
            if (blocks->list[j].process == first->process)
                second = &blocks->list[j];
        }
        if (first->process != process || !second || first->pair != second->pair ||
            first->optimized == second->optimized)
            continue;
        const struct block *optimized = first->optimized ? first : second;
        const struct block *original = first->optimized ? second : first;
        if (original->shaders < shaders || optimized->shaders < shaders)
            continue;
        recordings += original->recordings + optimized->recordings;
        /* Recorded anew without one of them, both are the same: what is in use may be away for a
         * while, being tried again, or is not in this scene. */
        if (optimized->recordings > 0 && optimized->binds == 0) {
            report->idle_pairs++;
            continue;
        }
        const double a = original->nanoseconds / original->frames;
        const double b = optimized->nanoseconds / optimized->frames;
        ratios[report->pairs++] = log(b / a);
        /* As the ratios are averaged, so that what is shown fits together. */
        report->original += log(a);
        report->optimized += log(b);
        report->frames += (uint64_t)(original->frames + optimized->frames);
    }
    if (report->shader_count == 0) {
        if (report->heartbeats >= MANY_HEARTBEATS &&
            report->recordings < report->heartbeats / FEW_RECORDINGS)
            report->outcome = PM_AB_RECORDED_ONCE;
        return;
    }
    report->outcome = recordings == 0 ? PM_AB_RECORDED_ONCE : PM_AB_MEASURED;
    if (report->pairs < 2) {
        report->outcome = report->idle_pairs > 1 ? PM_AB_UNBOUND : PM_AB_TOO_SHORT;
        return;
    }
    report->original = exp(report->original / report->pairs);
    report->optimized = exp(report->optimized / report->pairs);
    report->time = pm_paired_interval(ratios, report->pairs, 0);
}

bool pm_ab_read(const char *path, struct pm_ab_report *report, struct pm_error *error)
{
    *report = (struct pm_ab_report){.outcome = PM_AB_NOT_LOADED};
    FILE *file = fopen(path, "re");
    if (!file)
        return pm_fail_errno(error, errno, "%s", path);
    struct blocks blocks = {0};
    bool ok = read_lines(file, report, &blocks, error);
    fclose(file);
    double *ratios = calloc(blocks.count + 1, sizeof(*ratios));
    if (ok && !ratios)
        ok = pm_fail(error, PM_ERROR_MEMORY, "no memory for what --ab measured");
    if (ok)
        compare(report, &blocks, ratios);
    free(ratios);
    free(blocks.list);
    if (!ok)
        pm_ab_report_finish(report);
    return ok;
}

void pm_ab_report_finish(struct pm_ab_report *report)
{
    for (uint32_t i = 0; i < report->shader_count; i++)
        free(report->shaders[i]);
    free(report->shaders);
    *report = (struct pm_ab_report){0};
}

static void print_shaders(const struct pm_ab_report *report, const char *prefix, FILE *out)
{
    fprintf(out, "%s%u specialized shader%s in use:", prefix, report->shader_count,
            report->shader_count == 1 ? "" : "s");
    for (uint32_t i = 0; i < report->shader_count; i++)
        fprintf(out, " %.*s", KEY_SHOWN, report->shaders[i]);
    fprintf(out, "\n");
}

void pm_ab_print(const struct pm_ab_report *report, const char *prefix, FILE *out)
{
    switch (report->outcome) {
    case PM_AB_NOT_LOADED:
        fprintf(out,
                "%snothing was compared: the layer had nothing to do in the program, or was not in "
                "it\n",
                prefix);
        return;
    case PM_AB_NOTHING:
        fprintf(out, "%snothing was compared: no specialized shader came into use on %s\n", prefix,
                report->device);
        return;
    case PM_AB_RECORDED_ONCE:
        if (report->shader_count > 0)
            print_shaders(report, prefix, out);
        fprintf(out,
                "%snothing was compared: the program records its command buffers once, so that "
                "nothing can alternate\n",
                prefix);
        return;
    case PM_AB_UNBOUND:
        print_shaders(report, prefix, out);
        fprintf(out,
                "%snothing was compared: in %u pairs of blocks no specialized shader was bound: "
                "what is in use is recorded once, not in this scene, or being tried again\n",
                prefix, report->idle_pairs);
        return;
    case PM_AB_TOO_SHORT:
        print_shaders(report, prefix, out);
        fprintf(out,
                "%snothing was compared: the program ended before two pairs of blocks of %u "
                "frames were measured\n",
                prefix, report->block);
        return;
    case PM_AB_MEASURED:
        break;
    }
    print_shaders(report, prefix, out);
    fprintf(out,
            "%s%+.2f %% frames (95 %% interval %+.2f to %+.2f %%): %.3f ms original, %.3f ms "
            "optimized\n",
            prefix, pm_gain_percent(report->time.ratio), pm_gain_percent(report->time.high),
            pm_gain_percent(report->time.low), report->original / 1e6, report->optimized / 1e6);
    const enum pm_gain_answer answer = pm_gain_answer(report->time.low, report->time.high);
    fprintf(out,
            "%s%llu frames on %s, in %u pairs of blocks of %u (%u of each dropped); geometric "
            "means%s\n",
            prefix, (unsigned long long)report->frames, report->device, report->pairs,
            report->block, report->dropped,
            answer == PM_GAIN_CHANGED     ? ""
            : answer == PM_GAIN_NO_CHANGE ? "; no measurable change"
                                          : "; too unsure to tell: a longer session says more");
}

bool pm_ab_keep(const struct pm_ab_report *report, const char *game, struct pm_error *error)
{
    struct pm_shader_key *keys = calloc(report->shader_count + 1, sizeof(*keys));
    struct pm_gain gain = {
        .at = (int64_t)time(NULL),
        .ratio = report->time.ratio,
        .low = report->time.low,
        .high = report->time.high,
        .original = report->original,
        .optimized = report->optimized,
        .frames = report->frames,
        .pairs = report->pairs,
        .block = report->block,
        .device = report->device,
        .shaders = keys,
    };
    for (uint32_t i = 0; keys && i < report->shader_count; i++)
        gain.shader_count += pm_shader_key_parse(report->shaders[i], &keys[gain.shader_count]);
    const bool ok = (keys || pm_fail(error, PM_ERROR_MEMORY, "no memory for what --ab measured")) &&
                    pm_gain_write(game, &gain, error);
    free(keys);
    return ok;
}
