/* What zero specialization could save of real shaders: opportunity FOLDER…, with what
 * tests/corpus/collect.sh dumped (KEY.spv, KEY.json). Each candidate is estimated as if it were
 * always zero, with weights by the structure. Of each shader the best candidate's share of all that
 * the shader costs counts; a shader that is in several folders counts once in each. */
#include "base/buffer.h"
#include "base/file.h"
#include "shader_rewrite/shader_rewrite.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHADERS = 8192, MOST_SPECS = 64, FILE_CAP = 64 << 20 };

struct shader {
    char name[256];
    double candidates;   /* values that may be zero; `points` of them are measured */
    double points, best; /* best: share of the shader's cycles */
    double transforms;   /* of today's loop where every value is always zero */
    double saved;        /* by these, share */
};

static struct shader shaders[MOST_SHADERS];
static size_t shader_count, failed;
static bool list;

static bool read_file(const char *folder, const char *name, const char *suffix,
                      struct pm_buffer *bytes, struct pm_error *error)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s%s", folder, name, suffix);
    pm_buffer_init(bytes, FILE_CAP);
    return pm_file_read(path, bytes, error);
}

static cJSON *read_about(const char *folder, const char *name, struct pm_error *error)
{
    struct pm_buffer bytes;
    cJSON *about = NULL;
    if (read_file(folder, name, ".json", &bytes, error)) {
        about = cJSON_ParseWithLength((const char *)bytes.data, bytes.size);
        if (!about)
            pm_fail(error, PM_ERROR_INPUT, "not JSON");
    }
    pm_buffer_finish(&bytes);
    return about;
}

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

/* All that any device has, so that none of the corpus is refused. */
static const struct pm_target target = {.vulkan_minor = 3,
                                        .scalar_block_layout = true,
                                        .relaxed_block_layout = true,
                                        .uniform_buffer_standard_layout = true,
                                        .workgroup_explicit_layout = true};

static bool canonical_of(const char *folder, const char *name, struct pm_words *out,
                         struct pm_error *error)
{
    struct pm_buffer bytes;
    struct pm_spec_value specs[MOST_SPECS];
    cJSON *about = read_about(folder, name, error);
    bool ok = read_file(folder, name, ".spv", &bytes, error) && about;
    if (ok) {
        struct pm_canonicalize_info info = {
            .words = (const uint32_t *)(const void *)bytes.data,
            .word_count = bytes.size / 4,
            .stage =
                strcmp(text(about, "stage"), "compute") == 0 ? PM_STAGE_COMPUTE : PM_STAGE_FRAGMENT,
            .entry_point = text(about, "entry"),
            .spec_values = specs,
            .target = target,
        };
        const cJSON *constant;
        cJSON_ArrayForEach(constant, cJSON_GetObjectItemCaseSensitive(about, "constants"))
        {
            if (info.spec_value_count < MOST_SPECS)
                specs[info.spec_value_count++] = (struct pm_spec_value){
                    .spec_id = (uint32_t)number(constant, "id"),
                    .size = (uint32_t)number(constant, "bytes"),
                    .bits = (uint64_t)number(constant, "value"),
                };
        }
        ok = pm_canonicalize(&info, out, error);
    }
    cJSON_Delete(about);
    pm_buffer_finish(&bytes);
    return ok;
}

/* Today's loop, where every value is always zero. transforms: at most. */
static cJSON *specialize(const struct pm_words *words, const struct pm_zero_profile *profile,
                         uint32_t transforms, struct pm_error *error)
{
    const struct pm_specialize_zero_info info = {
        .profile = profile, .subgroup_quad = true, .target = target, .most_transforms = transforms};
    struct pm_specialized out;
    if (!pm_specialize_zero(words->data, words->count, &info, &out, error))
        return NULL;
    cJSON *report = cJSON_Parse(out.report);
    pm_specialized_finish(&out);
    if (!report)
        pm_fail(error, PM_ERROR_MEMORY, "no report");
    return report;
}

static bool look(const struct pm_words *words, struct shader *shader, struct pm_error *error)
{
    struct pm_zero_points points;
    if (!pm_points_zero(words->data, words->count, &points, error))
        return false;
    double *zero = malloc((points.count + 1u) * sizeof(*zero));
    for (uint32_t i = 0; zero && i < points.count; i++)
        zero[i] = 1;
    struct pm_zero_profile profile = {.zero = zero, .candidate_count = points.count};
    cJSON *one = zero ? specialize(words, &profile, 1, error) : NULL;
    cJSON *more = one ? specialize(words, &profile, 0, error) : NULL;
    bool ok = one && more;
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

static void look_at(const char *folder, const char *name)
{
    struct pm_error error = {0};
    struct pm_words words = {0};
    struct shader shader = {0};
    snprintf(shader.name, sizeof(shader.name), "%s", name);
    if (shader_count < MOST_SHADERS && canonical_of(folder, name, &words, &error) &&
        look(&words, &shader, &error)) {
        shaders[shader_count++] = shader;
    } else {
        failed++;
        fprintf(stderr, "%s/%s: %s\n", folder, name, error.message);
    }
    pm_words_finish(&words);
}

static int by_best(const void *a, const void *b)
{
    const struct shader *x = a, *y = b;
    return (x->best > y->best) - (x->best < y->best);
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
}

static void look_through(const char *folder)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    memset(shaders, 0, sizeof(shaders));
    shader_count = failed = 0;
    while (directory && (entry = readdir(directory))) {
        size_t length = strlen(entry->d_name);
        char name[256];
        if (length < 5 || strcmp(entry->d_name + length - 4, ".spv") != 0)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(length - 4), entry->d_name);
        look_at(folder, name);
    }
    if (directory)
        closedir(directory);
    print(folder);
}

int main(int argc, char **argv)
{
    int first = 1;
    list = argc > 1 && strcmp(argv[1], "--list") == 0;
    first += list;
    if (argc <= first) {
        fprintf(stderr, "usage: opportunity [--list] FOLDER…\n");
        return 2;
    }
    for (int i = first; i < argc; i++)
        look_through(argv[i]);
    return 0;
}
