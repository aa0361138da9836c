#include "layer/shader/variant_files.h"

#include "base/config.h"
#include "base/file.h"
#include "layer/shader/pipeline_state.h"
#include "layer/shader/variant_make.h"
#include "profile/variant_parts.h"
#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_OPTION = 128 };

__attribute__((format(printf, 2, 3))) static void add(cJSON *list, const char *format, ...)
{
    char text[LONGEST_OPTION];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cJSON_AddItemToArray(list, cJSON_CreateString(text));
}

static void add_known(cJSON *list, const struct pm_known_words *known)
{
    for (uint32_t i = 0; i < known->count; i++) {
        const struct pm_constant_known *word = &known->words[i];
        add(list, "--known");
        if (word->point.source == PM_CONSTANT_PUSH)
            add(list, "push:%u=%u", word->point.offset, word->value);
        else
            add(list, "%u.%u:%u=%u", word->point.set, word->point.binding, word->point.offset,
                word->value);
    }
}

static void add_target(cJSON *list, const struct pm_target *target)
{
    add(list, "--target");
    add(list, "%u", target->vulkan_minor);
    if (target->relaxed_block_layout)
        add(list, "--relax-block-layout");
    if (target->uniform_buffer_standard_layout)
        add(list, "--uniform-buffer-standard-layout");
    if (target->scalar_block_layout)
        add(list, "--scalar-block-layout");
    if (target->workgroup_explicit_layout)
        add(list, "--workgroup-scalar-block-layout");
}

/* What `piecemeal shader` has to be told to do the same. */
static cJSON *options_of(const struct pm_device *device, const struct pm_known_words *known)
{
    static const char *const permissions[] = {[PM_FLOAT_ZERO_SHADER] = "shader",
                                              [PM_FLOAT_ZERO_NEVER] = "never",
                                              [PM_FLOAT_ZERO_ALLOW] = "allow"};
    const enum pm_beyond beyond = device->instance->config.debug.beyond;
    cJSON *list = cJSON_CreateArray();
    add_known(list, known);
    add_target(list, &device->abilities.target);
    add(list, "--float-zero");
    add(list, "%s", permissions[device->instance->config.optimize.float_zero]);
    add(list, "--vendor");
    add(list, "%u", device->properties.vendorID);
    add(list, "--driver");
    const struct pm_driver driver = pm_device_driver(device);
    add(list, "%u:%u", driver.id, driver.version);
    add(list, "--uniform-share");
    add(list, "%.17g", device->instance->config.optimize.uniform_share);
    const uint32_t passes = device->instance->config.optimize.block_passes;
    if (passes != PM_BLOCK_ALL) {
        char names[PM_BLOCK_PASSES_TEXT];
        pm_block_passes_format(passes, names);
        add(list, "--block-passes");
        add(list, "%s", names);
    }
    if (!device->abilities.subgroup_vote)
        add(list, "--no-vote");
    if (!device->abilities.subgroup_quad)
        add(list, "--no-quad");
    if (beyond == PM_BEYOND_FIT || beyond == PM_BEYOND_ALL)
        add(list, "--fit-regions");
    if (beyond == PM_BEYOND_HOIST || beyond == PM_BEYOND_ALL)
        add(list, "--hoist-across");
    if (beyond == PM_BEYOND_PAIRS || beyond == PM_BEYOND_ALL)
        add(list, "--pairs");
    return list;
}

/* In the order in which they were run, all but the first on what the one before made. */
static void add_passes(cJSON *json, const struct pm_specialized_shader *shader)
{
    static const struct {
        uint32_t parts;
        const char *pass;
    } passes[] = {{PM_PART_WORDS | PM_PART_PUSHED, "specialize_constants"},
                  {PM_PART_ZEROS, "specialize_zero"},
                  {PM_PART_BLOCKS, "optimize_blocks"},
                  {PM_PART_RECIPE, "make_variant"},
                  {PM_PART_PASSES, "partition"}};
    cJSON *list = cJSON_AddArrayToObject(json, "passes");
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (pm_specialized_parts(shader) & passes[i].parts)
            add(list, "%s", passes[i].pass);
}

static void add_parts_options(cJSON *options, const struct pm_pipeline *pipeline,
                              const struct pm_specialized_shader *shader)
{
    const uint32_t parts = pm_specialized_parts(shader);
    const char *limits = pipeline->device->instance->config.debug.partition_limits;
    if (parts & PM_PART_RECIPE) {
        add(options, "--recipe");
        add(options, "%s", shader->recipe);
    }
    if (parts & PM_PART_PASSES) {
        add(options, "--limits");
        add(options, "%s", limits ? limits : "registers");
    }
}

