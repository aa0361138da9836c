#include "tools/run/ab.h"
#include "base/names.h"
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

#define NO_MEMORY "no memory for what --ab measured"

/* A block, as its line has it. */
struct block {
    uint32_t pair;
    bool optimized;
    double frames, nanoseconds, recordings, binds, shaders;
};

/* One of a process's devices, and its blocks in order. */
struct device {
    int process, number;
    char name[64], software[PM_GAIN_SOFTWARE];
    uint32_t length, dropped; /* of a block */
    struct pm_names shaders, variants;
    struct block *blocks;
    size_t count, capacity;
};

struct devices {
    struct device *list;
    size_t count;
};

static double number(const cJSON *line, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, name);
    return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : -1;
}

/* The line's device. NULL: out of memory. */
static struct device *device_of(struct devices *devices, const cJSON *line, struct pm_error *error)
{
    const int process = (int)number(line, "process"), which = (int)number(line, "number");
    for (size_t i = devices->count; i-- > 0;) {
        struct device *known = &devices->list[i];
        if (known->process == process && known->number == which)
            return known;
    }
    struct device *list = reallocarray(devices->list, devices->count + 1, sizeof(*list));
    if (!list) {
        pm_fail(error, PM_ERROR_MEMORY, NO_MEMORY);
        return NULL;
    }
    devices->list = list;
    list[devices->count] = (struct device){.process = process, .number = which};
    return &list[devices->count++];
}

static bool add_block(struct device *device, const cJSON *line, struct pm_error *error)
{
    const struct block block = {
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
    if (device->count == device->capacity) {
        size_t capacity = device->capacity ? 2 * device->capacity : 64;
        struct block *list =
            capacity <= 2 * MOST_PAIRS ? realloc(device->blocks, capacity * sizeof(*list)) : NULL;
        if (!list)
            return pm_fail(error, PM_ERROR_MEMORY, NO_MEMORY);
        device->blocks = list;
        device->capacity = capacity;
    }
    device->blocks[device->count++] = block;
    return true;
}

static bool take_line(struct pm_ab_report *report, struct devices *devices, const char *text,
                      struct pm_error *error)
{
    cJSON *line = cJSON_Parse(text);
    const cJSON *shader = cJSON_GetObjectItemCaseSensitive(line, "shader");
    const cJSON *variant = cJSON_GetObjectItemCaseSensitive(line, "variant");
    const cJSON *software = cJSON_GetObjectItemCaseSensitive(line, "software");
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(line, "device");
    struct device *device = NULL;
    bool ok = !cJSON_IsObject(line) || (device = device_of(devices, line, error));
    if (!device) {
        /* It is damaged, or there is no memory. */
    } else if (cJSON_IsString(shader)) {
        ok =
            (pm_names_add(&device->shaders, shader->valuestring) &&
             (!cJSON_IsString(variant) || pm_names_add(&device->variants, variant->valuestring))) ||
            pm_fail(error, PM_ERROR_MEMORY, NO_MEMORY);
    } else if (cJSON_IsString(name)) {
        report->outcome = PM_AB_NOTHING;
        snprintf(device->name, sizeof(device->name), "%s", name->valuestring);
        snprintf(device->software, sizeof(device->software), "%s",
                 cJSON_IsString(software) ? software->valuestring : "");
        device->length = (uint32_t)fmax(number(line, "block"), 0);
        device->dropped = (uint32_t)fmax(number(line, "dropped"), 0);
    } else if (number(line, "pair") >= 0 && number(line, "pair") < MOST_PAIRS) {
        ok = add_block(device, line, error);
    } else if (number(line, "heartbeats") >= 0) {
        report->heartbeats += (uint64_t)number(line, "heartbeats");
        report->recordings += (uint64_t)fmax(number(line, "recordings"), 0);
    }
    cJSON_Delete(line);
    return ok;
}

static bool read_lines(FILE *file, struct pm_ab_report *report, struct devices *devices,
                       struct pm_error *error)
{
    char *text = NULL;
    size_t size = 0;
    bool ok = true;
    while (ok && getline(&text, &size, file) > 0)
        ok = take_line(report, devices, text, error);
    free(text);
    return ok;
}

/* The device whose blocks are judged: the one with the most of them, or where several have as
 * many with the most shaders, or the last. A launcher may have a device too. */
static struct device *busiest(const struct devices *devices)
{
    struct device *found = NULL;
    for (size_t i = 0; i < devices->count; i++) {
        struct device *device = &devices->list[i];
        if (!found || device->count > found->count ||
            (device->count == found->count && device->shaders.count >= found->shaders.count))
            found = device;
    }
    return found;
}

/* Takes a pair in, unless not all shaders were in use yet. Its commands that were recorded. */
static double add_pair(struct pm_ab_report *report, const struct block *original,
                       const struct block *optimized, double shaders, double *ratios)
{
    if (original->shaders < shaders || optimized->shaders < shaders)
        return 0;
    const double recordings = original->recordings + optimized->recordings;
    /* Recorded anew without one of them, both are the same: what is in use may be away for a
     * while, being tried again, or is not in this scene. */
    if (optimized->recordings > 0 && optimized->binds == 0) {
        report->idle_pairs++;
        return recordings;
    }
    const double a = original->nanoseconds / original->frames;
    const double b = optimized->nanoseconds / optimized->frames;
    ratios[report->pairs++] = log(b / a);
    /* As the ratios are averaged, so that what is shown fits together. */
    report->original += log(a);
    report->optimized += log(b);
    report->frames += (uint64_t)(original->frames + optimized->frames);
    return recordings;
}

/* Compares the pairs with all shaders in use that there ever were. A block is in one pair, or in
 * none: the other half of a pair that was given up is missing. */
static void compare(struct pm_ab_report *report, const struct device *device, double *ratios)
{
    double shaders = 0, recordings = 0;
    for (size_t i = 0; i < device->count; i++)
        if (device->blocks[i].optimized)
            shaders = fmax(shaders, device->blocks[i].shaders);
    for (size_t i = 0; i + 1 < device->count; i++) {
        const struct block *first = &device->blocks[i], *second = first + 1;
        if (first->pair != second->pair || first->optimized == second->optimized)
            continue;
        recordings += add_pair(report, first->optimized ? second : first,
                               first->optimized ? first : second, shaders, ratios);
        i++;
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

/* What was found of the device. */
static bool judge(struct pm_ab_report *report, struct device *device, struct pm_error *error)
{
    snprintf(report->device, sizeof(report->device), "%s", device->name);
    snprintf(report->software, sizeof(report->software), "%s", device->software);
    report->block = device->length;
    report->dropped = device->dropped;
    report->shaders = device->shaders.names;
    report->shader_count = (uint32_t)device->shaders.count;
    report->variants = device->variants.names;
    report->variant_count = (uint32_t)device->variants.count;
    device->shaders = device->variants = (struct pm_names){0};
    double *ratios = calloc(device->count + 1, sizeof(*ratios));
    if (!ratios)
        return pm_fail(error, PM_ERROR_MEMORY, NO_MEMORY);
    compare(report, device, ratios);
    free(ratios);
    return true;
}

static void finish_devices(struct devices *devices)
{
    for (size_t i = 0; i < devices->count; i++) {
        pm_names_finish(&devices->list[i].shaders);
        pm_names_finish(&devices->list[i].variants);
        free(devices->list[i].blocks);
    }
    free(devices->list);
}

bool pm_ab_read(const char *path, struct pm_ab_report *report, struct pm_error *error)
{
    *report = (struct pm_ab_report){.outcome = PM_AB_NOT_LOADED};
    FILE *file = fopen(path, "re");
    if (!file)
        return pm_fail_errno(error, errno, "%s", path);
    struct devices devices = {0};
    bool ok = read_lines(file, report, &devices, error);
    fclose(file);
    struct device *device = busiest(&devices);
    ok = ok && (!device || judge(report, device, error));
    finish_devices(&devices);
    if (!ok)
        pm_ab_report_finish(report);
    return ok;
}

void pm_ab_report_finish(struct pm_ab_report *report)
{
    struct pm_names shaders = {report->shaders, report->shader_count},
                    variants = {report->variants, report->variant_count};
    pm_names_finish(&shaders);
    pm_names_finish(&variants);
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

static void print_sessions(const struct pm_paired *sessions, const char *prefix, FILE *out)
{
    if (sessions->count == 1)
        fprintf(
            out,
            "%sthat is of this session; another one may find something else: compare again, and "
            "what all of them found is said\n",
            prefix);
    else if (sessions->count > 1)
        fprintf(out,
                "%sover %zu sessions with these shaders %+.2f %% frames (95 %% interval %+.2f to "
                "%+.2f %%)\n",
                prefix, sessions->count, pm_gain_percent(sessions->ratio),
                pm_gain_percent(sessions->high), pm_gain_percent(sessions->low));
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
    print_sessions(&report->sessions, prefix, out);
}

/* malloc'ed; NULL: out of memory. */
static struct pm_shader_key *parse_keys(char *const *names, uint32_t count, uint32_t *parsed)
{
    struct pm_shader_key *keys = calloc(count + 1, sizeof(*keys));
    *parsed = 0;
    for (uint32_t i = 0; keys && i < count; i++)
        *parsed += pm_shader_key_parse(names[i], &keys[*parsed]);
    return keys;
}

bool pm_ab_keep(struct pm_ab_report *report, const char *game, struct pm_error *error)
{
    uint32_t shader_count, variant_count;
    struct pm_shader_key *shaders =
                             parse_keys(report->shaders, report->shader_count, &shader_count),
                         *variants =
                             parse_keys(report->variants, report->variant_count, &variant_count);
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
        .software = report->software,
        .shaders = shaders,
        .shader_count = shader_count,
        .variants = variants,
        .variant_count = variant_count,
    };
    bool ok = (shaders && variants) || pm_fail(error, PM_ERROR_MEMORY, NO_MEMORY);
    if (ok) {
        pm_gain_add_sessions(game, &gain);
        report->sessions = pm_gain_over_sessions(&gain);
        ok = pm_gain_write(game, &gain, error);
    }
    free(shaders);
    free(variants);
    return ok;
}