static cJSON *describe(const struct pm_pipeline *pipeline,
                       const struct pm_specialized_shader *shader)
{
    const struct pm_device *device = pipeline->device;
    char original[PM_SHADER_KEY_TEXT], key[PM_SHADER_KEY_TEXT];
    struct pm_error error = {0};
    cJSON *json = cJSON_CreateObject();
    pm_shader_key_format(&shader->original, original);
    pm_shader_key_format(&shader->key, key);
    cJSON_AddStringToObject(json, "original", original);
    cJSON_AddStringToObject(json, "variant", key);
    cJSON_AddStringToObject(json, "stage", pm_pipeline_computes(pipeline) ? "compute" : "fragment");
    cJSON_AddStringToObject(json, "entry_point", shader->entry_point);
    cJSON_AddNumberToObject(json, "transforms", shader->module.transforms);
    cJSON_AddNumberToObject(json, "subgroup_size", shader->environment.subgroup_size);
    cJSON_AddStringToObject(json, "device", device->properties.deviceName);
    cJSON_AddStringToObject(json, "driver", device->abilities.driver_info);
    cJSON_AddNumberToObject(json, "vendor_id", device->properties.vendorID);
    cJSON_AddNumberToObject(json, "driver_id", device->abilities.driver_id);
    cJSON_AddNumberToObject(json, "driver_version", device->properties.driverVersion);
    add_passes(json, shader);
    cJSON *options = options_of(device, &shader->known);
    add_parts_options(options, pipeline, shader);
    cJSON_AddItemToObject(json, "options", options);
    cJSON *state = pm_pipeline_state(pipeline, NULL, NULL, &error);
    if (state)
        cJSON_AddItemToObject(json, "pipeline", state);
    else
        pm_log_warning(device->instance->log, "a variant's pipeline is not described: %s",
                       error.message);
    return json;
}

/* FOLDER/ORIGINAL-VARIANT.json; malloc'ed. NULL: out of memory. */
static char *path_of(const char *folder, const struct pm_specialized_shader *shader)
{
    char original[PM_SHADER_KEY_TEXT], key[PM_SHADER_KEY_TEXT], *path = NULL;
    pm_shader_key_format(&shader->original, original);
    pm_shader_key_format(&shader->key, key);
    return asprintf(&path, "%s/%s-%s.json", folder, original, key) < 0 ? NULL : path;
}

/* The words in a file of the description's name with another end. */
static bool write_words(const char *path, const char *end, const struct pm_words *words,
                        struct pm_error *error)
{
    char *own = NULL;
    const int size = (int)(strlen(path) - strlen(".json"));
    const bool ok = (asprintf(&own, "%.*s%s", size, path, end) >= 0 ||
                     pm_fail(error, PM_ERROR_MEMORY, "no memory for a path")) &&
                    pm_file_put(own, words->data, words->count * sizeof *words->data, error);
    free(own);
    return ok;
}

/* The modules of the pipeline's other stages, by their places among them. */
static bool write_others(const struct pm_pipeline *pipeline, const char *path,
                         struct pm_error *error)
{
    const struct pm_pipeline *owner = pipeline->shader_owner;
    bool ok = true;
    for (uint32_t i = 0; ok && i < owner->module_count; i++) {
        struct pm_words words = {0};
        char end[32];
        if (i == pipeline->shader_stage)
            continue;
        snprintf(end, sizeof end, ".stage%u.spv", i);
        ok = pm_object_words(owner->modules[i], &words, error) &&
             write_words(path, end, &words, error);
        pm_words_finish(&words);
    }
    return ok;
}

/* The module, or that of each pass. */
static bool write_own(const struct pm_specialized_shader *shader, const char *path,
                      struct pm_error *error)
{
    const struct pm_partitioned *partitioned = &shader->partitioned;
    bool ok = partitioned->count > 0 || write_words(path, ".spv", &shader->module.words, error);
    for (uint32_t i = 0; ok && i < partitioned->count; i++) {
        char end[32];
        snprintf(end, sizeof end, ".pass%u.spv", i);
        ok = write_words(path, end, &partitioned->passes[i].words, error);
    }
    return ok;
}

/* The description first, so that it is there of what the driver does not survive. */
static bool write_all(const struct pm_pipeline *pipeline, const char *path,
                      const struct pm_specialized_shader *shader, const char *text,
                      struct pm_error *error)
{
    return pm_file_put(path, text, strlen(text), error) && write_own(shader, path, error) &&
           write_others(pipeline, path, error);
}

void pm_variant_files_write(const struct pm_pipeline *pipeline,
                            const struct pm_specialized_shader *shader)
{
    const struct pm_instance *instance = pipeline->device->instance;
    const char *folder = instance->config.debug.variants_folder;
    struct pm_error error = {0};
    char *path = folder ? path_of(folder, shader) : NULL;
    if (!path || access(path, F_OK) == 0) {
        free(path);
        return;
    }
    cJSON *json = describe(pipeline, shader);
    char *text = cJSON_Print(json);
    if (!text)
        pm_fail(&error, PM_ERROR_MEMORY, "no memory for its description");
    if (!text || !write_all(pipeline, path, shader, text, &error))
        pm_log_warning(instance->log, "a variant is not kept: %s", error.message);
    cJSON_free(text);
    cJSON_Delete(json);
    free(path);
}
